"""Parts of a body for conjugate gradients: groups of vertices for the deflation, and thin stiff parts.

Block Jacobi treats displacements of low energy as stiff: those of long wavelength, and rotations of a stiff part in a
soft body. Conjugate gradients spend most time on these displacements. Deflation with the affine displacements of the
groups removes them. The groups are connected parts of similar stiffness, and pieces of large parts.

Parts thinner than a group also bend. They are factorised exactly (:mod:`.preconditioner`), as are rigid bodies of one
tet, which joints connect to long chains.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...geometry.mesh.topology import vertex_components
from ...mechanics.assembly.elements import ElementNodes
from ...mechanics.assembly.sparsity import BlockSparsity
from .ordering import any_order, factor_blocks, has_metis

JUMP = 0.5
"""Smallest gap that separates two materials, in decades between successive values of the sorted stiffnesses."""

BAND = 1.5
"""Largest range of stiffness in a group, in decades, where the stiffness changes gradually."""

MOST_PARTS = 24
"""Largest number of connected parts that get groups of their own; all smaller parts share the next group."""

PIECE = 3.0
"""Vertices per group, divided by the square root of the number of free vertices. n vertices thus get about
``sqrt(n) / 3`` groups: 22 at 20,000 tets, 70 at 250,000.
"""

STIFF = 30.0
"""Least stiffness of thin stiff parts, relative to the softest tet."""

SLENDER = 3.0
"""Least ratio of the longest to the shortest extent of the groups of a part that counts as thin.

The groups of compact parts have 1 to 2. In a hand of 170,000 tets, whose bones are 4 cells thick and whose groups are 6
times as long as thick, iterations fell from up to 260 to 23.
"""

MOST_BLOCKS = 14.0
"""Largest number of blocks in the factors of thin parts, divided by the number of free vertices: about that of the
matrix of a whole body.
"""


def vertex_groups(
    rest_positions: np.ndarray,
    tets: np.ndarray,
    stiffness: np.ndarray,
    free: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    """Return the deflation group of each free vertex, (f,) int64, by index from 0.

    Parameters
    ----------
    rest_positions : (n,3) m; tets : (m,4)
    stiffness : (m,) Pa, a positive modulus of each tet
    free : (f,) indices of the vertices that are not pinned
    starts (f+1,), columns (b,) : rows of the symmetric graph of the free vertices
    """
    bands = stiffness_bands(stiffness)
    parts = _largest(_connected(tets, bands, len(rest_positions))[free])
    groups = np.empty(len(free), dtype=np.int64)
    most, count = max(int(PIECE * np.sqrt(len(free))), 8), 0
    graph = sp.csr_matrix((np.ones(len(columns), dtype=np.int8), columns, starts), shape=(len(free), len(free)))
    for part in range(int(parts.max(initial=-1)) + 1):
        members = np.flatnonzero(parts == part)
        for piece in _pieces(members, rest_positions[free], graph, most):
            groups[piece] = count
            count += 1
    return groups


def thin_stiff_vertices(
    rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, free: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Return the ascending indices of the free vertices of thin stiff parts, and of parts of one tet, (k,) int64.

    A part is connected. It is thin if its ``groups`` (:func:`vertex_groups`) are long or flat, so that it bends within
    a group. The thinnest parts are returned if the factors of all would cost much more than products with the matrix.
    """
    is_alone = lone_tets(tets)
    stiff = tets[is_alone | (stiffness > STIFF * stiffness.min(initial=np.inf))]
    inside = np.intersect1d(stiff, free)
    if not len(inside):
        return inside
    others = np.setdiff1d(np.arange(len(rest_positions)), inside)
    pattern = BlockSparsity(ElementNodes.of_tets(stiff), len(rest_positions), others).pattern
    columns = np.repeat(np.arange(len(inside)), np.diff(pattern.block_starts))
    graph = sp.coo_matrix((np.ones(len(columns)), (pattern.block_rows, columns)), shape=2 * (len(inside),))
    parts = connected_components(graph, directed=False)[1]
    at = np.searchsorted(free, inside)
    slender = _slenderness(rest_positions[inside], parts, groups[at])
    slender[parts[np.isin(inside, tets[is_alone])]] = np.inf
    cost = np.bincount(parts, weights=factor_blocks(pattern, any_order(pattern)))
    thinnest = np.argsort(-slender, kind="stable")
    is_cheap = np.empty(len(cost), dtype=bool)
    is_cheap[thinnest] = np.cumsum(cost[thinnest]) <= MOST_BLOCKS * len(free)
    return at[((slender >= SLENDER) & is_cheap)[parts]]


def lone_tets(tets: np.ndarray) -> np.ndarray:
    """Return the mask (m,) of the ``tets`` (m,4) that share no vertex with another one: those of rigid bodies."""
    return (np.bincount(tets.ravel())[tets] == 1).all(axis=1)


def _slenderness(positions: np.ndarray, parts: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the ratio of the longest to the shortest extent of each part's groups, as the mean over the vertices.

    Extents are standard deviations along the principal axes.
    """
    _pairs, of_vertex = np.unique(np.stack([parts, groups]), axis=1, return_inverse=True)
    of_vertex = np.ravel(of_vertex)
    counts = np.bincount(of_vertex)
    means = np.stack([np.bincount(of_vertex, weights=x) for x in positions.T], axis=1) / counts[:, None]
    d = positions - means[of_vertex]
    products = (d[:, :, None] * d[:, None]).reshape(-1, 9)
    moments = np.stack([np.bincount(of_vertex, weights=x) for x in products.T], axis=1).reshape(-1, 3, 3)
    squares = np.linalg.eigvalsh(moments)
    ratio = np.sqrt(squares[:, 2] / np.maximum(squares[:, 0], 1e-6 * squares[:, 2]).clip(np.finfo(float).tiny))
    return np.bincount(parts, weights=ratio[of_vertex]) / np.bincount(parts)


def largest_contrast(tets: np.ndarray, stiffness: np.ndarray) -> float:
    """Return the largest ratio of stiffnesses in a connected part. The arguments are those of :func:`vertex_groups`."""
    part = vertex_components(tets)
    order = np.argsort(part, kind="stable")
    first = np.searchsorted(part[order], np.unique(part))
    ordered = stiffness[order]
    return float((np.maximum.reduceat(ordered, first) / np.minimum.reduceat(ordered, first)).max(initial=1.0))


def stiffness_bands(stiffness: np.ndarray) -> np.ndarray:
    """Return the stiffness band of each tet, (m,) int64, by index from the softest.

    Bands end where the sorted values of ``stiffness`` (m,), Pa, jump. Wide bands are split into equal parts on a
    logarithmic scale.
    """
    decades = np.log10(stiffness)
    levels = np.unique(decades)
    cluster = np.concatenate([[0], np.cumsum(np.diff(levels) > JUMP)])
    bands = np.empty(len(levels), dtype=np.int64)
    count = 0
    for k in range(int(cluster[-1]) + 1):
        members = levels[cluster == k]
        slices = max(int(np.ceil((members[-1] - members[0]) / BAND)), 1)
        part = (members - members[0]) / max(members[-1] - members[0], JUMP) * slices
        bands[cluster == k] = count + np.minimum(part.astype(np.int64), slices - 1)
        count += slices
    return bands[np.searchsorted(levels, decades)]


def _connected(tets: np.ndarray, bands: np.ndarray, n: int) -> np.ndarray:
    """Return the label (n,) of each vertex's connected part of similar stiffness.

    Each vertex belongs to the stiffest of its tets' ``bands`` (m,). A tet connects its vertices that belong to its
    band.
    """
    of_vertex = np.full(n, -1, dtype=np.int64)
    np.maximum.at(of_vertex, tets.ravel(), np.repeat(bands, 4))
    own = of_vertex[tets] == bands[:, None]
    # Edges from one corner that has the tet's band to all corners that have it.
    anchor = np.repeat(tets[np.arange(len(tets)), np.argmax(own, axis=1)], 4)[own.ravel()]
    others = tets.ravel()[own.ravel()]
    graph = sp.coo_matrix((np.ones(len(others), dtype=np.int8), (anchor, others)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def _largest(parts: np.ndarray) -> np.ndarray:
    """Return the part labels (f,) by decreasing size of the parts; parts after the ``MOST_PARTS`` largest share one
    label.
    """
    _names, inverse, sizes = np.unique(parts, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank, MOST_PARTS)[inverse.ravel()]


def _pieces(members: np.ndarray, positions: np.ndarray, graph: sp.csr_matrix, most: int) -> list[np.ndarray]:
    """Split the vertices ``members`` into pieces of about ``most`` vertices or fewer: by METIS, or by halving.

    METIS needs pymetis. With its pieces, bodies with bones need two thirds of the groups for as many iterations.
    """
    count = -(-len(members) // most)
    if count < 2 or not has_metis():
        return _halved(members, positions, most)
    import pymetis

    own = graph[members][:, members].tocsr()
    own.setdiag(0)
    own.eliminate_zeros()
    _cut, piece = pymetis.part_graph(count, pymetis.CSRAdjacency(own.indptr, own.indices))
    found = (members[np.asarray(piece) == k] for k in range(count))
    return [each for each in found if len(each)]


def _halved(members: np.ndarray, positions: np.ndarray, most: int) -> list[np.ndarray]:
    """Halve the vertices ``members`` across the longest side until no piece has more than ``most``."""
    if len(members) <= most:
        return [members]
    points = positions[members]
    axis = int(np.argmax(np.ptp(points, axis=0)))
    order = np.argsort(points[:, axis], kind="stable")
    half = len(members) // 2
    return [
        piece for part in (order[:half], order[half:]) for piece in _halved(np.sort(members[part]), positions, most)
    ]
