"""Coulomb friction, smoothed near zero slip, with the normal force and the tangent plane lagged [IPC20].

With the slip velocity u in the tangent plane and the normal force lambda of the last solution, the dissipation is
``mu lambda f0(|u|)`` times the step, and the force ``mu lambda f1(|u|) u / |u|``: f1 climbs from 0 to 1 while the slip
grows to ``eps``. Under the friction angle a body therefore creeps, by less than ``eps``.

Source: [IPC20] Li et al., Incremental Potential Contact, 2020, Sec. 5.
"""

from __future__ import annotations

import numpy as np

CREEP = 1e-3
"""Slip velocity at which friction is full, in sizes of the body a second."""

NOTICEABLE = 0.05
"""Part of the friction force by which renewing the lag has to change it to matter."""

SETTLED = 0.5
"""Change of a slip from one stiffness to the next, as a part of it, under which it has settled."""


def _f0(slip: np.ndarray, eps: float) -> np.ndarray:
    """Integral of f1 with ``f0(eps) = eps``, m/s."""
    return np.where(slip < eps, slip * slip * (1.0 - slip / (3.0 * eps)) / eps + eps / 3.0, slip)


def _f1_over_slip(slip: np.ndarray, eps: float) -> np.ndarray:
    """``f1(s) / s`` with ``f1 = 2 s / eps - s² / eps²`` under eps and 1 beyond, s/m."""
    return np.where(slip < eps, (2.0 - slip / eps) / eps, 1.0 / np.maximum(slip, eps))


class LaggedFriction:
    """Friction at p points during one step.

    Parameters
    ----------
    forces : (p,) N
        Friction coefficient times the lagged normal force.
    normals : (p,3) unit
    base : (p,3) m
        The slip velocity at positions y is the tangential part of ``(y - base) / step``.
    step : s
    eps : m/s
    """

    def __init__(self, forces: np.ndarray, normals: np.ndarray, base: np.ndarray, step: float, eps: float) -> None:
        self._forces, self._normals, self._base, self._step, self._eps = forces, normals, base, step, eps
        self._before = np.full_like(base, np.inf)  # the slip at the last stiffness
        self._answer: tuple[np.ndarray, np.ndarray] | None = None  # the last stiffness, and where

    def value(self, y: np.ndarray) -> float:
        """J."""
        slip = np.linalg.norm(self._slip(y), axis=1)
        return self._step * float(np.sum(self._forces * _f0(slip, self._eps)))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """(p,3), N."""
        slip = self._slip(y)
        return (self._forces * _f1_over_slip(np.linalg.norm(slip, axis=1), self._eps))[:, None] * slip

    def stiffness(self, y: np.ndarray) -> np.ndarray:
        """Second derivatives by the points where their slip has settled, else a bound of them; (p,3,3), N/m.

        f0 is a concave function of the slip's square, so ``mu lambda f1(|u|) / |u|`` in the whole tangent plane bounds
        it from above where the slip is u: steps with it lower the energy without a line search. The true derivative, 0
        along a full slip, sends a body that is about to stick far beyond the place, but once the slip changes little
        it ends the search at once. Asked again at the same place it answers the same.
        """
        if self._answer is None or not np.array_equal(self._answer[0], y):
            self._answer = y.copy(), self._stiffness_at(y)
        return self._answer[1]

    def _stiffness_at(self, y: np.ndarray) -> np.ndarray:
        slip = self._slip(y)
        length = np.linalg.norm(slip, axis=1)
        settled = np.linalg.norm(slip - self._before, axis=1) < SETTLED * length
        self._before = slip
        across, eps = _f1_over_slip(length, self._eps), self._eps
        along = np.where(length < eps, 2.0 * (1.0 - length / eps) / eps, 0.0)
        bend = np.where(settled, (along - across) / np.maximum(length * length, 1e-300), 0.0)
        K = across[:, None, None] * (np.eye(3) - self._normals[:, :, None] * self._normals[:, None, :])
        K += bend[:, None, None] * (slip[:, :, None] * slip[:, None, :])
        return (self._forces / self._step)[:, None, None] * K

    def changed_from(self, other: LaggedFriction) -> bool:
        """Whether it differs noticeably from another lag."""
        change = self._forces[:, None] * self._normals - other._forces[:, None] * other._normals
        total = max(self._forces.sum(), other._forces.sum())
        return bool(np.linalg.norm(change, axis=1).sum() > NOTICEABLE * total)

    def _slip(self, y: np.ndarray) -> np.ndarray:
        velocity = (y - self._base) / self._step
        return velocity - np.sum(velocity * self._normals, axis=1, keepdims=True) * self._normals
