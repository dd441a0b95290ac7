"""Face whose six muscles smile, frown and smirk: curves with bevels between a skull and the skin."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .sculpting import face_shape
from .sculpting.face_shape import EYE, EYE_RADIUS
from .sculpting.signed_distances import shell
from .shapes import SIDES, ball
from .stage import Stage

LABEL = "Face of Six Muscles"
DESCRIPTION = "Six muscles along curves, between a skull and the skin of a head, make it smile, frown and smirk"
HAIR, WHITE, IRIS, BLACK = (0.10, 0.04, 0.017), (0.9, 0.9, 0.88), (0.04, 0.2, 0.16), (0.01, 0.01, 0.012)
SWEATER, FLOOR = (0.07, 0.13, 0.2), (0.36, 0.33, 0.3)
HIGH = 0.2
"""Height of the middle of the head above the floor, m."""
FLESH = 1.5e4
"""Young's modulus of the flesh, Pa."""
MUSCLES = {
    "Zygomaticus": (((0.060, -0.046, -0.006), 0.7), ((0.055, -0.068, -0.030), 1.0), ((0.036, -0.079, -0.057), 0.8)),
    "Depressor": (((0.027, -0.052, -0.100), 0.7), ((0.034, -0.067, -0.085), 1.0), ((0.037, -0.077, -0.066), 0.8)),
    "Corrugator": (
        ((0.007, -0.075, 0.014), 0.7),
        ((0.020, -0.084, 0.029), 1.0),
        ((0.036, -0.086, 0.041), 1.0),
        ((0.050, -0.076, 0.042), 0.7),
    ),
}
"""Points of each muscle's curve at +X, from the bone to the skin, m, and the radius there relative to the bevel."""
BEVEL = 0.008
SMILE = {"Zygomaticus.L": 1.0, "Zygomaticus.R": 1.0}
FROWN = {"Corrugator.L": 0.6, "Corrugator.R": 0.6, "Depressor.L": 1.0, "Depressor.R": 1.0}
SMIRK = {"Zygomaticus.L": 1.0, "Corrugator.R": 0.5}
EXPRESSIONS = (
    (0.0, {}), (0.6, SMILE), (0.9, SMILE), (1.5, FROWN), (1.8, FROWN), (2.4, SMIRK), (2.7, SMIRK), (3.1, {}),
)  # fmt: skip
"""Times, s, and the activations of muscles there."""


def build(stage: Stage) -> Any:
    """Build the head, its skull, hair and eyes, and the curves of its muscles. Returns the head."""
    points, faces = face_shape.head()
    mesh = stage.mesh("Head", [shell(points, faces)], stage.shader("Skin", face_shape.SKIN, 0.45))
    stage.paint(mesh, face_shape.colours(points))
    head = stage.add("Head", mesh)
    _decorate(stage)
    settings = stage.body(head, EXPRESSIONS[-1][0], 14)
    x, y, z = vertex_positions(mesh).T
    settings.pin_group = stage.group(head, "Pins", ((y > 0.03) | (z < -0.12)).astype(float))
    front = (y < -0.055) & (np.abs(x) < 0.065) & (z < 0.062) & (z > -0.115)
    settings.refine_group, settings.refine_factor = stage.group(head, "Refine", front.astype(float)), 3.0
    settings.integrator = "statics"
    settings.field_weights.gravity = 0.0
    stage.material(head, "Soft Flesh", FLESH)
    for name in MUSCLES:
        for side, end in zip(SIDES, ("R", "L"), strict=True):
            _muscle(stage, head, f"{name}.{end}", [((side * p[0], p[1], p[2]), r) for p, r in MUSCLES[name]])
    skull = stage.add("Skull", stage.mesh("Skull", [face_shape.skull_part()]))
    bone = stage.material(head, "Bone", 1e7)
    bone.region = skull
    skull.hide_viewport = skull.hide_render = True
    for obj in stage.root.children:
        obj.location = (0.0, 0.0, HIGH)
    stage.floor(0.3, FLOOR)
    return head


def _muscle(stage: Stage, head: Any, name: str, points: Any) -> None:
    """Add a muscle along a curve through ``points``, pairs of a position and a relative radius."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", BEVEL
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (position, radius) in zip(spline.points, points, strict=True):
        point.co, point.radius = (*position, 1.0), radius
    curve = stage.add(name, data)
    curve.hide_viewport = curve.hide_render = True
    material = stage.material(head, "Soft Flesh", FLESH)
    material.name, material.poissons_ratio = name, 0.48
    own = material.muscle
    own.enabled, own.direction, own.curve = True, "CURVES", curve
    own.strength, own.shortening, own.passive = 3e5, 0.5, 0.02
    stage.key(own, "activation", *((seconds, active.get(name, 0.0)) for seconds, active in EXPRESSIONS))


def _decorate(stage: Stage) -> None:
    """Add eyes, eyelids, ears, hair and a sweater, which do not move."""
    x, y, z = EYE
    for name, colour, ahead, radius in (
        ("Eyes", WHITE, 0.0, EYE_RADIUS), ("Irises", IRIS, 0.0125, 0.0122), ("Pupils", BLACK, 0.0185, 0.0075),
    ):  # fmt: skip
        balls = [ball((side * x * (1.0 - ahead), y - ahead, z), radius, 40) for side in SIDES]
        stage.add(name, stage.mesh(name, balls, stage.shader(name, colour, 0.1)))
    plain = stage.shader("Ears", face_shape.SKIN, 0.45)
    stage.add("Eyelids", stage.mesh("Eyelids", face_shape.lid_parts((math.radians(-24), math.radians(26))), plain))
    stage.add("Ears", stage.mesh("Ears", face_shape.ear_parts(), plain))
    stage.add("Hair", stage.mesh("Hair", [face_shape.hair_part()], stage.shader("Hair", HAIR, 0.5)))
    wool = stage.shader("Sweater", SWEATER, 0.9)
    stage.add("Sweater", stage.mesh("Sweater", face_shape.sweater_parts(), wool))
