"""Animated pose of a bone against the bone above it, as the target of their joint's motor."""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils import Matrix, Quaternion

from ....core.jobs.job.joint import HINGE, Joint
from ...objects.bones import bone_of
from ..animation_in import EvaluatedFrame
from ..mesh_in import object_to_world


class MotorTarget:
    """Sampler of the rotation of a bone against that of its partner since the first frame, at which the scene is.

    A target continues the one of the frame before, also beyond half a turn.
    """

    def __init__(self, obj: Any, partner: Any, joint: Joint, context: Any) -> None:
        self._obj, self._bones = obj, (bone_of(partner).name, bone_of(obj).name)
        self._axis = joint.axis / np.linalg.norm(joint.axis) if joint.kind == HINGE else None
        armature = obj.parent.evaluated_get(context.evaluated_depsgraph_get())
        self._world = Matrix(object_to_world(armature, context.scene)[:3, :3])
        self._first, self._before = self._rotations(context), np.zeros(3)

    def _rotations(self, context: Any) -> tuple[Matrix, ...]:
        pose = self._obj.parent.evaluated_get(context.evaluated_depsgraph_get()).pose
        return tuple(pose.bones[name].matrix.to_3x3().normalized() for name in self._bones)

    def at(self, moment: EvaluatedFrame) -> float | np.ndarray:
        """Return the target at a frame: the angle of a hinge, or the rotation vector of a ball, (3,), rad."""
        (above, own), (first_above, first) = self._rotations(moment.context), self._first
        turn = (above @ first_above.inverted()).inverted() @ own @ first.inverted()
        turn = (self._world @ turn @ self._world.inverted()).to_quaternion()
        vector = _vector(turn) if self._axis is None else 2.0 * np.arctan2(self._axis @ turn[1:], turn.w) * self._axis
        if angle := np.linalg.norm(vector):
            turns = np.round((self._before - vector) @ vector / (2.0 * np.pi * angle))
            vector = vector * (1.0 + 2.0 * np.pi * turns / angle)
        self._before = vector
        return vector if self._axis is None else float(vector @ self._axis)


def _vector(turn: Quaternion) -> np.ndarray:
    return np.array(turn.to_exponential_map())
