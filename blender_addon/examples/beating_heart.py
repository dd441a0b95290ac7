"""Heart that beats: a hollow chamber whose fibres run around it."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ..scene_import.mesh_in import vertex_positions
from .shapes import ball, limb
from .stage import Stage

LABEL = "Beating Heart"
DESCRIPTION = "Fibers that wind around a hollow chamber contract it and twist its tip, as those of a heart"
COLOUR = (0.62, 0.06, 0.06)
VOXEL = 0.006
HEIGHT, WIDTH = 0.24, 0.09
TURNS = 0.9
"""Number of turns that a fibre winds around the chamber from its base to its tip."""
BEAT = 0.8
"""Duration of a beat, s."""


def build(stage: Stage) -> Any:
    """Build the heart, held at its base, with eight helical curves as fibres. Returns the heart."""
    parts = [
        ball((0.0, 0.0, 0.0), (WIDTH, WIDTH, 0.5 * HEIGHT), 48),
        limb((0.035, 0.0, 0.08), (0.05, 0.0, 0.16), 0.03, 0.026),
        limb((-0.03, 0.0, 0.08), (-0.045, 0.01, 0.15), 0.026, 0.022),
    ]
    skin = stage.one_skin(stage.mesh("Heart", parts, stage.shader("Heart", COLOUR, 0.3)), VOXEL, 4)
    heart = stage.add("Heart", skin)
    settings = stage.body(heart, 3.2, 18)
    points = vertex_positions(heart.data)
    settings.pin_group = stage.group(heart, "Pins", (points[:, 2] > 0.12).astype(float))
    stage.material(heart, "Soft Flesh", 3e4)
    chamber = stage.add("Chamber", stage.mesh("Chamber", [ball((0.0, 0.0, -0.01), (0.05, 0.05, 0.075), 32)]))
    blood = stage.material(heart, "Soft Flesh", 3e3)
    blood.name, blood.region, blood.poissons_ratio = "Blood", chamber, 0.2
    muscle = heart.sinew.materials[0].muscle
    muscle.enabled, muscle.direction, muscle.curve = True, "CURVES", _curves(stage)
    muscle.strength, muscle.shortening, muscle.passive = 2e5, 0.3, 0.02
    keys = [(0.0, 0.0)]
    for k in range(4):
        keys += [(k * BEAT + 0.1, 0.0), (k * BEAT + 0.28, 1.0), (k * BEAT + 0.42, 0.9), (k * BEAT + 0.65, 0.0)]
    stage.key(muscle, "activation", *keys)
    settings.stiffness_damping = 0.01
    for obj in (chamber, muscle.curve):
        obj.hide_viewport = obj.hide_render = True
    return heart


def _curves(stage: Stage) -> Any:
    """Return a curve object of eight helices on an ellipsoid inside the heart's wall."""
    data = bpy.data.curves.new("Heart Fibers", "CURVE")
    data.dimensions = "3D"
    for start in range(8):
        spline = data.splines.new("POLY")
        steps = 48
        spline.points.add(steps)
        for k, point in enumerate(spline.points):
            part = k / steps
            latitude = math.pi * (0.95 * part - 0.475)
            angle = 2.0 * math.pi * (start / 8.0 + TURNS * part)
            radius = 0.85 * WIDTH * math.cos(latitude)
            z = -0.85 * 0.5 * HEIGHT * math.sin(latitude)
            point.co = (radius * math.cos(angle), radius * math.sin(angle), z, 1.0)
    return stage.add("Heart Fibers", data)
