"""Tongue without bones: six families of fibres that share its flesh stretch it, curl it and bend it aside."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..scene_import.mesh_in import vertex_positions
from ..setup.defaults import fill_muscle
from .sculpting import mouth_shape
from .sculpting.mouth_shape import ROOT, TIP, tongue_size
from .shapes import SIDES, sweep
from .stage import Stage

LABEL = "Hydrostatic Tongue"
DESCRIPTION = "Fibers across a tongue that keeps its volume make it long, and fibers along it curl it up and aside"
TONGUE, TOOTH, FLOOR = (0.72, 0.16, 0.19), (0.88, 0.85, 0.76), (0.36, 0.33, 0.3)
WHITE, BLACK = (0.9, 0.9, 0.88), (0.01, 0.01, 0.012)
HIGH = 0.069
"""Height of the tongue above the floor, m."""
FLESH = 1.5e4
"""Young's modulus of the flesh, Pa."""
ACROSS, ALONG = 0.3, 0.4
"""Part of the flesh that each family across the tongue has, and part of the families along it at the surface."""
POSES = (
    (0.0, {}),
    (0.7, {"Transverse": 0.7, "Vertical": 0.7}),
    (1.0, {"Transverse": 0.7, "Vertical": 0.7}),
    (1.7, {"Superior.L": 0.7, "Superior.R": 0.7, "Transverse": 0.2}),
    (2.0, {"Superior.L": 0.7, "Superior.R": 0.7, "Transverse": 0.2}),
    (2.7, {"Superior.L": 0.6, "Inferior.L": 0.6, "Vertical": 0.3}),
    (3.0, {"Superior.L": 0.6, "Inferior.L": 0.6, "Vertical": 0.3}),
    (3.5, {}),
)
"""Times, s, and the activations of fibre families there: protruded, curled up, bent aside."""


def build(stage: Stage) -> Any:
    """Build the tongue in the mouth of a creature. Returns the tongue."""
    mesh = stage.mesh("Tongue", [sweep(mouth_shape.tongue_rings())], stage.shader("Tongue", TONGUE, 0.25))
    tongue = stage.add("Tongue", mesh)
    settings = stage.body(tongue, POSES[-1][0], 22)
    x, y, z = vertex_positions(mesh).T
    settings.pin_group = stage.group(tongue, "Pins", (y > 0.034).astype(float))
    settings.integrator, settings.field_weights.gravity = "statics", 0.0
    middle = np.array([tongue_size(each)[2] for each in np.clip((ROOT - y) / (ROOT - TIP), 0.0, 1.0)])
    above, left = z >= middle, x >= 0.0
    lines = {axis: _line(stage, f"Along {axis}", direction) for axis, direction in zip("XYZ", np.eye(3), strict=True)}
    for name, weights, axis in (
        ("Transverse", np.full(len(x), ACROSS), "X"),
        ("Vertical", np.full(len(x), ACROSS), "Z"),
        ("Superior.L", ALONG * (above & left), "Y"),
        ("Superior.R", ALONG * (above & ~left), "Y"),
        ("Inferior.L", ALONG * (~above & left), "Y"),
        ("Inferior.R", ALONG * (~above & ~left), "Y"),
    ):
        _family(stage, tongue, name, weights, lines[axis])
    _creature(stage)
    for obj in stage.root.children:
        obj.location = (0.0, 0.0, HIGH)
    stage.floor(0.2, FLOOR)
    return tongue


def _line(stage: Stage, name: str, direction: np.ndarray) -> Any:
    """Return a straight curve without a bevel, which gives fibres its direction."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    for point, side in zip(spline.points, SIDES, strict=True):
        point.co = (*(0.5 * ROOT * side * direction), 1.0)
    curve = stage.add(name, data)
    curve.hide_viewport = curve.hide_render = True
    return curve


def _family(stage: Stage, tongue: Any, name: str, weights: np.ndarray, line: Any) -> None:
    """Add a fibre family parallel to a ``line``, with the material ``weights`` (n,), and key its activation."""
    from ...core.mechanics.fibres.presets import muscle_preset  # imports SciPy, which would delay Blender's start

    material = stage.material(tongue, "Soft Flesh", FLESH)
    material.name, material.vertex_group, material.poissons_ratio = name, stage.group(tongue, name, weights), 0.495
    own = material.muscle
    fill_muscle(own, muscle_preset("Tongue"))
    own.direction, own.curve = "CURVES", line
    stage.key(own, "activation", *((seconds, active.get(name, 0.0)) for seconds, active in POSES))


def _creature(stage: Stage) -> None:
    """Add jaw, head, teeth and eyes, which do not move."""
    parts, colours = mouth_shape.skin()
    skin = stage.mesh("Creature", parts, stage.shader("Creature", mouth_shape.BODY, 0.35))
    stage.paint(skin, colours)
    stage.add("Creature", skin)
    stage.add("Teeth", stage.mesh("Teeth", mouth_shape.teeth(), stage.shader("Teeth", TOOTH, 0.2)))
    radius = mouth_shape.EYE_RADIUS
    for name, colour, ahead, size in (("Eyes", WHITE, 0.0, 1.0), ("Pupils", BLACK, 0.66, 0.45)):
        balls = mouth_shape.eyes(ahead * radius, size * radius)
        stage.add(name, stage.mesh(name, balls, stage.shader(name, colour, 0.1)))
