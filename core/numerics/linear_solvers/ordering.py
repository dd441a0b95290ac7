"""Fill-reducing orders of vertices, and the size of the Cholesky factor in such an order.

METIS' nested dissection [Karypis, Kumar 1998] or AMD [Amestoy, Davis, Duff 1996] orders the graph of the vertices. This
graph has a ninth of the edges of the graph of scalar unknowns. The order is then expanded to three rows per vertex,
which does not change the entries of the factor. Entries are counted by walking the elimination tree [Davis, Direct
Methods for Sparse Linear Systems, 2006, Ch. 4]: one step per block of the factor, without storing the factor.
"""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import kernel
from ...mechanics.assembly.sparsity import Pattern
from .blas import load_cvxopt

METIS_FROM = 1000
"""Number of vertices from which nested dissection is worth its time; below, minimum degree is used.

Blocks of 990 to 1,944 vertices with smoothed elements were factorised in 0.79 to 0.56 of the time, in 3 to 22 ms less.
An order takes about 20 ms.
"""

THIN = 6.0
"""METIS is tried only if the ratio of factor entries to matrix entries, in minimum-degree order, exceeds this value.
METIS pays off only at high ratios. On meshes of 1,100 to 13,800 vertices, the factor entries with METIS, divided by
those with minimum degree, were:

    ratio up to 5.3 (thin bodies: arms, a boat)    1.04 to 1.24
    ratio up to 10                                 0.93 to 1.19
    higher ratios                                  0.71 to 0.93
"""


class Order(NamedTuple):
    """Fill-reducing order of f vertices.

    Attributes
    ----------
    vertices : (f,) indices of the vertices in the order of elimination
    entries : number of scalar non-zeros of the Cholesky factor
    by : name of the method
    """

    vertices: np.ndarray
    entries: int
    by: str


METIS, MINIMUM_DEGREE = "METIS", "minimum degree"


def sparsest(pattern: Pattern) -> Order:
    """Return a fill-reducing order with few factor entries, by minimum degree or by METIS.

    Minimum degree costs little; METIS runs only if it is likely to be better. Requires cvxopt.
    """
    order = minimum_degree(pattern)
    best = Order(order, factor_entries(pattern, order), MINIMUM_DEGREE)
    if len(pattern.free) < METIS_FROM or best.entries <= THIN * len(pattern.row_indices):
        return best
    order = nested_dissection(pattern)
    if order is None:
        return best
    other = Order(order, factor_entries(pattern, order), METIS)
    return other if other.entries < best.entries else best


def has_metis() -> bool:
    """Return True if METIS' nested dissection is available. METIS needs pymetis, which has no wheel for Windows."""
    return importlib.util.find_spec("pymetis") is not None


def nested_dissection(pattern: Pattern) -> np.ndarray | None:
    """Return a fill-reducing order of vertices, (f,), by METIS, or None without pymetis."""
    if not has_metis():
        return None
    import pymetis

    f = len(pattern.free)
    columns = np.repeat(np.arange(f), np.diff(pattern.block_starts))
    lower = sp.coo_matrix((np.ones(len(columns), dtype=np.int8), (pattern.block_rows, columns)), shape=(f, f))
    graph = (lower + lower.T).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    order, _inverse = pymetis.nested_dissection(adjacency)
    return np.array(order, dtype=np.intp)


def any_order(pattern: Pattern) -> np.ndarray:
    """Return an order of vertices, (f,), with little fill: the best that the installed packages offer."""
    order = nested_dissection(pattern)
    return quick_order(pattern) if order is None else order


def quick_order(pattern: Pattern) -> np.ndarray:
    """Return an order of vertices, (f,), that is found quickly: by minimum degree, which needs cvxopt."""
    if importlib.util.find_spec("cvxopt") is not None:
        return minimum_degree(pattern)
    order = nested_dissection(pattern)
    return np.arange(len(pattern.free)) if order is None else order


def minimum_degree(pattern: Pattern) -> np.ndarray:
    """Return a fill-reducing order of vertices, (f,), by AMD. Requires cvxopt."""
    cvxopt = load_cvxopt()
    return np.array(cvxopt.amd.order(lower_of_ones(cvxopt, pattern.block_starts, pattern.block_rows)), np.intp).ravel()


def lower_of_ones(cvxopt: ModuleType, starts: np.ndarray, rows: np.ndarray) -> Any:
    """Return a sparse cvxopt matrix (n,n) of ones with a given lower triangle.

    ``starts`` (n+1,): start of each column in ``rows``. ``rows`` (k,): row indices, column by column.
    """
    n = len(starts) - 1
    columns = np.repeat(np.arange(n), np.diff(starts))
    matrix = cvxopt.matrix
    return cvxopt.spmatrix(matrix(1.0, (len(columns), 1)), matrix(rows), matrix(columns), (n, n))


def expand(order: np.ndarray, width: int) -> np.ndarray:
    """Expand an elimination order of vertices to an order of scalar unknowns, (width f,).

    ``order`` (f,): vertices in the order of elimination. ``width``: number of successive unknowns per vertex.
    """
    # Converted to intp, since cvxopt rejects arrays of C long long, which METIS returns.
    return (width * order[:, None] + np.arange(width)).ravel().astype(np.intp)


def factor_entries(pattern: Pattern, order: np.ndarray) -> int:
    """Return the number of scalar non-zeros of the Cholesky factor.

    ``order`` (f,): vertices in the order of elimination. The pattern of each factor row is the union of paths in the
    elimination tree that start at the matrix entries of the row (Davis, "Direct Methods for Sparse Linear Systems",
    Sec. 4.1).
    """
    width, blocks = pattern.width, int(factor_blocks(pattern, order).sum()) - len(order)
    return width * width * blocks + len(order) * width * (width + 1) // 2


def factor_blocks(pattern: Pattern, order: np.ndarray) -> np.ndarray:
    """Return the number of blocks in the factor's row of each vertex, (f,) int64, with the diagonal block.

    ``order`` (f,): vertices in the order of elimination.
    """
    found = np.empty(len(order), dtype=np.int64)
    found[order] = _factor_blocks(*_upper(pattern, order))
    return found


def _upper(pattern: Pattern, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each vertex's neighbours that are eliminated earlier, as ``starts`` (f+1,) and ``earlier`` (k,).

    Vertices are numbered by rank in ``order``. Rank i has the earlier neighbours
    ``earlier[starts[i] : starts[i + 1]]``.
    """
    f = len(order)
    rank = np.empty(f, dtype=np.int64)
    rank[order] = np.arange(f)
    columns = np.repeat(np.arange(f), np.diff(pattern.block_starts))
    a, b = rank[pattern.block_rows], rank[columns]
    later, earlier = np.maximum(a, b), np.minimum(a, b)
    proper = later != earlier
    later, earlier = later[proper], earlier[proper]
    starts = np.concatenate([[0], np.cumsum(np.bincount(later, minlength=f))]).astype(np.int64)
    return starts, earlier[np.argsort(later, kind="stable")]


@kernel
def _factor_blocks(starts, earlier):
    """Return the number of blocks in each row of the Cholesky factor, from the result of :func:`_upper`."""
    n = starts.shape[0] - 1
    parent = np.full(n, -1, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int64)
    counts = np.ones(n, dtype=np.int64)
    for k in range(n):
        seen[k] = k
        for q in range(starts[k], starts[k + 1]):
            i = earlier[q]
            while seen[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                seen[i] = k
                counts[k] += 1
                i = parent[i]
    return counts
