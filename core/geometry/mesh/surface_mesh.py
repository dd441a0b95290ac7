"""Triangulated surface: the geometry of bodies and obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.schema.declared_types import array_of, checked
from ...foundation.schema.field_metadata import field_spec
from .polygons import triangulate

STRAY = 1e9
"""Largest distance of a vertex from the median position, relative to the median distance.

A vertex farther away is rejected, since it was probably moved there by mistake.
"""

INDICES = 2**31
"""Limit of vertex indices: others than -INDICES to INDICES - 1 are rejected.

A conversion to int32 would change them.
"""
_NO_CORNERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class SurfaceMesh:
    """Triangle mesh, which may be open, non-manifold or self-intersecting.

    Attributes
    ----------
    positions : (n, 3) float64, metres
    triangles : (t, 3) int32
        Vertex indices. Vertices in no triangle are allowed: they are embedded in the tets and follow them.
    """

    positions: np.ndarray = field_spec("vertices", counted=True)
    triangles: np.ndarray = field_spec("faces", counted=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", self._rows_of_three("positions", "iuf", "numbers").astype(np.float64))
        triangles = self._rows_of_three("triangles", "iu", "whole numbers")
        if triangles.size and not -INDICES <= triangles.min() <= triangles.max() < INDICES:
            raise MeshError("A triangle names a vertex that does not exist.", "Number vertices from 0.")
        object.__setattr__(self, "triangles", triangles.astype(np.int32))

    def _rows_of_three(self, name: str, kinds: str, word: str) -> np.ndarray:
        """Return a field as a contiguous array (k,3), or raise MeshError."""
        array = array_of(getattr(self, name), MeshError, f"Surface: {name}")
        if array.size == 0:
            return np.empty((0, 3), dtype=np.int32)
        if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in kinds:
            raise MeshError(
                f"The {name} of the surface are {array.dtype} of shape {array.shape}.",
                f"Give three {word} per row; Surface.of_faces takes quads and other polygons.",
            )
        return array

    @classmethod
    @checked(MeshError)
    def of_faces(cls, positions: np.ndarray, faces: Sequence[Sequence[int]] | np.ndarray) -> SurfaceMesh:
        """Return the surface with vertices at ``positions`` (n,3) m and ``faces``, the vertex indices of each polygon.
        Polygons with any number of corners are split into triangles.
        """
        rows = [array_of(face, MeshError, f"Surface: face {k}", np.int64) for k, face in enumerate(faces)]
        counts, corners = np.array([face.size for face in rows], dtype=np.int64), np.concatenate([*rows, _NO_CORNERS])
        vertices = cls(positions, []).positions
        return cls(vertices, triangulate(vertices, counts, corners))

    def validate(self) -> None:
        """Raise MeshError if the surface is not valid.

        There must be faces with an area. All positions must be finite, and all vertex indices must exist. No vertex may
        be extremely far from the others.
        """
        if len(self.positions) == 0 or len(self.triangles) == 0:
            raise MeshError(
                f"The mesh has {len(self.positions)} vertices and {len(self.triangles)} triangles.",
                "Add faces: a body needs a surface.",
            )
        bad = np.flatnonzero(~np.isfinite(self.positions).all(axis=1))
        if len(bad):
            raise MeshError(
                f"Vertex {bad[0]} has a position that is not a number ({len(bad)} such vertices).",
                "Delete these vertices, or undo the edit that made them.",
            )
        if self.triangles.min() < 0 or self.triangles.max() >= len(self.positions):
            raise MeshError("A triangle names a vertex that does not exist.", "Number vertices from 0.")
        if self.size <= 0.0 or self.area <= 0.0:
            raise MeshError(
                "The mesh has no area.", "Set a scale that is not zero, and check that the faces are not collapsed."
            )
        self._refuse_strays()

    def _refuse_strays(self) -> None:
        """Raise MeshError if a vertex is far from all others, since round-off would distort the others."""
        used = np.flatnonzero(self.used)
        offsets = self.positions[used] - np.median(self.positions[used], axis=0)
        away = np.abs(offsets).max(axis=1)
        middle, farthest = float(np.median(away)), int(away.argmax())
        if 0.0 < STRAY * middle < away[farthest]:
            raise MeshError(
                f"Vertex {used[farthest]} lies {away[farthest]:.3g} m away from the others.",
                "Move it back, or delete it.",
            )

    @cached_property
    def found(self) -> dict[str, Any]:
        """Cache of values that other modules computed from this surface, by name."""
        return {}

    @cached_property
    def used(self) -> np.ndarray:
        """Mask (n,) of the vertices that belong to a face."""
        used = np.zeros(len(self.positions), dtype=bool)
        used[self.triangles] = True
        return used

    @cached_property
    def size(self) -> float:
        """Longest side of the bounding box of the vertices in faces, m. 0 without faces."""
        return float(np.ptp(self.positions[self.used], axis=0).max()) if len(self.triangles) else 0.0

    @property
    def area(self) -> float:
        """Total area of the triangles, m²."""
        return float(self._triangle_areas().sum())

    @property
    def vertex_areas(self) -> np.ndarray:
        """Area per vertex, (n,), m²: a third of the area of its triangles."""
        thirds = np.repeat(self._triangle_areas() / 3.0, 3)
        return np.bincount(self.triangles.ravel(), thirds, minlength=len(self.positions))

    def _triangle_areas(self) -> np.ndarray:
        a, b, c = (self.positions[self.triangles[:, k]] for k in range(3))
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def signed_volume(positions: np.ndarray, triangles: np.ndarray) -> float:
    """Return the volume within a closed surface, m³; negative if its normals point inwards.

    ``positions`` (k,3), m. ``triangles`` (t,3). For a surface that may be open or overlap see
    ``tetrahedra/enclosed_volume.py``.
    """
    corners = positions[triangles] - positions[triangles[:, 0]].mean(axis=0)
    return float(np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
