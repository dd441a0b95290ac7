"""Coulomb friction, smoothed near zero slip, with the normal force and the tangent plane lagged [IPC20].

With the slip velocity u in the tangent plane and the normal force lambda of the last solution, the dissipation is
``mu lambda f0(|u|)`` times the step, and the force ``mu lambda f1(|u|) u / |u|``: f1 rises from 0 to 1 while the slip
grows to ``eps``. Under the friction angle a body therefore creeps, by less than ``eps``.

The dissipation nearly has a kink at zero slip, where Newton's method converges badly. The stiffness is therefore that
of a primal-dual method, with the friction force as an unknown beside the slip. [CGM99] do so for total variation, whose
smoothed gradient length is f0 of a slip.

Sources: [IPC20] Li et al., Incremental Potential Contact, 2020, Sec. 5. [CGM99] Chan, Golub, Mulet, A nonlinear
primal-dual method for total variation-based image restoration, 1999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

STICTION_TOLERANCE = 1e-3
"""Slip velocity at which friction is full, in sizes of the body a second."""

STICK_TOLERANCE = 0.1
"""Part of the stiction tolerance up to which a step's first stiffness holds slip well."""

FORCE_TOLERANCE = 0.005
"""Part of a body's friction by which the linear model of a step's last iteration may be wrong."""

LAG_CHANGE = 0.05
"""Part of the friction force by which an update of the lag has to change it to count."""


def _f0(slip: np.ndarray, eps: float) -> np.ndarray:
    """Return the integral of f1 with ``f0(eps) = eps``, m/s."""
    return np.where(slip < eps, slip * slip * (1.0 - slip / (3.0 * eps)) / eps + eps / 3.0, slip)


def _slip_over_f1(slip: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``q = s / f1(s)``, m/s, with ``f1 = 2 s / eps - s² / eps²`` under eps and 1 beyond, and its derivative."""
    part = np.minimum(1.0 / (2.0 - np.minimum(slip / eps, 1.0)), 1.0)
    return np.where(slip < eps, eps * part, slip), part * part


class TangentialCollisions(NamedTuple):
    """Pairs of nearest points with friction: ``slip_matrix`` (k,s) maps vertices to the vectors between both points,
    (k,3) m; ``friction_bounds`` (k,) N, mu times the normal force; ``friction_bound_slopes`` (k,) N/m, its decrease per
    metre of separation; unit ``normals`` (k,3); ``body_ids`` (k,2), sorted.
    """

    slip_matrix: sp.csr_matrix
    friction_bounds: np.ndarray
    friction_bound_slopes: np.ndarray
    normals: np.ndarray
    body_ids: np.ndarray

    def extrapolated(self, dx: np.ndarray) -> TangentialCollisions:
        """Return the collisions with the friction bounds that a linear model predicts after displacements ``dx`` (s,3)
        m. After a solver's whole step these balance all other forces, while the barrier takes iterations to reach them.
        Pairs that would pull get 0; the other pairs of the same two bodies are scaled down to keep the sum.
        """
        forces = self.friction_bounds - self.friction_bound_slopes * np.sum(
            self.normals * (self.slip_matrix @ dx), axis=1
        )
        clamped = np.maximum(forces, 0.0)
        pair_ids = self.body_ids @ np.array([self.body_ids.max(initial=0) + 1, 1])
        total, pushed = np.maximum(np.bincount(pair_ids, forces), 0.0), np.bincount(pair_ids, clamped)
        return self._replace(friction_bounds=clamped * (total / np.maximum(pushed, np.finfo(float).tiny))[pair_ids])

    def nodal_friction_bounds(self) -> np.ndarray:
        """Return the friction bounds along the normals as nodal forces (s,3) N: mu times the normal forces."""
        return self.slip_matrix.T @ (self.friction_bounds[:, None] * self.normals)


def no_tangential_collisions(vertices: int) -> TangentialCollisions:
    """Return an empty set of tangential collisions."""
    return TangentialCollisions(
        sp.csr_matrix((0, vertices)), np.zeros(0), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 2), dtype=np.int64)
    )


class LaggedFriction:
    """Friction at p points during one step. Only points with a force are computed: most points of a body at rest on the
    ground have none.

    Parameters
    ----------
    forces : (p,) N
        Friction coefficient times the lagged normal force.
    normals : (p,3) unit
    base : (p,3) m
        The slip velocity at positions y is the tangential part of ``(y - base) / step``.
    step : s
    eps : m/s
    before : friction of the same step with the previous lag
    predicted_velocity : (p,3) m/s, velocities of the points whose slip the first stiffness is taken for
    bodies : (p,2), ids of the two bodies at each point; one body by default
    """

    def __init__(
        self,
        forces: np.ndarray,
        normals: np.ndarray,
        base: np.ndarray,
        step: float,
        eps: float,
        before: LaggedFriction | None = None,
        predicted_velocity: np.ndarray | None = None,
        bodies: np.ndarray | None = None,
    ) -> None:
        self._active, self._count = np.flatnonzero(forces), len(forces)
        self._forces, self._normals, self._base = (array[self._active] for array in (forces, normals, base))
        self._step, self._eps = step, eps
        # Slip and friction bounds at the last stiffness (None before the first), and the friction force as a dual
        # unknown.
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._dual = np.zeros_like(self._base)
        self._bodies = np.zeros((len(self._base), 1), dtype=np.int64) if bodies is None else bodies[self._active]
        self._predicted_slip = (
            None if predicted_velocity is None else self._tangential(predicted_velocity[self._active])
        )
        self._cached_stiffness: tuple[np.ndarray, np.ndarray] | None = None  # positions and value of the last stiffness
        self._is_first = False  # True if that was the step's first
        if before is not None and before._last is not None:
            # Points inactive before had no force and, whatever their slip, no part in the linearization.
            slip, full, dual = (self._at_active_points(before, array) for array in (*before._last, before._dual))
            self._last = self._tangential(slip), full
            self._dual = self._clamp_to_coulomb(self._tangential(dual))

    def _at_active_points(self, before: LaggedFriction, values: np.ndarray) -> np.ndarray:
        """Map values of the points that were active in ``before`` to those that are active now; 0 for new ones."""
        return before._at_all_points(values)[self._active]

    def _at_all_points(self, values: np.ndarray) -> np.ndarray:
        """Expand values of the active points to all p points, with zeros."""
        full = np.zeros((self._count, *values.shape[1:]))
        full[self._active] = values
        return full

    def value(self, y: np.ndarray) -> float:
        """Return the dissipation potential at y (p,3) m, J."""
        slip = np.linalg.norm(self._slip(y), axis=1)
        return self._step * float(np.sum(self._forces * _f0(slip, self._eps)))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the gradient at y (p,3) m, (p,3) N."""
        slip = self._slip(y)
        force = (self._forces / _slip_over_f1(np.linalg.norm(slip, axis=1), self._eps)[0])[:, None] * slip
        return self._at_all_points(force)

    def stiffness(self, y: np.ndarray) -> np.ndarray:
        """Return the semi-definite derivatives of the force by the points, (p,3,3) N/m: ``q(|u|) z = mu lambda u``
        linearized in the slip u and the force z, both unknown. A repeated call with the same y returns the same result.

        A step's first stiffness, with z = 0, bounds the true derivative from above. If a longer slip is predicted, it
        is the secant to that: the bound at zero slip would hold back all sliding points. The true derivative, 0 along a
        full slip, overshoots where a body is about to stick. z lags by one iteration and releases slip only as far as
        it points in the slip's direction. At the solution the stiffness is the true derivative.
        """
        if self._cached_stiffness is None or not np.array_equal(self._cached_stiffness[0], y):
            self._cached_stiffness = y.copy(), self._at_all_points(self._stiffness_at(self._slip(y)))
        return self._cached_stiffness[1]

    def _stiffness_at(self, slip: np.ndarray) -> np.ndarray:
        if self._last is not None:
            last, forces = self._last
            q, dq, along = self._linear(last)
            change = np.sum(along * (slip - last), axis=1)
            z = forces[:, None] * slip - (dq * change)[:, None] * self._dual
            self._dual = self._clamp_to_coulomb(z / q[:, None])
        self._is_first = self._last is None
        if self._is_first and self._predicted_slip is not None:
            expected, here = (np.linalg.norm(each, axis=1) for each in (self._predicted_slip, slip))
            slip = np.where((expected > here)[:, None], self._predicted_slip, slip)
        self._last = slip, self._forces
        q, dq, along = self._linear(slip)
        turning = dq[:, None, None] * (along[:, :, None] * self._dual[:, None, :])
        plane = np.eye(3) - self._normals[:, :, None] * self._normals[:, None, :]
        K = self._forces[:, None, None] * plane - 0.5 * (turning + turning.transpose(0, 2, 1))
        return K / (q * self._step)[:, None, None]

    def _linear(self, slip: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q and its derivative by the slip's length (p,), and the slip's direction (p,3)."""
        length = np.linalg.norm(slip, axis=1)
        return *_slip_over_f1(length, self._eps), slip / np.maximum(length, 1e-300)[:, None]

    def _clamp_to_coulomb(self, z: np.ndarray) -> np.ndarray:
        """Clamp forces (p,3) N to Coulomb's law, which makes the stiffness semi-definite."""
        length = np.linalg.norm(z, axis=1)
        return z * np.minimum(1.0, self._forces / np.maximum(length, 1e-300))[:, None]

    def linearize_at(self, y: np.ndarray) -> None:
        """Linearize at y, where slip and stick are known: the next stiffness is the true derivative there."""
        slip = self._slip(y)
        self._last, self._dual = (slip, self._forces), self.gradient(y)[self._active]

    def is_unconverged(self, y: np.ndarray) -> bool:
        """Return True if the last iteration, which led to y, cannot be the last, however short its step. Either its
        stiffness was the step's first, a bound that holds back slip; or its linear model of a body's friction was wrong
        by more than ``FORCE_TOLERANCE``: the error may be small beside a body's size, but all that moves it.
        """
        if self._cached_stiffness is None:
            return False
        before, K = self._cached_stiffness
        if self._is_first and (np.linalg.norm(self._slip(y), axis=1) > STICK_TOLERANCE * self._eps).any():
            return True
        predicted = self.gradient(before) + np.einsum("pij,pj->pi", K, y - before)
        residual = np.linalg.norm(self.gradient(y) - predicted, axis=1)[self._active]
        sides = self._bodies.shape[1]
        wrong, full = (np.bincount(self._bodies.ravel(), np.repeat(of, sides)) for of in (residual, self._forces))
        return bool((wrong > FORCE_TOLERANCE * full).any())

    def changed_from(self, other: LaggedFriction) -> bool:
        """Return True if the normal forces, times mu, differ noticeably from another lag."""
        normal_forces = (each._at_all_points(each._forces[:, None] * each._normals) for each in (self, other))
        change = np.subtract(*normal_forces)
        total = max(self._forces.sum(), other._forces.sum())
        return bool(np.linalg.norm(change, axis=1).sum() > LAG_CHANGE * total)

    def _slip(self, y: np.ndarray) -> np.ndarray:
        return self._tangential((y[self._active] - self._base) / self._step)

    def _tangential(self, vectors: np.ndarray) -> np.ndarray:
        return vectors - np.sum(vectors * self._normals, axis=1, keepdims=True) * self._normals
