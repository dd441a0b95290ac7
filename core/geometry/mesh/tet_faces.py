"""Faces between tets, computed once, for fast boundaries of any subset of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .topology import FACES


@dataclass(frozen=True)
class TetFaces:
    """The f faces of m tets, each once.

    Attributes
    ----------
    triangles : (f,3) int32
        Vertices, pointing out of the tet ``inner``.
    inner, outer : (f,) int32
        The tets on either side, the lower number first; ``outer`` is m at the boundary.
    """

    triangles: np.ndarray
    inner: np.ndarray
    outer: np.ndarray

    def around(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the boundary of the tets that a mask (m,) keeps: triangles (t,3) that point outwards, and their
        tets (t,)."""
        kept = np.append(kept, False)
        inside, beyond = kept[self.inner], kept[self.outer]
        shown = np.flatnonzero(inside != beyond)
        turned = beyond[shown]
        triangles = self.triangles[shown]
        triangles[turned] = triangles[turned][:, ::-1]
        return triangles, np.where(turned, self.outer[shown], self.inner[shown])


def tet_faces(tets: np.ndarray) -> TetFaces:
    """Return the faces of tets (m,4)."""
    m = len(tets)
    n = int(tets.max(initial=-1)) + 1
    corners = tets[:, FACES].reshape(-1, 3)
    a, b, c = np.sort(corners, axis=1).astype(np.int64).T
    # One 64-bit key per face, if it fits: sorts twice as fast as three.
    order = np.argsort((a * n + b) * n + c, kind="stable") if n < 2_000_000 else np.lexsort((c, b, a))
    same = np.zeros(len(order), dtype=bool)
    ranked = np.column_stack([a, b, c])[order]
    same[:-1] = (ranked[1:] == ranked[:-1]).all(axis=1)
    first = ~np.concatenate([[False], same[:-1]])
    outer = np.full(len(order), m, dtype=np.int32)
    outer[:-1][same[:-1]] = order[1:][same[:-1]] // 4
    return TetFaces(corners[order[first]].astype(np.int32), (order[first] // 4).astype(np.int32), outer[first])


def clip_plane_mask(centroids: np.ndarray, axis: int, offset: float, flipped: bool = False) -> np.ndarray:
    """Return a mask (m,) bool of the tets with centroids (m,3) behind a plane across an axis.

    ``offset`` (0..1) places the plane between the lowest and the highest centroid; at either end some tets are kept.
    ``flipped`` keeps those on the other side.
    """
    along = centroids[:, axis]
    low, high = float(along.min()), float(along.max())
    plane = low + offset * (high - low)
    return along >= plane if flipped else along <= plane
