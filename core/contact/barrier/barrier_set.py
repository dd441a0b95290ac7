"""Set of IPC barriers with different gaps (dmin) and activation distances (dhat) per pair of bodies.

Pairs of bodies with equal gap and activation distance share a barrier. The stiffness of a shared barrier is the
smallest stiffness of these pairs. Each body with self-contact has a separate barrier.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...mechanics.assembly.stencils import Stencils, joined_stencils
from ..friction import TangentialCollisions, no_tangential_collisions
from .barrier_potential import Barrier
from .collision_mesh import CollisionMesh


class ContactPairParameters(NamedTuple):
    """Contact parameters per pair of b bodies and colliders, as symmetric matrices (b,b).

    Attributes
    ----------
    friction : Coulomb's coefficient
    gap : m, smallest permitted distance (dmin)
    distance : m, activation distance (dhat): the barrier acts at distances from ``gap`` to ``gap + distance``
    stiffness : Pa, barrier stiffness: Young's modulus of the softer body
    """

    friction: np.ndarray
    gap: np.ndarray
    distance: np.ndarray
    stiffness: np.ndarray


class _Part(NamedTuple):
    """Barrier on some of the surfaces, and the indices (k,) of its vertices among all vertices."""

    barrier: Barrier
    kept: np.ndarray


class BarrierSet:
    """IPC barriers between bodies and colliders, with the interface of :class:`Barrier`.

    Methods take the positions y (s,3), m, of all surface vertices.

    Parameters
    ----------
    surfaces : collision surfaces of all bodies and colliders
    between : contact parameters per pair of bodies
    pairs : (b,b) bool, selects the pairs of different bodies that collide
    eps_v : m/s, slip velocity at which friction reaches the friction coefficient times the normal force
    """

    def __init__(
        self, surfaces: CollisionMesh, between: ContactPairParameters, pairs: np.ndarray, eps_v: float
    ) -> None:
        self.surfaces, self.between, self.eps_v = surfaces, between, eps_v
        self.parts: list[_Part] = []
        alone = surfaces._replace(self_contact_bodies=())
        upper = np.argwhere(np.triu(pairs, 1))
        kinds = np.column_stack([between.gap[tuple(upper.T)], between.distance[tuple(upper.T)]])
        for gap, distance in np.unique(kinds, axis=0):
            chosen = upper[(kinds == (gap, distance)).all(axis=1)]
            collides = np.zeros_like(pairs)
            collides[tuple(chosen.T)] = collides[tuple(chosen[:, ::-1].T)] = True
            softest = float(between.stiffness[collides].min())
            self._add(alone, np.unique(chosen), (distance, softest, between.friction, eps_v, gap, collides))
        for k in surfaces.self_contact_bodies:
            own = surfaces._replace(self_contact_bodies=(k,))
            numbers = between.distance[k, k], between.stiffness[k, k], between.friction, eps_v, between.gap[k, k]
            self._add(own, np.array([k]), tuple(numbers))

    @property
    def dhat(self) -> float:
        """Largest activation distance of the barriers, m. 1 without barriers."""
        return max((part.barrier.dhat for part in self.parts), default=1.0)

    @property
    def mu(self) -> float:
        """Largest friction coefficient of the barriers. 0 without barriers."""
        return max((part.barrier.mu for part in self.parts), default=0.0)

    def _add(self, surfaces: CollisionMesh, bodies: np.ndarray, numbers: tuple[Any, ...]) -> None:
        chosen = np.isin(surfaces.body_ids, bodies)
        self.parts.append(_Part(Barrier(surfaces.of_vertices(chosen), *numbers), np.flatnonzero(chosen)))

    def of_bodies(self, bodies: Sequence[int]) -> BarrierSet:
        """Return the set of barriers restricted to some bodies and colliders.

        Forces between two bodies are the same as in the full set. ``bodies``: ids of the bodies and colliders.
        """
        chosen = np.isin(self.surfaces.body_ids, bodies)
        if chosen.all():
            return self
        number, some = np.cumsum(chosen) - 1, copy(self)
        each = [
            (part.barrier.of_vertices(chosen[part.kept]), number[part.kept[chosen[part.kept]]]) for part in self.parts
        ]
        some.surfaces, some.parts = (
            self.surfaces.of_vertices(chosen),
            [_Part(*one) for one in each if not one[0].is_empty],
        )
        return some

    def near_pairs(self, y: np.ndarray, ahead: np.ndarray, island: np.ndarray) -> set[tuple[int, int]]:
        """Return the pairs of ids of bodies that may collide on straight paths from y to ``ahead``.

        Pairs of bodies in the same island are omitted. Bodies with a negative label are omitted, too.

        ``y``, ``ahead`` (s,3), m: surface vertices at the beginning and the end.
        ``island`` (b,): per body, the label of its island, a group of bodies that are solved together.
        """
        return set().union(*(part.barrier.near_pairs(y[part.kept], ahead[part.kept], island) for part in self.parts))

    def clear_candidates(self) -> None:
        """Clear the cached collision candidates of all barriers.

        So results do not depend on earlier calls.
        """
        for part in self.parts:
            part.barrier.clear_candidates()

    def has_intersections(self, y: np.ndarray) -> bool:
        """Return True if any surfaces intersect.

        ``y`` (s,3), m: surface vertices.
        """
        return any(part.barrier.has_intersections(y[part.kept]) for part in self.parts)

    def collision_free_step_size(self, y: np.ndarray, dy: np.ndarray) -> float:
        """Return a step size along displacements, at most 1, that is free of collisions.

        ``y`` (s,3), m: surface vertices.
        ``dy`` (s,3), m: displacements.
        """
        return min(
            (part.barrier.collision_free_step_size(y[part.kept], dy[part.kept]) for part in self.parts), default=1.0
        )

    def collision_count(self, y: np.ndarray) -> int:
        """Return the number of active pairs at vertex positions y (s,3), m.

        An active pair is closer than the sum of gap and activation distance of its barrier.
        """
        return sum(part.barrier.collision_count(y[part.kept]) for part in self.parts)

    def value(self, y: np.ndarray) -> float:
        """Return the barrier potential, J, at vertex positions y (s,3), m."""
        return sum(part.barrier.value(y[part.kept]) for part in self.parts)

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the barrier potential's gradient, (s,3), N, at vertex positions y (s,3), m."""
        out = np.zeros_like(y)
        for part in self.parts:
            out[part.kept] += part.barrier.gradient(y[part.kept])
        return out

    def hessian(self, y: np.ndarray, projected: bool = True) -> Stencils:
        """Return the barrier's Hessian, N/m, at vertex positions y (s,3), m.

        ``projected``: True to make the block of each pair positive semi-definite.
        """
        none = Stencils(np.zeros((0, 4), dtype=np.int64), np.zeros((0, 4, 3, 4, 3)))
        each = [(part.kept, part.barrier.hessian(y[part.kept], projected)) for part in self.parts]
        return joined_stencils(
            [none, *(own._replace(points=np.where(own.points >= 0, kept[own.points], -1)) for kept, own in each)]
        )

    def tangential_collisions(self, y: np.ndarray) -> TangentialCollisions:
        """Return the friction data of the active pairs of all barriers.

        ``y`` (s,3), m: surface vertices.
        """
        each = [(part, part.barrier.tangential_collisions(y[part.kept])) for part in self.parts]
        if not each:
            return no_tangential_collisions(len(y))
        shares = [
            sp.csr_matrix(
                (
                    own.slip_matrix.data,
                    part.kept[own.slip_matrix.indices],
                    own.slip_matrix.indptr,
                ),
                (len(own.friction_bounds), len(y)),
            )
            for part, own in each
        ]
        _, *others = zip(*(own for _, own in each))
        return TangentialCollisions(sp.vstack(shares, format="csr"), *(np.concatenate(other) for other in others))

    def smallest_distance(self, y: np.ndarray) -> float:
        """Return the smallest distance of the active pairs, m, or inf without active pairs.

        ``y`` (s,3), m: surface vertices.
        """
        return min((part.barrier.smallest_distance(y[part.kept]) for part in self.parts), default=np.inf)

    def normalized_gap(self, y: np.ndarray) -> float:
        """Return the smallest normalized gap of the active pairs, or inf without active pairs.

        The normalized gap is (distance - dmin) / dhat, with the gap dmin and the activation distance dhat of the
        barrier.

        ``y`` (s,3), m: surface vertices.
        """
        return min((part.barrier.normalized_gap(y[part.kept]) for part in self.parts), default=np.inf)

    def collision_stencils(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertex indices and the normalized gaps of the k active pairs of all barriers.

        The vertex indices are (k,4), -1 if unused. The normalized gaps (k,) are (distance - dmin) / dhat, with the gap
        dmin and the activation distance dhat of the barrier.

        ``y`` (s,3), m: surface vertices.
        """
        corners, away = [np.zeros((0, 4), dtype=np.int64)], [np.zeros(0)]
        for barrier, kept in self.parts:
            own, distances = barrier.collision_stencils(y[kept])
            corners.append(np.where(own >= 0, kept[own], -1))
            away.append(distances)
        return np.concatenate(corners), np.concatenate(away)
