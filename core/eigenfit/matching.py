"""Which coarse mode is which fine one, and the stiffness that gives them the fine frequencies.

Modes are paired by how much of one lies in the other ([EigenFit19] Sec. 3.4 pairs them by their number, which fails
where modes cross): ``B_ij = u_i^T M v_j`` of mass-orthonormal modes, squared the modal assurance criterion (Allemang
and Brown 1982).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from ..subspaces.reduced_model import ReducedModel
from .stretch_potential import StretchLoad, StretchModes
from .vibrations import Springs, reduced_vibrations, rigid_count, vibrations

SHARE = 0.9
"""Of a coarse mode that must lie in the fine ones that were found, or it is left alone."""

SPARE = 10
"""Fine modes that are found beyond the matched ones: in them lies what a coarse mode of the last ones is."""

LIMP = 0.3
"""Of the right eigenvalue under which too few cubature points feel a coarse mode: no coordinate can be made of what is
left of its stresses. From 0.37 on bodies moved as they should, at 0.06 they were thrown about.
"""

CLUSTER = 1.01
"""Ratio of eigenvalues under which modes are one cluster, which is matched whole or not at all."""


class Spectra(NamedTuple):
    """What is found of a body in its subspace and in all its vertices, rigid motions left out.

    ``coarse``, ``modes`` (c,), (c,r,3): eigenvalues, 1/s², and modes of the subspace, mass-orthonormal: one more than
    are matched, which tells whether the last is of a cluster; ``fine`` (f,): eigenvalues of all vertices; ``overlap``
    (c,f): B.
    """

    coarse: np.ndarray
    modes: np.ndarray
    fine: np.ndarray
    overlap: np.ndarray


class Pairs(NamedTuple):
    """``coarse``, ``fine`` (k,): numbers of modes that are one another; ``shares`` (c,): of each coarse mode, what lies
    in the fine ones.
    """

    coarse: np.ndarray
    fine: np.ndarray
    shares: np.ndarray


def find_spectra(
    model: Model,
    space: ReducedModel,
    count: int,
    springs: Springs | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Spectra:
    """The lowest ``count`` modes of a model's subspace, which ``springs`` hold, with the next one, and the fine ones
    that they may be.
    """
    rigid = rigid_count(model)
    coarse = reduced_vibrations(space, springs, count + 1 + rigid).after(rigid, count + 1)
    fine = vibrations(model, count + SPARE + rigid, on_progress).after(rigid, count + SPARE)
    lifted = np.array([space.basis @ u for u in coarse.modes]).reshape(len(coarse.modes), model.mass.shape[0] * 3)
    weighed = np.array([model.mass @ v for v in fine.modes]).reshape(len(fine.modes), lifted.shape[1])
    return Spectra(coarse.eigenvalues, coarse.modes, fine.eigenvalues, lifted @ weighed.T)


def pair(spectra: Spectra, count: int) -> Pairs:
    """The lowest ``count`` coarse modes with the fine ones that they are. Those that the fine ones do not hold, or that
    are limp, are left alone, and a cluster that ``count`` would cut.
    """
    assurance = spectra.overlap[: _whole(spectra.coarse, count)] ** 2
    rows, columns = linear_sum_assignment(-assurance)
    shares = assurance.sum(axis=1)
    good = (shares[rows] >= SHARE) & (spectra.coarse[rows] > LIMP * spectra.fine[columns])
    return Pairs(rows[good], columns[good], shares)


def _whole(eigenvalues: np.ndarray, count: int) -> int:
    """At most so many that no cluster is cut."""
    count = min(count, len(eigenvalues))
    while 0 < count < len(eigenvalues) and eigenvalues[count] < CLUSTER * eigenvalues[count - 1]:
        count -= 1
    return count


def right_stiffness(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """What the stiffness of the paired coarse modes is to be, (k,k), 1/s². On one mesh the orthogonal matrix Q nearest
    to B says what the fine modes are in coarse ones: ``Q diag(fine) Q^T``.
    """
    left, _, right = np.linalg.svd(spectra.overlap[np.ix_(pairs.coarse, pairs.fine)])
    Q = left @ right
    return (Q * spectra.fine[pairs.fine]) @ Q.T


class Matching:
    """The potential by which a body in a subspace swings as in all its vertices.

    Parameters
    ----------
    space : ReducedModel
    spectra : Spectra of it
    pairs : Pairs of them, one at least
    """

    def __init__(self, space: ReducedModel, spectra: Spectra, pairs: Pairs) -> None:
        self.spectra, self.pairs = spectra, pairs
        rest = np.zeros((space.unknowns, 3))
        eigenvalues, modes = (each[self.pairs.coarse] for each in (spectra.coarse, spectra.modes))
        self._modes = StretchModes(space.elastic, rest, eigenvalues, modes)
        self._core = right_stiffness(spectra, self.pairs) - np.diag(eigenvalues)

    def load(self, scale: np.ndarray, beta: float = 0.0) -> StretchLoad:
        """What acts while the stiffness of each cubature point is scaled by (c,). A mode's eigenvalues change by the
        mean of that over its energy: exactly where all is scaled alike, by Rayleigh's quotient elsewhere. ``beta``, s:
        the damping by the stiffness.
        """
        root = np.sqrt(self._modes.energies @ scale)
        return StretchLoad(self._modes, root[:, None] * self._core * root, beta)
