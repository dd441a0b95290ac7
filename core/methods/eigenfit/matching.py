"""Pairing of coarse and fine modes, and the stiffness with which the coarse modes have the fine frequencies.

Modes are paired by the overlap ``B_ij = u_i^T M v_j`` of mass-orthonormal modes. Its square is the modal assurance
criterion (Allemang and Brown 1982). [EigenFit19] Sec. 3.4 pairs modes by their index, which fails if they cross.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ...foundation.progress import OnProgress, ignore_progress
from ...geometry.mesh.embedding import embed
from ..model.model import Model
from ..subspaces.space import Space
from .spring_supported_modes import SpringSupportedModes
from .stretch_potential import StretchLoad, StretchModes
from .vibrations import Springs, Vibrations, modal_loads, rigid_count, space_vibrations, vibrations

SHARE = 0.9
"""Smallest fraction of a matched coarse mode that the computed fine modes must represent, by squared mass norm."""

SPARE = 10
"""Number of fine modes computed beyond the matched ones, for counterparts of the last coarse modes."""

MOST = 20
"""Number of coarse modes to compute if the number of matched modes is chosen automatically."""

LIMP = 0.3
"""Least ratio of a coarse eigenvalue to the paired fine eigenvalue in a match.

Below this ratio too few cubature points resolve the mode: the mode's stresses at the points are too small to define a
usable modal coordinate. Bodies moved correctly at ratios of 0.37 or more, and were thrown about at 0.06.
"""

CLUSTER = 1.01
"""Ratio of successive eigenvalues below which modes form a cluster. A cluster is matched as a whole or not at all."""


NEAR = 1.15
"""Ratio of two coarse eigenvalues below which their modes may rotate into each other.

The rotation matches the modes of a different mesh.
"""

MIXED = 0.03
"""Squared overlap above which a match combines two coarse modes whose eigenvalues are not near. Let the coarse modes a
and b be paired with the fine modes A and B. The overlap is that of a with B, or of b with A. The value 0.03 corresponds
to a rotation by 10 degrees.

Without this rule, two matches were wrong. On a crab with four feet, the two slowest coarse modes are equal mixtures of
two fine modes, and the match exchanged the frequencies. A twisted bar, whose two bending modes differ by 12 degrees,
had the right frequencies, but moved a fifth too far.
"""


class Spectra(NamedTuple):
    """Vibrations of a coarse body and of the finer body to match, without rigid motions.

    Coarse body: ``coarse`` (c,), 1/s², eigenvalues; ``modes`` (c,r,3), mass-orthonormal modes over the body's r
    unknowns; ``coarse_loads`` (c,l), modal loads due to l accelerations (:func:`.vibrations.modal_loads`). The last of
    the c modes is not matched: it shows whether a cluster of near-equal eigenvalues continues.

    Finer body: ``fine`` (f,), 1/s², eigenvalues; ``fine_loads`` (f,l), modal loads.

    ``overlap`` (c,f): mass products of coarse with fine modes. ``is_one_mesh``: True if the two bodies have the same
    mesh.
    """

    coarse: np.ndarray
    modes: np.ndarray
    fine: np.ndarray
    overlap: np.ndarray
    is_one_mesh: bool
    coarse_loads: np.ndarray
    fine_loads: np.ndarray


class Pairs(NamedTuple):
    """Pairs of k coarse and fine modes with matching shapes.

    ``coarse``, ``fine`` (k,): indices of the paired modes. ``shares`` (p,): fraction of each of the p lowest coarse
    modes that lies in the span of the fine modes, by squared mass norm. ``alone`` (a,): coarse modes without a fine
    counterpart.
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
    """Return the lowest ``count`` + 1 modes of a coarse body, and the modes of the finer body to pair.

    The coarse body is ``model`` in its ``space``. ``finer``: model of the same body on a finer mesh; None: ``model`` in
    its full space. If the coarse and the finer body have the same space, the coarse modes serve as fine modes too.

    ``springs``: springs that hold the body in a subspace. In the full space the model itself contains the springs, and
    this argument is ignored.
    """
    right, rigid = finer or model, rigid_count(model)
    coarse = space_vibrations(space, springs, count + 1 + rigid, on_progress).after(rigid, count + 1)
    if space is right:
        own = modal_loads(model, _carried(model, space, coarse.modes, None))
        return Spectra(*coarse, coarse.eigenvalues, np.eye(len(own)), True, own, own)
    rigid = rigid_count(right)
    fine = vibrations(right, count + SPARE + rigid, on_progress).after(rigid, count + SPARE)
    fine_loads = modal_loads(right, fine.modes)
    carried = _carried(model, space, coarse.modes, finer)
    weighed = np.array([right.mass @ u for u in carried]).reshape(len(carried), -1)
    # Interpolation to another mesh changes the norm of a mode between its vertices.
    length = np.sqrt(np.sum(weighed * carried.reshape(weighed.shape), axis=1))[:, None]
    overlap = weighed @ fine.modes.reshape(len(fine.modes), -1).T / length
    return Spectra(*coarse, fine.eigenvalues, overlap, finer is None, modal_loads(right, carried) / length, fine_loads)


def _carried(model: Model, space: Space, modes: np.ndarray, finer: Model | None) -> np.ndarray:
    """Return modes (c,r,3) of a space as displacements (c,n,3) of its mesh, or of the ``finer`` mesh."""
    if space.is_reduced:
        modes = np.array([space.basis @ u for u in modes]).reshape(len(modes), -1, 3)
    if finer is None:
        return modes
    lift = embed(finer.mesh.rest_positions, model.mesh).matrix(model.mesh.tets, model.unknowns)
    return np.array([lift @ u for u in modes]).reshape(len(modes), -1, 3)


def pair(spectra: Spectra, count: int) -> Pairs:
    """Pair the lowest ``count`` modes of the coarse body with modes of the finer body.

    Three kinds of coarse modes stay unpaired: modes outside the span of the fine modes, modes that the cubature does
    not resolve, and modes of a cluster of near-equal eigenvalues that continues beyond ``count``.
    """
    assurance = spectra.overlap[: truncate_at_cluster(spectra.coarse, count)] ** 2
    rows, columns = linear_sum_assignment(-assurance)
    shares = assurance.sum(axis=1)
    alike, felt = shares[rows] >= SHARE, spectra.coarse[rows] > LIMP * spectra.fine[columns]
    return Pairs(rows[alike & felt], columns[alike & felt], shares, rows[felt & ~alike])


def truncate_at_cluster(eigenvalues: np.ndarray, count: int) -> int:
    """Return the largest number of lowest modes, at most ``count``, that does not split a cluster.

    ``eigenvalues`` (k,): ascending. A cluster consists of near-equal eigenvalues.
    """
    count = min(count, len(eigenvalues))
    while 0 < count < len(eigenvalues) and eigenvalues[count] < CLUSTER * eigenvalues[count - 1]:
        count -= 1
    return count


def target_mode_rotation(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """Return the orthogonal matrix Q (k,k) that combines the coarse modes to approximate the fine modes.

    Column j holds the factors of the k paired coarse modes in the combination for fine mode j. Q is the orthogonal
    matrix nearest to the overlap of coarse with fine modes.

    For two different meshes Q is block-diagonal: only coarse modes with near eigenvalues are combined, or coarse modes
    that overlap the fine partners of each other. A small overlap of modes with distant frequencies only reflects the
    difference of the meshes.
    """
    overlap = spectra.overlap[np.ix_(pairs.coarse, pairs.fine)]
    if not spectra.is_one_mesh:
        coarse = spectra.coarse[pairs.coarse]
        near = np.maximum.outer(coarse, coarse) < NEAR * np.minimum.outer(coarse, coarse)
        cluster = connected_components(near | (overlap**2 > MIXED))[1]
        overlap = overlap * (cluster[:, None] == cluster)
    left, _, right = np.linalg.svd(overlap)
    return left @ right


def target_modal_stiffness(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """Return the target stiffness of the k paired modes in the basis of the coarse modes, (k,k), 1/s².

    The target is ``Q diag(lambda) Q^T``. lambda are the eigenvalues of the paired fine modes. Q is the orthogonal
    matrix of :func:`target_mode_rotation`.
    """
    Q = target_mode_rotation(spectra, pairs)
    return (Q * spectra.fine[pairs.fine]) @ Q.T


def modal_coordinate_transform(modes: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Return the matrix F (k,k) that converts a stiffness correction to modal coordinates.

    A stiffness correction C acts on the amplitudes a of the k vibration modes u_i, in the displacement ``sum_i a_i
    u_i``. The modal coordinates q are functions of the elements' stretches. Near rest, ``q = G^T a`` with ``G_ij = u_i
    . dq_j/dx``. The converted correction is ``F C F^T`` with ``F = G^-1``.

    Springs of pins change the modes, but not q, so that G differs from the identity.

    ``modes`` (k,r,3): modes u_i, displacements of r unknowns. ``gradients`` (r,3,k): derivatives dq/dx at rest.
    """
    return np.linalg.inv(np.tensordot(modes, gradients, axes=((1, 2), (0, 1))))


class Matching:
    """Match method that adds a potential of the stretches to the elastic energy.

    The potential gives the coarse body the finer body's vibrations about the rest shape. Implements
    :class:`.methods.MatchMethod`.
    """

    name = "stretch_potential"
    label = "EigenFit"
    description = "Add an energy of the stretch, fitted to the vibrations at rest: matches all of them in every pose"
    of_positions, controls = False, True
    variants = ((),)
    stiffness = None

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None) -> None:
        self.spectra, self.pairs = spectra, pairs
        rest, numbers = space.rest_state().positions, np.concatenate([pairs.coarse, pairs.alone])
        plain, modes = spectra.coarse[numbers], spectra.modes[numbers]
        self._modes = StretchModes(space.elastic, rest, plain, modes)
        F = np.eye(len(numbers)) if spectra.is_one_mesh else modal_coordinate_transform(modes, self._modes.gradients)
        Q = scipy.linalg.block_diag(target_mode_rotation(spectra, pairs), np.eye(len(pairs.alone)))
        self._numbers, self._plain, self._right = numbers, (F * plain) @ F.T, F @ Q
        self._eigenvalues = np.concatenate([spectra.fine[pairs.fine], spectra.coarse[pairs.alone]])
        self._scaled = np.zeros(0), np.eye(len(numbers))
        if not spectra.is_one_mesh:
            found = Vibrations(spectra.coarse, spectra.modes)
            sprung = SpringSupportedModes(space, springs, found, numbers, self._modes.gradients)
            self._plain -= sprung.core((Q * self._eigenvalues) @ Q.T, near := self._core(self._eigenvalues)) - near

    def _core(self, right: np.ndarray) -> np.ndarray:
        """Return the stiffness correction in modal coordinates, (k,k), 1/s², for target eigenvalues (k,), 1/s²."""
        return (self._right * right) @ self._right.T - self._plain

    def load(self, scale: np.ndarray, beta: float = 0.0, factors: np.ndarray | None = None) -> StretchLoad | None:
        """Return the load with the correcting potential, or None if the correction is zero.

        ``scale`` (c,): factor of the stiffness per element or cubature point. The bounds of the potential, as multiples
        of the elastic energy, do not depend on ``scale``. ``beta``, s: stiffness-proportional damping. ``factors``
        (f,): factors of the target eigenvalues of the first f coarse modes.
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
