"""Mixed FEM: positions and stretches as independent unknowns, statically condensed to positions ([MFEM22]).

    L(x, s, lambda) = 1/2 |x - x~|_M^2 + h² sum_e w_e ( psi(s_e) + lambda_e . (s(F_e(x)) - s_e) ) - h² f . x

Six numbers stand for each symmetric S, and lambda is dual to them, so the paper's ``Sym`` (Eq. 6) is inside ``psi``'s
derivative by s. The constraint is written with the opposite sign of Eq. 5, so that lambda is the stress ``dpsi/ds``.
With ``J = ds(F)/dF``, ``c = s(F) - s`` and the projected ``H_s``, an iteration is

    (M + h² sum w B^T J^T H_s J B) dx = -(M (x - x~) + h² sum w B^T J^T (g_s + H_s c) - h² f)         (Eq. 20)
    ds = c + J B dx,        lambda = g_s + H_s ds                                                      (Eqs. 15, 19)

``H_s`` is never inverted. Merit of the line search: L with the new lambda, whose slope is ``-dx.M dx - h² sum w ds.H_s ds``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from ..assembly.deformation_gradient import deformation_gradients
from ..energies.kinematics import Deformation, Stretch
from ..integrators.backward_euler import predicted_positions
from ..jit import parallel_kernel
from ..model.state import State
from ..optimization.line_search import backtrack
from ..optimization.report import Iteration, StepReport
from ..small_matrix import stretch_derivative
from .full_space import FullSpaceSolver
from .protocol import check_finite


class _Iterate(NamedTuple):
    x: np.ndarray
    deformation: Deformation
    polar: np.ndarray  # s(F(x)), (m,6)
    stretch: Stretch


class MixedFEMSolver(FullSpaceSolver):
    """The sequential quadratic programme of [MFEM22] Alg. 1."""

    name = "mixed_fem"
    label = "Mixed FEM"
    description = "Lively after a few iterations, right when it converges: flesh to rigid in one body"

    record_gradients = False
    """Whether the history holds the incremental potential's gradient at every iteration (one more stress evaluation)."""

    def step(self, state: State, pin_targets: np.ndarray, time_step: float) -> tuple[State, StepReport]:
        """One step of implicit Euler."""
        h = time_step
        report = StepReport(self.name)
        predicted = predicted_positions(state.positions, state.velocities, h)
        with report.timed("line_search"):
            at = self._iterate(self.start(state, pin_targets), state.stretch)
        while report.iterations < self.settings.max_iterations:
            gradient_norm = self._gradient_norm(at, predicted, h) if self.record_gradients else float("nan")
            dx, ds, multiplier, decrement = self._direction(at, predicted, h, report)
            check_finite(dx, "search direction")
            with report.timed("line_search"):
                alpha, accepted = self._search(at, dx, ds, multiplier, decrement, predicted, h)
            report.iterations += 1
            movement = alpha * float(np.linalg.norm(dx, axis=1).max())
            report.history.append(Iteration(gradient_norm, decrement, alpha, movement))
            if accepted is None:
                report.reason = "no step lowers the Lagrangian any further (round-off)"
                break
            at = accepted
            if self.has_settled(report, movement, alpha):
                break
        report.gradient_norm = self._gradient_norm(at, predicted, h)
        return self.finish(state, at.x, at.stretch.s, h, report)

    def _iterate(self, x: np.ndarray, s: np.ndarray) -> _Iterate:
        deformation = self.elastic.deformation(x)
        return _Iterate(x, deformation, deformation.stretch(), Stretch.of(s))

    def _gradient_norm(self, at: _Iterate, predicted: np.ndarray, h: float) -> float:
        return float(np.linalg.norm(self.gradient(at.x, self.elastic.stress(at.deformation), predicted, h)))

    def _direction(
        self, at: _Iterate, predicted: np.ndarray, h: float, report: StepReport
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Search direction dx, ds, the new multiplier, and minus the slope of the merit."""
        U, sigma, V = at.deformation.U, at.deformation.sigma, at.deformation.V
        with report.timed("assembly"):
            g_s = self.elastic.stretch_gradient(at.stretch)
            H_s = self.elastic.stretch_hessian(at.stretch)
            H, P = _condense(U, sigma, V, at.polar, at.stretch.s, g_s, H_s)
            g = self.gradient(at.x, P, predicted, h)
            self.system.assemble(H, h**2)
        with report.timed("factorization"):
            self.system.factorize()
        with report.timed("solve"):
            dx = self.system.solve(-g)
        with report.timed("local"):
            dF = deformation_gradients(dx, self.model.mesh.tets, self.elastic.N)
            ds, multiplier, curvature = _local_update(U, sigma, V, at.polar, at.stretch.s, g_s, H_s, dF)
            inertia = float(np.sum(dx * (self.model.mass @ dx)))
            decrement = inertia + h**2 * float(np.sum(self.elastic.weights * curvature))
        return dx, ds, multiplier, decrement

    def _search(
        self,
        at: _Iterate,
        dx: np.ndarray,
        ds: np.ndarray,
        multiplier: np.ndarray,
        decrement: float,
        predicted: np.ndarray,
        h: float,
    ) -> tuple[float, _Iterate | None]:
        def lagrangian(it: _Iterate) -> tuple[float, float, _Iterate]:
            inertia = self.inertia.value(it.x, predicted)
            gravity = h**2 * self.gravity.value(it.x)
            elastic = h**2 * self.elastic.stretch_value(it.stretch)
            work = self.elastic.weights * np.einsum("ni,ni->n", multiplier, it.polar - it.stretch.s)
            coupling = h**2 * float(np.sum(work))
            magnitude = abs(inertia) + abs(gravity) + abs(elastic) + h**2 * float(np.sum(np.abs(work)))
            return inertia + gravity + elastic + coupling, magnitude, it

        start, magnitude, _ = lagrangian(at)
        return backtrack(
            lambda alpha: lagrangian(self._iterate(at.x + alpha * dx, at.stretch.s + alpha * ds)), start, magnitude, -decrement
        )


@parallel_kernel
def _condense(U, sigma, V, polar, s, g_s, H_s):
    """``J^T H_s J`` (m,9,9) and the stress ``J^T (g_s + H_s c)`` (m,3,3)."""
    m = s.shape[0]
    H = np.empty((m, 9, 9))
    P = np.empty((m, 3, 3))
    for e in prange(m):
        J = np.empty((6, 9))
        HJ = np.empty((6, 9))
        stretch_derivative(U[e], sigma[e], V[e], J)
        for a in range(6):
            for k in range(9):
                total = 0.0
                for b in range(6):
                    total += H_s[e, a, b] * J[b, k]
                HJ[a, k] = total
        for k in range(9):
            stress = 0.0
            for a in range(6):
                stress += J[a, k] * g_s[e, a] + HJ[a, k] * (polar[e, a] - s[e, a])
            P[e, k // 3, k % 3] = stress
            for c in range(k + 1):
                total = 0.0
                for a in range(6):
                    total += J[a, k] * HJ[a, c]
                H[e, k, c] = total
                H[e, c, k] = total
    return H, P


@parallel_kernel
def _local_update(U, sigma, V, polar, s, g_s, H_s, dF):
    """``ds = c + J dF`` (m,6), ``lambda = g_s + H_s ds`` (m,6), and ``ds . H_s ds`` (m,)."""
    m = s.shape[0]
    ds = np.empty((m, 6))
    multiplier = np.empty((m, 6))
    curvature = np.empty(m)
    for e in prange(m):
        J = np.empty((6, 9))
        stretch_derivative(U[e], sigma[e], V[e], J)
        for a in range(6):
            total = polar[e, a] - s[e, a]
            for k in range(9):
                total += J[a, k] * dF[e, k // 3, k % 3]
            ds[e, a] = total
        energy = 0.0
        for a in range(6):
            total = 0.0
            for b in range(6):
                total += H_s[e, a, b] * ds[e, b]
            multiplier[e, a] = g_s[e, a] + total
            energy += ds[e, a] * total
        curvature[e] = energy
    return ds, multiplier, curvature
