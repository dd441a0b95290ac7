"""Affine handles: the sparse basis of a body from weights and affine displacements ([SMS25] Eqs. 7, 10).

The coordinates x, y, z share one scalar basis A (n,4m). Columns 4 i to 4 i + 3 are the weight of handle i times the
homogeneous coordinates ``[1, (X - X_i) / size]`` relative to the handle's centre X_i. So ``A Q`` with Q (4m,3) are
displacements of the vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.files.digest import digest
from .biharmonic_weights import HandleWeights, biharmonic_weights
from .partition import partition

LEVELS_AN_OCTAVE = 4
"""Number of levels per factor of two to which stiffnesses are rounded, so that round-off does not change handles."""

DIGITS = 9
"""Decimals to which positions, relative to the body's size, are rounded for the same reason."""

KEPT_BODIES = 32
"""Number of bodies whose handles are kept in memory. Islands of bodies in contact change from step to step."""


class Handles(NamedTuple):
    """Handles of a body.

    ``labels`` (m,): cluster of each tet. ``weights``: weights of the handles.
    """

    labels: np.ndarray
    weights: HandleWeights


def affine_basis(weights: sp.csr_matrix, rest_positions: np.ndarray, centres: np.ndarray) -> sp.csr_matrix:
    """Return the scalar basis (n,4m) of handles with affine displacements.

    ``weights`` (n,m), sparse. ``rest_positions`` (n,3), m. ``centres`` (m,3), m.
    """
    weights = weights.tocoo()
    size = max(float(np.ptp(rest_positions, axis=0).max()), 1e-300)
    away = (rest_positions[weights.row] - centres[weights.col]) / size
    values = weights.data[:, None] * np.column_stack([np.ones(len(away)), away])
    columns = 4 * weights.col[:, None] + np.arange(4)
    shape = (weights.shape[0], 4 * weights.shape[1])
    return sp.csr_matrix((values.ravel(), (np.repeat(weights.row, 4), columns.ravel())), shape=shape)


def relative_stiffness(stiffness: np.ndarray) -> np.ndarray:
    """Return the stiffness (m,) of each tet relative to the softest, rounded to LEVELS_AN_OCTAVE.

    Handles depend on these levels alone, so a resumed bake with keyframed stiffness has the same handles.
    """
    return np.exp2(np.round(LEVELS_AN_OCTAVE * np.log2(stiffness / stiffness.min())) / LEVELS_AN_OCTAVE)


def handles_of(
    rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, pinned: np.ndarray, count: int
) -> Handles:
    """Return about ``count`` handles of a body, computed or kept from an earlier call.

    ``rest_positions`` (n,3), m. ``tets`` (m,4). ``stiffness`` (m,), Pa. ``pinned`` (p,): vertices with prescribed
    positions.
    """
    low = rest_positions.min(axis=0)
    X = np.round((rest_positions - low) / np.ptp(rest_positions, axis=0).max(), DIGITS)
    E = relative_stiffness(stiffness)
    pinned = np.asarray(pinned, dtype=np.int64)

    def found() -> Handles:
        labels = partition(X, tets, E, count)
        return Handles(labels, biharmonic_weights(X, tets, E, labels, pinned))

    return _kept_or(digest(repr(count), X, tets, E, pinned), found)


_kept: dict[str, Handles] = {}


def _kept_or(key: str, compute: Callable[[], Handles]) -> Handles:
    """Return the handles kept under ``key``, or compute and keep them. The oldest handles are dropped."""
    if key not in _kept:
        while len(_kept) >= KEPT_BODIES:
            del _kept[next(iter(_kept))]
        _kept[key] = compute()
    return _kept[key]
