"""Sliding contact without separation: points of one body stay on the surface of another, and slide along it.

The point y_i is projected on the surface along the normals n_i that are interpolated between its vertices
(:mod:`.phong_projection`). Its projection z_i is the combination of a triangle's corners with the barycentric weights
b. The potential is

    1/2 sum_i k_i ((y_i - z_i) . n_i - d_i)²

where d_i is the signed distance at rest. Triangle, weights and normals are lagged: they are those of the last iteration
of the solver (:meth:`Slide.update`), so that the potential of an iteration is quadratic with the Hessian ``k n n^T``.
The neglected derivative of n is multiplied by the distance less d_i, which nearly vanishes at the solution. Projection
and normal vary continuously across edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assembly.stencils import Stencils, spring_stencils
from ..forces.point_stencils import PointStencils
from ..forces.step_potential import Motion
from .phong_projection import project

SETTLED = 1e-6
"""Largest change of a point's gap along its normal without an update, relative to an edge of the triangle.

The change is that of the vector. It vanishes where projection and normal change but the force does not, as on a plane
or at a solution without a gap.
"""

STEADY = 1e-4
"""Largest such change relative to the largest gap, where that is more: changes shrink linearly on facets."""


class Slide(PointStencils):
    """Points that slide on a surface, as the load of one step and its potential.

    Parameters
    ----------
    points : the p points, then the k vertices of the surface if it belongs to a body
    triangles : (t,3) indices of the vertices among the k
    stiffness : (p,) N/m; 0 disables a point
    distances : (p,) m, signed distance of the points from the surface at rest
    surface : (k,3) m, vertices of the surface at the end of the step if it belongs to a collider
    """

    def __init__(
        self,
        points: Any,
        triangles: np.ndarray,
        stiffness: np.ndarray,
        distances: np.ndarray,
        surface: np.ndarray | None = None,
    ) -> None:
        super().__init__(points)
        self._triangles, self._stiffness, self._rest, self._surface = triangles, stiffness, distances, surface
        self._corners, self._weights = np.zeros((len(stiffness), 3), dtype=np.int64), np.zeros((len(stiffness), 3))
        self._normals = np.zeros((len(stiffness), 3))

    def begin(self, motion: Motion) -> Slide:
        """Return the potential for the step, with the projections at the beginning of the step."""
        new = Slide(self._points, self._triangles, self._stiffness, self._rest, self._surface)
        y, surface = self._split(motion.x_prev)
        new._corners, new._weights, new._normals = project(y, surface, self._triangles)
        return new

    def update(self, positions: np.ndarray) -> bool:
        """Update the projections to ``positions`` (n,3), m. Return False if the forces hardly changed."""
        y, surface = self._split(positions)
        old, before = (self._corners, self._weights, self._normals), self.gaps(positions)[:, None] * self._normals
        self._corners, self._weights, self._normals = project(y, surface, self._triangles)
        acts, gaps = self._stiffness > 0.0, self.gaps(positions)
        change = np.linalg.norm(gaps[:, None] * self._normals - before, axis=1)[acts]
        size = np.linalg.norm(surface[self._corners[:, 1]] - surface[self._corners[:, 0]], axis=1)[acts]
        is_changed = bool((change > np.maximum(SETTLED * size, STEADY * np.abs(gaps[acts]).max(initial=0.0))).any())
        if not is_changed:
            self._corners, self._weights, self._normals = old
        return is_changed

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        return 0.5 * float(np.sum(self._stiffness * self.gaps(positions) ** 2))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        force = (self._stiffness * self.gaps(positions))[:, None] * self._normals
        p, forces = len(force), np.zeros((len(self._points), 3))
        forces[:p] = force
        if self._surface is None:
            np.subtract.at(forces, p + self._corners, self._weights[:, :, None] * force[:, None])
        return self._points.spread(forces)

    def gaps(self, positions: np.ndarray) -> np.ndarray:
        """Return the signed distances of the points from the surface less those at rest, (p,) m.

        ``positions`` (n,3), m: vertex positions, or the unknowns of a subspace.
        """
        y, surface = self._split(positions)
        away = y - np.einsum("pc,pci->pi", self._weights, surface[self._corners])
        return np.sum(away * self._normals, axis=1) - self._rest

    def _split(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, p = self._points.positions(positions), len(self._stiffness)
        return y[:p], y[p:] if self._surface is None else self._surface

    def _stencils(self, _positions: np.ndarray) -> Stencils:
        acts = np.flatnonzero(self._stiffness)
        p, w, n = len(self._stiffness), self._weights[acts], self._normals[acts]
        shares = np.column_stack([np.ones(len(acts)), -w])
        K = self._stiffness[acts, None, None] * n[:, :, None] * n[:, None, :]
        corners = p + self._corners[acts] if self._surface is None else np.full((len(acts), 3), -1)
        return spring_stencils(np.column_stack([acts, corners]), shares, K)


def signed_distances(points: np.ndarray, surface: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the distances of ``points`` from a surface along its interpolated normals, (p,) m.

    The arguments are those of :func:`.phong_projection.project`.
    """
    corners, weights, normals = project(points, surface, triangles)
    return np.sum((points - np.einsum("pc,pci->pi", weights, surface[corners])) * normals, axis=1)
