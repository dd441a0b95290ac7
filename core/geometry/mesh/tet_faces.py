"""Faces of a tet mesh and the tets on both sides.

They are computed once, so that the boundary of any subset of the tets is found fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .topology import FACES


@dataclass(frozen=True)
class TetFaces:
    """The f faces of m tets. A face that two tets share is listed once.

    Attributes
    ----------
    triangles : (f,3) int32
        Vertex indices, oriented so that the normal points out of the tet ``inner``.
    inner, outer : (f,) int32
        Indices of the two tets at each face, ``inner`` the lower one. At a boundary face ``outer`` is m.
    """

    triangles: np.ndarray
    inner: np.ndarray
    outer: np.ndarray

    def around(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the boundary of a subset of the tets.

        The boundary is two arrays: triangles (t,3), oriented outwards, and the index (t,) of the tet of each triangle.
        The tet is in the subset.

        ``kept`` (m,): mask of the subset.
        """
        kept = np.append(kept, False)
        inside, beyond = kept[self.inner], kept[self.outer]
        shown = np.flatnonzero(inside != beyond)
        turned = beyond[shown]
        triangles = self.triangles[shown]
        triangles[turned] = triangles[turned][:, ::-1]
        return triangles, np.where(turned, self.outer[shown], self.inner[shown])


def tet_faces(tets: np.ndarray) -> TetFaces:
    """Return the faces of ``tets`` (m,4) and the tets on both sides."""
    m = len(tets)
    n = int(tets.max(initial=-1)) + 1
    corners = tets[:, FACES].reshape(-1, 3)
    a, b, c = np.sort(corners, axis=1).astype(np.int64).T
    # A single 64-bit key per face, if three indices fit into it, sorts twice as fast as three keys.
    order = np.argsort((a * n + b) * n + c, kind="stable") if n < 2_000_000 else np.lexsort((c, b, a))
    same = np.zeros(len(order), dtype=bool)
    ranked = np.column_stack([a, b, c])[order]
    same[:-1] = (ranked[1:] == ranked[:-1]).all(axis=1)
    first = ~np.concatenate([[False], same[:-1]])
    outer = np.full(len(order), m, dtype=np.int32)
    outer[:-1][same[:-1]] = order[1:][same[:-1]] // 4
    return TetFaces(corners[order[first]].astype(np.int32), (order[first] // 4).astype(np.int32), outer[first])


def clip_plane_mask(centroids: np.ndarray, axis: int, offset: float, flipped: bool = False) -> np.ndarray:
    """Return the mask (m,) bool of the tets on or below a plane perpendicular to an axis.

    ``centroids`` (m,3): of the tets.
    ``offset``: moves the plane from the lowest centroid (0) to the highest (1), so that the mask is never empty.
    ``flipped``: True for the tets on or above the plane.
    """
    along = centroids[:, axis]
    low, high = float(along.min()), float(along.max())
    plane = low + offset * (high - low)
    return along >= plane if flipped else along <= plane
