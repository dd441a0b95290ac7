"""What is between each two of bodies that meet and what they run into: whether they meet, how they rub, how far apart
they keep, and from where they push.

Two bodies rub with the geometric mean of their coefficients, and keep the sum of their thicknesses apart; a collider's
own friction is that of whatever runs into it. What a body tells of a pair (``job/pair.py``) goes before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..contact.barriers import ContactPairParameters
from ..contact.collision_mesh import CollisionMesh
from ..contact.ipc import Barrier
from ..job.groups import do_meet
from ..job.job import Job
from ..job.surroundings import Collider, Ground
from .meeting_surfaces import ColliderSet, is_same

HALVINGS = 10
"""Of the distance from which surfaces push, for two that begin near each other: what is nearer still touches."""
FEW = 4.0
"""Halvings by which steps take as long as without."""
ROOM = 0.1
"""Of that distance, what two begin farther apart than the gap they are to keep, or they keep a smaller one."""


class PairRequests(NamedTuple):
    """Which meet, (b,b) bool, with what friction (b,b), and what gap is wanted between them, (b,b) m."""

    can_collide: np.ndarray
    friction: np.ndarray
    gap: np.ndarray


def requested_pairs(jobs: Sequence[Job], colliders: ColliderSet) -> PairRequests:
    """As the bodies, the colliders and what bodies tell of pairs have it."""
    bodies, n = [job.body for job in jobs], len(jobs)
    count = n + len(colliders.names)
    meets, gap = np.zeros((count, count), dtype=bool), np.zeros((count, count))
    own = np.array([body.meets.friction for body in bodies])
    friction = np.zeros((count, count))
    friction[:n, :n] = np.sqrt(own[:, None] * own)
    for k, body in enumerate(bodies):
        for j in range(k):
            meets[k, j] = do_meet(body, bodies[j])
            gap[k, j] = body.meets.thickness + bodies[j].meets.thickness
        for c, found in enumerate(colliders.found, start=n):
            meets[c, k] = any(is_same(found, each) for each in body.colliders)
            gap[c, k], friction[c, k] = body.meets.thickness + _thickness(found), found.friction
    meets, gap = meets | meets.T, gap + gap.T
    friction = np.maximum(friction, friction.T)
    names = np.array([*(body.name for body in bodies), *colliders.names])
    raised = [0.0] * n + [each.thickness - _thickness(each) for each in colliders.found]
    for k, pair in ((k, pair) for k, body in enumerate(bodies) for pair in body.pairs):
        for j in np.flatnonzero(meets[k] & (names == pair.other)):
            if pair.friction is not None:
                friction[k, j] = friction[j, k] = pair.friction
            if pair.thickness is not None:
                gap[k, j] = gap[j, k] = max(pair.thickness - raised[j], 0.0)
    return PairRequests(meets, friction, gap)


def _thickness(found: Ground | Collider) -> float:
    """What of it is kept as a gap, m: a ground is moved up by its own instead, which takes no barrier of its own."""
    return 0.0 if isinstance(found, Ground) else found.thickness


def pair_parameters(
    want: PairRequests, apart: np.ndarray, distance: float, softest: np.ndarray
) -> ContactPairParameters:
    """What is kept by surfaces that begin ``apart`` (b,b) m and are not nearer than :func:`touching` says; ``distance``
    m from which they push where they begin farther apart; ``softest`` (b,) Pa of bodies, inf of colliders.

    What begins nearer pushes from there, so that it begins at rest, and keeps a smaller gap where that leaves no room.
    Both are halved as often as needed: few values, of which each takes a barrier of its own. Where the distance of some
    is halved but a ``FEW`` times, that of all is.
    """
    gap, room = want.gap.copy(), apart - want.gap
    tight = want.can_collide & (room < ROOM * distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        halved = np.maximum(np.ceil(np.log2(np.where(tight & (gap > 0.0), 2.0 * gap / apart, 1.0))), 0.0)
        gap = np.where(tight, gap * 0.5**halved, gap)
        times = np.clip(np.ceil(np.log2(distance / np.maximum(apart - gap, 0.0))), 0.0, HALVINGS)
    times = np.where(want.can_collide, times, 0.0)
    times = np.maximum(times, times[times <= FEW].max(initial=0.0))
    stiffness = np.minimum(softest[:, None], softest)
    return ContactPairParameters(want.friction, gap, distance * 0.5**times, stiffness)


def contact_distance(distance: float) -> float:
    """From how near on, m, two touch and cannot begin so."""
    return distance * 0.5 ** (HALVINGS - 1)


def initial_gaps(surfaces: CollisionMesh, first: np.ndarray, want: PairRequests, distance: float) -> np.ndarray:
    """How far apart each two that meet are with the surfaces at (s,3) m, (b,b) m; inf where that is more than what
    matters.
    """
    count = len(want.can_collide)
    apart = np.full((count, count), np.inf)
    low = np.array([first[surfaces.body_ids == k].min(axis=0) for k in range(count)])
    high = np.array([first[surfaces.body_ids == k].max(axis=0) for k in range(count)])
    for i, j in np.argwhere(np.triu(want.can_collide, 1)):
        reach = want.gap[i, j] + distance
        if (low[i] - reach > high[j]).any() or (low[j] - reach > high[i]).any():
            continue
        both = np.isin(surfaces.body_ids, (i, j))
        pair = surfaces._replace(self_contact_bodies=()).of_vertices(both)
        apart[i, j] = apart[j, i] = Barrier(pair, reach, 1.0, 0.0, 1.0).smallest_distance(first[both])
    return apart
