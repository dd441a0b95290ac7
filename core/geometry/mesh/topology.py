"""Connectivity of tetrahedra: shared faces, connected components, and the boundary."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

FACES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])
"""Corners of the four faces of a tet. Row k is the face opposite to corner k.

The corners are counter-clockwise as seen from outside a positively oriented tet.
"""


def _sorted_faces(tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order (4 m,) that sorts the faces of tets by vertices, and a mask of faces equal to the next one."""
    faces = np.sort(tets[:, FACES].reshape(-1, 3), axis=1)
    order = np.lexsort((faces[:, 2], faces[:, 1], faces[:, 0]))
    ranked = faces[order]
    same = np.zeros(len(order), dtype=bool)
    same[:-1] = (ranked[1:] == ranked[:-1]).all(axis=1)
    return order, same


def face_neighbours(tets: np.ndarray) -> np.ndarray:
    """Return the tets across the faces of each tet, (m,4), or -1 at the boundary.

    Column k belongs to the face opposite to corner k. If several tets share a face, each has one of them.
    """
    order, same = _sorted_faces(tets)
    pairs = np.flatnonzero(same)
    found = np.full(len(order), -1, dtype=np.int64)
    found[order[pairs]], found[order[pairs + 1]] = order[pairs + 1] // 4, order[pairs] // 4
    return found.reshape(-1, 4)


def components(tets: np.ndarray, n_vertices: int) -> np.ndarray:
    """Return the label of the face-connected component of each tet, (m,) int32.

    Components are numbered from 0 in the order of their first tets. Tets that share only an edge or a vertex are not
    connected. Raises IndexError if a vertex index is not below ``n_vertices``.

    ``tets`` (m,4): vertex indices.
    """
    if len(tets) and int(tets.max()) >= n_vertices:
        raise IndexError(f"a tet refers to vertex {int(tets.max())}, but there are only {n_vertices} vertices")
    m = len(tets)
    order, same = _sorted_faces(tets)
    pairs = np.flatnonzero(same)
    graph = scipy.sparse.coo_matrix((np.ones(len(pairs)), (order[pairs] // 4, order[pairs + 1] // 4)), shape=(m, m))
    return connected_components(graph, directed=False)[1].astype(np.int32)


def vertex_components(corners: np.ndarray) -> np.ndarray:
    """Return the component label (k,) of each face or tet.

    Elements that share a vertex are in the same component. ``corners`` (k,c): vertex indices of the elements.
    """
    k, c = corners.shape
    n = k + int(corners.max(initial=-1)) + 1
    ends = np.repeat(np.arange(k), c), k + corners.ravel()
    graph = scipy.sparse.coo_matrix((np.ones(k * c), ends), shape=(n, n))
    return connected_components(graph, directed=False)[1][:k]


def boundary_triangles(tets: np.ndarray) -> np.ndarray:
    """Return the faces that belong to one tet only, (t,3) int32.

    They are oriented outwards, in the order of the tets.
    """
    order, same = _sorted_faces(tets)
    single = ~same
    single[1:] &= ~same[:-1]
    return tets[:, FACES].reshape(-1, 3)[np.sort(order[single])].astype(np.int32)


def edges_of(triangles: np.ndarray) -> np.ndarray:
    """Return the edges of triangles, (e,2), as sorted vertex pairs without duplicates.

    ``triangles`` (t,3): vertex indices.
    """
    return np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)


def grow(tets: np.ndarray, chosen: np.ndarray, rings: int) -> np.ndarray:
    """Return a mask of tets extended by rings of tets that share a vertex with the mask.

    ``tets`` (m,4): vertex indices.
    ``chosen`` (m,): mask of tets.
    ``rings``: number of extensions.
    """
    for _ in range(rings):
        touched = np.zeros(int(tets.max(initial=-1)) + 1, dtype=bool)
        touched[tets[chosen]] = True
        chosen = touched[tets].any(axis=1)
    return chosen


def used_vertices(tets: np.ndarray) -> np.ndarray:
    """Return the sorted indices of the vertices that belong to a tet."""
    return np.unique(tets)


def open_edges(triangles: np.ndarray) -> np.ndarray:
    """Return the edges at which a surface is open or its faces turn against each other, (e,2).

    On a closed surface, every edge runs as often forth as back. ``triangles`` (t,3): vertex indices.
    """
    sides = np.concatenate([np.roll(triangles, -k, axis=1)[:, :2] for k in range(3)]).astype(np.int64)
    edges, index = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    balance = np.bincount(np.ravel(index), weights=np.where(sides[:, 0] < sides[:, 1], 1.0, -1.0), minlength=len(edges))
    return edges[balance != 0.0]


def edge_sides(triangles: np.ndarray) -> np.ndarray:
    """Return the edges of a closed surface with the opposite vertices, (e,4).

    A row (a, b, c, d) stands for the triangles (a, b, c) and (b, a, d), in this orientation. Where more than two
    triangles meet at an edge, they are paired.

    ``triangles`` (t,3): vertex indices of a surface without :func:`open_edges`.
    """
    sides = np.concatenate([np.roll(triangles, -k, axis=1) for k in range(3)]).astype(np.int64)
    forth, back = sides[sides[:, 0] < sides[:, 1]], sides[sides[:, 0] > sides[:, 1]][:, [1, 0, 2]]
    forth, back = (rows[np.lexsort((rows[:, 1], rows[:, 0]))] for rows in (forth, back))
    return np.column_stack([forth, back[:, 2]])
