"""Detection of separate parts of a surface that the tets of a lattice connect, so that the parts deform as one body.

Islands (connected components of faces) that intersect, touch or contain each other form one part. Examples of a part
are a head with its eyes, and the two sides of a shell. Parts that share tets are connected, even if the collision proxy
separates the parts. A gap at least two cells wide is never bridged, since tets reach at most one cell into the gap from
each side. Gaps within a part are not detected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...foundation.kernels.jit import parallel_kernel
from ...geometry.mesh.bounding_tree import STACK_SIZE, build_tree, element_boxes, next_leaf
from ...geometry.mesh.closest_point import closest_on_triangle
from ...geometry.mesh.embedding import embed
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import faces_with_area, sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import components, vertex_components
from ...geometry.mesh.vertex_normals import face_normals
from ...geometry.mesh.winding_number import WindingNumber
from ...geometry.tetrahedra.intersections import intersecting_triangles

SPACING = 0.25
"""Spacing of the samples on the surface, in cells."""
BESIDE = 1e-3
"""Distance, in cells, for two tests of connected components of the surface.

A point of a face lies inside another component if the points at this distance on both sides of the face are inside.
Components touch if they are closer than this distance.
"""
OPEN = 2.0
"""Width of a gap, in cells, from which on no tet bridges the gap."""


class BridgedParts(NamedTuple):
    """Separate parts of a surface, and the connections between the parts in a lattice.

    A lattice connects two parts if both lie in the same connected component of its tets.

    Attributes
    ----------
    surface_parts : number of separate parts of the surface
    lattice_parts : number of connected components of the lattice that contain parts of the surface
    gap : m, smallest distance from a connected part to another part; inf if the lattice connects no parts
    cells : number of cells along the longest side at which no tet bridges ``gap``; 0 if no parts are connected
    """

    surface_parts: int
    lattice_parts: int
    gap: float
    cells: int


def bridged_parts(surface: SurfaceMesh, mesh: TetMesh, cells_across: int) -> BridgedParts:
    """Count the separate parts of a surface, and the parts that remain separate in a lattice.

    The result also has the smallest gap between a connected part and another part, and the number of cells at which no
    tet bridges this gap.

    ``mesh``: the lattice. ``cells_across``: number of cells of the lattice along the longest side.
    """
    triangles = faces_with_area(surface)
    cell = surface.size / (cells_across - 0.5)
    positions = surface.positions - surface.positions[triangles].mean(axis=(0, 1))
    samples = sample_surface(positions, triangles, SPACING * cell)
    points = samples.interpolate(positions, triangles)
    part = _united(positions, triangles, points, samples.triangle, cell)
    count = int(part.max()) + 1
    _other, gaps = _to_others(positions[triangles], part, points, part[samples.triangle])
    firsts = surface.positions[triangles[np.unique(part, return_index=True)[1], 0]]
    holder = components(mesh.tets, len(mesh.rest_positions))[embed(firsts, mesh).tet_indices]
    together = (np.bincount(holder)[holder] > 1)[part[samples.triangle]]
    gap = float(gaps[together].min(initial=np.inf))
    cells = int(np.ceil(OPEN * surface.size / gap + 0.5)) if np.isfinite(gap) else 0
    return BridgedParts(count, len(np.unique(holder)), gap, cells)


def _united(
    positions: np.ndarray, triangles: np.ndarray, points: np.ndarray, owner: np.ndarray, cell: float
) -> np.ndarray:
    """Return the part label (t,) of each triangle. Touching, intersecting and nested components are one part."""
    island = vertex_components(triangles)
    if int(island.max()) == 0:
        return island
    corners = positions[triangles]
    other, away = _to_others(corners, island, points, island[owner])
    off = BESIDE * cell * face_normals(corners)[owner]
    winding = WindingNumber(positions, triangles)
    joined = winding.contains(points + off) & winding.contains(points - off) | (away < BESIDE * cell)
    crossing = np.zeros(len(triangles), dtype=bool)
    crossing[intersecting_triangles(positions, triangles)] = True
    joined |= crossing[owner] & crossing[other] & (away < 2.0 * SPACING * cell)
    count = int(island.max()) + 1
    for hollow in np.flatnonzero(_volumes(corners, island) < 0.0):
        # An inward-facing island is the wall of a cavity in the nearest island if that encloses it.
        own = np.flatnonzero(island[owner] == hollow)
        nearest = own[away[own].argmin()]
        around = points[island[owner] == island[other[nearest]]]
        low, high = around.min(axis=0), around.max(axis=0)
        joined[nearest] = ((points[own] >= low) & (points[own] <= high)).all()
    joined &= other >= 0
    ends = island[owner[joined]], island[other[joined]]
    graph = sp.coo_matrix((np.ones(len(ends[0])), ends), shape=(count, count))
    return connected_components(graph, directed=False)[1][island]


def _volumes(corners: np.ndarray, island: np.ndarray) -> np.ndarray:
    """Return six times the signed volume of each component of triangles, m³. The sign makes the sum positive."""
    volumes = np.bincount(island, np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))
    return volumes * np.sign(volumes.sum())


def _to_others(
    corners: np.ndarray, part: np.ndarray, points: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, per point, the index of the nearest triangle in another part, (p,), and the distance, (p,) m."""
    triangle, away = np.full(len(points), -1), np.full(len(points), np.inf)
    corners = np.ascontiguousarray(corners)
    tree = build_tree(*element_boxes(corners))
    if int(part.max()) > 0:
        _search(
            len(points),
            np.ascontiguousarray(points),
            own.astype(np.int64),
            corners,
            part.astype(np.int64),
            tree,
            triangle,
            away,
        )
    return triangle, away


@parallel_kernel
def _search(first, last, points, own, corners, part, tree, triangle, away):
    w = np.empty(3)
    for k in range(first, last):
        best2 = np.inf
        stack = np.zeros(STACK_SIZE, dtype=np.int32)
        leaf, depth = next_leaf(stack, 1, points[k], best2, tree)
        while leaf >= 0:
            for i in range(tree.start[leaf], tree.end[leaf]):
                t = tree.order[i]
                if part[t] == own[k]:
                    continue
                d2 = closest_on_triangle(corners[t, 0], corners[t, 1], corners[t, 2], points[k], w)
                if d2 < best2:
                    best2, triangle[k] = d2, t
            leaf, depth = next_leaf(stack, depth, points[k], best2, tree)
        away[k] = np.sqrt(best2)
