"""Force fields of a scene file, with Blender's names and the defaults of *Add > Force Field*.

``scene_file`` shows an example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundation.errors import SettingsError
from ...geometry.mesh.vertex_normals import vertex_normals
from ...mechanics.forces.field_coordinates import FALLOFFS, SHAPES, Z_DIRECTIONS, FieldForm, FieldNumbers
from ...mechanics.forces.field_formulas import FORMULAS, SAMPLED, WITHOUT_FLOW
from ..job.force_field import ForceField
from .scene_values import STILL, Reading, Table, check_keys

MESHED = ("SURFACE", "POINTS")
"""Shapes of a field that need a mesh."""

_FLAT = ("WIND", "VORTEX")
"""Field types with the shape PLANE by default; the others have the shape POINT."""

_FALLOFF = {
    "falloff_power": "power",
    "distance_min": "distance_min",
    "distance_max": "distance_max",
    "radial_falloff": "radial_power",
    "radial_min": "radial_min",
    "radial_max": "radial_max",
    "noise": "noise",
    "weight": "weight",
}
"""Names of the numeric entries of every field type. The values are names of parameters in :class:`FieldNumbers`."""

_OWN = {
    "DRAG": {"linear_drag": "strength", "quadratic_drag": "damping"},
    "HARMONIC": {"strength": "strength", "harmonic_damping": "damping", "rest_length": "rest_length"},
}
"""Numeric entries of two field types, besides those in ``_FALLOFF``. Other field types have only ``strength``.

Each entry maps to the name of a parameter in :class:`FieldNumbers`.
"""

_BEGINNINGS = {"linear_drag": 1.0, "quadratic_drag": 1.0, "harmonic_damping": 1.0, "strength": 1.0}
_ABOUT = {"type", "name", "shape", "falloff_type", "z_direction", "location", "axis", "mesh", "seed", "use_absorption"}
_OF_ANY_SIGN = ("strength", "linear_drag", "quadratic_drag", "harmonic_damping", "flow")


def read_force_fields(scene: dict[str, Any], body: Reading, absorbers: int = 0) -> tuple[ForceField, ...]:
    """Return the force fields that the ``[[force_field]]`` tables describe.

    ``absorbers``: number of colliders with ``absorption``. These colliders weaken fields with ``use_absorption``.
    """
    tables = enumerate(scene.get("force_field", []), start=1)
    return tuple(
        _read(Table(each, f"force_field {k}", body, each), str(k), len(body.frames), absorbers) for k, each in tables
    )


def _read(table: Table, number: str, frames: int, absorbers: int) -> ForceField:
    form = _form(table)
    entries = _OWN.get(form.kind, {"strength": "strength"}) | _FALLOFF
    if form.kind not in WITHOUT_FLOW:
        entries = entries | {"flow": "flow"}
    own = {"use_gravity_falloff"} if form.kind == "FORCE" else set()
    check_keys(table.entries, _ABOUT | set(entries) | own, f"{table.where}, a field of the type {form.kind}")
    centres = table.keyed("location", STILL, 3)
    return ForceField(
        name=table.text("name", number),
        form=form,
        numbers=_numbers(table, form.kind, entries, frames),
        centres=centres,
        axes=_axes(table),
        seed=table.whole("seed", 1, "Give a whole number, 0 or more.", low=0),
        absorbers=tuple(range(absorbers)) if table.switch("use_absorption") else (),
        **_shape(table, form.shape, centres),
    )


def _form(table: Table) -> FieldForm:
    if table.entries.get("type") in list(SAMPLED):
        raise SettingsError(
            f"{table.where} has the type {table.entries['type']}, which only Blender knows.",
            "Bake the .blend with `sinew bake`, or give an acceleration in [[field]].",
        )
    kind = table.word("type", FORMULAS)
    return FieldForm(
        kind,
        table.word("shape", SHAPES, "PLANE" if kind in _FLAT else "POINT"),
        table.word("falloff_type", FALLOFFS, "SPHERE"),
        table.word("z_direction", Z_DIRECTIONS, "BOTH"),
        table.switch("use_gravity_falloff"),
    )


def _shape(table: Table, shape: str, centres: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of :class:`ForceField` that describe a shape with a mesh, or {} for other shapes."""
    if shape not in MESHED and "mesh" in table:
        remedy = f"Set shape to {' or '.join(MESHED)}."
        raise SettingsError(f"{table.where} has a mesh and the shape {shape}.", remedy)
    if shape not in MESHED:
        return {}
    if "mesh" not in table:
        raise SettingsError(
            f"{table.where} has the shape {shape} and no mesh.", 'Give mesh = "FILE", or another shape.'
        )
    mesh = table.surface("mesh")
    vertices = mesh.positions + centres[:, None]
    if shape == "SURFACE":
        return {"vertices": vertices, "triangles": mesh.triangles}
    normals = vertex_normals(mesh.positions, mesh.triangles)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return {"vertices": vertices, "normals": (normals / np.where(length > 0.0, length, 1.0))[None]}


def _numbers(table: Table, kind: str, entries: dict[str, str], frames: int) -> np.ndarray:
    """Return the numeric parameters (frames,12) of a force field, in the order of :class:`FieldNumbers`."""
    columns = {name: np.full(frames, value) for name, value in FieldNumbers(1.0)._asdict().items()}
    begins = _BEGINNINGS | ({"flow": 1.0} if kind == "WIND" else {})
    for entry, name in entries.items():
        if entry in table or entry in begins:
            columns[name] = table.keyed(entry, begins.get(entry))
        if entry not in _OF_ANY_SIGN and columns[name].min() < 0.0:
            raise SettingsError(f"The {entry} of {table.where} is negative.", "Give 0 or more.")
    return np.column_stack(list(columns.values()))


def _axes(table: Table) -> np.ndarray:
    axes = table.keyed("axis", [0, 0, 1], 3)
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    if not (length > 0.0).all():
        frame = table.body.frames[int(np.argmin(length))]
        raise SettingsError(f"The axis of {table.where} is zero at frame {frame}.", "Give a direction [x, y, z].")
    return axes / length
