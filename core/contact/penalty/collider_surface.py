"""Connectivity of a collider's triangles: solid parts with an inside, and sheets with two sides.

A connected part is solid if it is closed, orientable and not flat. The faces of a solid are oriented outwards, whatever
their orientation in the mesh. A solid inside another one is the wall of a cavity in it. All other parts are sheets:
open, non-manifold, or without volume. A sheet keeps each contact point on the side where the point currently is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from ...foundation.errors import ColliderError
from ...geometry.mesh.bounding_tree import BoundingTree, build_tree, element_boxes
from ...geometry.mesh.winding_number import WindingNumber

FLAT = 1e-9
"""Ratio ``volume / area^(3/2)`` below which a closed part counts as a sheet."""


class ColliderSurface:
    """Connectivity of a collider, computed once for all its frames.

    Parameters
    ----------
    name : str
        Name of the collider in messages.
    triangles : (t0,3) vertex indices
    positions : (frames,k,3) m
        Positions of the k vertices per frame. Vertices that coincide in every frame are merged.

    Attributes
    ----------
    triangles : (t,3) int32
        Triangles with three distinct vertices, consistently oriented; those of solids point outwards.
    solid : (t,) bool, False for triangles of sheets
    edges : (t,3) int32
        For each triangle, the index of the undirected edge from corner k to corner k + 1.
    tree : BoundingTree over the triangles in the first frame

    Raises
    ------
    ColliderError
        If no triangle has three distinct vertices, a vertex index is invalid, or a position is not finite.
    """

    def __init__(self, name: str, triangles: np.ndarray, positions: np.ndarray) -> None:
        triangles = np.asarray(triangles, dtype=np.int32).reshape(-1, 3)
        if len(triangles) and (triangles.min() < 0 or triangles.max() >= positions.shape[1]):
            raise ColliderError(
                f"A face of the collider “{name}” names a vertex that does not exist.", "Check its mesh."
            )
        bad = np.argwhere(~np.isfinite(positions))
        if len(bad):
            raise ColliderError(
                f"Vertex {bad[0][1]} of the collider “{name}” has a position that is not a number.",
                "Check its modifiers and its animation.",
            )
        triangles = _welded(positions)[triangles]
        a, b, c = triangles.T
        self.triangles = np.ascontiguousarray(triangles[(a != b) & (b != c) & (c != a)])
        if len(self.triangles) == 0:
            raise ColliderError(f"The collider “{name}” has no faces.", "Add faces to its mesh, or remove it.")
        self.solid = np.zeros(len(self.triangles), dtype=bool)
        self._orient(positions[0])
        self.edges = _edges(self.triangles)[0]
        corners = positions[0][self.triangles]
        self.tree: BoundingTree = build_tree(*element_boxes(corners))

    def _orient(self, positions: np.ndarray) -> None:
        neighbours, turned, whole = _neighbours(self.triangles)
        part, flip, sound = _parts(neighbours, turned, whole)
        self._flip(flip)
        corners = positions[self.triangles]
        corners = corners - corners.mean(axis=(0, 1))
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.bincount(part, 0.5 * np.linalg.norm(cross, axis=1))
        # The volume of a closed part does not depend on the origin.
        volume = np.bincount(part, np.einsum("ti,ti->t", corners[:, 0], cross) / 6.0)
        closed = sound & (np.abs(volume) > FLAT * area**1.5)
        inward = closed & ((volume < 0.0) ^ _is_cavity(corners, part, np.flatnonzero(closed)))
        self._flip(inward[part])
        self.solid = closed[part]

    def _flip(self, which: np.ndarray) -> None:
        self.triangles[which] = self.triangles[which][:, [0, 2, 1]]


def _welded(positions: np.ndarray) -> np.ndarray:
    """Return the vertex index (k,) int32 with which each vertex is merged."""
    _, first, group = np.unique(positions[0], axis=0, return_index=True, return_inverse=True)
    candidate = first[group.ravel()]
    always = (positions[:, candidate] == positions).all(axis=(0, 2))
    return np.where(always, candidate, np.arange(len(candidate))).astype(np.int32)


def _edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edge index (t,3) of each side of triangles, and a mask of sides from lower to higher vertex."""
    tail, head = triangles, np.roll(triangles, -1, axis=1)
    low, high = np.minimum(tail, head).astype(np.int64), np.maximum(tail, head)
    _, edge = np.unique(low * (int(triangles.max()) + 1) + high, return_inverse=True)
    return edge.reshape(triangles.shape).astype(np.int32), tail < head


def _neighbours(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the adjacent triangles (t,3) or -1, a mask (t,3) of inconsistent sides, and a mask (t,) of closed
    triangles.

    A side is inconsistent if both triangles traverse it in the same direction. A closed triangle has three adjacent
    triangles.
    """
    edge, forward = _edges(triangles)
    flat = edge.ravel()
    order = np.argsort(flat, kind="stable")
    count = np.bincount(flat)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])[count == 2]
    one, two = order[first], order[first + 1]
    other = np.full(len(flat), -1, dtype=np.int64)
    other[one], other[two] = two // 3, one // 3
    turned = np.zeros(len(flat), dtype=bool)
    turned[one] = turned[two] = forward.ravel()[one] == forward.ravel()[two]
    other = other.reshape(edge.shape)
    return other, turned.reshape(edge.shape), (other >= 0).all(axis=1)


def _parts(neighbours: np.ndarray, turned: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the connected part (t,) of each triangle, a mask (t,) of triangles to flip, and a mask of sound parts.

    Sound parts are closed and orientable. Method: a graph has two nodes per triangle, one for each orientation, and its
    edges connect nodes with consistent orientation. In parts that cannot be oriented, the two nodes of a triangle are
    connected.
    """
    t = len(neighbours)
    one, side = np.nonzero(neighbours >= 0)
    other, turn = neighbours[one, side], turned[one, side]
    edges = np.concatenate([one, one + t]), np.concatenate([other + t * turn, other + t * ~turn])
    part, oriented = (
        connected_components(scipy.sparse.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)[1]
        for i, j, n in ((one, other, t), (*edges, 2 * t))
    )
    _, first = np.unique(part, return_index=True)
    sound = np.bincount(part, whole & (oriented[:t] != oriented[t:])) == np.bincount(part)
    return part, oriented[:t] != oriented[first][part], sound


def _is_cavity(corners: np.ndarray, part: np.ndarray, closed: np.ndarray) -> np.ndarray:
    """Return a mask of the connected parts that are walls of cavities: inside an odd number of closed parts."""
    cavity = np.zeros(int(part.max()) + 1, dtype=bool)
    if len(closed) < 2:
        return cavity
    order = np.argsort(part, kind="stable")
    begin = np.searchsorted(part[order], np.arange(len(cavity) + 1))
    low = np.minimum.reduceat(corners[order].min(axis=1), begin[:-1])
    high = np.maximum.reduceat(corners[order].max(axis=1), begin[:-1])

    def faces(p: int) -> np.ndarray:
        return corners[order[begin[p] : begin[p + 1]]].reshape(-1, 3)

    # Parts are sorted by their least x: parts inside an outer part begin within its extent along x.
    along = closed[np.argsort(low[closed, 0], kind="stable")]
    first = np.searchsorted(low[along, 0], low[along, 0], side="right")
    last = np.searchsorted(low[along, 0], high[along, 0])
    for k, outer in enumerate(along):
        near = along[first[k] : last[k]]
        inside = near[((low[near] > low[outer]) & (high[near] < high[outer])).all(axis=1)]
        if len(inside) == 0:
            continue
        hull = faces(outer)
        winding = WindingNumber(hull, np.arange(len(hull)).reshape(-1, 3))
        for p in inside:
            if winding.contains(faces(p)).all():
                cavity[p] = not cavity[p]
    return cavity
