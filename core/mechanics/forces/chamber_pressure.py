"""Pressure in a closed chamber of a body: a balloon, a tyre, a lung, or the body's whole inside.

The chamber's surface has the vertices y and the triangles t, with normals out of the chamber. Its volume is

    V = 1/6 sum_t y_a . (y_b x y_c)          dV/dy_a = 1/6 sum_t y_b x y_c

A given pressure p has the potential ``-p V``. A gas with ``p V`` constant, whose absolute pressure is P at the rest
volume V_0, in an atmosphere of P_0, has ``-P V_0 ln(V / V_0) + P_0 V``. So the pressure above the atmosphere is
``p = P V_0 / V - P_0``.

The Hessian is ``-p d²V/dy² + P V_0 / V² (dV/dy) (dV/dy)^T``. The last term, of rank one, is that of a gas. On a closed
surface, the block of d²V/dy² between the ends a and b of an edge is a sixth of the cross product with the vector from
the one opposite vertex to the other, ``(y_c - y_d) x``; other blocks are zero. The matrix is indefinite. Its projection
replaces the matrix of each edge by the positive part, with eigenvalues of ``p |y_c - y_d| / 6``.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...geometry.mesh.surface_mesh import signed_volume
from ...geometry.mesh.topology import edge_sides
from ..assembly.low_rank import LowRank
from ..assembly.stencils import Stencils
from .point_stencils import MergedPoints, PointStencils, padded
from .step_potential import LowRankPotential, Motion

ATMOSPHERE = 101325.0
"""Pressure of the air around bodies, Pa."""


class ChamberPressure(PointStencils, LowRankPotential):
    """Pressure in a chamber, as the load of one step and its potential.

    Parameters
    ----------
    points : the k vertices of the chamber's surface, as functions of the unknowns
    triangles : (t,3) indices of these vertices; the surface is closed, with normals out of the chamber
    pressure : Pa above the atmosphere: of a gas at the rest volume, otherwise at any volume
    rest_volume : m³, for a gas; None for a given pressure
    """

    projection = 0.0
    """Share of the projection in the Hessian: 0 exact, 1 positive semi-definite. With 1 the iterations converge
    linearly, since the surface resists turning.
    """

    def __init__(self, points: Any, triangles: np.ndarray, pressure: float, rest_volume: float | None = None) -> None:
        super().__init__(points)
        self._triangles, self._sides = triangles, edge_sides(triangles)
        self._given, self._rest_volume = pressure, rest_volume

    def begin(self, motion: Motion) -> ChamberPressure:
        """Return the potential for the step."""
        new = copy.copy(self)
        new.update(motion.x_prev)
        return new

    def in_merged_model(self, unknowns: int, vertices: slice, _blocks: slice) -> ChamberPressure:
        """Return the potential as a function of the ``unknowns`` (a count) of a merged model of several bodies.

        ``vertices``: slice of the body's vertices in the merged model.
        """
        new = copy.copy(self)
        new._points = MergedPoints(self._points, unknowns, vertices)
        new.low_rank = self.low_rank._replace(vectors=padded(self.low_rank.vectors, unknowns, vertices))
        return new

    def volume(self, positions: np.ndarray) -> float:
        """Return the chamber's volume, m³, at vertex ``positions`` (n,3) m."""
        return signed_volume(self._points.positions(positions), self._triangles)

    def pressure(self, positions: np.ndarray) -> float:
        """Return the pressure above the atmosphere, Pa, at vertex ``positions`` (n,3) m."""
        if self._rest_volume is None:
            return self._given
        return (self._given + ATMOSPHERE) * self._rest_volume / self.volume(positions) - ATMOSPHERE

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m; inf for a gas in a chamber turned inside out."""
        volume = self.volume(positions)
        if self._rest_volume is None:
            return -self._given * volume
        if volume <= 0.0:
            return np.inf
        ratio, V0 = volume / self._rest_volume, self._rest_volume
        return -(self._given + ATMOSPHERE) * V0 * np.log(ratio) + ATMOSPHERE * (volume - V0)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        return -self.pressure(positions) * self._points.spread(self._volume_gradient(positions))

    def update(self, positions: np.ndarray) -> bool:
        """Set the part of rank one of the Hessian to its value at ``positions`` (n,3), m. The potential stays."""
        vector = self._points.spread(self._volume_gradient(positions))
        gas = 0.0
        if self._rest_volume is not None:
            gas = (self._given + ATMOSPHERE) * self._rest_volume / self.volume(positions) ** 2
        self.low_rank = LowRank(vector[:, :, None], np.array([[gas]]))
        return False

    def _volume_gradient(self, positions: np.ndarray) -> np.ndarray:
        y = self._points.positions(positions)
        out, corners = np.zeros_like(y), y[self._triangles]
        for k in range(3):
            across = np.cross(corners[:, (k + 1) % 3], corners[:, (k + 2) % 3]) / 6.0
            np.add.at(out, self._triangles[:, k], across)
        return out

    def _stencils(self, positions: np.ndarray) -> Stencils:
        """Return the part ``-p d²V/dy²`` of the Hessian, N/m, as stencils of the points."""
        y, (a, b, c, d) = self._points.positions(positions), self._sides.T
        w = -self.pressure(positions) / 6.0 * (y[d] - y[c])
        blocks, zero = np.zeros((len(a), 4, 3, 4, 3)), np.zeros(len(a))
        cross = np.array([[zero, -w[:, 2], w[:, 1]], [w[:, 2], zero, -w[:, 0]], [-w[:, 1], w[:, 0], zero]])
        cross = np.moveaxis(cross, 2, 0)
        blocks[:, 0, :, 1, :], blocks[:, 1, :, 0, :] = cross, cross.transpose(0, 2, 1)
        if self.projection:
            size = np.linalg.norm(w, axis=1)[:, None, None]
            tiny = np.finfo(float).tiny
            own = size * np.eye(3) - w[:, :, None] * w[:, None, :] / np.maximum(size, tiny)
            blocks *= 1.0 - 0.5 * self.projection
            blocks[:, 0, :, 0, :] = blocks[:, 1, :, 1, :] = 0.5 * self.projection * own
        return Stencils(np.column_stack([a, b, np.full((len(a), 2), -1)]), blocks)
