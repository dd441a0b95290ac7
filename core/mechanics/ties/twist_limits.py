"""Limits of the rotation of bodies about their own axes, for joints that turn about every axis.

With two unit vectors u, v across the axis of a body, u', v' of its partner, ``C = u.u' + v.v'`` and
``S = u.v' - v.u'``, the twist is ``phi = atan2(S, C)``: the angle of the twist that is left when the shortest rotation
between both axes (swing) is taken off. With the swing theta, ``C² + S² = (1 + cos theta)²``. The potential is

    1/2 k (C² + S²) / 4 max(|phi - middle| - half, 0)²

whose factor vanishes where the axes are opposite and a twist is not defined. With the excess e over the limits,
``Q = C² + S²``, ``A = C dS - S dC`` and ``B = C dC + S dS``, the Hessian is

    k/4 (A A^T / Q + e (C ddS - S ddC) + e (A B^T + B A^T) / Q + e² (dC dC^T + dS dS^T + C ddC + S ddS))

of which the semi-definite part is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assembly.stencils import Stencils
from ..forces.point_stencils import PointStencils
from ..forces.step_potential import Motion

SECOND_C = np.kron([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]], np.eye(3))
"""Second derivatives of C by u, v, u' and v', (12,12)."""

SECOND_S = np.kron([[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]], np.eye(3))
"""Second derivatives of S by u, v, u' and v', (12,12)."""


class TwistLimits(PointStencils):
    """Limits of p twists, as the load of one step and its potential.

    Parameters
    ----------
    points : the vectors u and v of each body, then u' and v' of the partners of the first limits, as differences of
        points: (2p + 2q,)
    fixed : (p - q,2,3), u' and v' of the other limits
    stiffness : (p,), N m/rad
    middles : (p,) rad
    halves : (p,) rad
    """

    def __init__(
        self, points: Any, fixed: np.ndarray, stiffness: np.ndarray, middles: np.ndarray, halves: np.ndarray
    ) -> None:
        super().__init__(points)
        self._fixed, self._stiffness, self._middles, self._halves = fixed, stiffness, middles, halves

    def begin(self, _motion: Motion) -> TwistLimits:
        """Return these limits, independent of the motion in the step."""
        return self

    def _parts(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the excess over the limits (p,), C and S (2,p), and their gradients (2,p,4,3) by u, v, u' and v'."""
        vectors = np.concatenate([self._points.positions(positions).reshape(-1, 2, 3), self._fixed])
        p = len(self._stiffness)
        (u, v), (U, V) = vectors[:p].swapaxes(0, 1), vectors[p:].swapaxes(0, 1)
        C = np.sum(u * U + v * V, axis=1)
        S = np.sum(u * V - v * U, axis=1)
        slopes = np.stack([np.stack([U, V, u, v], axis=1), np.stack([V, -U, -v, u], axis=1)])
        off = (np.arctan2(S, C) - self._middles + np.pi) % (2.0 * np.pi) - np.pi
        excess = np.sign(off) * np.maximum(np.abs(off) - self._halves, 0.0)
        return excess, C, S, slopes

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        excess, C, S, _slopes = self._parts(positions)
        return 0.125 * float(np.sum(self._stiffness * (C * C + S * S) * excess**2))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        excess, C, S, (dC, dS) = self._parts(positions)
        C, S, k, e = (each[:, None, None] for each in (C, S, 0.25 * self._stiffness, excess))
        forces = k * e * (C * dS - S * dC + e * (C * dC + S * dS))
        return self._points.spread(np.concatenate([forces[:, :2], forces[:, 2:]]).reshape(-1, 3)[: len(self._points)])

    def _stencils(self, positions: np.ndarray) -> Stencils:
        excess, C, S, (dC, dS) = self._parts(positions)
        acts, p = np.flatnonzero(excess), len(excess)
        C, S, e, k = (each[acts, None, None] for each in (C, S, excess, 0.25 * self._stiffness))
        dC, dS = (each[acts].reshape(-1, 12, 1) for each in (dC, dS))
        A, B, Q = C * dS - S * dC, C * dC + S * dS, np.maximum(C * C + S * S, np.finfo(float).tiny)
        mixed = A @ B.swapaxes(1, 2)
        H = (A @ A.swapaxes(1, 2) + e * (mixed + mixed.swapaxes(1, 2))) / Q + e * (C * SECOND_S - S * SECOND_C)
        H += e * e * (dC @ dC.swapaxes(1, 2) + dS @ dS.swapaxes(1, 2) + C * SECOND_C + S * SECOND_S)
        values, axes = np.linalg.eigh(k * H)
        H = axes @ (np.maximum(values, 0.0)[:, :, None] * axes.swapaxes(1, 2))
        own = 2 * acts[:, None] + np.arange(2)
        return Stencils(np.column_stack([own, 2 * p + own]), H.reshape(-1, 4, 3, 4, 3))
