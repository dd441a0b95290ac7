"""Snake that is lowered into a basket and coils up in it. Only its head is animated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..scene_import.mesh_in import vertex_positions
from .shapes import SIDES, Part, ball, lathe, sweep
from .stage import Stage

LABEL = "Coiling Snake"
DESCRIPTION = "A snake is lowered into a basket in circles and coils up there; only its head is animated"
SKIN, BAND, BLACK, STRAW = (0.10, 0.30, 0.12), (0.75, 0.62, 0.12), (0.01, 0.01, 0.012), (0.50, 0.33, 0.14)
LONG, THICK, RINGS, AROUND = 1.15, 0.032, 60, 16
"""Length and radius of the snake, m; number of rings of vertices; number of vertices per ring."""
EYES = [(0.025 * side, -0.031, LONG - 0.05) for side in SIDES]
HELD = 0.07
"""Length of the pinned end of the snake's head, m."""
BASKET = [
    (0.0, 0.001), (0.16, 0.001), (0.2, 0.03), (0.215, 0.075), (0.205, 0.12), (0.195, 0.12), (0.202, 0.075),
    (0.19, 0.038), (0.155, 0.013), (0.0, 0.013),
]  # fmt: skip
"""Outline of the basket: radius and height, m."""
CIRCLE, DOWN, TURNS, SECONDS = 0.11, 0.9, 1.5, 2.0
"""Helical path of the head: radius, m; height of descent, m; number of turns; duration, s."""


def build(stage: Stage) -> Any:
    """Build the snake hanging by its head, the floor and the basket. Returns the snake."""
    colours = ("Skin", SKIN), ("Band", BAND), ("Eye", BLACK)
    shaders = [stage.shader(name, colour, 0.3) for name, colour in colours]
    snake = stage.add("Snake", stage.mesh("Snake", [_snake(), *(ball(eye, 0.009, 16) for eye in EYES)], *shaders))
    for face in snake.data.polygons:
        is_eye = face.vertices[0] >= RINGS * AROUND
        face.material_index = 2 if is_eye else int(face.center.z / 0.06) % 3 == 0
    settings = stage.body(snake, SECONDS + 0.4, 34)
    settings.pin_group = stage.group(snake, "Head", (vertex_positions(snake.data)[:, 2] > LONG - HELD).astype(float))
    stage.material(snake, "Muscle", 1e5)
    settings.max_iterations = 100
    settings.stiffness_damping = 0.01
    settings.collisions.self_contact = True
    floor = stage.floor(0.5, (0.40, 0.36, 0.30), settings)
    straw = stage.shader("Straw", STRAW, 0.7)
    stage.add("Basket", stage.mesh("Basket", [lathe(BASKET, 48)], straw), floor.users_collection[0])
    _come_down(stage, snake)
    return snake


def _come_down(stage: Stage, snake: Any) -> None:
    keys = []
    for k in range(33):
        part = k / 32
        angle = 2.0 * math.pi * TURNS * part
        wide = CIRCLE * min(4.0 * part, 1.0)
        keys.append((SECONDS * part, (wide * math.cos(angle), wide * math.sin(angle), 0.035 - DOWN * part)))
    stage.key(snake, "location", *keys)


def _snake() -> Part:
    """Return the snake, upright, with its tail at height 0."""
    sections = []
    for along in np.linspace(0.0, 1.0, RINGS):
        thick = THICK * min(1.0, 0.12 + 2.2 * along) if along < 0.9 else _head(along)
        angles = [2.0 * math.pi * k / AROUND for k in range(AROUND)]
        sections.append([(thick * math.cos(a), thick * math.sin(a), LONG * along) for a in angles])
    return sweep(sections)


def _head(along: float) -> float:
    """Return the radius of the snake's head, m, at a fraction of the snake's length, 0.9 to 1."""
    part = (along - 0.9) / 0.1
    return THICK * (1.0 + 0.35 * math.sin(math.pi * part)) * math.sqrt(max(1.0 - part**6, 0.02))
