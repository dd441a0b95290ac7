"""Springs of joints between points of bodies, and fixed points: shared points, and ropes and struts that limit angles.

With the distance l of a spring's points, its length d, its stiffness k, and s = 1 for a rope that only pulls and
s = -1 for a strut that only pushes, the potential is ``1/2 k max(s (l - d), 0)²``. A rope of length 0 holds the points
together. The Hessian is ``k (n n^T + (1 - d/l) (I - n n^T))`` with the direction n. Its second part is semi-definite
for ropes. For struts it is left out; it vanishes at the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..assembly.pairs import Pairs
from ..assembly.stencils import Stencils, stencils_of
from ..forces.point_stencils import PointStencils
from ..forces.step_potential import Motion

NEAREST = 1e-9
"""Least distance by which an elongation is divided, in lengths of the spring: a strut's points may coincide."""


class JointSprings(PointStencils):
    """Springs between pairs of points, as the load of one step and its potential.

    Parameters
    ----------
    points : the p first points of the springs, then the second points of the first springs
    fixed : (f,3) m, second points of the other springs
    stiffness : (p,) N/m
    lengths : (p,) m
    sides : (p,) 1 for a rope, -1 for a strut
    """

    def __init__(
        self, points: Any, fixed: np.ndarray, stiffness: np.ndarray, lengths: np.ndarray, sides: np.ndarray
    ) -> None:
        super().__init__(points)
        self._fixed, self._stiffness, self._lengths, self._sides = fixed, stiffness, lengths, sides
        self._has_limits = bool(lengths.any())
        p = len(stiffness)
        both = np.tile(np.arange(p), 2), np.arange(2 * p)
        self._shares = sp.csr_matrix((np.repeat([1.0, -1.0], p), both), (p, 2 * p))
        self._pairs: Pairs | None = None

    def begin(self, _motion: Motion) -> JointSprings:
        """Return these springs, independent of the motion in the step."""
        return self

    def _springs(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the vector of each spring, (p,3) m, its elongation (p,) m, and elongation over distance (p,).

        The elongation is 0 where a spring does not act.
        """
        ends = np.concatenate([self._points.positions(positions), self._fixed]).reshape(2, -1, 3)
        away = ends[0] - ends[1]
        distance = np.sqrt((away * away).sum(axis=1))
        if not self._has_limits:
            return away, distance, np.ones(len(distance))
        elongation = distance - self._lengths
        elongation[self._sides * elongation < 0.0] = 0.0
        ratio, divisor = (self._lengths == 0.0).astype(float), np.maximum(distance, NEAREST * self._lengths)
        np.divide(elongation, divisor, out=ratio, where=elongation * self._lengths != 0.0)
        return away, elongation, ratio

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        return 0.5 * float(np.sum(self._stiffness * self._springs(positions)[1] ** 2))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        away, _elongation, ratio = self._springs(positions)
        force = (self._stiffness * ratio)[:, None] * away
        return self._points.spread(np.concatenate([force, -force])[: len(self._points)])

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the Hessian, N/m, as blocks per pair of tet vertices. It is constant while no limit acts."""
        if self._has_limits and (self._springs(positions)[1] * self._lengths).any():
            return self._points.pairs(self._stencils(positions))
        if self._pairs is None:
            self._pairs = self._points.pairs(self._stencils(positions))
        return self._pairs

    def _stencils(self, positions: np.ndarray) -> Stencils:
        away, elongation, ratio = self._springs(positions)
        acts = (self._lengths == 0.0) | (elongation != 0.0)
        across = np.where(acts, self._stiffness * np.maximum(ratio, 0.0), 0.0)
        along = np.where(acts, self._stiffness, 0.0) - across
        n = away / np.maximum(np.linalg.norm(away, axis=1), np.finfo(float).tiny)[:, None]
        K = across[:, None, None] * np.eye(3) + along[:, None, None] * (n[:, :, None] * n[:, None, :])
        return stencils_of(self._shares, K)
