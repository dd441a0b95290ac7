"""Parts of a body thinner than a length, measured straight through from its surface to the other side.

Only faces that look away from each other count (less than 45 degrees from opposite): a sharp edge is not a thin part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from ..mesh.bounding_tree import build_tree, element_boxes
from ..mesh.closest_point import first_hit
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import proper_faces, sample_surface
from ..mesh.vertex_normals import face_normals

SPACING = 0.5
"""Distance between the measured points, as a part of the length."""
OPPOSITE = -(0.5**0.5)
START = 1e-4
"""Part of the length by which a ray begins below the surface."""
DRAWN_IN = 0.02
"""Fraction by which a ray's origin moves towards the triangle's middle: edges belong to two triangles."""


class ThinParts(NamedTuple):
    """``share`` of the area that is thinner than the length, 0 to 1, the ``vertices`` (k,) next to it, and the median
    ``thickness``, m; 0 if nothing is thin.
    """

    share: float
    vertices: np.ndarray
    thickness: float

    def not_finer(self, fineness: np.ndarray | None) -> ThinParts:
        """Return the thin parts without the vertices painted finer: ``fineness`` (n,), 0 to 1."""
        if fineness is None:
            return self
        return self._replace(vertices=self.vertices[fineness[self.vertices] < 0.5])


class Thickness(NamedTuple):
    """Points of a surface with an opposite side nearby.

    ``across`` (k,), m, is the distance straight through to that side; ``depths`` (k,), m, the distance to its plane.
    ``vertices`` (k,) are the nearest vertices; ``shares`` (k,) the shares of the measured area. ``length``, m, set the
    sample spacing.
    """

    across: np.ndarray
    depths: np.ndarray
    vertices: np.ndarray
    shares: np.ndarray
    length: float

    def below(self, length: float) -> ThinParts:
        """Return the parts thinner than ``length``, m, which must not exceed the reach of the search."""
        thin = self.across <= length
        if not thin.any():
            return ThinParts(0.0, np.empty(0, dtype=np.int64), 0.0)
        share, depth = float(self.shares[thin].sum()), float(np.median(self.depths[thin]))
        return ThinParts(share, np.unique(self.vertices[thin]), depth)


def thin_parts(surface: SurfaceMesh, length: float, most: int | None = None) -> ThinParts:
    """Return the parts of a surface that are thinner than ``length``, m, by :func:`measure_thickness`."""
    return measure_thickness(surface, length, most=most).below(length)


def measure_thickness(surface: SurfaceMesh, length: float, reach: float = 1.0, most: int | None = None) -> Thickness:
    """Measure thickness where a surface is thinner than ``reach`` times ``length``, m, at a spacing set by ``length``.

    Openings have no other side, so sheets are not thin. At most about ``most`` triangles, spread over the surface, are
    sampled, to limit memory.
    """
    triangles = proper_faces(surface)
    if len(triangles) == 0:
        return Thickness(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), np.empty(0), length)
    points = (surface.positions - surface.positions[triangles[:, 0]].mean(axis=0)) / length
    corners = np.ascontiguousarray(points[triangles])
    signed = float(np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))
    outwards = 1.0 if signed >= 0.0 else -1.0
    every = 1 if most is None else -(-len(triangles) // most)
    samples = sample_surface(points, triangles[::every], SPACING)
    normals = (outwards * face_normals(corners[::every]))[samples.triangle]
    triangle = every * samples.triangle
    weights = (1.0 - DRAWN_IN) * samples.barycentric + DRAWN_IN / 3.0
    points = np.einsum("sc,sci->si", weights, corners[triangle])
    tree = build_tree(*element_boxes(corners))
    other = np.empty(len(points), dtype=np.int64)
    _other_side(len(points), float(reach), points, normals, corners, tree, other)
    hit = np.flatnonzero(other >= 0)
    beyond_normals = outwards * face_normals(corners[other[hit]])
    facing = np.einsum("si,si->s", normals[hit], beyond_normals)
    thin, facing, beyond_normals = (each[facing < OPPOSITE] for each in (hit, facing, beyond_normals))
    nearest = triangles[triangle[thin], samples.barycentric[thin].argmax(axis=1)]
    beyond = corners[other[thin], 0] - points[thin]
    depths = length * np.abs(np.einsum("si,si->s", beyond, beyond_normals))
    area = samples.area[thin] / samples.area.sum()
    return Thickness(depths / -facing, depths, nearest, area, length)


@parallel_kernel
def _other_side(first, last, reach, points, normals, corners, tree, other):
    """Find the triangle that a ray of length ``reach`` from each point straight inwards hits first, or -1."""
    p, q = np.empty(3), np.empty(3)
    for s in range(first, last):
        n = normals[s]
        for i in range(3):
            p[i] = points[s, i] - START * n[i]
            q[i] = points[s, i] - reach * n[i]
        other[s] = first_hit(p, q, corners, tree)
