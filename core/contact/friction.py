"""Coulomb friction, smoothed near zero slip, with the normal force and the tangent plane lagged [IPC20].

With the slip velocity u in the tangent plane and the lagged normal force lambda, the dissipation potential is ``mu
lambda f0(|u|)`` times the step, and the force ``mu lambda f1(|u|) u / |u|``. f1 = f0' rises from 0 to 1 as |u| grows to
``eps``. On a slope below the friction angle a body therefore creeps, slower than ``eps``.

The dissipation potential nearly has a kink at zero slip, where Newton's method converges badly. The stiffness therefore
is that of a primal-dual method. The second unknown beside the slip is the friction force. [CGM99] use this method for
total variation, where the length of an image gradient is smoothed in the same way.

Sources: [IPC20] Li et al., Incremental Potential Contact, 2020, Sec. 5. [CGM99] Chan, Golub, Mulet, A nonlinear
primal-dual method for total variation-based image restoration, 1999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

STICTION_TOLERANCE = 1e-3
"""Slip velocity, in body sizes per second, at which friction reaches mu times the normal force."""

STICK_TOLERANCE = 0.1
"""Largest slip velocity, as a fraction of ``eps``, at which a step may end after its first stiffness.

``eps`` is the slip velocity at which friction reaches mu times the normal force. At faster slip, the first stiffness is
not accurate enough, and the solver iterates again.
"""

FORCE_TOLERANCE = 0.005
"""Largest accepted ratio of error to friction bound for a body.

The error is that of the friction force predicted by the linear model of the last iteration. The friction bound is the
friction coefficient times the normal force. Error and friction bound are sums over the body's contact points.
"""

LAG_CHANGE = 0.05
"""Relative change above which friction bounds count as changed.

A friction bound is the friction coefficient times the lagged normal force.
"""


def _f0(slip: np.ndarray, eps: float) -> np.ndarray:
    """Return the smoothed magnitude ``f0(s)``, m/s, of slip velocities s, m/s.

    f0 is an antiderivative of f1, with ``f0(s) = s`` from ``eps`` on.
    """
    return np.where(slip < eps, slip * slip * (1.0 - slip / (3.0 * eps)) / eps + eps / 3.0, slip)


def _slip_over_f1(slip: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``q = s / f1(s)``, m/s, and dq/ds for slip velocities s, m/s.

    The smoothing function f1 is ``2 s / eps - s² / eps²`` below ``eps`` and 1 above.
    """
    part = np.minimum(1.0 / (2.0 - np.minimum(slip / eps, 1.0)), 1.0)
    return np.where(slip < eps, eps * part, slip), part * part


class TangentialCollisions(NamedTuple):
    """Contact pairs with friction: k pairs of primitives on surfaces with s vertices.

    Attributes
    ----------
    slip_matrix : (k,s) sparse
        Maps vertex positions (s,3), m, to the vector between the nearest points of each pair, (k,3), m.
    friction_bounds : (k,) N, mu times the normal force
    friction_bound_slopes : (k,) N/m, decrease of the friction bound per metre of separation
    normals : (k,3) unit
    body_ids : (k,2), ids of the two bodies, in ascending order per pair
    """

    slip_matrix: sp.csr_matrix
    friction_bounds: np.ndarray
    friction_bound_slopes: np.ndarray
    normals: np.ndarray
    body_ids: np.ndarray

    def extrapolated(self, dx: np.ndarray) -> TangentialCollisions:
        """Return the collisions with friction bounds predicted for displacements.

        A linear model predicts normal forces that balance all other forces after a full Newton step. The barrier's
        forces at the new positions are not used, since they do not balance the other forces before the iterations have
        converged. Negative bounds are set to 0. The positive bounds between two bodies are then scaled down, so that
        the sum of their bounds does not change.

        ``dx`` (s,3), m: displacements of the vertices.
        """
        forces = self.friction_bounds - self.friction_bound_slopes * np.sum(
            self.normals * (self.slip_matrix @ dx), axis=1
        )
        clamped = np.maximum(forces, 0.0)
        pair_ids = self.body_ids @ np.array([self.body_ids.max(initial=0) + 1, 1])
        total, pushed = np.maximum(np.bincount(pair_ids, forces), 0.0), np.bincount(pair_ids, clamped)
        return self._replace(friction_bounds=clamped * (total / np.maximum(pushed, np.finfo(float).tiny))[pair_ids])

    def nodal_friction_bounds(self) -> np.ndarray:
        """Return mu times the normal forces at the surface vertices, (s,3), N."""
        return self.slip_matrix.T @ (self.friction_bounds[:, None] * self.normals)


def no_tangential_collisions(vertices: int) -> TangentialCollisions:
    """Return an empty set of tangential collisions.

    ``vertices``: number of surface vertices.
    """
    return TangentialCollisions(
        sp.csr_matrix((0, vertices)), np.zeros(0), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 2), dtype=np.int64)
    )


class LaggedFriction:
    """Friction at p contact points during one step.

    Points without a normal force are skipped: most points of a body at rest on the ground have none.

    Parameters
    ----------
    forces : (p,) N
        Friction coefficient times the lagged normal force.
    normals : (p,3) unit
    base : (p,3) m
        Reference positions: points at y (p,3), m, slip at the tangential component of ``(y - base) / step``, m/s.
    step : s, time step
    eps : m/s, slip velocity at which friction reaches ``forces``
    before : friction object used earlier in the same step, with other lagged forces
        This object continues the linearization of ``before``. None at the step's beginning.
    predicted_velocity : (p,3) m/s
        Predicted relative velocity at the points. Its tangential component is the predicted slip velocity. The first
        friction stiffness of the step uses the prediction at points where the current slip is slower.
    bodies : (p,2), ids of the two bodies in contact at each point; by default all points belong to one body
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
        # Slip and friction bounds at the last stiffness (None before the first); ``_dual``: friction force, an unknown.
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._dual = np.zeros_like(self._base)
        self._bodies = np.zeros((len(self._base), 1), dtype=np.int64) if bodies is None else bodies[self._active]
        self._predicted_slip = (
            None if predicted_velocity is None else self._tangential(predicted_velocity[self._active])
        )
        self._cached_stiffness: tuple[np.ndarray, np.ndarray] | None = None  # positions and value of the last stiffness
        self._is_first = False  # True if the last stiffness was the step's first
        if before is not None and before._last is not None:
            # Points that were inactive had no force, and so did not contribute to the linearization.
            slip, full, dual = (self._at_active_points(before, array) for array in (*before._last, before._dual))
            self._last = self._tangential(slip), full
            self._dual = self._clamp_to_coulomb(self._tangential(dual))

    def _at_active_points(self, before: LaggedFriction, values: np.ndarray) -> np.ndarray:
        """Convert values from the active points of ``before`` to those of this object. New points get 0."""
        return before._at_all_points(values)[self._active]

    def _at_all_points(self, values: np.ndarray) -> np.ndarray:
        """Return ``values`` of the active points for all points, (p,...), with 0 at the others."""
        full = np.zeros((self._count, *values.shape[1:]))
        full[self._active] = values
        return full

    def value(self, y: np.ndarray) -> float:
        """Return the dissipation potential, J, for contact points at y (p,3), m."""
        slip = np.linalg.norm(self._slip(y), axis=1)
        return self._step * float(np.sum(self._forces * _f0(slip, self._eps)))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the dissipation potential's gradient, (p,3), N, for contact points at y (p,3), m."""
        slip = self._slip(y)
        force = (self._forces / _slip_over_f1(np.linalg.norm(slip, axis=1), self._eps)[0])[:, None] * slip
        return self._at_all_points(force)

    def stiffness(self, y: np.ndarray) -> np.ndarray:
        """Return semi-definite friction stiffnesses, (p,3,3), N/m, for contact points at y (p,3), m.

        The result for the last y is cached.

        The slip velocity u and the friction force z are two unknowns of the equation ``q(|u|) z = mu lambda u``. Here
        mu is the friction coefficient, lambda the lagged normal force and ``q(s) = s / f1(s)`` (:func:`_slip_over_f1`).
        The smoothing function f1 rises from 0 to 1 as the slip velocity s grows to ``eps``. The stiffness is the
        linearization of this equation.

        In the first call of a step z is 0, and the stiffness is an upper bound of the true derivative of the force. The
        true derivative is not used from the start. Its component along u is 0 at slips above ``eps``, where friction is
        constant. So the iterations would overshoot for a body about to stick. At zero slip, however, the upper bound
        would hold back all points that should slide. Therefore the first call sets u to the slip velocity predicted at
        the step's beginning, if the prediction is larger than the current slip.

        Each later call uses the z that follows from the previous call's linearization. At the solution, the stiffness
        is the true derivative.
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
        """Return q (p,) and dq/ds (p,) of :func:`_slip_over_f1`, and the unit vectors (p,3) of slip velocities."""
        length = np.linalg.norm(slip, axis=1)
        return *_slip_over_f1(length, self._eps), slip / np.maximum(length, 1e-300)[:, None]

    def _clamp_to_coulomb(self, z: np.ndarray) -> np.ndarray:
        """Return friction forces (p,3), N, clamped to mu times the normal force."""
        length = np.linalg.norm(z, axis=1)
        return z * np.minimum(1.0, self._forces / np.maximum(length, 1e-300))[:, None]

    def linearize_at(self, y: np.ndarray) -> None:
        """Linearize friction near the solution, for contact points at y (p,3), m.

        The next stiffness is then the true derivative there.
        """
        slip = self._slip(y)
        self._last, self._dual = (slip, self._forces), self.gradient(y)[self._active]

    def is_unconverged(self, y: np.ndarray) -> bool:
        """Return True if friction needs another iteration.

        There are two reasons, and in both cases the step may be wrong although the last displacement is short:

        - The last stiffness was the step's first stiffness, and some points slip. The first stiffness holds back slip.
        - The linear model of the last iteration predicted a body's friction force with a relative error above
          ``FORCE_TOLERANCE``.

        ``y`` (p,3), m: contact points after the last iteration.
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
        """Return True if the friction bounds differ from those of another object by more than ``LAG_CHANGE``.

        A friction bound is mu times the lagged normal force, as a vector along the contact normal. The change is summed
        over the points and divided by the larger sum of the bounds. Both objects have the same p contact points.
        """
        normal_forces = (each._at_all_points(each._forces[:, None] * each._normals) for each in (self, other))
        change = np.subtract(*normal_forces)
        total = max(self._forces.sum(), other._forces.sum())
        return bool(np.linalg.norm(change, axis=1).sum() > LAG_CHANGE * total)

    def _slip(self, y: np.ndarray) -> np.ndarray:
        return self._tangential((y[self._active] - self._base) / self._step)

    def _tangential(self, vectors: np.ndarray) -> np.ndarray:
        return vectors - np.sum(vectors * self._normals, axis=1, keepdims=True) * self._normals
