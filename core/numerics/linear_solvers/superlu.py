"""SuperLU of SciPy: always installed, but several times slower than the other direct solvers."""

from __future__ import annotations

import contextlib

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.sparsity import Pattern
from .protocol import not_definite


class SuperLUSolver:
    """Direct solver SuperLU, without pivoting.

    SuperLU factorises indefinite matrices without an error, so the signs of U's diagonal are checked.
    """

    name = "superlu"
    label = "SuperLU"
    package = "scipy"
    ordering = "minimum degree"

    def __init__(self, pattern: Pattern, _like: SuperLUSolver | None = None) -> None:
        self._pattern = pattern
        self._factor: spla.SuperLU | None = None
        self.factor_entries: int | None = None
        """Number of non-zeros of the factor, known after the first factorisation."""

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with the lower triangle ``values`` (nnz,).

        Raises FactorizationError if the matrix is not positive definite.
        """
        lower = self._lower(values)
        full = (lower + sp.tril(lower, -1).T).tocsc()
        options = {"SymmetricMode": True}
        try:
            self._factor = spla.splu(full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise not_definite() from error
        self.factor_entries = int(self._factor.nnz)
        if (self._factor.U.diagonal() <= 0.0).any():
            raise not_definite()

    def _lower(self, values: np.ndarray) -> sp.csc_matrix:
        p = self._pattern
        return sp.csc_matrix((values, p.row_indices, p.column_starts), shape=(p.size, p.size))

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the index of the vertex at which the factorisation breaks down.

        ``values`` (nnz,): lower triangle of the matrix. If the matrix is exactly singular, the result is the vertex
        with the smallest diagonal entry.
        """
        self._factor = None
        with contextlib.suppress(FactorizationError):
            self.factorize(values)
        if self._factor is None:
            column = int(np.argmin(self._lower(values).diagonal()))
        else:
            negative = np.flatnonzero(self._factor.U.diagonal() <= 0.0)
            column = int(self._factor.perm_c.argsort()[negative[0]]) if len(negative) else 0
        return int(self._pattern.free[column // self._pattern.width])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution by the last factorisation. ``right_hand_side``: (size,) or (size,k)."""
        return self._factor.solve(np.ascontiguousarray(right_hand_side, dtype=np.float64))

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place for the right-hand sides ``x[rows]``, by the last factorisation.

        ``x`` (N,k): k right-hand sides in columns. ``rows`` (size,): row of x per row of the matrix. Other rows of x
        stay unchanged.
        """
        x[rows] = self.solve(x[rows])

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b`` for the factor R of ``A = R R^T``, up to the order of unknowns.

        Without pivoting, SuperLU's factor U is ``D L^T``, so ``R = L D^(1/2)``. ``right_hand_side`` b: (size,) or
        (size,k).
        """
        b = np.empty(right_hand_side.shape)
        b[self._factor.perm_r] = right_hand_side
        half = spla.spsolve_triangular(self._factor.L, b, unit_diagonal=True)
        return (half.T / np.sqrt(self._factor.U.diagonal())).T

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b``, with R as in :meth:`forward`. ``right_hand_side`` b: (size,)."""
        b = right_hand_side / np.sqrt(self._factor.U.diagonal())
        return spla.spsolve_triangular(self._factor.L.T, b, lower=False, unit_diagonal=True)[self._factor.perm_r]
