"""MKL PARDISO through pypardiso, if installed by the user. PARDISO runs on x86 only; its licence forbids bundling."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.sparsity import Pattern
from .protocol import not_definite

POSITIVE_DEFINITE = 2  # PARDISO's code for real symmetric positive-definite matrices
ANALYSIS, FACTORIZATION, SOLUTION, FORWARD, BACKWARD = 11, 22, 33, 331, 333  # PARDISO's phases
NOT_DEFINITE = -4  # PARDISO's error code for a pivot that is not positive


class PardisoSolver:
    """Direct solver MKL PARDISO, ordered by PARDISO's own nested dissection."""

    name = "pardiso"
    label = "PARDISO"
    package = "pypardiso"
    ordering = "METIS"

    def __init__(self, pattern: Pattern, _like: PardisoSolver | None = None) -> None:
        import pypardiso
        from pypardiso.pardiso_wrapper import PyPardisoError

        self._pattern, self._error = pattern, PyPardisoError
        self._solver = pypardiso.PyPardisoSolver(mtype=POSITIVE_DEFINITE)
        # Non-default parameters (1), nested dissection (2), no refinement (8), reproducible for any thread count (34).
        for index, value in ((1, 1), (2, 2), (8, 0), (34, 1)):
            self._solver.set_iparm(index, value)
        # The lower triangle by columns is the upper triangle by rows.
        arrays = (np.ones(len(pattern.row_indices)), pattern.row_indices, pattern.column_starts)
        self._A = sp.csr_matrix(arrays, shape=(pattern.size, pattern.size))
        self._run(ANALYSIS, np.zeros((pattern.size, 1)))
        self.factor_entries = int(self._solver.iparm[17])

    def _run(self, phase: int, right_hand_side: np.ndarray) -> Any:
        self._solver.set_phase(phase)
        # pypardiso's public methods would repeat the analysis of the pattern each time.
        return self._solver._call_pardiso(self._A, right_hand_side)

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with the lower triangle ``values`` (nnz,).

        Raises FactorizationError if the matrix is not positive definite, or if PARDISO fails otherwise.
        """
        self._A.data[:] = values
        try:
            self._run(FACTORIZATION, np.zeros((self._pattern.size, 1)))
        except self._error as error:
            if error.value != NOT_DEFINITE:
                raise FactorizationError(
                    f"PARDISO failed with error code {error.value}.", "Choose another linear solver."
                ) from error
            raise not_definite() from error

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the index of the vertex at which the last factorisation broke down."""
        row = max(int(self._solver.iparm[29]) - 1, 0)
        return int(self._pattern.free[row // self._pattern.width])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution by the last factorisation. ``right_hand_side``: (size,) or (size,k)."""
        return self._solution(SOLUTION, right_hand_side)

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place for the right-hand sides ``x[rows]``, by the last factorisation.

        ``x`` (N,k): k right-hand sides in columns. ``rows`` (size,): row of x per row of the matrix. Other rows of x
        stay unchanged.
        """
        x[rows] = self.solve(x[rows])

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b``, the forward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,) or (size,k).
        """
        return self._solution(FORWARD, right_hand_side)

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b``, the backward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,).
        """
        return self._solution(BACKWARD, right_hand_side)

    def _solution(self, phase: int, right_hand_side: np.ndarray) -> np.ndarray:
        b = np.asfortranarray(np.asarray(right_hand_side, dtype=np.float64).reshape(self._pattern.size, -1))
        return self._run(phase, b).reshape(right_hand_side.shape)

    def __del__(self) -> None:
        """Free PARDISO's memory, which Python does not manage."""
        if getattr(self, "_solver", None) is not None:
            self._solver.free_memory(everything=True)
