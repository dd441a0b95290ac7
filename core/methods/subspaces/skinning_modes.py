"""Skinning eigenmodes ([SubMFEM23] Sec. 5.1): skinning weights that follow the materials.

The weights are the lowest eigenvectors of ``H_w W = M_w W Gamma`` with the elastic Laplacian H_w and the scalar mass
M_w. Pinned vertices are eliminated, so weights vanish there. Springs that hold the body are added to the Laplacian, and
weights nearly vanish there. A connected part of the body without a pin (an island) has the constant weight as an extra
mode for its rigid motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError

from ...foundation.errors import SubspaceError
from ...foundation.progress import OnProgress, ignore_progress
from ...geometry.mesh.tie_breaking import first_largest
from ...numerics.linear_solvers.lowest import lowest_pairs
from ..model.model import Model
from .elastic_laplacian import elastic_laplacian

MOST_MODES = 64
"""Largest number of modes that the viewport preview supports."""

DEGENERATE = 1e-6
"""Largest relative difference of eigenvalues that count as equal.

Modes of equal eigenvalues are kept or left out as a group: round-off determines the basis of the group, so a part of
the group would differ between computers.
"""

ALONG = 3.0
"""Factor of the pin springs' stiffness in the elastic Laplacian.

The Laplacian is the sum of the stiffnesses along x, y and z. A pin spring has the same stiffness along each axis, so
three times the stiffness along one axis is added.
"""


class SkinningModes(NamedTuple):
    """The m skinning eigenmodes of a body.

    ``weights`` (n,m): mass-orthonormal weights, zero at hard pins. ``eigenvalues`` (m,), 1/s²: ascending eigenvalues, 0
    for the constant weights of islands without pins. ``islands`` (n,): index of the connected component of each vertex.
    ``laplacian`` (n,n), N/m: elastic Laplacian.
    """

    weights: np.ndarray
    eigenvalues: np.ndarray
    islands: np.ndarray
    laplacian: sp.csr_matrix


def skinning_modes(model: Model, count: int, on_progress: OnProgress = ignore_progress) -> SkinningModes:
    """Return the lowest ``count`` skinning modes of a model.

    A group of modes with equal eigenvalues that continues beyond ``count`` is left out.

    Raises
    ------
    SubspaceError
        ``count`` exceeds the number of free vertices or :data:`MOST_MODES`, or is smaller than the number of islands
        without pins; or the eigensolver does not converge.
    """
    H, M, n = elastic_laplacian(model), model.mass, len(model.mesh.rest_positions)
    islands = connected_components(H, directed=False)[1]
    free = np.setdiff1d(np.arange(n), model.pinned)
    free_islands = np.setdiff1d(np.unique(islands), islands[model.held])
    check_count(count, len(free), len(free_islands))
    held = H if model.anchors is None else H + ALONG * model.anchors
    values, vectors = _lowest(held[free][:, free], M[free][:, free], count + 1, on_progress)
    kept = _whole_clusters(values, count, len(free_islands))
    weights, eigenvalues = np.zeros((n, kept)), values[:kept].copy()
    weights[free] = vectors[:, :kept]
    # The lowest modes, as many as there are free islands, span the islands' constants. Replace them by these.
    for column, island in enumerate(free_islands):
        constant = (islands == island).astype(np.float64)
        weights[:, column], eigenvalues[column] = constant / np.sqrt(constant @ (M @ constant)), 0.0
    return SkinningModes(_with_sign(weights), eigenvalues, islands, H)


def check_count(count: int, free: int, free_islands: int) -> None:
    """Raise SubspaceError if ``count`` modes or handles are too many or too few.

    ``free``: number of free vertices. ``free_islands``: number of islands without a pin.
    """
    most = min(free, MOST_MODES)
    if count > most:
        limit = "the number of free vertices" if free < MOST_MODES else "the viewport preview supports"
        raise SubspaceError(f"{count} modes are more than {limit}.", f"Set Modes (of the subspace) to {most} or less.")
    if count < max(free_islands, 1):
        raise SubspaceError(
            f"The body has {free_islands} separate parts without a pin, and each needs one mode to move.",
            f"Set Modes (of the subspace) to {max(free_islands, 1)} or more, or join the parts.",
        )


def _lowest(H: sp.csr_matrix, M: sp.csr_matrix, count: int, on_progress: OnProgress) -> tuple[np.ndarray, np.ndarray]:
    try:
        return lowest_pairs(H, M, count, on_progress)
    except ArpackError as error:
        raise SubspaceError(
            "The modes of the body cannot be computed: its materials or its tetrahedra differ too much.",
            "Use materials of more similar stiffness, or the solver Mixed FEM.",
        ) from error


def _whole_clusters(values: np.ndarray, count: int, free_islands: int) -> int:
    """Return the number of modes to keep, at most ``count``, without splitting a group of equal eigenvalues.

    At least ``free_islands`` + 1 modes are kept: one rigid mode per island without a pin, and one that bends the body.
    """
    kept = min(count, len(values))
    same = np.diff(values) <= DEGENERATE * values[1:]
    while kept < len(values) and kept > free_islands + 1 and same[kept - 1]:
        kept -= 1
    return kept


def _with_sign(weights: np.ndarray) -> np.ndarray:
    """Return the modes (n,m), each with its entry of largest absolute value made positive."""
    at = first_largest(np.abs(weights), DEGENERATE)
    return weights * np.where(weights[at, np.arange(weights.shape[1])] < 0.0, -1.0, 1.0)
