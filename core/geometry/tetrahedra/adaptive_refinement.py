"""Local refinement of the lattice by bisection of tets near painted surface.

New tets outside the body are removed. The unit of length is the side of an unrefined cell.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from ..mesh.surface_depth import SurfaceDepth
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.topology import FACES
from .bisection import bisect
from .sizing_field import SizingField, refuse_too_many

CELL_VOLUME = 1.0 / 12.0
"""Volume of a tet of the lattice."""
NEARLY = 0.34
"""Largest distance of a point in a tet from the nearest test point (``_SPREAD``), in radii of the tet.

The radius is the distance from the tet's centroid to its farthest corner. In all shapes of tets that bisection makes,
no point is farther than 0.333 from a test point.
"""
_STEPS = [(a, b, c, 2 - a - b - c) for a in range(3) for b in range(3 - a) for c in range(3 - a - b)]
_SPREAD = np.vstack([(np.array(_STEPS) + 0.25) / 3.0, np.eye(4)])
"""Barycentric weights (14,4) of the test points in a tet.

Ten test points are evenly distributed, and four are the corners. The depth below the body's surface is evaluated at
these points.
"""
SLACK = 1.4
"""Largest volume of a tet relative to the wanted volume. Larger tets are halved.

The final volumes are 0.7 to 1.4 times the wanted volume.
"""


def refine(
    points: np.ndarray, tets: np.ndarray, border: np.ndarray, surface: SurfaceMesh, wanted: SizingField, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bisect the tets of a lattice until they have the wanted sizes.

    New tets outside the surface are removed. Return the new points, the tets, and the mask of border tets. Border tets
    are those that the surface cuts, and those added to connect tets by faces.

    ``points`` (n,3), ``tets`` (m,4): the lattice.
    ``border`` (m,) bool: mask of border tets.
    ``wanted``: wanted sizes.

    Raises MeshError if there would be more than ``most`` tets.
    """
    least = SLACK * CELL_VOLUME * wanted.least**3

    def too_large(corners: np.ndarray) -> np.ndarray:
        refuse_too_many(len(corners), most)
        e = corners[:, 1:] - corners[:, :1]
        volumes = np.einsum("ni,ni->n", e[:, 0], np.cross(e[:, 1], e[:, 2])) / 6.0
        large = volumes > least
        sizes = wanted.at(corners[large].mean(axis=1))
        large[large] = volumes[large] > SLACK * CELL_VOLUME * sizes**3
        return large

    is_corner = (points == np.floor(points)).all(axis=1)  # lattice points that are not corners are cells' centres
    count = len(tets)
    points, tets, parents = bisect(points, tets, too_large, is_corner)
    border = border[parents]
    halved = np.bincount(parents, minlength=count)[parents] > 1
    kept = np.ones(len(tets), dtype=bool)
    doubtful = np.flatnonzero(border & halved)
    kept[doubtful] = _touching(points[tets[doubtful]], SurfaceDepth(surface))
    kept = _hanging_together(tets, kept)
    used, renumbered = np.unique(tets[kept].ravel(), return_inverse=True)
    return points[used], renumbered.reshape(-1, 4).astype(np.int32), border[kept]


def _touching(corners: np.ndarray, depth: SurfaceDepth) -> np.ndarray:
    """Return the mask (m,) bool of the tets that may contain part of the body."""
    middles = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    at_middle = depth.at(middles)
    found = at_middle > -NEARLY * reach
    unsure = np.flatnonzero(~found & (at_middle > -reach))
    deepest = np.full(len(unsure), -np.inf)
    for weights in _SPREAD:
        deepest = np.maximum(deepest, depth.at(np.einsum("c,tci->ti", weights, corners[unsure])))
    found[unsure] = deepest > -NEARLY * reach[unsure]
    return found


def _hanging_together(tets: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Extend a mask of tets until its tets around each vertex are connected by faces."""
    kept = kept.copy()
    while True:
        loose = np.bincount(_stars(tets[kept]), minlength=int(tets.max()) + 1) > 1
        near = np.flatnonzero(loose[tets].any(axis=1))
        tet, corner = np.nonzero(loose[tets[near]])
        vertices, stars = tets[near[tet], corner], near[tet]
        order = np.argsort(vertices, kind="stable")
        borders = np.flatnonzero(np.diff(vertices[order])) + 1
        found = [_bridge(tets, kept, star, v) for star, v in _groups(stars[order], vertices[order], borders)]
        added = [tet for chain in found for tet in chain]
        if not added:
            return kept
        kept[added] = True


def _groups(stars: np.ndarray, vertices: np.ndarray, borders: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Return, per vertex, the indices of the tets around it and the vertex's index."""
    parts = np.split(stars, borders) if len(stars) else []
    firsts = np.concatenate([[0], borders]).astype(np.int64)
    return [(part, int(vertices[first])) for part, first in zip(parts, firsts)]


def _bridge(tets: np.ndarray, kept: np.ndarray, star: np.ndarray, vertex: int) -> list[int]:
    """Return the fewest tets that connect two groups of kept tets around a vertex by faces, or []."""
    by_face: dict[tuple[int, int], list[int]] = {}
    for t in star:
        others = sorted(int(v) for v in tets[t] if v != vertex)
        for face in itertools.combinations(others, 2):
            by_face.setdefault(face, []).append(int(t))
    beside: dict[int, list[int]] = {}
    for pair in by_face.values():
        if len(pair) == 2:
            beside.setdefault(pair[0], []).append(pair[1])
            beside.setdefault(pair[1], []).append(pair[0])
    first = next(int(t) for t in star if kept[t])
    came: dict[int, int | None] = {first: None}
    part = [first]
    for t in part:  # the list grows: all tets of the first part are starts of the search
        for n in beside.get(t, ()):
            if n not in came and kept[n]:
                came[n] = None
                part.append(n)
    front = list(part)
    for t in front:
        for n in beside.get(t, ()):
            if n in came:
                continue
            if kept[n]:
                chain = []
                while came[t] is not None:
                    chain.append(t)
                    t = came[t]
                return chain
            came[n] = t
            front.append(n)
    return []


def _stars(tets: np.ndarray) -> np.ndarray:
    """Return vertex indices, each once per group of face-connected tets around the vertex."""
    faces = tets[:, FACES]  # (m,4,3), indexed by the corners of the tet
    order = np.sort(faces, axis=2).reshape(-1, 3)
    ranked = np.lexsort((order[:, 2], order[:, 1], order[:, 0]))
    same = (order[ranked[1:]] == order[ranked[:-1]]).all(axis=1)
    one, other = ranked[:-1][same], ranked[1:][same]
    # The graph has a node for each corner of each tet; a common face joins two nodes at the same vertex.
    nodes = (4 * np.arange(len(tets))[:, None, None] + FACES).reshape(-1, 3)
    by_vertex = np.argsort(faces.reshape(-1, 3), axis=1)
    a = np.take_along_axis(nodes[one], by_vertex[one], axis=1).ravel()
    b = np.take_along_axis(nodes[other], by_vertex[other], axis=1).ravel()
    graph = scipy.sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(4 * len(tets), 4 * len(tets)))
    count, labels = connected_components(graph, directed=False)
    vertices = np.empty(count, dtype=np.int64)
    vertices[labels] = tets.ravel()
    return vertices
