"""Pins in a subspace: every group of pinned vertices is a handle that moves them as one affine piece.

Modes vanish at pins, so pins that move need weights of their own: 1 on their group, 0 on the others, and inside the
smoothest that the materials allow (harmonic under the elastic Laplacian). A group is what hangs together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..constraints.pins import PinSchedule
from ..linear_solvers.factorized import factorized
from ..linear_solvers.registry import fastest
from ..small_matrix import batch_svd

FLAT = 1e-6
"""Singular value of a group's extent, in sizes of the body, under which it has no extent in that direction."""

OPEN_TURN = 1e-9
"""Weight of standing still beside the fitted turn: decides only turns that a group's points leave open."""


class PinHandles:
    """Handles of pinned vertices.

    Parameters
    ----------
    laplacian : (n,n) of the elastic energy
    pinned : (p,) vertices
    coordinates : (n,4) homogeneous, of the rest positions; size : m, of the body

    Attributes
    ----------
    count : int, g groups
    weights : (n,g), each 1 on its group and 0 on the others
    """

    def __init__(self, laplacian: sp.csr_matrix, pinned: np.ndarray, coordinates: np.ndarray, size: float) -> None:
        self.pinned, self._size = pinned, size
        self.count, self._group = connected_components(laplacian[pinned][:, pinned], directed=False)
        self._coordinates = coordinates[pinned]
        self.weights = _harmonic_weights(laplacian, pinned, self._group, self.count)

    def schedule(self, pins: PinSchedule, rest_positions: np.ndarray, first: int) -> PinSchedule:
        """The schedule of the handles, whose unknowns begin at ``first``, from that of the vertices.

        A handle is held until the last of its vertices is released.
        """
        columns = np.searchsorted(pins.corners, self.pinned)
        displacements = pins.targets[:, columns] - rest_positions[self.pinned]
        targets = np.stack([self.unknowns(frame) for frame in displacements])
        held = np.zeros((len(targets), self.count), dtype=bool)
        for g in range(self.count):
            held[:, g] = pins.held[:, columns[self._group == g]].any(axis=1)
        return PinSchedule(first + np.arange(4 * self.count), targets, np.repeat(held, 4, axis=1))

    def unknowns(self, displacements: np.ndarray) -> np.ndarray:
        """Affine displacements of the groups, (4g,3), that move the pinned vertices by (p,3) as nearly as they can.

        First the rigid motion that fits best, then the least stretch and shear that mend what is left.
        """
        out = np.empty((4 * self.count, 3))
        for g in range(self.count):
            rows = self._group == g
            out[4 * g : 4 * g + 4] = _affine(self._coordinates[rows], displacements[rows] / self._size)
        return self._size * out


def _harmonic_weights(H: sp.csr_matrix, pinned: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    n = H.shape[0]
    weights = np.zeros((n, count))
    weights[pinned, group] = 1.0
    islands = connected_components(H, directed=False)[1]
    held = np.isin(islands, islands[pinned])
    held[pinned] = False
    free = np.flatnonzero(held)
    if len(free) and count:
        factor = factorized(H[free][:, free].tocsc(), fastest())
        pull = -(H[free][:, pinned] @ weights[pinned])
        weights[free] = np.column_stack([factor.solve(np.ascontiguousarray(column)) for column in pull.T])
    return weights


def _affine(coordinates: np.ndarray, displacements: np.ndarray) -> np.ndarray:
    """(4,3) from homogeneous coordinates (q,4) and displacements (q,3) in sizes of the body."""
    centre, shift = coordinates[:, :3].mean(axis=0), displacements.mean(axis=0)
    arms, away = coordinates[:, :3] - centre, displacements - shift
    U, _sigma, V = batch_svd(((arms + away).T @ arms + OPEN_TURN * np.eye(3))[None])
    linear = (U[0] @ V[0].T).T - np.eye(3)
    linear += np.linalg.pinv(arms, rcond=FLAT) @ (away - arms @ linear)
    return np.vstack([linear, shift - centre @ linear])
