"""Belt on two turning drums, carrying jellies into a bowl."""

from __future__ import annotations

import math
from typing import Any

import bpy

from .shapes import Part, gumdrop, lathe, sweep
from .stage import Stage

LABEL = "Belt on Turning Drums"
DESCRIPTION = "Jellies ride on a belt that runs round two drums, and fall into a bowl and onto each other"
RUBBER, STRIPE, STEEL, PAINT = (0.05, 0.055, 0.06), (0.62, 0.64, 0.62), (0.42, 0.45, 0.48), (0.8, 0.35, 0.03)
CREAM = (0.9, 0.88, 0.84)
COLOURS = ((0.75, 0.05, 0.09), (0.80, 0.62, 0.05), (0.12, 0.48, 0.10), (0.30, 0.08, 0.45))
"""Colours of the jellies, in order."""
RADIUS, APART, HIGH = 0.08, 0.42, 0.26
"""Radius of the drums, distance of their axles, and height of the axles, m."""
WIDE, THICK, PIECES = 0.12, 0.01, 144
"""Width of the belt, m; thickness of the belt, m; number of flat segments."""
LONG = 2.0 * (APART + math.pi * RADIUS)
TRAVEL, SECONDS = 0.62, 2.5
"""Distance that the belt travels, m, and time of its stop, s."""
JELLY, STIFFNESS, CELLS, SUBSTEPS = 0.075, 4e4, 4, 4
FIRST, NEXT, ABOVE = -0.2, 0.092, 0.004
"""Position of the first jelly along the belt, spacing of the jellies, and height above the belt, m."""
BOWL = [
    (0.0, 0.001), (0.08, 0.001), (0.13, 0.03), (0.16, 0.09), (0.16, 0.1), (0.15, 0.1), (0.12, 0.037), (0.075, 0.012),
    (0.0, 0.012),
]  # fmt: skip
"""Outline of the bowl: radius and height, m."""


def build(stage: Stage) -> Any:
    """Build jellies on the belt, the drums, and the bowl at the belt's end. Returns the last jelly."""
    jellies = []
    for number, colour in enumerate(COLOURS):
        jelly = stage.add("Jelly", stage.mesh("Jelly", [gumdrop(JELLY)], stage.shader("Jelly", colour, 0.15, 0.4)))
        jelly.location = (FIRST + number * NEXT, 0.0, HIGH + RADIUS + THICK + ABOVE)
        settings = stage.body(jelly, SECONDS, CELLS)
        settings.substeps, settings.max_iterations = SUBSTEPS, 100
        settings.collisions.collider_friction = 0.8
        stage.material(jelly, "Gelatine", STIFFNESS)
        jellies.append(jelly)
    floor = stage.floor(0.6, (0.36, 0.37, 0.42), *(jelly.sinew for jelly in jellies))
    colliders = floor.users_collection[0]
    _belt(stage, colliders)
    _drums(stage)
    bowl = stage.add("Bowl", stage.mesh("Bowl", [lathe(BOWL, 48)], stage.shader("China", CREAM, 0.2)), colliders)
    bowl.location = (0.5 * APART + RADIUS + 0.1, 0.0, 0.0)
    return jellies[-1]


def _belt(stage: Stage, colliders: Any) -> None:
    """Add a band that a curve modifier bends around both drums. Moving the band along X makes the belt run."""
    curve = bpy.data.curves.new("Track", "CURVE")
    curve.dimensions, curve.fill_mode = "2D", "NONE"
    spline = curve.splines.new("POLY")
    turns = [math.pi * k / 64 for k in range(65)]
    round_ = [(0.5 * APART, t) for t in turns] + [(-0.5 * APART, math.pi + t) for t in turns]
    spline.points.add(len(round_) - 1)
    for point, (axle, turn) in zip(spline.points, round_, strict=True):
        point.co = (axle + RADIUS * math.sin(turn), RADIUS * math.cos(turn), 0.0, 1.0)
    spline.use_cyclic_u = True
    track = stage.add("Track", curve)
    shaders = stage.shader("Rubber", RUBBER, 0.6), stage.shader("Stripe", STRIPE, 0.6)
    belt = stage.add("Belt", stage.mesh("Belt", [_band()], *shaders, smooth=False), colliders)
    for face in belt.data.polygons:
        face.material_index = int(PIECES * face.center.x / LONG) % 12 == 0
    belt.modifiers.new("Track", "CURVE").object = track
    for obj in (track, belt):
        obj.location, obj.rotation_euler = (0.0, 0.0, HIGH), (math.pi / 2.0, 0.0, 0.0)
    stage.key(belt, "location", (0.2, (0.0, 0.0, HIGH)), (SECONDS, (TRAVEL, 0.0, HIGH)))


def _band() -> Part:
    """Return the belt along X, its inner face at Y = 0."""
    half = 0.5 * WIDE
    corners = ((0.0, -half), (0.0, half), (THICK, half), (THICK, -half))
    return sweep([[(LONG * k / PIECES, y, z) for y, z in corners] for k in range(PIECES + 1)])


def _drums(stage: Stage) -> None:
    """Add drums inside the belt, without contact, painted in sixths so that their rotation is visible."""
    half = 0.5 * WIDE + 0.01
    profile = [(0.0, -half), (0.03, -half), (RADIUS, -half), (RADIUS, half), (0.03, half), (0.0, half)]
    shaders = stage.shader("Steel", STEEL, 0.3), stage.shader("Paint", PAINT, 0.4)
    for name, side in (("Left Drum", -1.0), ("Right Drum", 1.0)):
        drum = stage.add(name, stage.mesh(name, [lathe(profile, 96)], *shaders, smooth=False))
        drum.location = (0.5 * side * APART, 0.0, HIGH)
        for face in drum.data.polygons:
            x, y, z = face.center
            if abs(z) > 0.99 * half and math.hypot(x, y) > 0.03:
                face.material_index = int(3.0 * (math.atan2(y, x) / math.pi + 1.0)) % 2
        turns = ((0.2, 0.0), (SECONDS, TRAVEL / RADIUS))
        stage.key(drum, "rotation_euler", *((t, (math.pi / 2.0, turn, 0.0)) for t, turn in turns))
