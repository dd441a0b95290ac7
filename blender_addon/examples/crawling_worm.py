"""Worm that crawls by waves of contraction and friction: five muscles along one body."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .shapes import ball, limb
from .stage import Stage

LABEL = "Crawling Worm"
DESCRIPTION = "Waves of activation run along five muscles of a worm, and friction turns them into motion"
COLOUR, FLOOR = (0.75, 0.36, 0.33), (0.36, 0.33, 0.28)
VOXEL = 0.008
LENGTH, RADIUS, SEGMENTS = 0.5, 0.04, 5
PERIOD, SECONDS = 1.0, 4.0
"""Duration of a wave, and of the scene, s."""


def build(stage: Stage) -> Any:
    """Build the worm on the floor. Returns the worm."""
    parts = [limb((-0.5 * LENGTH, 0.0, RADIUS), (0.5 * LENGTH, 0.0, RADIUS), RADIUS, RADIUS, 32)]
    parts += [ball((side * 0.5 * LENGTH, 0.0, RADIUS), RADIUS, 32) for side in (-1.0, 1.0)]
    skin = stage.one_skin(stage.mesh("Worm", parts, stage.shader("Worm", COLOUR, 0.35)), VOXEL, 4)
    worm = stage.add("Worm", skin)
    settings = stage.body(worm, SECONDS, 30)
    x = vertex_positions(worm.data)[:, 0]
    edges = np.linspace(-0.5 * LENGTH - RADIUS, 0.5 * LENGTH + RADIUS, SEGMENTS + 1)
    for k in range(SEGMENTS):
        inside = (x >= edges[k] - 1e-6) & (x < edges[k + 1] + 1e-6)
        material = stage.material(worm, "Soft Flesh", 2e4, inside.astype(float))
        material.name = f"Segment {k + 1}"
        own = material.muscle
        own.enabled, own.direction = True, "ENDS"
        width = edges[1] - edges[0]
        for name, edge in (("origin_group", edges[k]), ("insertion_group", edges[k + 1])):
            near = np.abs(x - edge) < 0.18 * width
            setattr(own, name, stage.group(worm, f"{material.name} {name.split('_')[0].title()}", near.astype(float)))
        own.strength, own.shortening, own.passive = 1e6, 0.6, 0.0
        _wave(stage, own, k / SEGMENTS)
    stage.floor(1.0, FLOOR, settings)
    settings.collisions.friction = 1.5
    settings.stiffness_damping = 0.01
    return worm


def _wave(stage: Stage, muscle: Any, phase: float) -> None:
    """Key the activation of a segment: a smooth pulse per period, later from segment to segment."""
    times = np.arange(0.0, SECONDS + 1e-9, PERIOD / 8.0)
    pulse = [max(math.sin(2.0 * math.pi * (t / PERIOD - phase)), 0.0) ** 2 for t in times]
    values = [each * min(2.0 * t / PERIOD, 1.0) for each, t in zip(pulse, times, strict=True)]
    stage.key(muscle, "activation", *zip(times.tolist(), values, strict=True))
