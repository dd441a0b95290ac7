"""Pins in a subspace: each connected group of pinned vertices has a handle, an affine displacement of the group.

Modes vanish at pins, so moving pins need other weights: 1 on their group, 0 on the other groups, and harmonic (by the
elastic Laplacian) elsewhere. Handles of hard pins are prescribed. Handles of groups held by springs are unknowns like
the handles of the modes, and the springs determine them. A body can therefore rotate about a single pin.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...foundation.kernels.small_matrix import batch_svd
from ...foundation.progress import OnProgress, ignore_progress
from ...mechanics.constraints.pins import PinSchedule
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.registry import fastest
from ..model.model import Model
from .skinning_modes import ALONG

FLAT = 1e-6
"""Smallest singular value of the vertex positions of a pinned group that counts, relative to the largest.

In directions with a smaller singular value the group counts as flat, and is not stretched.
"""

OPEN_TURN = 1e-9
"""Weight of the identity in the fit of a rotation, for rotations that the points do not determine."""


class PinHandles:
    """Prescribed handles of g connected groups of pinned vertices: one affine displacement per group.

    Parameters
    ----------
    pinned : (p,) indices of the pinned vertices
    group_of_pin : (p,) index of the group of each pinned vertex
    weights : (n,g) skinning weights, each 1 on its group and 0 on the others, from :func:`harmonic_weights`
    coordinates : (n,4) homogeneous coordinates of the rest positions
    size : size of the body, m
    """

    def __init__(
        self, pinned: np.ndarray, group_of_pin: np.ndarray, weights: np.ndarray, coordinates: np.ndarray, size: float
    ) -> None:
        self.pinned, self.weights = pinned, weights
        self._group, self._coordinates, self._size = group_of_pin, coordinates[pinned], size

    @property
    def count(self) -> int:
        """Number g of groups of pinned vertices."""
        return self.weights.shape[1]

    def schedule(self, pins: PinSchedule, rest_positions: np.ndarray, first: int) -> PinSchedule:
        """Return a pin schedule that prescribes the unknowns of the handles.

        ``pins``: schedule of the pinned vertices. ``first``: index of the handles' first unknown in the subspace. A
        handle is prescribed until the last of its vertices is released.
        """
        columns = np.searchsorted(pins.corners, self.pinned)
        displacements = pins.targets[:, columns] - rest_positions[self.pinned]
        targets = np.stack([self.unknowns(sample) for sample in displacements])
        held = np.zeros((len(pins.held), self.count), dtype=bool)
        for g in range(self.count):
            held[:, g] = pins.held[:, columns[self._group == g]].any(axis=1)
        return PinSchedule(first + np.arange(4 * self.count), targets, np.repeat(held, 4, axis=1))

    def unknowns(self, displacements: np.ndarray) -> np.ndarray:
        """Return the affine displacements of the groups, (4g,3) m, that best fit displacements of the pinned vertices.

        ``displacements`` (p,3), m. A rigid motion is fitted first. The smallest stretch and shear that fit the
        remaining displacements are added to the rigid motion.
        """
        out = np.empty((4 * self.count, 3))
        for g in range(self.count):
            rows = self._group == g
            out[4 * g : 4 * g + 4] = _affine(self._coordinates[rows], displacements[rows] / self._size)
        return self._size * out


def pin_groups(laplacian: sp.csr_matrix, pinned: np.ndarray, owners: np.ndarray | None = None) -> np.ndarray:
    """Return the index of the connected group of each pinned vertex, (p,).

    ``pinned`` (p,): indices of the pinned vertices. ``owners`` (n,): index of the kinematic region of each vertex, or
    -1; vertices of different regions are not connected.
    """
    graph = laplacian[pinned][:, pinned]
    if owners is not None:
        graph, own = graph.tocoo(), owners[pinned]
        same = own[graph.row] == own[graph.col]
        graph = sp.coo_matrix((graph.data[same], (graph.row[same], graph.col[same])), shape=graph.shape)
    return connected_components(graph, directed=False)[1]


def harmonic_weights(
    laplacian: sp.csr_matrix, pinned: np.ndarray, group_of_pin: np.ndarray, on_progress: OnProgress = ignore_progress
) -> np.ndarray:
    """Return harmonic skinning weights (n,g) of g groups of pinned vertices.

    Each weight is 1 on its group, 0 on the other groups, and 0 on islands (connected components) without pins.
    ``pinned``, ``group_of_pin`` (p,): indices of the pinned vertices, and of their groups.
    """
    H, n, count = laplacian, laplacian.shape[0], int(group_of_pin.max(initial=-1)) + 1
    weights = np.zeros((n, count))
    weights[pinned, group_of_pin] = 1.0
    islands = connected_components(H, directed=False)[1]
    held = np.isin(islands, islands[pinned])
    held[pinned] = False
    free = np.flatnonzero(held)
    if len(free) and count:
        factor = factorized(H[free][:, free].tocsc(), fastest())
        pull = -(H[free][:, pinned] @ weights[pinned])
        for k, column in enumerate(pull.T):
            on_progress(k / count)
            weights[free, k] = factor.solve(np.ascontiguousarray(column))
    return weights


def handle_weights(
    model: Model, laplacian: sp.csr_matrix, on_progress: OnProgress = ignore_progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays that define the handles of pins.

    1. the index (p,) of the group of each pinned vertex;
    2. the skinning weights (n,s) of the s groups of vertices that springs hold;
    3. the skinning weights (n,g) of the g groups of pinned vertices.

    A handle belongs to a connected group of vertices.
    """
    group_of_pin = pin_groups(laplacian, model.pinned, model.pin_owners)
    free = np.zeros((len(model.mesh.rest_positions), 0))
    if model.anchors is not None:
        free = _sprung_weights(laplacian, ALONG * model.anchors, model.pinned)
    return group_of_pin, free, harmonic_weights(laplacian, model.pinned, group_of_pin, on_progress)


def _sprung_weights(laplacian: sp.csr_matrix, anchors: sp.csr_matrix, pinned: np.ndarray) -> np.ndarray:
    """Return the skinning weights (n,s) of s groups of vertices held by springs.

    The springs, ``anchors`` (n,n) N/m, pull each weight to 1 in its group and to 0 in the other groups.
    """
    n = laplacian.shape[0]
    touched = np.flatnonzero(anchors.diagonal())
    group_of_pin = pin_groups(laplacian, touched)
    weights = np.zeros((n, int(group_of_pin.max(initial=-1)) + 1))
    islands = connected_components(laplacian, directed=False)[1]
    free = np.setdiff1d(np.flatnonzero(np.isin(islands, islands[touched])), pinned)
    if len(free) == 0 or weights.shape[1] == 0:
        return weights
    one = np.zeros_like(weights)
    one[touched, group_of_pin] = 1.0
    factor = factorized((laplacian + anchors)[free][:, free].tocsc(), fastest())
    for k, column in enumerate((anchors @ one)[free].T):
        weights[free, k] = factor.solve(np.ascontiguousarray(column))
    return weights


def _affine(coordinates: np.ndarray, displacements: np.ndarray) -> np.ndarray:
    """Return the affine displacement (4,3) that best fits displacements (q,3) of points.

    The fit is a rigid motion plus the smallest stretch and shear that fit the remainder.
    """
    centre, shift = coordinates[:, :3].mean(axis=0), displacements.mean(axis=0)
    arms, away = coordinates[:, :3] - centre, displacements - shift
    U, _sigma, V = batch_svd(((arms + away).T @ arms + OPEN_TURN * np.eye(3))[None])
    linear = (U[0] @ V[0].T).T - np.eye(3)
    linear += np.linalg.pinv(arms, rcond=FLAT) @ (away - arms @ linear)
    return np.vstack([linear, shift - centre @ linear])
