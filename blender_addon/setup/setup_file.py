"""Set-ups as files: arrays with a checksum, and settings as JSON. Reading a file runs no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import StoreError
from ...core.foundation.files.array_file import read_arrays, write_arrays
from .setups import MuscleCurve, Setup, Spline, apply_setup

SUFFIX = ".sinewsetup"
FORMAT = 1
KINDS = ("POLY", "BEZIER", "NURBS")


def save_setup(setup: Setup, path: Path) -> None:
    """Write a set-up to a file. Raises StoreError if the file cannot be written."""
    splines = [spline for curve in setup.curves for spline in curve.splines]
    count = len(setup.positions)
    arrays = {
        "positions": setup.positions,
        "triangles": setup.triangles.astype(np.int32),
        "weights": np.array(list(setup.groups.values()), dtype=np.float64).reshape(-1, count),
        "points": np.concatenate([np.zeros((0, 9)), *(spline.points for spline in splines)]),
        "radii": np.concatenate([np.zeros(0), *(spline.radii for spline in splines)]),
    }
    curves = [
        [curve.material, curve.name, curve.bevel, [[s.kind, len(s.points), s.order] for s in curve.splines]]
        for curve in setup.curves
    ]
    about = {"setup": FORMAT, "settings": setup.settings, "groups": list(setup.groups), "curves": curves}
    write_arrays(path, arrays, about)


def load_setup(path: Path) -> Setup:
    """Return the set-up in a file.

    Raises StoreError if the file cannot be read, is not a set-up, or has values that a body does not take. The scene is
    not changed.
    """
    arrays, about = read_arrays(path)
    if about.get("setup") != FORMAT:
        raise StoreError(f"{path.name} is not a set-up of this version of Sinew.", "Save the set-up again.")
    try:
        setup = _setup(arrays, about)
        _try(setup)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise StoreError(f"{path.name} is not a valid set-up: {error}.", "Save the set-up again.") from error
    return setup


def _setup(arrays: dict[str, np.ndarray], about: dict[str, Any]) -> Setup:
    positions, triangles, weights = (arrays[name] for name in ("positions", "triangles", "weights"))
    points, radii, names = arrays["points"], arrays["radii"], [str(name) for name in about["groups"]]
    shapes = {
        "positions": positions.shape[1:] == (3,),
        "triangles": triangles.shape[1:] == (3,) and triangles.dtype == np.int32,
        "weights": weights.shape == (len(names), len(positions)),
        "points": points.shape == (len(radii), 9),
    }
    if wrong := [name for name, fits in shapes.items() if not fits]:
        raise ValueError(f"the shape of {wrong[0]} is wrong")
    if not all(np.isfinite(values).all() for values in (positions, weights, points, radii)):
        raise ValueError("a value is not finite")
    if len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(positions):
        raise ValueError("a triangle has no vertex")
    curves, first = [], 0
    for material, name, bevel, described in about["curves"]:
        splines = []
        for kind, count, order in described:
            if kind not in KINDS or not 0 < int(count) <= len(points) - first:
                raise ValueError("a spline is damaged")
            part = slice(first, first + int(count))
            splines.append(Spline(kind, points[part], radii[part], int(order)))
            first = part.stop
        curves.append(MuscleCurve(str(material), str(name), float(bevel), tuple(splines)))
    return Setup(positions, triangles, about["settings"], dict(zip(names, weights, strict=True)), tuple(curves))


def _try(setup: Setup) -> None:
    """Apply a set-up to a temporary object of its own mesh. Raises what :func:`setups.apply_setup` raises."""
    mesh = bpy.data.meshes.new("Sinew Setup")
    mesh.from_pydata(setup.positions.tolist(), [], setup.triangles.tolist())
    obj = bpy.data.objects.new(mesh.name, mesh)
    curves = set(bpy.data.curves)
    try:
        apply_setup(setup, obj, fit=False, replace=True)
    finally:
        bpy.data.meshes.remove(mesh)
        for curve in set(bpy.data.curves) - curves:
            bpy.data.curves.remove(curve)
