"""Coincident seams: both sides of a seam get the same vertices and the same triangles.

Booleans compute the two sides of a seam one by one, so vertices differ by round-off, and triangulations differ. Here,
vertices nearer than a tolerance become one. Vertices on a border edge of a neighbour split that edge. Then one side of
each seam replaces the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ...foundation.errors import MeshError


@dataclass(frozen=True)
class CellFaces:
    """Triangles of several closed solids that touch along seams.

    Attributes
    ----------
    triangles : (t,3), indices of shared vertices
    cell : (t,), solid to which each triangle belongs
    across : (t,), solid on the other side of a seam; -1 on the outer surface
    divider : (t,), number of the divider that made a seam; -1 on the outer surface
    source : (t,), triangle of the original surface; -1 on seams
    """

    triangles: np.ndarray
    cell: np.ndarray
    across: np.ndarray
    divider: np.ndarray
    source: np.ndarray

    def rows(self, index: np.ndarray) -> CellFaces:
        """Return chosen triangles. ``index``: indices or mask of triangles."""
        return CellFaces(*(values[index] for values in vars(self).values()))

    def joined(self, other: CellFaces) -> CellFaces:
        """Return the triangles of both."""
        pairs = zip(vars(self).values(), vars(other).values())
        return CellFaces(*(np.concatenate(pair) for pair in pairs))


def matched(positions: np.ndarray, faces: CellFaces, tolerance: float) -> CellFaces:
    """Return the faces with the same triangles on both sides of each seam. Vertex indices stay; some are unused.

    ``positions`` (n,3): vertices. Of several that coincide, the first is kept. ``tolerance``: distance up to which
    vertices coincide. Raises MeshError if the borders of a seam differ by more than the tolerance.
    """
    pairs = cKDTree(positions).query_pairs(tolerance, output_type="ndarray")
    n = len(positions)
    graph = scipy.sparse.coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    first = np.unique(label, return_index=True)[1]
    faces = _without_collapsed(replace(faces, triangles=first[label][faces.triangles]))
    faces = _split_border_edges(positions, faces, tolerance)
    front = faces.rows(faces.across > faces.cell)
    back = replace(front, triangles=front.triangles[:, ::-1], cell=front.across, across=front.cell)
    faces = faces.rows(faces.across < 0).joined(front).joined(back)
    _check_closed(positions, faces)
    return faces


def _without_collapsed(faces: CellFaces) -> CellFaces:
    """Return the faces without those with two equal vertices, and without pairs of opposite faces of one solid."""
    faces = faces.rows((faces.triangles != np.roll(faces.triangles, 1, axis=1)).all(axis=1))
    key = np.column_stack([faces.cell, np.sort(faces.triangles, axis=1)])
    index = np.ravel(np.unique(key, axis=0, return_inverse=True)[1])
    return faces.rows(np.bincount(index)[index] == 1)


def _sides(triangles: np.ndarray) -> np.ndarray:
    """Return the directed edges of triangles, (t,3,2); edge k begins at corner k."""
    return np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2)


def _border_edges(faces: CellFaces) -> np.ndarray:
    """Return the edges between faces of a solid with different neighbours, (e,2), sorted vertex pairs."""
    sides = np.sort(_sides(faces.triangles).reshape(-1, 2), axis=1)
    cell, across = np.repeat(faces.cell, 3), np.repeat(faces.across, 3)
    rows = np.unique(np.column_stack([cell, sides, across]), axis=0)
    several = (rows[1:, :3] == rows[:-1, :3]).all(axis=1)
    return np.unique(rows[1:][several][:, 1:3], axis=0)


def _split_border_edges(positions: np.ndarray, faces: CellFaces, tolerance: float) -> CellFaces:
    """Return the faces with border edges split at the border vertices on them."""
    edges = _border_edges(faces)
    if not len(edges):
        return faces
    vertices = np.unique(edges)
    a, b = positions[edges[:, 0]], positions[edges[:, 1]]
    length = np.linalg.norm(b - a, axis=1)
    near = cKDTree(positions[vertices]).query_ball_point(0.5 * (a + b), 0.5 * length)
    inserted: dict[tuple[int, int], list[int]] = {}
    for k, found in enumerate(near):
        candidates = np.setdiff1d(vertices[found], edges[k])
        if not len(candidates):
            continue
        along = (b[k] - a[k]) / length[k]
        offsets = positions[candidates] - a[k]
        places = offsets @ along
        away = np.linalg.norm(offsets - places[:, None] * along, axis=1)
        on = away <= tolerance
        if on.any():
            inserted[tuple(edges[k].tolist())] = candidates[on][np.argsort(places[on], kind="stable")].tolist()
    return _with_vertices_on_edges(faces, inserted) if inserted else faces


def _with_vertices_on_edges(faces: CellFaces, inserted: dict[tuple[int, int], list[int]]) -> CellFaces:
    """Return the faces split at vertices on their edges.

    ``inserted``: vertices on an edge (a, b), a < b, in order from a to b. A face becomes a fan around the corner
    opposite to the edge, one edge after another.
    """
    waiting = [(triangle, k) for k, triangle in enumerate(faces.triangles.tolist())]
    triangles, rows = [], []
    while waiting:
        triangle, row = waiting.pop()
        for corner in range(3):
            a, b, c = triangle[corner], triangle[(corner + 1) % 3], triangle[(corner + 2) % 3]
            between = inserted.get((min(a, b), max(a, b)))
            if between:
                chain = [a, *(between if a < b else between[::-1]), b]
                waiting += [([u, v, c], row) for u, v in zip(chain, chain[1:]) if c not in (u, v)]
                break
        else:
            triangles.append(triangle)
            rows.append(row)
    order = np.argsort(rows, kind="stable")
    return replace(faces.rows(np.array(rows)[order]), triangles=np.array(triangles)[order])


def _check_closed(positions: np.ndarray, faces: CellFaces) -> None:
    """Raise MeshError if a solid is open, or touches itself at an edge."""
    sides = _sides(faces.triangles).reshape(-1, 2)
    cell = np.repeat(faces.cell, 3)
    edges, index = np.unique(np.column_stack([cell, np.sort(sides, axis=1)]), axis=0, return_inverse=True)
    count = np.bincount(np.ravel(index), minlength=len(edges))
    forth = np.bincount(np.ravel(index), sides[:, 0] < sides[:, 1], minlength=len(edges))
    wrong = np.flatnonzero((count != 2) | (forth != 1.0))
    if len(wrong):
        at = positions[edges[wrong[0], 1]]
        raise MeshError(
            f"The two sides of a seam do not match at {len(wrong)} edges, one at ({at[0]:.4g}, {at[1]:.4g}, "
            f"{at[2]:.4g}).",
            "Move the cutter a little, or split with another edge length.",
        )
