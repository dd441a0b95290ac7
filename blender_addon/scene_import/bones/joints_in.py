"""Joint of a bone body with the body of its parent bone, and the springs that pull it to its animation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ....core.foundation.errors import MeshError, TieError
from ....core.geometry.mesh.surface_mesh import SurfaceMesh
from ....core.geometry.tetrahedra.rigid_tet import rigid_tet
from ....core.jobs.job.environment import Spring
from ....core.jobs.job.joint import BALL, HINGE, Joint
from ...objects.bones import bodies_of, bone_of, joint_partner
from ...objects.modifier_stack import StackPosition
from ...properties.mirror import clean
from ..animation_in import EvaluatedFrame, MovedObjects, Track
from ..mesh_in import object_to_world
from .limits_in import FREE, Freedom, freedom_of, rest_rotation
from .motor_target import MotorTarget

FIRM, DECADES = 1000.0, 4.0
"""Frequency of a bone's motion about its animation at Follow 1, Hz, and decades of frequency above 0."""

PULLED = 64
"""Largest number of vertices that the springs pull."""

SHEARED = 1e-3
"""Largest relative difference of an armature's scales."""

OUTSIDE = 1e-3
"""Angle, rad, by which the first pose may exceed a limit."""


def pull_frequency(follow: float) -> float:
    """Return the frequency, Hz, of a body on the springs to its animation. Each quarter of ``follow`` is a decade."""
    return FIRM * 10.0 ** (DECADES * (follow - 1.0)) if follow > 0.0 else 0.0


class JointSampler:
    """Sampler of the joint of a bone body, and of the animation that it follows. Other bodies have neither.

    ``surface``: the body's surface at the first frame, at which the scene is.

    Raises
    ------
    MeshError
        The body has no volume, the armature has different scales along its axes, or two bodies have the same bone.
    TieError
        A limit excludes the pose at the first frame.
    """

    def __init__(self, obj: Any, position: StackPosition, surface: SurfaceMesh, context: Any) -> None:
        self._obj, self._position, self.tracks, self._joint = obj, position, (), None
        self._target: Track | None = None
        if bone_of(obj) is None:
            return
        _check(obj)
        try:
            tet = rigid_tet(surface)
        except MeshError as error:
            raise MeshError(f"“{obj.name}”, the body of a bone: {error.message}", error.remedy) from error
        self._mass = float(tet.fill @ tet.volumes) * clean(obj.sinew.materials[0].density)
        self._vertices = np.unique(np.linspace(0, len(surface.positions) - 1, PULLED).astype(np.int32))
        self._targets, self._follow = Track(self._targets_at, self._moves), Track(_follow_at)
        self.tracks = self._targets, self._follow
        if (partner := joint_partner(obj)) is not None:
            self._joint = _joint(obj, partner, context)
            if obj.sinew.joint.to_animation and self._joint.stiffness:
                self._target = Track(MotorTarget(obj, partner, self._joint, context).at)
                self.tracks += (self._target,)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joint of the body with its partner, once the tracks are sampled."""
        if self._joint is None or self._target is None:
            return () if self._joint is None else (self._joint,)
        return (replace(self._joint, target=self._target.samples()),)

    def _targets_at(self, moment: EvaluatedFrame) -> np.ndarray:
        return moment.world(self._vertices)

    def _moves(self, moved: MovedObjects) -> bool:
        return moved.carries(self._obj, self._position)

    def springs(self) -> tuple[Spring, ...]:
        """Return the springs that pull the body to its animation. There are none if it is always a ragdoll."""
        if not self.tracks:
            return ()
        pull = [self._mass * (math.tau * pull_frequency(each)) ** 2 for each in self._follow.samples()]
        if not any(pull):
            return ()
        weights = np.ones(len(self._vertices))
        return (Spring("Animation", self._vertices, weights, self._targets.samples(), np.array(pull)),)


def _follow_at(moment: EvaluatedFrame) -> float:
    return clean(moment.obj.sinew.joint.follow) * clean(moment.obj.parent.data.sinew.follow)


def _check(obj: Any) -> None:
    same = bodies_of(obj.parent)[obj.parent_bone]
    if len(same) > 1:
        raise MeshError(
            f"“{same[0].name}” and “{same[1].name}” are both the body of the bone “{obj.parent_bone}”.",
            "Join them (Ctrl J), or remove Sinew from one.",
        )
    scales = np.linalg.svd(np.array(obj.parent.matrix_world)[:3, :3], compute_uv=False)
    if scales[0] - scales[-1] > SHEARED * scales[0]:
        raise MeshError(
            f"The armature “{obj.parent.name}” is scaled differently along its axes.",
            "Apply its scale (Ctrl A > Scale).",
        )


def _joint(obj: Any, partner: Any, context: Any) -> Joint:
    """Return the joint of a bone body with ``partner`` at the head of its bone, at the current frame."""
    armature = obj.parent.evaluated_get(context.evaluated_depsgraph_get())
    bone, settings = armature.pose.bones[obj.parent_bone], obj.sinew.joint
    freedom = freedom_of(bone, settings)
    world = object_to_world(armature, context.scene)
    posed, rest = np.array(bone.matrix.to_3x3().normalized()), rest_rotation(bone)
    axis = posed[:, freedom.axis if freedom.kind == HINGE else 1]
    limits, cone = _limits(obj, bone, freedom, axis, rest @ freedom.middle)
    # A reflection turns every rotation over.
    side = math.copysign(1.0, np.linalg.det(world[:3, :3]))
    turn = Matrix(world[:3, :3]) @ Matrix(posed) @ rest.inverted() @ Matrix(world[:3, :3]).inverted()
    return Joint(
        partner.name,
        freedom.kind,
        world[:3, :3] @ np.array(bone.head) + world[:3, 3],
        world[:3, :3] @ axis * side,
        limits,
        clean(settings.stiffness),
        cone=world[:3, :3] @ np.array(cone) * side,
        twist=freedom.twist if freedom.kind == BALL else None,
        offset=(0.0, 0.0, 0.0) if freedom.twist is None else tuple(turn.to_quaternion().to_exponential_map()),
    )


def _limits(
    obj: Any, bone: Any, freedom: Freedom, axis: np.ndarray, cone: Vector
) -> tuple[tuple[float, float] | None, Vector]:
    """Return the limits from the pose at the first frame on, and the middle of a ball's cone.

    A hinge's angle at that frame becomes 0. Raises TieError if the limits exclude the pose.
    """
    if freedom.limits is None and freedom.twist is None:
        return None, cone
    turn, outside = (rest_rotation(bone).inverted() @ bone.matrix.to_3x3().normalized()).to_quaternion(), 0.0
    low, high = limits = freedom.limits or FREE
    if freedom.kind == HINGE:
        now = _twist(turn, "XYZ"[freedom.axis])
        limits = low - now, high - now
        outside = max(low - now, now - high)
    elif freedom.limits is not None:
        outside = Vector(axis).angle(cone) - high
    if freedom.twist is not None:
        now = _twist(turn, "Y")
        outside = max(outside, freedom.twist[0] - now, now - freedom.twist[1])
    if outside > OUTSIDE:
        raise TieError(
            f"The limits of the bone “{bone.name}” exclude its pose at the first frame, by "
            f"{math.degrees(outside):.2g} degrees.",
            f"Pose the bone within them, or widen them on the bone or under Joint of “{obj.name}”.",
        )
    return limits if freedom.limits is not None else None, cone


def _twist(turn: Quaternion, axis: str) -> float:
    """Return the twist of a rotation about an axis, X, Y or Z, from -pi to pi."""
    return (turn.to_swing_twist(axis)[1] + math.pi) % math.tau - math.pi
