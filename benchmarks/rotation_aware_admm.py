"""ADMM with the rotation-aware splitting of WRAPD: the third solver of [MFEM22] Figs. 2-3, for comparison only.

Source: Brown, Narain 2021, "WRAPD: Weighted Rotation-aware ADMM for Parameterization and Deformation". The energy is a
function of separate stretches z_e, constrained to the polar stretches s(F_e(x)) by ``s(F) = z`` with scaled multipliers
u:

    x <- argmin  1/2 |x - x~|_M^2 - h² f . x + h²/2 sum_e w_e k_e |s(F_e(x)) - z_e + u_e|²       (L-BFGS)
    z <- argmin  psi(z_e) + k_e/2 |z_e - s(F_e) - u_e|²                                          (Newton, tet by tet)
    u <- u + s(F) - z

The global step initialises L-BFGS with the constant matrix ``M + h² sum w k B^T B``, factorised once. ``k`` is three
times the bulk modulus, the best of 1, 3 and 10 times on the boat (with 1 it stalls). WRAPD's reweighting is omitted, so
this is its splitting, not its whole method. Norms are Frobenius norms of the 3 x 3 matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.foundation.kernels.small_matrix import SMALLEST_SUM
from ..core.mechanics.energies.kinematics import Deformation, Stretch
from ..core.mechanics.energies.tangent import Tangent
from ..core.mechanics.forces.elastic import ElasticPotential
from .dense_energies import stretch_gradient, stretch_hessian
from .measures import StepProblem

_FROBENIUS = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
_REMEMBERED = 6


class RotationAwareADMM:
    """Solver of steps of one body; the matrix is factorised once for its problem's time step."""

    def __init__(self, problem: StepProblem, inner_iterations: int = 5) -> None:
        self.problem = problem
        self._inner = inner_iterations
        self._elastic: ElasticPotential = problem.model.elastic
        mu, lam = problem.model.elastic.parameters.T
        self._k = 3.0 * lam + 2.0 * mu
        (self._law, _tets), *others = self._elastic.groups
        if others:
            raise ValueError("This comparison is written for bodies of one energy.")
        self._system = problem.linear_system()
        axes = np.broadcast_to(np.eye(3), (len(self._k), 3, 3)).copy()
        alike = np.repeat(self._k[:, None], 3, axis=1)
        springs = Tangent(axes, axes, self._k[:, None, None] * axes, alike, alike)  # k |dF|²
        self._system.assemble_tangent(springs, problem.time_step**2, problem.predicted)
        self._system.factorize()

    def iterate(self, iterations: int, observe: Callable[[np.ndarray], None]) -> np.ndarray:
        """Return positions after iterations from the inertial prediction; call ``observe(x)`` after each."""
        x = self.problem.predicted.copy()
        x[self.problem.model.pinned] = self.problem.start.positions[self.problem.model.pinned]
        z = self._elastic.deformation(x).stretch()
        u = np.zeros_like(z)
        for _ in range(iterations):
            x = self._global_step(x, z - u)
            s = self._elastic.deformation(x).stretch()
            z = self._local_step(s + u, z)
            u += s - z
            observe(x)
        return x

    def _global_step(self, x: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Take a few iterations of L-BFGS (two-loop recursion) with backtracking."""
        steps: list[tuple[np.ndarray, np.ndarray]] = []
        value, g = self._global_value(x, target)
        for _ in range(self._inner):
            q, coefficients = g.copy(), []
            for s, y in reversed(steps):
                coefficients.append(np.sum(s * q) / np.sum(s * y))
                q -= coefficients[-1] * y
            d = self._system.solve(q)
            for (s, y), a in zip(steps, reversed(coefficients)):
                d += (a - np.sum(y * d) / np.sum(s * y)) * s
            slope, alpha = -float(np.sum(g * d)), 1.0
            if slope >= 0.0:
                break
            new_value, new_g = self._global_value(x - d, target)
            while new_value > value + 1e-4 * alpha * slope + 1e-13 * abs(value) and alpha > 1e-6:
                alpha *= 0.5
                new_value, new_g = self._global_value(x - alpha * d, target)
            move, change = -alpha * d, new_g - g
            if np.sum(move * change) > 0.0:
                steps = [*steps, (move, change)][-_REMEMBERED:]
            x, value, g = x + move, new_value, new_g
        return x

    def _global_value(self, x: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the global objective and its gradient."""
        p, h2 = self.problem, self.problem.time_step**2
        deformation = self._elastic.deformation(x)
        apart = _matrices(deformation.stretch() - target)
        inertia = p.model.mass @ (x - p.predicted)
        g = inertia + h2 * (
            self._elastic.nodal_forces(self._k[:, None, None] * _pulled_back(deformation, apart)) - p.weight
        )
        g[p.model.pinned] = 0.0
        tie = 0.5 * h2 * float(np.sum(self._elastic.weights * self._k * np.sum(apart**2, axis=(1, 2))))
        return float(0.5 * np.sum((x - p.predicted) * inertia) - h2 * np.sum(p.weight * x)) + tie, g

    def _local_step(self, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Apply Newton with backtracking to six numbers per tet, all unconverged tets at once."""
        z, rows = z.copy(), np.arange(len(z))
        for _ in range(8):
            at, k, parameters = Stretch.of(z[rows]), self._k[rows, None], self._elastic.parameters[rows]
            g = stretch_gradient(self._law, at, parameters) + k * _FROBENIUS * (at.s - p[rows])
            H = stretch_hessian(self._law, at, parameters) + k[:, :, None] * np.diag(_FROBENIUS)
            d = -np.linalg.solve(H, g[:, :, None])[:, :, 0]
            moving = np.abs(d).max(axis=1) > 1e-9
            rows, d = rows[moving], d[moving]
            if not len(rows):
                break
            z[rows] = self._backtracked(rows, z[rows], d, p[rows])
        return z

    def _backtracked(self, rows: np.ndarray, z: np.ndarray, d: np.ndarray, p: np.ndarray) -> np.ndarray:
        def value(z: np.ndarray, at: np.ndarray) -> np.ndarray:
            tie = 0.5 * self._k[rows[at]] * np.sum(_FROBENIUS * (z - p[at]) ** 2, axis=1)
            return self._law.stretch_value(Stretch.of(z), self._elastic.parameters[rows[at]]) + tie

        left = np.arange(len(z))
        start, trial = value(z, left), z + d
        for _ in range(10):
            left = left[value(trial[left], left) > start[left] + 1e-13 * np.abs(start[left])]
            if not len(left):
                break
            d[left] *= 0.5
            trial[left] = z[left] + d[left]
        return trial


def _matrices(s: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (m,3,3) of six numbers each."""
    return s[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)


def _pulled_back(deformation: Deformation, T: np.ndarray) -> np.ndarray:
    """Return the derivatives by F of ``T : S(F)`` for symmetric T (m,3,3).

    From ``F = R S`` follows ``dS = R^T dF - W S`` with ``W S + S W = R^T dF - dF^T R``, which is diagonal in the axes V
    of S; hence ``R (T - 2 Y)``, where Y solves the same equation for the antisymmetric part of ``T S``.
    """
    V, sigma = deformation.V, deformation.sigma
    transposed = V.transpose(0, 2, 1)
    A = transposed @ T @ V
    sums = np.maximum(sigma[:, :, None] + sigma[:, None, :], SMALLEST_SUM)
    Y = 0.5 * (sigma[:, None, :] - sigma[:, :, None]) * A / sums
    return deformation.U @ (A - 2.0 * Y) @ transposed
