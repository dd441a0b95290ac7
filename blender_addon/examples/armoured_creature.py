"""A crab-like creature with stiff armour and soft joints, that lands on its feet."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from mathutils import Vector

from . import shapes
from .stage import Stage, positions

LABEL = "Armoured Creature"
DESCRIPTION = "Stiff armour with soft joints, painted as two maps; it drops onto a floor"
ARMOUR, JOINT = (0.10, 0.24, 0.30), (0.95, 0.55, 0.18)
VOXEL = 0.011
JOINT_REACH = 0.06
HEIGHT = 0.18


class Leg(NamedTuple):
    """Hip, knee and foot, m."""

    hip: Vector
    knee: Vector
    foot: Vector


def legs() -> list[Leg]:
    """Three on each side, arched."""
    found = []
    for side in (-1.0, 1.0):
        for angle in (-0.75, 0.0, 0.75):
            out = Vector((side * math.cos(angle), math.sin(angle), 0.0))
            found.append(
                Leg(
                    0.21 * out + Vector((0.0, 0.0, 0.18)),
                    0.40 * out + Vector((0.0, 0.0, 0.30)),
                    0.56 * out + Vector((0.0, 0.0, 0.0)),
                )
            )
    return found


def build(stage: Stage) -> Any:
    """The creature in the air, the floor below it."""
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
    """The creature, 1 m wide, standing with its feet at height 0; its faces colored by armour and joints."""
    shape = shapes.empty()
    shapes.ball(shape, (0.0, 0.0, 0.17), (0.21, 0.17, 0.085), 48)
    for leg in legs():
        shapes.limb(shape, leg.hip, leg.knee, 0.026, 0.024)
        shapes.limb(shape, leg.knee, leg.foot, 0.026, 0.014)
        for radius, at in ((0.03, leg.hip), (0.028, leg.knee), (0.016, leg.foot)):
            shapes.ball(shape, at, radius)
    for side in (-1.0, 1.0):
        shapes.ball(shape, (0.07 * side, -0.15, 0.23), 0.03)
    shaders = stage.shader("Armour", ARMOUR, 0.3), stage.shader("Joint", JOINT, 0.5)
    creature = stage.add("Creature", stage.one_skin(stage.mesh("Creature", shape, *shaders), VOXEL, 4))
    soft = is_soft(creature)
    for face in creature.data.polygons:
        face.material_index = int(soft[face.vertices[0]])
    return creature


def is_soft(creature: Any) -> np.ndarray:
    """(n,) bool: whether a hip or a knee is near."""
    joints = np.array([at for leg in legs() for at in (leg.hip, leg.knee)])
    return np.linalg.norm(positions(creature)[:, None] - joints, axis=2).min(axis=1) < JOINT_REACH
