"""Match methods that change only the materials, without extra cost in a step.

*One Stiffness* is DAC: it scales all moduli by the ratio of the first eigenvalues (Chen, Levin, Matusik, Kaufman 2017,
"Dynamics-Aware Numerical Coarsening for Fabrication Design"). Other vibrations are not matched.

*Fitted Materials* multiply the two Lame moduli of each element by separate factors ``exp z``. The factors change the
stiffness matrix K(z), so that the coarse modes u_i have the stiffness T of the paired fine modes:
``u_i . K(z) u_j = T_ij`` (:func:`.matching.target_modal_stiffness`). Two factors are needed, since a coarse body has
two errors: it bends too little, and it resists changes of volume too much. A single factor could not correct both
errors. The objective is

    min  sum_i<=j a_ij² (T_ij - u_i.K(z) u_j)² / (T_ii T_jj) + eps² sum_k v_k z_k²

The weight ``a_ij`` is 1 on the diagonal, and smaller for off-diagonal entries, which couple near modes. The weight of
modulus k is ``v_k = (1 - by_volume) e_k + by_volume w_k``. e_k is the fraction of the modal energies that is due to
modulus k. w_k is the fraction of the body's volume in the element of modulus k. Each Gauss-Newton iteration solves the
dual problem, and halves its step until the objective decreases. Trial simulations choose the best of a few values of
eps and ``by_volume``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...mechanics.forces.stabilization import Stabilization
from ...mechanics.forces.step_potential import Load
from ...numerics.linear_solvers.blas import one_blas_thread
from ..subspaces.space import Space
from .matching import Pairs, Spectra, target_modal_stiffness
from .near_modes import near_modes, track_modes
from .stretch_measure import StretchMeasure
from .vibrations import Springs, Vibrations

ROUNDS, FARTHEST = 12, 1.0
"""Limits of the fit, whose unknowns z are the logarithms of the factors of the moduli. ROUNDS: largest number of
Gauss-Newton iterations. FARTHEST: largest change of an entry of z in one iteration.
"""

MOST = 4.0
"""Largest absolute value of an entry of z, the logarithms of the factors of the moduli.

The factors are between about 1/50 and 50.
"""

GAINED, GAINED_WHOLE, SHORTEST = 0.05, 0.2, 1.0 / 16.0
"""GAINED (in a subspace), GAINED_WHOLE (in the full space): the iterations continue while the objective decreases by at
least this fraction. In the full space an iteration costs as much as a few time steps and gains little. SHORTEST:
smallest fraction of a Gauss-Newton step that is tried.
"""

EPSILON, BY_VOLUME = 0.1, 0.5
"""Default parameters of the fit. EPSILON: strength eps of the regularisation. BY_VOLUME: number from 0 to 1 in the
weight ``v = (1 - BY_VOLUME) e + BY_VOLUME w`` of an element's modulus in the regularisation. e is the fraction of the
modal energies that is due to the modulus. w is the element's fraction of the body's volume.
"""

OFF_DIAGONAL_WEIGHT = 0.3
"""Weight ``a_ij`` of off-diagonal entries of the modal stiffness in the objective. Diagonal entries have the weight 1.
"""

RESIDUAL = 1e-2
"""Relative residual of the modes computed in an iteration; the relative error of eigenvalues is its square."""

CROSSING = 4
"""Number of modes to compute beyond the number known at rest. New moduli may raise a matched mode above modes that were
higher at rest.
"""


class OneStiffness:
    """Match method that multiplies all moduli by one factor.

    The factor is the fine eigenvalue of the first paired vibration, divided by the coarse one. Implements
    :class:`.methods.MatchMethod`.
    """

    name = "one_stiffness"
    label = "One Stiffness"
    description = "Scale the whole body's stiffness, so that its first frequency is right (DAC); adds no time per step"
    of_positions = controls = False
    variants = ((),)

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, _springs: Springs | None = None) -> None:
        first = pairs.coarse[0]
        self.spectra, self.pairs = spectra, Pairs(pairs.coarse[:1], pairs.fine[:1], pairs.shares[: first + 1])
        self.stiffness = np.full(len(space.elastic.weights), spectra.fine[pairs.fine[0]] / spectra.coarse[first])

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> Load | None:
        """Return None: the method changes only the stiffness."""


class FittedMaterials:
    """Match method that fits the two Lame moduli of each element to the vibrations of the fine body.

    Implements :class:`.methods.MatchMethod`.
    """

    name = "fitted_materials"
    label = "Fitted Materials"
    description = "Scale the stiffness of each region, so that the vibrations are right at rest; adds no time per step"
    of_positions = controls = False
    variants = ((EPSILON, BY_VOLUME), (EPSILON, 1.0), (0.03, BY_VOLUME), (0.03, 1.0))

    def __init__(
        self,
        space: Space,
        spectra: Spectra,
        pairs: Pairs,
        springs: Springs | None = None,
        eps: float = EPSILON,
        by_volume: float = BY_VOLUME,
    ) -> None:
        self.spectra, self.pairs = spectra, pairs
        # All products are too small for threads, which wait for each other on a busy machine.
        with one_blas_thread():
            self.stiffness = np.exp(_fit(_Fit(space, spectra, pairs, springs, eps, by_volume)))

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> Load | None:
        """Return None: the method changes only the stiffness."""


def _fit(fit: _Fit) -> np.ndarray:
    """Solve the least-squares fit of the moduli by Gauss-Newton iterations.

    Return z (m,2), the logarithms of the factors of mu and lambda per element.
    """
    z, part = fit.at_first, 1.0
    now = fit.at_rest()
    for _ in range(ROUNDS):
        direction, part = fit.newton_direction(z, now), min(2.0 * part, 1.0)
        then = fit.at(z + part * direction, now.found)
        while then.total >= now.total and part > SHORTEST:
            part *= 0.5
            then = fit.at(z + part * direction, now.found)
        if then.total >= now.total:
            break
        is_last = then.total > (1.0 - fit.gained) * now.total
        z, now = z + part * direction, then
        if is_last:
            break
    return z


class _Fitted(NamedTuple):
    """Modes and residuals of a fit at given moduli.

    ``found``: all computed modes. ``modes`` (k,r,3): the k matched modes, columns of U. ``residual_weights``
    (k(k+1)/2,): weight of each residual. ``residuals`` (k(k+1)/2,): weighted entries of ``T - U^T K U`` on and above
    the diagonal, with the stiffness K of the body and the target stiffness T. ``total``: objective.
    """

    found: np.ndarray
    modes: np.ndarray
    residual_weights: np.ndarray
    residuals: np.ndarray
    total: float


class _Fit:
    """Least-squares problem for the logarithms z (m,2) of the factors of mu and lambda per element."""

    def __init__(
        self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None, eps: float, by_volume: float
    ) -> None:
        self._eps, self._space = eps, space
        self.gained = GAINED if space.is_reduced else GAINED_WHOLE
        self._others = spectra.modes[pairs.coarse]
        self._finder = near_modes(space, springs, spectra.coarse[0], RESIDUAL)
        self._known, self._count = Vibrations(spectra.coarse, spectra.modes), len(spectra.modes)
        self._target, self._upper = target_modal_stiffness(spectra, pairs), np.triu_indices(len(pairs.coarse))
        self.at_first = np.zeros((len(space.elastic.weights), 2))
        of_each = self._energies(self.at_first, self._others)
        i, j = self._upper
        of_each = np.tensordot(1.0 / spectra.coarse[pairs.coarse], of_each[i == j], axes=1) / len(pairs.coarse)
        self._v = (1.0 - by_volume) * of_each
        self._v += by_volume * (space.elastic.weights / space.elastic.weights.sum())[:, None]

    def at(self, z: np.ndarray, near: np.ndarray) -> _Fitted:
        """Return modes, residuals and objective at the logarithmic factors z (m,2) of the moduli."""
        space = replace(self._space, elastic=self._space.elastic.scaled(np.exp(z)))
        tangent = space.elastic.tangent(space.elastic.deformation(space.rest_state().positions))
        return self._fitted(z, self._finder.find(space, tangent, near, self._count, beyond=CROSSING))

    def at_rest(self) -> _Fitted:
        """Return modes, residuals and objective for the initial moduli."""
        if self._space.is_reduced:
            return self.at(self.at_first, self._known.modes)
        return self._fitted(self.at_first, self._known)

    def _fitted(self, z: np.ndarray, found: Vibrations) -> _Fitted:
        now = track_modes(found, self._others, self._space.mass)
        T, (i, j) = now.turn @ self._target @ now.turn.T, self._upper
        residual_weights = np.where(i == j, 1.0, OFF_DIAGONAL_WEIGHT) / np.sqrt(np.diag(T)[i] * np.diag(T)[j])
        residuals = residual_weights * (T - np.diag(now.eigenvalues))[i, j]
        total = float(residuals @ residuals + self._eps**2 * np.sum(self._v * z**2))
        return _Fitted(found.modes, now.modes, residual_weights, residuals, total)

    def newton_direction(self, z: np.ndarray, now: _Fitted) -> np.ndarray:
        """Return the Gauss-Newton step (m,2) of the logarithmic factors from z (m,2)."""
        J = self._energies(z, now.modes).reshape(len(now.residuals), -1)
        J *= now.residual_weights[:, None]
        v = self._v.ravel()
        dual = np.linalg.solve((J / v) @ J.T + self._eps**2 * np.eye(len(J)), now.residuals + J @ z.ravel())
        wanted = np.clip(((dual @ J) / v).reshape(z.shape), -MOST, MOST)
        return np.clip(wanted - z, -FARTHEST, FARTHEST)

    def _energies(self, z: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """Return the modal energy products ``u_i . K_e u_j`` by mode pair, element and modulus, (k(k+1)/2,m,2), 1/s².

        The pairs are i <= j. K_e is the part of the stiffness of element e at rest that is proportional to the modulus.
        """
        elastic = self._space.elastic.scaled(np.exp(z))
        changes = np.array([elastic.delta_F(u).reshape(-1, 9).T for u in modes])
        beside = (changes[:, [1, 2, 5]] + changes[:, [3, 6, 7]]) * np.sqrt(0.5)
        strains, traces = np.concatenate([changes[:, ::4], beside], axis=1), changes[:, ::4].sum(axis=1)
        shear, lam = (elastic.weights[:, None] * StretchMeasure(elastic).at_rest).T
        out, rows = np.empty((len(self._upper[0]), len(shear), 2)), np.cumsum(np.r_[0, np.arange(len(modes), 0, -1)])
        for i, (first, end) in enumerate(pairwise(rows)):
            np.einsum("cm,jcm->jm", shear * strains[i], strains[i:], out=out[first:end, :, 0])
            np.multiply(lam * traces[i], traces[i:], out=out[first:end, :, 1])
        if isinstance(elastic.stabilization, Stabilization):
            for products, first, end in zip(elastic.stabilization.modal_stiffness(modes), rows, rows[1:]):
                out[first:end, :, 0] += products
        return out
