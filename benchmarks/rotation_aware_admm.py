"""ADMM with the rotation-aware splitting of WRAPD: the third solver of [MFEM22] Figs. 2-3, here for comparison alone.

Source: Brown, Narain 2021, "WRAPD: Weighted Rotation-aware ADMM for Parameterization and Deformation". The energy acts
on stretches z_e of their own, tied to the polar stretches s(F_e(x)) by ``s(F) = z`` with scaled multipliers u:

    x <- argmin  1/2 |x - x~|_M^2 - h² f . x + h²/2 sum_e w_e k_e |s(F_e(x)) - z_e + u_e|²       (L-BFGS)
    z <- argmin  psi(z_e) + k_e/2 |z_e - s(F_e) - u_e|²                                          (Newton, tet by tet)
    u <- u + s(F) - z

The global step starts L-BFGS from the constant matrix ``M + h² sum w k B^T B``, factorised once. ``k`` is the bulk
modulus, as usual for ADMM on Neo-Hookean bodies; WRAPD's change of the weights while it runs is left out, so this is
its splitting, not its whole method. Norms are Frobenius norms of the 3 x 3 matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.energies.kinematics import Stretch
from ..core.forces.elastic import ElasticPotential
from .measures import StepProblem

_FROBENIUS = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
_REMEMBERED = 6


class RotationAwareADMM:
    """Solves steps of one body; the matrix is factorised once for its problem's time step."""

    def __init__(self, problem: StepProblem, inner_iterations: int = 5) -> None:
        self.problem = problem
        self._inner = inner_iterations
        self._elastic: ElasticPotential = problem.model.elastic
        mu, lam = problem.model.elastic.parameters.T
        self._k = lam + 2.0 * mu / 3.0
        problem.system.assemble(self._k[:, None, None] * np.eye(9), problem.time_step**2)
        problem.system.factorize()

    def iterate(self, iterations: int, observe: Callable[[np.ndarray], None]) -> np.ndarray:
        """Positions after a number of iterations from where inertia alone would lead; ``observe(x)`` after each."""
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
        """A few iterations of L-BFGS (two-loop recursion) with backtracking."""
        steps: list[tuple[np.ndarray, np.ndarray]] = []
        value, g = self._global_value(x, target)
        for _ in range(self._inner):
            q, coefficients = g.copy(), []
            for s, y in reversed(steps):
                coefficients.append(np.sum(s * q) / np.sum(s * y))
                q -= coefficients[-1] * y
            d = self.problem.system.solve(q)
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
        """The global objective and its gradient. ``|s(F) - p| = |F - R p|``, so the stress is ``k (F - R p)``."""
        p, h2 = self.problem, self.problem.time_step**2
        deformation = self._elastic.deformation(x)
        R = deformation.U @ deformation.V.transpose(0, 2, 1)
        apart = deformation.F - R @ _matrices(target)
        weights = h2 * self._elastic.weights
        inertia = p.model.mass @ (x - p.predicted)
        g = inertia + h2 * (self._elastic.nodal(self._k[:, None, None] * apart) - p.weight)
        g[p.model.pinned] = 0.0
        tie = 0.5 * float(np.sum(weights * self._k * np.sum(apart**2, axis=(1, 2))))
        return float(0.5 * np.sum((x - p.predicted) * inertia) - h2 * np.sum(p.weight * x)) + tie, g

    def _local_step(self, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Newton with backtracking on six numbers a tet, all tets at once."""
        k = self._k[:, None]
        for _ in range(8):
            at = Stretch.of(z)
            g = self._elastic.stretch_gradient(at) + k * _FROBENIUS * (z - p)
            H = self._elastic.stretch_hessian(at) + k[:, :, None] * np.diag(_FROBENIUS)
            d = -np.linalg.solve(H, g[:, :, None])[:, :, 0]
            if np.abs(d).max() < 1e-12:
                break
            value, alpha = self._local_value(z, p), np.ones(len(z))
            for _ in range(10):
                worse = self._local_value(z + alpha[:, None] * d, p) > value + 1e-13 * np.abs(value)
                if not worse.any():
                    break
                alpha[worse] *= 0.5
            z = z + alpha[:, None] * d
        return z

    def _local_value(self, z: np.ndarray, p: np.ndarray) -> np.ndarray:
        tie = 0.5 * self._k * np.sum(_FROBENIUS * (z - p) ** 2, axis=1)
        return self._elastic.stretch_density(Stretch.of(z)) + tie


def _matrices(s: np.ndarray) -> np.ndarray:
    """Symmetric matrices (m,3,3) of six numbers each."""
    return s[:, [0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(-1, 3, 3)
