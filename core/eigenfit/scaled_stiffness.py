"""Bodies that swing as a finer one by their materials alone, at the cost of a plain step.

*One Stiffness* is DAC: all is scaled by the ratio of the first eigenvalues (Chen, Levin, Matusik, Kaufman 2017,
"Dynamics-Aware Numerical Coarsening for Fabrication Design"). Other vibrations are as they come.

*Fitted Materials* multiply the two Lame moduli of each tet by ``exp z``, each by its own, so that the paired coarse
modes U have the stiffness that they are to have, ``U^T K(z) U = T`` (:func:`matching.right_stiffness`): on the
diagonal, and less firmly beside it, where modes that are near one another would mix. A body is coarse in two ways: it
bends too little, and it locks, since what it is made of hardly changes its volume and few unknowns cannot help doing
so. One modulus for both had to trade one against the other. Rounds of Gauss and Newton, with the modes found anew in
each and steps halved until the sum falls, of

    min  sum_i<=j a_ij² (T_ij - u_i.K(z) u_j)² / (T_ii T_jj) + eps² sum_k v_k z_k²

are solved by the dual, of as many unknowns as there are i, j. v is a modulus's part of the energy of all modes and the
tet's of the volume, in parts that ``by_volume`` tells. No one eps and no one v serve all bodies best: which vibrations
are right at rest says little of what is left in a swing, and where a body can be tried the best of a few is taken.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..forces.step_potential import Load
from ..linear_solvers.blas_threads import one_blas_thread
from ..subspaces.space import Space
from .matching import Pairs, Spectra, right_stiffness
from .near_modes import followed, near_modes
from .stretch_measure import StretchMeasure
from .vibrations import Springs, Vibrations

ROUNDS, FARTHEST = 12, 1.0
"""Of Gauss and Newton at most, and how far z moves in one."""

MOST = 4.0
"""How far z goes: a fiftieth to fifty times, about."""

GAINED, GAINED_WHOLE, SHORTEST = 0.05, 0.2, 1.0 / 16.0
"""Of the sum, that a round takes from it at least, or it is the last: in a subspace, and in all vertices, where a round
costs as much as a few steps and another gains little. Of a step, the part that is tried at last.
"""

EPSILON, BY_VOLUME = 0.1, 0.5
"""What serves most bodies."""

BESIDE = 0.3
"""a off the diagonal."""

RESIDUAL = 1e-2
"""Of modes in a round: eigenvalues are off by its square."""

CROSSING = 4
"""Modes beyond those that were found at rest, among which one may have come."""


class OneStiffness:
    """All moduli by the ratio of the first eigenvalues that are paired; as :class:`.methods.MatchMethod`."""

    name = "one_stiffness"
    label = "One Stiffness"
    description = "All of the body softer or stiffer, so that its first vibration is right (DAC); as quick as without"
    of_positions = controls = False
    ways = ((),)

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, _springs: Springs | None = None) -> None:
        first = pairs.coarse[0]
        self.spectra, self.pairs = spectra, Pairs(pairs.coarse[:1], pairs.fine[:1], pairs.shares[: first + 1])
        self.stiffness = np.full(len(space.elastic.weights), spectra.fine[pairs.fine[0]] / spectra.coarse[first])

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> Load | None:
        """None: there is the stiffness alone."""


class FittedMaterials:
    """Moduli of each tet by which all paired modes are right; as :class:`.methods.MatchMethod`."""

    name = "fitted_materials"
    label = "Fitted Materials"
    description = "Parts of the body softer or stiffer, so that its vibrations are right at rest; as quick as without"
    of_positions = controls = False
    ways = ((EPSILON, BY_VOLUME), (EPSILON, 1.0), (0.03, BY_VOLUME), (0.03, 1.0))

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
        # All products are too small for threads, which wait for one another where a machine has other work.
        with one_blas_thread():
            self.stiffness = np.exp(_fit(_Fit(space, spectra, pairs, springs, eps, by_volume)))

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> Load | None:
        """None: there is the stiffness alone."""


def _fit(fit: _Fit) -> np.ndarray:
    """z (m,2) that a fit's rounds come to."""
    z, part = fit.at_first, 1.0
    now = fit.at_rest()
    for _ in range(ROUNDS):
        way, part = fit.way(z, now), min(2.0 * part, 1.0)
        then = fit.at(z + part * way, now.found)
        while then.total >= now.total and part > SHORTEST:
            part *= 0.5
            then = fit.at(z + part * way, now.found)
        if then.total >= now.total:
            break
        is_last = then.total > (1.0 - fit.gained) * now.total
        z, now = z + part * way, then
        if is_last:
            break
    return z


class _Fitted(NamedTuple):
    """Modes by some moduli: what is left of ``T - U^T K U`` above and on the diagonal, weighed as ``firmness``
    (k(k+1)/2,) says; and the sum that is to be least.
    """

    found: np.ndarray
    modes: np.ndarray
    firmness: np.ndarray
    away: np.ndarray
    total: float


class _Fit:
    """The least squares of a space's moduli."""

    def __init__(
        self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None, eps: float, by_volume: float
    ) -> None:
        self._eps, self._space = eps, space
        self.gained = GAINED if space.is_reduced else GAINED_WHOLE
        self._others = spectra.modes[pairs.coarse]
        self._finder = near_modes(space, springs, spectra.coarse[0], RESIDUAL)
        self._known, self._count = Vibrations(spectra.coarse, spectra.modes), len(spectra.modes)
        self._target, self._upper = right_stiffness(spectra, pairs), np.triu_indices(len(pairs.coarse))
        self.at_first = np.zeros((len(space.elastic.weights), 2))
        of_each = self._energies(self.at_first, self._others)
        i, j = self._upper
        of_each = np.tensordot(1.0 / spectra.coarse[pairs.coarse], of_each[i == j], axes=1) / len(pairs.coarse)
        self._v = (1.0 - by_volume) * of_each
        self._v += by_volume * (space.elastic.weights / space.elastic.weights.sum())[:, None]

    def at(self, z: np.ndarray, near: np.ndarray) -> _Fitted:
        """For z (m,2), from modes (k,r,3) that are near."""
        elastic = self._space.elastic.scaled(np.exp(z))
        tangent = elastic.tangent(elastic.deformation(self._space.rest_state().positions))
        return self._fitted(z, self._finder.find(tangent, near, self._count, beyond=CROSSING))

    def at_rest(self) -> _Fitted:
        """At first, where all vertices' modes are known; in a subspace those beyond cost nothing."""
        if self._space.is_reduced:
            return self.at(self.at_first, self._known.modes)
        return self._fitted(self.at_first, self._known)

    def _fitted(self, z: np.ndarray, found: Vibrations) -> _Fitted:
        now = followed(found, self._others, self._space.mass)
        T, (i, j) = now.turn @ self._target @ now.turn.T, self._upper
        firmness = np.where(i == j, 1.0, BESIDE) / np.sqrt(np.diag(T)[i] * np.diag(T)[j])
        away = firmness * (T - np.diag(now.eigenvalues))[i, j]
        total = float(away @ away + self._eps**2 * np.sum(self._v * z**2))
        return _Fitted(found.modes, now.modes, firmness, away, total)

    def way(self, z: np.ndarray, now: _Fitted) -> np.ndarray:
        """Where a round leads from z, (m,2)."""
        J = self._energies(z, now.modes).reshape(len(now.away), -1)
        J *= now.firmness[:, None]
        v = self._v.ravel()
        dual = np.linalg.solve((J / v) @ J.T + self._eps**2 * np.eye(len(J)), now.away + J @ z.ravel())
        wanted = np.clip(((dual @ J) / v).reshape(z.shape), -MOST, MOST)
        return np.clip(wanted - z, -FARTHEST, FARTHEST)

    def _energies(self, z: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """``u_i . K_e u_j`` of the elements at rest, of each of the two moduli, (k(k+1)/2,m,2)."""
        elastic = self._space.elastic.scaled(np.exp(z))
        changes = np.array([elastic.delta_F(u).reshape(-1, 9).T for u in modes])
        beside = (changes[:, [1, 2, 5]] + changes[:, [3, 6, 7]]) * np.sqrt(0.5)
        strains, traces = np.concatenate([changes[:, ::4], beside], axis=1), changes[:, ::4].sum(axis=1)
        shear, lam = (elastic.weights[:, None] * StretchMeasure(elastic).at_rest).T
        out, rows = np.empty((len(self._upper[0]), len(shear), 2)), np.cumsum(np.r_[0, np.arange(len(modes), 0, -1)])
        for i, (first, end) in enumerate(pairwise(rows)):
            np.einsum("cm,jcm->jm", shear * strains[i], strains[i:], out=out[first:end, :, 0])
            np.multiply(lam * traces[i], traces[i:], out=out[first:end, :, 1])
        return out
