"""Surfaces that never cross: the barrier and friction of incremental potential contact (Li et al. 2020, "Incremental
Potential Contact"), and how far they may move, by ipctk. No other file knows that library.

The barrier is in physical units (Huang et al. 2024): ``stiffness`` is a pressure, Pa, whatever the mesh and the
distance from which surfaces push. One thread: with two the same step has other bits each time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ipctk
import numpy as np
import scipy.sparse as sp

MOST_CCD = 1000
"""Iterations of additive continuous collision detection for a pair: uncapped, one that hardly moves took minutes."""

SAFE = 0.9
"""Of the way up to a touch, what is taken."""

ON_WAY = 1e-6
"""Of the distance from which surfaces push: as near as that to a way is on it; what is missed then hardly pushes."""

ipctk.set_num_threads(1)
ipctk.set_logger_level(ipctk.error)


class Surfaces(NamedTuple):
    """What touches: ``rest`` (s,3) m, ``faces`` (f,3); ``body`` (s,), a number a body, of which those in ``selves``
    meet themselves; ``given`` (s,), whether a vertex is where it is told, which two of such never meet for.
    """

    rest: np.ndarray
    faces: np.ndarray
    body: np.ndarray
    given: np.ndarray
    selves: tuple[int, ...] = ()


class Barrier:
    """The potential of distances under ``distance`` m between surfaces, and of friction with ``mu``.

    Positions (s,3) are those of the surfaces' vertices. Nothing is to be asked where they cross.
    """

    def __init__(self, surfaces: Surfaces, distance: float, stiffness: float, mu: float, slip: float) -> None:
        edges = ipctk.edges(surfaces.faces.astype(np.int32))
        self.mesh = ipctk.CollisionMesh(np.asfortranarray(surfaces.rest), edges, surfaces.faces.astype(np.int32))
        alone = len(surfaces.body) + np.arange(len(surfaces.body))
        own = np.where(np.isin(surfaces.body, surfaces.selves), alone, surfaces.body)
        given = np.where(surfaces.given, 0, alone)
        filters = [ipctk.make_vertex_patches_filter(ids.astype(np.int32)) for ids in (own, given)]
        self.mesh.can_collide = filters[0] & filters[1]
        self.surfaces, self.distance, self.mu = surfaces, distance, mu
        self._barrier = ipctk.BarrierPotential(distance, stiffness, use_physical_barrier=True)
        self._friction = ipctk.FrictionPotential(slip)
        self._ccd = ipctk.AdditiveCCD(MOST_CCD, SAFE)
        self._rubs = ipctk.TangentialCollisions()
        self._near: Any = None
        self._found: tuple[np.ndarray, Any] | None = None

    def crosses(self, y: np.ndarray) -> bool:
        """Whether surfaces cross."""
        return ipctk.has_intersections(self.mesh, _columns(y))

    def longest(self, y: np.ndarray, dy: np.ndarray) -> float:
        """The part of a way, at most 1, that is free; what is asked next along it is found quickly."""
        ahead = _columns(y + dy)
        self._near, self._found = ipctk.Candidates(), None
        self._near.build(self.mesh, _columns(y), ahead, 0.5 * self.distance)
        self._way = y, dy
        return self._near.compute_collision_free_stepsize(self.mesh, _columns(y), ahead, 0.0, self._ccd)

    def touching(self, y: np.ndarray) -> Any:
        """The pairs that are nearer than the distance."""
        if self._found is None or not np.array_equal(self._found[0], y):
            found = ipctk.NormalCollisions()
            found.use_area_weighting = True
            if self._near is not None and self._is_on_way(y):
                found.build(self._near, self.mesh, _columns(y), self.distance)
            else:
                found.build(self.mesh, _columns(y), self.distance)
            self._found = y.copy(), found
        return self._found[1]

    def _is_on_way(self, y: np.ndarray) -> bool:
        """Whether y lies on the way that was asked for last, whose pairs are known."""
        start, dy = self._way
        part = float(np.sum((y - start) * dy)) / max(float(np.sum(dy * dy)), np.finfo(float).tiny)
        off = np.abs(y - start - min(max(part, 0.0), 1.0) * dy).max()
        return bool(off <= ON_WAY * self.distance)

    def value(self, y: np.ndarray) -> float:
        """Of the barrier, J."""
        return self._barrier(self.touching(y), self.mesh, _columns(y))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """(s,3), N."""
        return self._barrier.gradient(self.touching(y), self.mesh, _columns(y)).reshape(-1, 3)

    def hessian(self, y: np.ndarray) -> sp.csc_matrix:
        """Semi-definite, (3s,3s), N/m."""
        psd = ipctk.PSDProjectionMethod.CLAMP
        return self._barrier.hessian(self.touching(y), self.mesh, _columns(y), psd)

    def lag(self, y: np.ndarray) -> None:
        """Take the normal forces, and the planes that things slide in, as they are at y."""
        self._rubs = ipctk.TangentialCollisions()
        if self.mu > 0.0:
            self._rubs.build(self.mesh, _columns(y), self.touching(y), self._barrier, self.mu)

    def friction(self, v: np.ndarray) -> float:
        """The rate of dissipation's potential at velocities (s,3) m/s, W."""
        return self._friction(self._rubs, self.mesh, _columns(v))

    def friction_gradient(self, v: np.ndarray) -> np.ndarray:
        """(s,3), N."""
        return self._friction.gradient(self._rubs, self.mesh, _columns(v)).reshape(-1, 3)

    def friction_hessian(self, v: np.ndarray) -> sp.csc_matrix:
        """(3s,3s), N s/m."""
        return self._friction.hessian(self._rubs, self.mesh, _columns(v), ipctk.PSDProjectionMethod.CLAMP)

    def smallest_distance(self, y: np.ndarray) -> float:
        """Between what is nearer than the distance, m; inf where nothing is."""
        found = self.touching(y)
        return float(np.sqrt(found.compute_minimum_distance(self.mesh, _columns(y)))) if len(found) else np.inf


def _columns(y: np.ndarray) -> np.ndarray:
    return np.asfortranarray(y, dtype=np.float64)
