"""Parts of a body thinner than a given length, measured by rays from its surface to the other side.

A part is thin only if its normals on both sides are opposite within 45 degrees, so a sharp edge is not a thin part.
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
"""Distance between the sample points from which rays start, as a fraction of ``Thickness.length``."""
OPPOSITE = -(0.5**0.5)
"""Cosine between the outward normals at the ends of a ray below which the ends are opposite walls.

The normals are then opposite within 45 degrees.
"""
START = 1e-4
"""Depth below the surface at which a ray starts, as a fraction of ``Thickness.length``."""
DRAWN_IN = 0.02
"""Fraction by which a ray's origin is moved from the sample point towards the triangle's middle.

A sample point may lie on an edge, which also belongs to the adjacent triangle. The ray could hit that triangle at once.
"""


class ThinParts(NamedTuple):
    """Parts of a surface where the body is thinner than a given length.

    Attributes
    ----------
    share : fraction of the sampled area that is thin, 0 to 1
    vertices : (k,) indices of the vertices nearest to the thin samples
    thickness : median thickness of the thin samples, m; 0 if there are none
    """

    share: float
    vertices: np.ndarray
    thickness: float

    def not_finer(self, fineness: np.ndarray | None) -> ThinParts:
        """Return the same parts without the vertices that are painted finer.

        ``fineness`` (n,) or None: painted refinement per vertex, 0 to 1. From 0.5 on, a vertex counts as painted finer.
        """
        if fineness is None:
            return self
        return self._replace(vertices=self.vertices[fineness[self.vertices] < 0.5])


class Thickness(NamedTuple):
    """Thickness of a body at k sample points of its surface with a near opposite side.

    Attributes
    ----------
    across : (k,) distance to the plane of the opposite triangle along the inward normal, m
    depths : (k,) shortest distance to that plane, m
    vertices : (k,) index of the vertex nearest to each sample
    shares : (k,) share of each sample in the sampled area
    length : length that sets the sample spacing, m
    """

    across: np.ndarray
    depths: np.ndarray
    vertices: np.ndarray
    shares: np.ndarray
    length: float

    def below(self, length: float) -> ThinParts:
        """Return the parts of the surface where the body is thinner than a length, m.

        The length must not exceed the product ``reach * length`` of the values that were passed to
        :func:`measure_thickness`.
        """
        thin = self.across <= length
        if not thin.any():
            return ThinParts(0.0, np.empty(0, dtype=np.int64), 0.0)
        share, depth = float(self.shares[thin].sum()), float(np.median(self.depths[thin]))
        return ThinParts(share, np.unique(self.vertices[thin]), depth)


def thin_parts(surface: SurfaceMesh, length: float, most: int | None = None) -> ThinParts:
    """Return the parts of a surface where the enclosed body is thinner than ``length``, m.

    ``most``: approximate largest number of triangles to sample, to limit memory. With None, all triangles are sampled.
    """
    return measure_thickness(surface, length, most=most).below(length)


def measure_thickness(surface: SurfaceMesh, length: float, reach: float = 1.0, most: int | None = None) -> Thickness:
    """Return the thickness of the body below sample points of a surface.

    Only sample points with a thickness below ``reach * length``, m, are returned. Sample points are about ``SPACING *
    length`` apart. Open sheets have no opposite side, so they are not thin.

    ``most``: approximate largest number of triangles to sample, to limit memory. With None, all triangles are sampled.
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
    """Write the index (s,) of the first triangle on the inward ray from each sample point, or -1."""
    p, q = np.empty(3), np.empty(3)
    for s in range(first, last):
        n = normals[s]
        for i in range(3):
            p[i] = points[s, i] - START * n[i]
            q[i] = points[s, i] - reach * n[i]
        other[s] = first_hit(p, q, corners, tree)
