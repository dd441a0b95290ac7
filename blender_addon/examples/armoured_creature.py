"""Crab-like creature with stiff armour and soft joints, landing on its feet."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from mathutils import Vector

from ..scene_import.mesh_in import vertex_positions
from .shapes import SIDES, ball, limb
from .stage import Stage

LABEL = "Armoured Creature"
DESCRIPTION = "A creature with stiff armour and soft joints, painted as two material maps, drops onto a floor"
ARMOUR, JOINT = (0.10, 0.24, 0.30), (0.95, 0.55, 0.18)
VOXEL = 0.011
JOINT_REACH = 0.06
HEIGHT = 0.18


class Leg(NamedTuple):
    """Positions of a leg's hip, knee and foot, m."""

    hip: Vector
    knee: Vector
    foot: Vector


def legs() -> list[Leg]:
    """Return the six arched legs, three per side."""
    up = Vector((0.0, 0.0, 1.0))
    angles = [(side, angle) for side in SIDES for angle in (-0.75, 0.0, 0.75)]
    directions = [Vector((side * math.cos(angle), math.sin(angle), 0.0)) for side, angle in angles]
    return [Leg(0.21 * out + 0.18 * up, 0.40 * out + 0.30 * up, 0.56 * out) for out in directions]


def build(stage: Stage) -> Any:
    """Build the creature in the air and the floor below it. Returns the creature."""
    creature = add_creature(stage)
    creature.location = (0.0, 0.0, HEIGHT)
    creature.rotation_euler = (math.radians(6.0), math.radians(14.0), 0.0)
    settings = stage.body(creature, 2.0, 36)
    soft = is_soft(creature)
    stage.material(creature, "Silicone", 2e5, soft.astype(float))
    stage.material(creature, "Shell", 1e9, (~soft).astype(float))
    settings.substeps = 2
    settings.collisions.collider_friction = 0.6
    stage.floor(0.9, (0.42, 0.38, 0.33), settings)
    return creature


def add_creature(stage: Stage) -> Any:
    """Add the creature, 1 m wide, with its feet at height 0. Faces of armour and joints have different colours."""
    parts = [ball((0.0, 0.0, 0.17), (0.21, 0.17, 0.085), 48)]
    for hip, knee, foot in legs():
        parts += [limb(hip, knee, 0.026, 0.024), limb(knee, foot, 0.026, 0.014)]
        parts += [ball(hip, 0.03), ball(knee, 0.028), ball(foot, 0.016)]
    parts += [ball((0.07 * side, -0.15, 0.23), 0.03) for side in SIDES]
    shaders = stage.shader("Armour", ARMOUR, 0.3), stage.shader("Joint", JOINT, 0.5)
    creature = stage.add("Creature", stage.one_skin(stage.mesh("Creature", parts, *shaders), VOXEL, 4))
    soft = is_soft(creature)
    for face in creature.data.polygons:
        face.material_index = int(soft[face.vertices[0]])
    return creature


def is_soft(creature: Any) -> np.ndarray:
    """Return a mask (n,) of the creature's vertices near a hip or knee."""
    joints = np.array([at for leg in legs() for at in (leg.hip, leg.knee)])
    return np.linalg.norm(vertex_positions(creature.data)[:, None] - joints, axis=2).min(axis=1) < JOINT_REACH
