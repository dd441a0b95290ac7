"""Which coarse mode is which fine one, and the stiffness that gives them the fine frequencies.

Modes are paired by how much of one lies in the other ([EigenFit19] Sec. 3.4 pairs them by their number, which fails
where modes cross): ``B_ij = u_i^T M v_j`` of mass-orthonormal modes, squared the modal assurance criterion (Allemang
and Brown 1982).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ..mesh.embedding import embed
from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from ..subspaces.space import Space
from .sprung import SprungModes
from .stretch_potential import StretchLoad, StretchModes
from .vibrations import Springs, Vibrations, pulls, rigid_count, space_vibrations, vibrations

SHARE = 0.9
"""Of a coarse mode that must lie in the fine ones that were found, or it is left alone."""

SPARE = 10
"""Fine modes that are found beyond the matched ones: in them lies what a coarse mode of the last ones is."""

MOST = 20
"""Coarse modes that are found where their number is chosen."""

LIMP = 0.3
"""Of the right eigenvalue under which too few cubature points feel a coarse mode: no coordinate can be made of what is
left of its stresses. From 0.37 on bodies moved as they should, at 0.06 they were thrown about.
"""

CLUSTER = 1.01
"""Ratio of eigenvalues under which modes are one cluster, which is matched whole or not at all."""


NEAR = 1.15
"""Ratio of eigenvalues under which coarse modes may be mixtures of one another's fine ones, between two meshes."""

MIXED = 0.2
"""Share of a coarse mode in another one's fine mode from which they are mixtures, however far apart: the two slowest of
a crab on four feet, 1.24 apart, each half of both fine ones, else had the frequencies of shapes that are not theirs.
"""


class Spectra(NamedTuple):
    """What is found of a body in its space and of the finer one that it is to swing as, rigid motions left out.

    ``coarse``, ``modes`` (c,), (c,r,3): eigenvalues, 1/s², and modes of the space, mass-orthonormal: one more than are
    matched, which tells whether the last is of a cluster; ``fine`` (f,): eigenvalues of the finer body; ``overlap``
    (c,f): B; ``is_one_mesh``: whether the finer body is the same mesh in all its vertices; ``coarse_pulls``,
    ``fine_pulls`` (c,l), (f,l): what accelerations pull them with (:func:`.vibrations.pulls`).
    """

    coarse: np.ndarray
    modes: np.ndarray
    fine: np.ndarray
    overlap: np.ndarray
    is_one_mesh: bool
    coarse_pulls: np.ndarray
    fine_pulls: np.ndarray


class Pairs(NamedTuple):
    """``coarse``, ``fine`` (k,): numbers of modes that are one another; ``shares`` (c,): of each coarse mode, what lies
    in the fine ones; ``alone`` (a,): coarse modes that are none of the fine ones, and well felt for all that.
    """

    coarse: np.ndarray
    fine: np.ndarray
    shares: np.ndarray
    alone: np.ndarray = np.zeros(0, dtype=np.int64)


def find_spectra(
    model: Model,
    space: Space,
    count: int,
    springs: Springs | None = None,
    on_progress: OnProgress = ignore_progress,
    finer: Space | None = None,
) -> Spectra:
    """The lowest ``count`` modes of a model's space, with the next one, and the fine ones that they may be: those of
    the model in all its vertices, or of a ``finer`` one of the same body; those of the space itself where that is it.
    ``springs`` hold the unknowns of a subspace.
    """
    right, rigid = finer or model, rigid_count(model)
    coarse = space_vibrations(space, springs, count + 1 + rigid, on_progress).after(rigid, count + 1)
    if space is right:
        own = pulls(model, _carried(model, space, coarse.modes, None))
        return Spectra(*coarse, coarse.eigenvalues, np.eye(len(own)), True, own, own)
    rigid = rigid_count(right)
    fine = vibrations(right, count + SPARE + rigid, on_progress).after(rigid, count + SPARE)
    fine_pulls = pulls(right, fine.modes)
    carried = _carried(model, space, coarse.modes, finer)
    weighed = np.array([right.mass @ u for u in carried]).reshape(len(carried), -1)
    # What is carried to another mesh is as long as before but for what lies between their vertices.
    length = np.sqrt(np.sum(weighed * carried.reshape(weighed.shape), axis=1))[:, None]
    overlap = weighed @ fine.modes.reshape(len(fine.modes), -1).T / length
    return Spectra(*coarse, fine.eigenvalues, overlap, finer is None, pulls(right, carried) / length, fine_pulls)


def _carried(model: Model, space: Space, modes: np.ndarray, finer: Model | None) -> np.ndarray:
    """Modes of a space by the vertices of its mesh, or of a finer one, (c,n,3)."""
    if space.is_reduced:
        modes = np.array([space.basis @ u for u in modes]).reshape(len(modes), -1, 3)
    if finer is None:
        return modes
    lift = embed(finer.mesh.rest_positions, model.mesh).matrix(model.mesh.tets, model.unknowns)
    return np.array([lift @ u for u in modes]).reshape(len(modes), -1, 3)


def pair(spectra: Spectra, count: int) -> Pairs:
    """The lowest ``count`` coarse modes with the fine ones that they are. Those that the fine ones do not hold, or that
    are limp, are left alone, and a cluster that ``count`` would cut.
    """
    assurance = spectra.overlap[: whole(spectra.coarse, count)] ** 2
    rows, columns = linear_sum_assignment(-assurance)
    shares = assurance.sum(axis=1)
    alike, felt = shares[rows] >= SHARE, spectra.coarse[rows] > LIMP * spectra.fine[columns]
    return Pairs(rows[alike & felt], columns[alike & felt], shares, rows[felt & ~alike])


def whole(eigenvalues: np.ndarray, count: int) -> int:
    """At most so many of the lowest that no cluster is cut."""
    count = min(count, len(eigenvalues))
    while 0 < count < len(eigenvalues) and eigenvalues[count] < CLUSTER * eigenvalues[count - 1]:
        count -= 1
    return count


def right_modes(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """What the paired modes are to be, as columns of coarse ones, (k,k): the orthogonal matrix Q nearest to B. Between
    two meshes modes far apart in frequency are mixtures by what the meshes differ in alone, if by little: there Q is
    that of each cluster of modes that are near, or mixed by more.
    """
    overlap = spectra.overlap[np.ix_(pairs.coarse, pairs.fine)]
    if not spectra.is_one_mesh:
        coarse = spectra.coarse[pairs.coarse]
        near = np.maximum.outer(coarse, coarse) < NEAR * np.minimum.outer(coarse, coarse)
        cluster = connected_components(near | (overlap**2 > MIXED))[1]
        overlap = overlap * (cluster[:, None] == cluster)
    left, _, right = np.linalg.svd(overlap)
    return left @ right


def right_stiffness(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """What the stiffness of the paired coarse modes is to be, ``Q diag(fine) Q^T``, (k,k), 1/s²."""
    Q = right_modes(spectra, pairs)
    return (Q * spectra.fine[pairs.fine]) @ Q.T


def from_felt(modes: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """F (k,k), so that ``F C F^T`` makes C of modes (k,r,3) with dq/dx (r,3,k): between two meshes the springs of pins
    that act are those of the modes, and what a mode bends them by is not in q.
    """
    return np.linalg.inv(np.tensordot(modes, gradients, axes=((1, 2), (0, 1))))


class Matching:
    """The potential by which a body in its space swings as a finer one; as :class:`.methods.MatchMethod`."""

    name = "stretch_potential"
    label = "EigenFit"
    description = "A potential of the stretches, from the vibrations at rest: follows all of them wherever the body is"
    of_positions, controls = False, True
    ways = ((),)
    stiffness = None

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None) -> None:
        self.spectra, self.pairs = spectra, pairs
        rest, numbers = space.rest_state().positions, np.concatenate([pairs.coarse, pairs.alone])
        plain, modes = spectra.coarse[numbers], spectra.modes[numbers]
        self._modes = StretchModes(space.elastic, rest, plain, modes)
        F = np.eye(len(numbers)) if spectra.is_one_mesh else from_felt(modes, self._modes.gradients)
        Q = scipy.linalg.block_diag(right_modes(spectra, pairs), np.eye(len(pairs.alone)))
        self._numbers, self._plain, self._right = numbers, (F * plain) @ F.T, F @ Q
        self._eigenvalues = np.concatenate([spectra.fine[pairs.fine], spectra.coarse[pairs.alone]])
        self._scaled = np.zeros(0), np.eye(len(numbers))
        if not spectra.is_one_mesh:
            found = Vibrations(spectra.coarse, spectra.modes)
            sprung = SprungModes(space, springs, found, numbers, self._modes.gradients)
            self._plain -= sprung.core((Q * self._eigenvalues) @ Q.T, near := self._core(self._eigenvalues)) - near

    def _core(self, right: np.ndarray) -> np.ndarray:
        """C (k,k), by which the modes have these eigenvalues (k,)."""
        return (self._right * right) @ self._right.T - self._plain

    def load(self, scale: np.ndarray, beta: float = 0.0, factors: np.ndarray | None = None) -> StretchLoad | None:
        """What acts while the stiffness of each element is scaled by (c,), so that V takes and gives the same shares of
        all; ``beta``, s: the damping by the stiffness; ``factors`` (f,): of the right eigenvalues of the first f coarse
        modes. None where all is as it is.
        """
        if not np.array_equal(scale, self._scaled[0]):
            self._scaled = scale, self._modes.scaled(scale)
        L, right = self._scaled[1], self._eigenvalues
        if factors is not None:
            of_each = np.ones(max(len(factors), 1 + self._numbers.max()))
            of_each[: len(factors)] = factors
            right = of_each[self._numbers] * right
        core = self._core(right)
        return StretchLoad(self._modes, L @ core @ L.T, beta, factors is not None) if core.any() else None
