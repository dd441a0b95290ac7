"""Preconditioner of conjugate gradients: exact on the vertices of thin stiff parts and of stiff contacts, block Jacobi
elsewhere.

    z_S = A_SS^-1 r_S        on the vertices S
    z_v = A_vv^-1 r_v        at each other vertex v

Stiff contacts join two vertices by a block that is large beside those of the softer vertex. Thin stiff parts (bones,
rods, shells) bend far more easily than they stretch, which neither their vertices' diagonal blocks nor the affine
displacements of the coarse space (:mod:`.deflation`) represent. Both concern few vertices, so that a direct solver
factorises their matrix quickly. Compact stiff parts do not bend, and are left to the coarse space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...foundation.errors import FactorizationError
from ...foundation.kernels.jit import kernel
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import NONE, BlockSparsity
from .factorized import factorized_dense
from .protocol import DirectSolver

STIFF_CONTACT = 10.0
"""Least ratio of a contact pair's block to the mean diagonal entry of its softer vertex at which S contains the pair.

Values of 0.1 to 100 give the same number of iterations; without such pairs, bodies with bones take three times as many.
"""


MOST_DENSE = 100
"""Largest number of vertices S whose matrix is factorised as a dense one. The compiled iteration then solves it without
a pause. The factorisation of 100 vertices takes about 1 ms.
"""

_NOTHING = NONE, factorized_dense(np.zeros((0, 0)))[0]


class Preconditioner:
    """Preconditioner of a matrix in block rows.

    Parameters
    ----------
    thin : (k,) indices of the free vertices of thin stiff parts
    solver : class of the direct solver that factorises the exact part

    Attributes
    ----------
    inverses : (f,3,3) inverses of the diagonal blocks of the last matrix
    dense : vertices S (k,), and the :class:`DenseFactor` of their matrix; empty with more than ``MOST_DENSE`` vertices
    """

    def __init__(self, thin: np.ndarray, solver: type[DirectSolver]) -> None:
        self.thin, self._kind = thin, solver
        self._exact, self.dense = NONE, _NOTHING
        self._keys, self._sparsity, self._solver, self._order = None, None, None, None
        self._entries = np.empty((3 * MOST_DENSE) ** 2)

    @property
    def factor_entries(self) -> int:
        """Number of scalar non-zeros of the exact part's factor."""
        return self.dense[1].L.size if self._solver is None else self._solver.factor_entries or 0

    def try_factorize(self, A: BlockRows) -> int | None:
        """Compute the preconditioner of A. Return None, or the index of a vertex where A is not positive definite."""
        diagonal = A.diagonal_blocks()
        self.inverses = np.empty_like(diagonal)
        weak = _invert(diagonal, self.inverses)
        if weak >= 0:
            return weak
        exact, self.dense = self._exact_vertices(A), _NOTHING
        if len(exact) <= MOST_DENSE:
            return self._try_factorize_dense(A, exact)
        element, contact = self._blocks(A, exact)
        count, pattern_keys = len(exact), element.columns * len(exact) + element.rows
        if contact is not None:
            pattern_keys = np.concatenate([pattern_keys, contact.columns * count + contact.rows])
        keys = np.unique(pattern_keys)
        if not (np.array_equal(exact, self._exact) and np.array_equal(keys, self._keys)):
            self._exact, self._keys, self._solver = exact, keys, None
            self._sparsity = BlockSparsity.of_keys(keys, count)
            self._solver = self._kind(self._sparsity.pattern)
        values = np.zeros(len(self._sparsity.pattern.row_indices))
        for pairs in (element, contact):
            if pairs is not None:
                self._sparsity.add(pairs, values)
        try:
            self._solver.factorize(values)
        except FactorizationError:
            return int(exact[self._solver.weak_vertex(values)])
        return None

    def _try_factorize_dense(self, A: BlockRows, exact: np.ndarray) -> int | None:
        self._exact, self._solver = NONE, None
        if not len(exact):
            return None
        blocks = [pairs for pairs in self._blocks(A, exact) if pairs is not None]
        order, place = self._banded(len(exact), blocks)
        K = self._entries[: (3 * len(exact)) ** 2].reshape(len(exact), 3, len(exact), 3)
        K.fill(0.0)
        for pairs in blocks:
            rows, columns = place[pairs.rows], place[pairs.columns]
            below = (rows >= columns)[:, None, None]
            lower = np.maximum(rows, columns), slice(None), np.minimum(rows, columns)
            K[lower] += np.where(below, pairs.blocks, pairs.blocks.transpose(0, 2, 1))
        factor, weak = factorized_dense(K.reshape(3 * len(exact), 3 * len(exact)))
        self.dense = exact[order], factor
        return None if weak is None else int(exact[order[weak // 3]])

    def _banded(self, count: int, blocks: Sequence[Pairs]) -> tuple[np.ndarray, np.ndarray]:
        """Return an order of ``count`` vertices in which their matrix has a narrow band, and the place of each vertex.

        ``blocks``: blocks of the matrix. The order is kept until other vertices are coupled.
        """
        rows, columns = (np.concatenate([getattr(pairs, name) for pairs in blocks]) for name in ("rows", "columns"))
        keys = np.concatenate([[count], rows * count + columns])
        if self._order is None or not np.array_equal(keys, self._order[0]):
            graph = sp.csr_matrix((np.ones(2 * len(rows)), (np.r_[rows, columns], np.r_[columns, rows])), (count,) * 2)
            order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
            self._order = keys, order, np.argsort(order)
        return self._order[1:]

    def _exact_vertices(self, A: BlockRows) -> np.ndarray:
        """Return the ascending indices of the vertices S."""
        if A.pairs is None:
            return self.thin
        off = A.pairs.of(A.pairs.rows != A.pairs.columns)
        softer = np.minimum(*(np.einsum("kii->k", A.values[A.diagonal[v]]) / 3.0 for v in (off.rows, off.columns)))
        stiff = off.of(np.sqrt(np.sum(off.blocks**2, axis=(1, 2))) > STIFF_CONTACT * softer)
        return np.unique(np.concatenate([self.thin, stiff.rows, stiff.columns]))

    def _blocks(self, A: BlockRows, exact: np.ndarray) -> tuple[Pairs, Pairs | None]:
        """Return the blocks of A between the vertices ``exact``, of the elements and of the contact pairs.

        Vertices are numbered by their place in ``exact``.
        """
        local = np.full(len(A), -1, dtype=np.int64)
        local[exact] = np.arange(len(exact))
        counts = A.starts[exact + 1] - A.starts[exact]
        at = np.repeat(A.starts[exact] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows, columns = np.repeat(np.arange(len(exact)), counts), local[A.columns[at]]
        lower = (columns >= 0) & (rows >= columns)
        element = Pairs(rows[lower], columns[lower], A.values[at[lower]])
        return element, None if A.pairs is None else A.pairs.renumbered(local)

    @property
    def has_sparse_part(self) -> bool:
        """True if S has more than ``MOST_DENSE`` vertices, so that :meth:`solve_exact_part` is to be called."""
        return len(self._exact) > 0

    def solve_exact_part(self, residual: np.ndarray, z: np.ndarray) -> None:
        """Set the rows of z (f,3) of the vertices S, for a ``residual`` (f,3). The other rows are
        ``inverses (f,3,3) @ residual``.
        """
        z[self._exact] = self._solver.solve(residual[self._exact].ravel()).reshape(-1, 3)


@kernel
def _invert(blocks, out):
    """Invert the symmetric ``blocks`` (f,3,3) into out. Return -1, or the index of a block that is not positive
    definite.

    The inverse is ``adj(D) / det(D)``; the leading minors of D are tested (Sylvester's criterion).
    """
    for v in range(blocks.shape[0]):
        D, P = blocks[v], out[v]
        a, b, c, d, e, f = D[0, 0], D[1, 0], D[2, 0], D[1, 1], D[2, 1], D[2, 2]
        P[0, 0], P[1, 0], P[2, 0] = d * f - e * e, c * e - b * f, b * e - c * d
        P[1, 1], P[2, 1], P[2, 2] = a * f - c * c, b * c - a * e, a * d - b * b
        det = a * P[0, 0] + b * P[1, 0] + c * P[2, 0]
        if not (a > 0.0 and P[2, 2] > 0.0 and det > 0.0):
            return v
        P[0, 1], P[0, 2], P[1, 2] = P[1, 0], P[2, 0], P[2, 1]
        for i in range(3):
            for j in range(3):
                P[i, j] /= det
    return -1
