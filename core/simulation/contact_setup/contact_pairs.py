"""Contact parameters of each pair of bodies and colliders: contact or not, friction, gap and activation distance.

The friction of two bodies is the geometric mean of their coefficients. Their gap is the sum of their thicknesses. A
collider's friction applies to every body. Settings of a pair (``jobs/job/pair.py``) take precedence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...contact.barrier.barrier_potential import Barrier
from ...contact.barrier.barrier_set import ContactPairParameters
from ...contact.barrier.collision_mesh import CollisionMesh
from ...jobs.job.environment import Collider, Ground
from ...jobs.job.groups import are_tied, can_collide
from ...jobs.job.job import Job
from .collision_surfaces import ColliderSet, is_same

HALVINGS = 10
"""Maximum number of halvings of the activation distance for two surfaces that begin close to each other."""
FEW = 4.0
"""Largest number of halvings of the activation distance that does not slow down the steps."""
ROOM = 0.1
"""Least clearance of a pair, as a fraction of the activation distance.

The clearance is the distance at the first frame minus the gap. The gap of a pair with a smaller clearance is halved.
"""


class PairRequests(NamedTuple):
    """Contact parameters that the settings request for each pair of b bodies and colliders.

    Attributes
    ----------
    can_collide : (b,b) bool
    friction : (b,b), coefficient of friction
    gap : (b,b), m, distance kept in contact
    """

    can_collide: np.ndarray
    friction: np.ndarray
    gap: np.ndarray


def requested_pairs(jobs: Sequence[Job], colliders: ColliderSet) -> PairRequests:
    """Return the contact parameters that the settings request for each pair.

    Bodies come before colliders. Contact of tied pairs is left out; see :mod:`.tied_regions`.
    """
    bodies, n = [job.body for job in jobs], len(jobs)
    count = n + len(colliders.names)
    can_meet, gap = np.zeros((count, count), dtype=bool), np.zeros((count, count))
    own = np.array([body.contact.friction for body in bodies])
    friction = np.zeros((count, count))
    friction[:n, :n] = np.sqrt(own[:, None] * own)
    for k, body in enumerate(bodies):
        for j in range(k):
            can_meet[k, j] = can_collide(body, bodies[j]) and not are_tied(body, bodies[j])
            gap[k, j] = body.contact.thickness + bodies[j].contact.thickness
        for c, found in enumerate(colliders.found, start=n):
            is_tied = found.name in body.attached
            can_meet[c, k] = not is_tied and any(is_same(found, each) for each in body.colliders)
            gap[c, k], friction[c, k] = body.contact.thickness + _thickness(found), found.friction
    can_meet, gap = can_meet | can_meet.T, gap + gap.T
    friction = np.maximum(friction, friction.T)
    names = np.array([*(body.name for body in bodies), *colliders.names])
    raised = [0.0] * n + [each.thickness - _thickness(each) for each in colliders.found]
    for k, pair in ((k, pair) for k, body in enumerate(bodies) for pair in body.pairs):
        for j in np.flatnonzero(can_meet[k] & (names == pair.other)):
            if pair.friction is not None:
                friction[k, j] = friction[j, k] = pair.friction
            if pair.thickness is not None:
                gap[k, j] = gap[j, k] = max(pair.thickness - raised[j], 0.0)
    return PairRequests(can_meet, friction, gap)


def _thickness(found: Ground | Collider) -> float:
    """Return the distance, m, that a collider adds to the gap of a pair: 0 for a ground."""
    return 0.0 if isinstance(found, Ground) else found.thickness


def pair_parameters(
    requests: PairRequests, initial_distances: np.ndarray, distance: float, youngs_moduli: np.ndarray
) -> ContactPairParameters:
    """Return the contact parameters of all pairs, with smaller distances for pairs that begin close.

    The activation distance of a close pair, and if necessary the gap, is halved until the pair begins without contact
    forces.

    Each different activation distance needs a separate barrier. To save barriers, let k be the largest number of
    halvings, at most FEW, that any pair needs. All pairs that need fewer halvings get k halvings of the activation
    distance.

    Parameters
    ----------
    requests : requested parameters
    initial_distances : distances of the pairs at the first frame, (b,b), m; each must be above :func:`contact_distance`
    distance : activation distance of pairs that do not begin close, m
    youngs_moduli : Young's moduli of the bodies, (b,), Pa; inf for colliders
    """
    gap, room = requests.gap.copy(), initial_distances - requests.gap
    tight = requests.can_collide & (room < ROOM * distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        halved = np.maximum(np.ceil(np.log2(np.where(tight & (gap > 0.0), 2.0 * gap / initial_distances, 1.0))), 0.0)
        gap = np.where(tight, gap * 0.5**halved, gap)
        times = np.clip(np.ceil(np.log2(distance / np.maximum(initial_distances - gap, 0.0))), 0.0, HALVINGS)
    times = np.where(requests.can_collide, times, 0.0)
    times = np.maximum(times, times[times <= FEW].max(initial=0.0))
    stiffness = np.minimum(youngs_moduli[:, None], youngs_moduli)
    return ContactPairParameters(requests.friction, gap, distance * 0.5**times, stiffness)


def contact_distance(distance: float) -> float:
    """Return the distance, m, below which two surfaces count as touching at the first frame.

    ``distance``, m: activation distance. Contact forces act on two surfaces that are closer than their gap plus the
        activation distance.
    """
    return distance * 0.5 ** (HALVINGS - 1)


def initial_gaps(surfaces: CollisionMesh, first: np.ndarray, requests: PairRequests, distance: float) -> np.ndarray:
    """Return the distance of each pair of bodies and colliders at the first frame, (b,b), m.

    The distance is inf for pairs without contact. It is also inf for pairs farther apart than their gap plus the
    activation distance.

    ``first`` (s,3), m: vertices of all ``surfaces`` at the first frame.
    ``distance``, m: activation distance.
    """
    count = len(requests.can_collide)
    initial_distances = np.full((count, count), np.inf)
    low = np.array([first[surfaces.body_ids == k].min(axis=0) for k in range(count)])
    high = np.array([first[surfaces.body_ids == k].max(axis=0) for k in range(count)])
    for i, j in np.argwhere(np.triu(requests.can_collide, 1)):
        reach = requests.gap[i, j] + distance
        if (low[i] - reach > high[j]).any() or (low[j] - reach > high[i]).any():
            continue
        both = np.isin(surfaces.body_ids, (i, j))
        pair = surfaces._replace(self_contact_bodies=()).of_vertices(both)
        initial_distances[i, j] = initial_distances[j, i] = Barrier(pair, reach, 1.0, 0.0, 1.0).smallest_distance(
            first[both]
        )
    return initial_distances
