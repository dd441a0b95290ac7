"""Points that follow a collider."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.vertex_normals import face_normals


class ColliderPoints(NamedTuple):
    """Points that follow triangles of a collider. Rigid motions are exact.

    ``corners`` (s,3): vertices of each point's triangle. ``coordinates`` (s,4): coordinates of the points in the frames
    of the triangles: corner, two sides and unit normal.
    """

    corners: np.ndarray
    coordinates: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, surface: np.ndarray, triangles: np.ndarray) -> ColliderPoints:
        """Return points that follow the nearest triangles.

        ``points`` (s,3), m, and the collider's vertices ``surface`` (k,3), m: at the first frame. ``triangles`` (t,3).
        """
        corners = triangles[NearestPointSearch(surface, triangles).nearest(points).triangles].astype(np.int64)
        frames = _frames(surface[corners])
        away = (points - surface[corners[:, 0]])[:, :, None]
        local = np.linalg.solve(frames[:, 1:].transpose(0, 2, 1), away)[:, :, 0]
        return cls(corners, np.column_stack([np.ones(len(points)), local]))

    def positions(self, surface: np.ndarray) -> np.ndarray:
        """Return the positions of the points, (s,3) m. ``surface`` (k,3), m: vertices of the collider."""
        return np.einsum("sk,ski->si", self.coordinates, _frames(surface[self.corners]))


def _frames(corners: np.ndarray) -> np.ndarray:
    """Return corner, two sides and unit normal of triangles, (s,4,3). ``corners`` (s,3,3), m."""
    sides = corners[:, 1:] - corners[:, :1]
    return np.concatenate([corners[:, :1], sides, face_normals(corners)[:, None]], axis=1)
