"""Hard pins: which tet vertices are held by pinned surface vertices, and where they go.

The render surface is embedded in the tets, so a pinned surface vertex holds the four corners of its tet. Each corner
follows its nearest pinned surface vertices rigidly (a weighted best-fit rotation about their weighted centre), so that
a turning pin turns the tets exactly, be its points in a plane, on a line or a single one.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..small_matrix import batch_svd

NEIGHBOURS = 12
"""Pinned surface vertices that a corner follows: enough for a rotation, few enough to follow a bending pin."""


def pinned_corners(mesh: TetMesh, embedding: Embedding, pinned_vertices: np.ndarray) -> np.ndarray:
    """Tet vertices held by pinned surface vertices (p,): the corners of their tets, (q,), ascending."""
    return np.unique(mesh.tets[embedding.tet_indices[pinned_vertices]])


def corner_targets(corners: np.ndarray, mesh: TetMesh, rest_pins: np.ndarray, pin_positions: np.ndarray) -> np.ndarray:
    """Positions of held tet vertices at each frame.

    Parameters
    ----------
    corners : (q,) tet vertices
    rest_pins : (p,3) pinned surface vertices at rest, metres
    pin_positions : (frames,p,3) where they are at each frame

    Returns
    -------
    (frames,q,3), metres
    """
    if len(corners) == 0:
        return np.zeros((len(pin_positions), 0, 3))
    X = mesh.rest_positions[corners]
    count = min(NEIGHBOURS, len(rest_pins))
    distance, near = cKDTree(rest_pins).query(X, k=count)
    distance, near = distance.reshape(len(X), count), near.reshape(len(X), count)
    reach = np.maximum(distance[:, -1:], 1e-12 * max(mesh.size, 1e-300))
    weights = np.exp(-2.0 * (distance / reach) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    centre = np.einsum("qk,qki->qi", weights, rest_pins[near])
    arms = rest_pins[near] - centre[:, None]
    spread = np.einsum("qk,qki,qki->q", weights, arms, arms)
    out = np.empty((len(pin_positions), len(corners), 3))
    for f, pins in enumerate(pin_positions):
        moved = np.einsum("qk,qki->qi", weights, pins[near])
        A = np.einsum("qk,qki,qkj->qij", weights, pins[near] - moved[:, None], arms)
        # A little of the identity decides the turns that the points leave open (a line, a point).
        A += (1e-9 * spread + 1e-300)[:, None, None] * np.eye(3)
        U, _sigma, V = batch_svd(A)
        out[f] = moved + np.einsum("qij,qkj,qk->qi", U, V, X - centre)
    return out
