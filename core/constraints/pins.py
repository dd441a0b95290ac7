"""Hard pins: which tet vertices are held by pinned surface vertices, and where they go.

The render surface is embedded in the tets, so a pinned surface vertex holds the four corners of its tet. Each corner
first follows its nearest pinned surface vertices rigidly (a weighted best-fit rotation about their weighted centre);
where these lie on a line or are a single one, the turn they leave open is that of the object, or of the sample before.
Then the corners are corrected as little as possible, so that the embedded vertices meet their targets also where a pin
bends or stretches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from ..small_matrix import batch_svd
from ..tracks import on_the_way

NEIGHBOURS = 12
"""Pinned surface vertices that a corner follows: enough for a rotation, few enough to follow a bending pin."""

OPEN_TURN = 1e-6
"""Weight of the expected rotation beside the fitted one: decides only turns that the points do not."""

PRIOR = 1e-4
"""Weight of the rigid motion beside the embedded pins' targets."""


@dataclass(frozen=True)
class PinSchedule:
    """Tet vertices that are held, where, and until when.

    ``corners`` (q,) ascending; ``targets`` (samples,q,3) m, a track; ``held`` (frames,q) bool: a corner is held on the
    way to a frame where it is held, and free from then on.
    """

    corners: np.ndarray
    targets: np.ndarray
    held: np.ndarray

    def held_corners(self, frame: int) -> np.ndarray:
        """Corners that are held on the way to a frame, (k,), counted from the first frame."""
        return self.corners[self.held[frame]]

    def targets_at(self, frame: int, part: float) -> np.ndarray:
        """Where these are after a part (0 to 1) of the way to a frame, (k,3), m: straight from sample to sample."""
        mask = self.held[frame]
        before, after, part = on_the_way(self.targets, len(self.held), frame, part)
        return before[mask] + part * (after[mask] - before[mask])


def pin_schedule(
    mesh: TetMesh,
    embedding: Embedding,
    pinned_vertices: np.ndarray,
    pin_positions: np.ndarray,
    pin_held: np.ndarray,
    rotations: np.ndarray,
) -> PinSchedule:
    """The schedule of pinned surface vertices (p,) with their positions, a track (samples,p,3), and whether they are
    held (frames,p); ``rotations`` as in :func:`corner_targets`.
    """
    corners = pinned_corners(mesh, embedding, pinned_vertices)
    targets = corner_targets(corners, mesh, embedding, pinned_vertices, pin_positions, rotations)
    column = np.searchsorted(corners, mesh.tets[embedding.tet_indices[pinned_vertices]])
    held = np.zeros((len(pin_held), len(corners)), dtype=bool)
    for frame, holds in zip(held, pin_held, strict=True):
        frame[column[holds]] = True
    return PinSchedule(corners, targets, held)


def pinned_corners(mesh: TetMesh, embedding: Embedding, pinned_vertices: np.ndarray) -> np.ndarray:
    """Tet vertices held by pinned surface vertices (p,): the corners of their tets, (q,), ascending."""
    return np.unique(mesh.tets[embedding.tet_indices[pinned_vertices]])


def corner_targets(
    corners: np.ndarray,
    mesh: TetMesh,
    embedding: Embedding,
    pinned_vertices: np.ndarray,
    pin_positions: np.ndarray,
    rotations: np.ndarray,
) -> np.ndarray:
    """Positions of held tet vertices at each sample.

    Parameters
    ----------
    corners : (q,) tet vertices, from :func:`pinned_corners`
    embedding : of the surface; pinned_vertices : (p,) surface vertices
    pin_positions : (samples,p,3) where they are, one sample after the other; at rest in the first, metres
    rotations : (samples,3,3) of the object that carries the pins, relative to the first

    Returns
    -------
    (samples,q,3), metres
    """
    if len(corners) == 0:
        return np.zeros((len(pin_positions), 0, 3))
    rest_pins = embedding.apply(mesh.rest_positions, mesh.tets)[pinned_vertices]
    rigid = _follow_rigidly(mesh.rest_positions[corners], rest_pins, pin_positions, rotations)
    P = embedding.matrix(mesh.tets, len(mesh.rest_positions))[pinned_vertices][:, corners].tocsc()
    correct = splu((P.T @ P + PRIOR * sp.identity(len(corners))).tocsc())
    for corner_positions, pins in zip(rigid, pin_positions):
        corner_positions += correct.solve(P.T @ (pins - P @ corner_positions))
    return rigid


def _follow_rigidly(
    X: np.ndarray, rest_pins: np.ndarray, pin_positions: np.ndarray, rotations: np.ndarray
) -> np.ndarray:
    """Corners X (q,3) carried by their nearest pins, (samples,q,3)."""
    count = min(NEIGHBOURS, len(rest_pins))
    distance, near = cKDTree(rest_pins).query(X, k=count)
    distance, near = distance.reshape(len(X), count), near.reshape(len(X), count)
    reach = np.maximum(distance[:, -1:], 1e-300)
    weights = np.exp(-2.0 * (distance / reach) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    centre = np.einsum("qk,qki->qi", weights, rest_pins[near])
    arms = rest_pins[near] - centre[:, None]
    scale = np.einsum("qk,qki,qki->q", weights, arms, arms)
    scale = np.where(scale > 0.0, scale, 1.0)[:, None, None]
    out = np.empty((len(pin_positions), len(X), 3))
    turned = np.tile(np.eye(3), (len(X), 1, 1))
    before = np.eye(3)
    for f, pins in enumerate(pin_positions):
        moved = np.einsum("qk,qki->qi", weights, pins[near])
        A = np.einsum("qk,qki,qkj->qij", weights, pins[near] - moved[:, None], arms) / scale
        # A little of where the object's own turn has carried the last rotation decides what the points leave open.
        U, _sigma, V = batch_svd(A + OPEN_TURN * (rotations[f] @ before.T @ turned))
        turned, before = np.einsum("qij,qkj->qik", U, V), rotations[f]
        out[f] = moved + np.einsum("qij,qj->qi", turned, X - centre)
    return out
