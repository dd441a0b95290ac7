"""Joints of the bodies of a group with each other, with colliders and with the world, as loads of their islands.

All joints of an island are one load: springs between embedded points (:mod:`...mechanics.ties.joint_springs`). With an
arm r, the unit axis a and two unit vectors u, v across it, the points relative to the joint's position are

- shared: 0 for a ball, r a and -r a for a hinge, four corners of a regular tet for a weld;
- turned to a target angle: r u and -r u of the body and the same points of the partner, turned by the angle about a.
  Springs of k = kappa / (2 r²) have the torque kappa sin(angle);
- limited, with the middle and half of the limits: r u of the body, and of the partner r u turned to the middle, by a
  rope of length 2 r sin(half / 2); beyond a right angle by a strut of length 2 r cos(half / 2) to the opposite point.
  Both have leverage at the limit, and an angle is not stored.

Twists of balls are limited by a second load (:mod:`...mechanics.ties.twist_limits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...foundation.errors import TieError
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.rigid_tet import CORNERS
from ...jobs.job.job import Job
from ...jobs.job.joint import BALL, HINGE, WELD, Joint
from ...mechanics.forces.step_potential import Load
from ...mechanics.ties.joint_springs import JointSprings
from ...mechanics.ties.twist_limits import TwistLimits
from ...methods.subspaces.space import Space
from ..contact_setup.collision_surfaces import ColliderSet
from ..preparation.loads import track_at
from ..preparation.prepare import Prepared
from .collider_points import ColliderPoints

FIRM = 1e5
"""Stiffness of a joint's springs, in units of the mass of both bodies over the square of the time step.

Under gravity g the gap is at most ``g h² / FIRM``: 2e-7 m at 1/24 s.
"""

LONGEST = 1.0 / 24.0
"""Longest time step, s, in that unit: steps of statics may be longer, and their loads are not smaller."""


class _GroupJoint(NamedTuple):
    """A joint with its springs.

    ``bodies``: index of the body, and of its partner or None. ``collider``: index of the collider, or None. ``points``
    (p,2,3), m: points of the body and of the partner at rest; ``stiffness`` (p,), N/m; ``lengths`` (p,), m; ``sides``
    (p,). ``turned`` (p,) bool: True for points of the partner that turn to the target. ``torsion``, N m/rad: stiffness
    of a limit of the twist.
    """

    joint: Joint
    bodies: tuple[int, int | None]
    collider: int | None
    points: np.ndarray
    stiffness: np.ndarray
    lengths: np.ndarray
    sides: np.ndarray
    turned: np.ndarray
    torsion: float

    @property
    def limits_twist(self) -> bool:
        """True if the joint is a ball with limits of its twist."""
        return self.joint.kind == BALL and self.joint.twist is not None and np.ptp(self.joint.twist) < 2.0 * np.pi

    @property
    def directions(self) -> np.ndarray:
        """Two unit vectors across the axis at rest, (2,3), which form a right-handed frame with it."""
        axis = self.joint.axis / np.linalg.norm(self.joint.axis)
        across = _across(axis)
        return np.array([across, np.cross(axis, across)])

    @property
    def partner_directions(self) -> np.ndarray:
        """The vectors of :attr:`directions` at a twist and a swing of 0, (2,3)."""
        return Rotation.from_rotvec(self.joint.offset).inv().apply(self.directions)

    def partner(self, target: np.ndarray) -> np.ndarray:
        """Return the points of the partner at rest, (p,3) m, for a ``target``: an angle, or a rotation vector, rad."""
        found, at = self.points[:, 1].copy(), self.joint.position
        if not self.turned.any():
            return found
        axis = self.joint.axis / np.linalg.norm(self.joint.axis)
        turn = Rotation.from_rotvec(target if target.shape else target * axis)
        found[self.turned] = turn.apply(found[self.turned] - at) + at
        return found


class GroupJoints:
    """Joints of the prepared bodies of several jobs.

    Each job has one body. Raises TieError for a joint without a partner in the group.

    Attributes
    ----------
    pairs : pairs (a, b), a < b, of indices of jointed bodies
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared], colliders: ColliderSet) -> None:
        self._prepared, self._colliders, self._frames = prepared, colliders, jobs[0].frame_count
        self._jobs, self._names = jobs, [job.body.name for job in jobs]
        self._joints = [self._found(joint, k) for k, job in enumerate(jobs) for joint in job.body.joints]
        self._are_constant = all(
            each.collider is None and len(each.joint.strength) == len(each.joint.target) == 1 for each in self._joints
        )
        self._made: dict[tuple[int, ...], tuple[bytes, list[Load]]] = {}
        self.pairs = {tuple(sorted(each.bodies)) for each in self._joints if each.bodies[1] is not None}

    def _found(self, joint: Joint, k: int) -> _GroupJoint:
        other = self._names.index(joint.other) if joint.other and joint.other in self._names else None
        collider = None
        if other is None and joint.other:
            if joint.other not in self._colliders.names:
                raise TieError(
                    f"“{self._names[k]}” has a joint with “{joint.other}”, which is neither a body in the bake nor a "
                    "collider of it.",
                    f"Make “{joint.other}” a soft body or a collider of “{self._names[k]}”, or choose another partner.",
                )
            collider = self._colliders.names.index(joint.other)
        both = k, k if other is None else other
        mass = sum(float(self._prepared[each].model.masses.sum()) for each in both)
        arm = 0.5 * min(self._jobs[each].body.surface.size for each in both)
        firm = FIRM * mass / min(self._jobs[k].time_step, LONGEST) ** 2
        return _GroupJoint(joint, (k, other), collider, *_springs(joint, arm, firm), firm * arm**2)

    def loads(self, space: Space, bodies: Sequence[int], at: int, part: float) -> Iterator[Load]:
        """Yield the loads of the joints of an island at a time: their springs, and the limits of twists.

        ``space``: merged space of the ``bodies`` (indices). ``at``, ``part``: the time, as in ``track_at``.
        """
        own = [each for each in self._joints if each.bodies[0] in bodies]
        if not own:
            return
        known = self._made.get(tuple(bodies))
        if known is not None and self._are_constant:
            yield from known[1]
            return
        strength = [self._value(each.joint.strength, at, part) for each in own]
        partners = [
            self._followed(each, each.partner(self._value(each.joint.target, at, part)), at, part) for each in own
        ]
        twists = [k for k, each in enumerate(own) if each.limits_twist]
        fixed = [own[k] for k in twists if own[k].bodies[1] is None]
        turned = [self._vectors(each, at, part) for each in fixed]
        key = np.concatenate([strength, *(each.ravel() for each in (*partners, *turned))]).tobytes()
        if known is None or known[0] != key:
            made: list[Load] = [self._load(space, bodies, own, strength, partners)]
            if twists:
                strong = [strength[k] for k in twists]
                made.append(self._twists(space, bodies, [own[k] for k in twists], strong, turned))
            self._made[tuple(bodies)] = known = key, made
        yield from known[1]

    def _followed(self, each: _GroupJoint, points: np.ndarray, at: int, part: float) -> np.ndarray:
        """Return ``points`` (p,3), m, of the partner at rest, moved with it if it is a collider."""
        if each.collider is None:
            return points
        first, now = self._colliders.tracks[each.collider][0], self._collider(each.collider, at, part)
        return ColliderPoints.of(points, first, self._colliders.triangles[each.collider]).positions(now)

    def _vectors(self, each: _GroupJoint, at: int, part: float) -> np.ndarray:
        """Return the directions (2,3) of a partner that is not a body."""
        points = np.vstack([np.zeros(3), each.partner_directions]) + each.joint.position
        moved = self._followed(each, points, at, part)
        return moved[1:] - moved[0]

    def _twists(
        self,
        space: Space,
        bodies: Sequence[int],
        own: Sequence[_GroupJoint],
        strength: Sequence[np.ndarray],
        fixed: Sequence[np.ndarray],
    ) -> TwistLimits:
        first = np.cumsum([0, *(len(self._prepared[k].model.mesh.tets) for k in bodies)])
        start = {k: int(at) for k, at in zip(bodies, first)}

        def embedded(k: int, each: _GroupJoint, vectors: np.ndarray) -> Embedding:
            return _embedded_vectors(self._prepared[k].model.mesh, each.joint.position, vectors).shifted(start[k])

        order = sorted(range(len(own)), key=lambda k: own[k].bodies[1] is None)
        firsts = [embedded(own[k].bodies[0], own[k], own[k].directions) for k in order]
        others = [own[k] for k in order if own[k].bodies[1] is not None]
        seconds = [embedded(each.bodies[1], each, each.partner_directions) for each in others]
        ranges = np.array([own[k].joint.twist for k in order])
        return TwistLimits(
            space.points(Embedding.joined([*firsts, *seconds])),
            np.reshape(fixed, (-1, 2, 3)),
            np.array([strength[k] * own[k].torsion for k in order]),
            ranges.mean(axis=1),
            0.5 * np.ptp(ranges, axis=1),
        )

    def _load(
        self,
        space: Space,
        bodies: Sequence[int],
        own: Sequence[_GroupJoint],
        strength: Sequence[float],
        partners: Sequence[np.ndarray],
    ) -> JointSprings:
        first = np.cumsum([0, *(len(self._prepared[k].model.mesh.tets) for k in bodies)])
        start = {k: int(at) for k, at in zip(bodies, first)}

        def embedded(k: int, points: np.ndarray) -> Embedding:
            return embed(points, self._prepared[k].model.mesh).shifted(start[k])

        # Springs to fixed points come last.
        order = sorted(range(len(own)), key=lambda k: own[k].bodies[1] is None)
        firsts = [embedded(own[k].bodies[0], own[k].points[:, 0]) for k in order]
        seconds = [embedded(own[k].bodies[1], partners[k]) for k in order if own[k].bodies[1] is not None]
        fixed = [partners[k] for k in order if own[k].bodies[1] is None]
        return JointSprings(
            space.points(Embedding.joined([*firsts, *seconds])),
            np.concatenate([np.zeros((0, 3)), *fixed]),
            np.concatenate([strength[k] * own[k].stiffness for k in order]),
            np.concatenate([own[k].lengths for k in order]),
            np.concatenate([own[k].sides for k in order]),
        )

    def _value(self, track: np.ndarray, at: int, part: float) -> np.ndarray:
        return np.asarray(track[0] if len(track) == 1 else track_at(track, self._frames, at, part))

    def _collider(self, number: int, at: int, part: float) -> np.ndarray:
        return self._colliders.surface_at(number, self._frames, at, part)


def _springs(joint: Joint, arm: float, firm: float) -> tuple[np.ndarray, ...]:
    """Return points, stiffness, lengths, sides and the mask ``turned`` of a joint's springs (:class:`_GroupJoint`).

    ``arm``, m: distance of the points from the joint. ``firm``, N/m: stiffness of the joint.
    """
    axis = joint.axis / np.linalg.norm(joint.axis)
    across = _across(axis)
    corners = CORNERS / np.sqrt(3.0)
    shared = {BALL: np.zeros((1, 3)), HINGE: np.array([axis, -axis]), WELD: corners}[joint.kind]
    rows = [(each, each, firm, 0.0, 1.0, False) for each in shared]
    if joint.stiffness and joint.kind == HINGE:
        rows += [(each, each, joint.stiffness / (2.0 * arm**2), 0.0, 1.0, True) for each in (across, -across)]
    elif joint.stiffness and joint.kind == BALL:
        # Turned by an angle, four corners have the energy 8/3 k r² (1 - cos).
        rows += [(each, each, 0.375 * joint.stiffness / arm**2, 0.0, 1.0, True) for each in corners]
    if joint.limits is not None and joint.kind != WELD:
        low, high = joint.limits if joint.kind == HINGE else (-joint.limits[1], joint.limits[1])
        half, own = 0.5 * (high - low), across if joint.kind == HINGE else axis
        middle = Rotation.from_rotvec(0.5 * (low + high) * axis).apply(own)
        if joint.cone is not None and joint.kind == BALL:
            middle = joint.cone / np.linalg.norm(joint.cone)
        if half <= 0.5 * np.pi:
            rows.append((own, middle, firm, 2.0 * arm * np.sin(0.5 * half), 1.0, False))
        else:
            rows.append((own, -middle, firm, 2.0 * arm * np.cos(0.5 * half), -1.0, False))
    first, second, stiffness, lengths, sides, turned = (np.array(each) for each in zip(*rows))
    points = joint.position + arm * np.stack([first, second], axis=1)
    return points, stiffness, lengths, sides, turned


def _across(axis: np.ndarray) -> np.ndarray:
    """Return a unit vector across a unit vector ``axis`` (3,)."""
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return across / np.linalg.norm(across)


def _embedded_vectors(mesh: TetMesh, at: np.ndarray, vectors: np.ndarray) -> Embedding:
    """Return vectors (p,3), m, that deform with the tet at a point, as points whose weights have the sum 0."""
    tet = embed(at[None], mesh).tet_indices
    corners = np.vstack([mesh.rest_positions[mesh.tets[tet[0]]].T, np.ones(4)])
    shares = np.linalg.solve(corners, np.vstack([vectors.T, np.zeros(len(vectors))])).T
    return Embedding(np.repeat(tet, len(vectors)), shares, np.zeros(len(vectors), dtype=bool))
