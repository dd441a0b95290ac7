"""Bodies that swing as a finer one by their materials alone, at the cost of a plain step.

*One Stiffness* is DAC: all is scaled by the ratio of the first eigenvalues (Chen, Levin, Matusik, Kaufman 2017,
"Dynamics-Aware Numerical Coarsening for Fabrication Design"). Other vibrations are as they come.

*Fitted Materials* multiply the stiffness of each tet by ``exp z_e`` so that the paired coarse modes U have the one
that they are to have, ``U^T K(z) U = T`` (:func:`matching.right_stiffness`): on the diagonal, and less firmly beside
it, where modes that are near one another would mix. Rounds of Gauss and Newton, with the modes found anew in each, of

    min  sum_i<=j a_ij² (T_ij - u_i.K(z) u_j)² / (T_ii T_jj) + eps² sum_e v_e z_e²

are solved by the dual, of as many unknowns as there are i, j. v is a tet's part of the energy of all modes: by its
volume, joints in which all bend became thousands of times as soft.
"""

from __future__ import annotations

import numpy as np

from ..energies.tangent import Tangent
from ..forces.elastic import ElasticDensity
from ..forces.step_potential import Load
from ..subspaces.space import Space
from .matching import Pairs, Spectra, right_stiffness
from .near_modes import Followed, followed, near_modes
from .vibrations import Springs

ROUNDS, FARTHEST = 4, 1.0
"""Of Gauss and Newton, and how far z moves in one. The best is kept: where modes cross they may go astray."""

EPSILON, BESIDE, BY_VOLUME = 0.1, 0.3, 0.1
"""eps; a off the diagonal; and the part of v that is a tet's of the volume, so that no z is free."""

CROSSING = 4
"""Modes beyond those that were found at rest, among which one may have come."""


class OneStiffness:
    """All moduli by the ratio of the first eigenvalues that are paired; as :class:`.methods.MatchMethod`."""

    name = "one_stiffness"
    label = "One Stiffness"
    description = "All of the body softer or stiffer, so that its first vibration is right (DAC); as quick as without"
    of_positions = controls = False

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

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None) -> None:
        self.spectra, self.pairs = spectra, pairs
        rest, others = space.rest_state().positions, spectra.modes[pairs.coarse]
        finder = near_modes(space, springs, spectra.coarse[0])
        target, z, least, v = right_stiffness(spectra, pairs), np.zeros(len(space.elastic.weights)), np.inf, None
        for _ in range(ROUNDS + 1):
            elastic = space.elastic.scaled(np.exp(z))
            tangent = elastic.tangent(elastic.deformation(rest))
            found = finder.find(tangent, spectra.modes, len(spectra.modes) + CROSSING)
            now = followed(found, others, space.mass)
            off = np.abs(np.log(np.sort(now.eigenvalues) / np.linalg.eigvalsh(target))).max()
            if off < least:
                least, self.stiffness = off, np.exp(z)
            energies = _energies(elastic, tangent, now.modes)
            if v is None:
                v = (1.0 - BY_VOLUME) * np.einsum("iim,i->m", energies, 1.0 / now.eigenvalues) / len(others)
                v += BY_VOLUME * elastic.weights / elastic.weights.sum()
            z = z + np.clip(_nearest(z, energies, now, target, v) - z, -FARTHEST, FARTHEST)

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> Load | None:
        """None: there is the stiffness alone."""


def _energies(elastic: ElasticDensity, tangent: Tangent, modes: np.ndarray) -> np.ndarray:
    """``u_i . K_e u_j`` of the elements, (k,k,m)."""
    changes = np.array([elastic.change(u) for u in modes])
    stresses = np.array([tangent.stress_change(dF) for dF in changes])
    return np.einsum("m,imab,jmab->ijm", elastic.weights, stresses, changes, optimize=True)


def _nearest(z: np.ndarray, energies: np.ndarray, now: Followed, target: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The z (m,) of a round's least squares."""
    T, (i, j) = now.turn @ target @ now.turn.T, np.triu_indices(len(target))
    firmness = np.where(i == j, 1.0, BESIDE) / np.sqrt(np.diag(T)[i] * np.diag(T)[j])
    J, away = firmness[:, None] * energies[i, j], firmness * (T - np.diag(now.eigenvalues))[i, j]
    dual = np.linalg.solve((J / v) @ J.T + EPSILON**2 * np.eye(len(i)), away + J @ z)
    return (dual @ J) / v
