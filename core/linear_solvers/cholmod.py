"""CHOLMOD through cvxopt: the fastest direct solver that may be shipped.

Its supernodal factorisation runs in a nested-dissection order of the vertices (METIS, where pymetis is installed); the
symbolic step is made once per sparsity.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..assembly.sparsity import Pattern
from .blas_kernels import load_cvxopt
from .ordering import METIS_FROM, expand, factor_entries, lower_of_ones, minimum_degree, nested_dissection
from .protocol import not_definite

FORWARD, BACKWARD, PERMUTE, PERMUTE_BACK = 4, 5, 7, 8  # CHOLMOD's numbers for the parts of a solution


class CholmodSolver:
    """CHOLMOD, supernodal. Holds the interpreter's lock while it factorises: run it in a process of its own."""

    name = "cholmod"
    label = "CHOLMOD"
    package = "cvxopt"

    def __init__(self, pattern: Pattern) -> None:
        cvxopt = load_cvxopt()
        self._cholmod, self._amd = cvxopt.cholmod, cvxopt.amd
        self._matrix, self._sparse = cvxopt.matrix, cvxopt.sparse
        self._pattern = pattern
        self._A = lower_of_ones(cvxopt, pattern.column_starts, pattern.row_indices)
        order = nested_dissection(pattern) if len(pattern.free) >= METIS_FROM else None
        self.ordering = "minimum degree" if order is None else "METIS"
        if order is None:
            order = minimum_degree(pattern)
        self.factor_entries = factor_entries(pattern, order)
        self._factor = self._cholmod.symbolic(self._A, p=self._matrix(expand(order, pattern.width)))

    def factorize(self, values: np.ndarray) -> None:
        """Refill the values in place and factorise."""
        self._A.V = self._matrix(values)
        try:
            self._cholmod.numeric(self._A, self._factor)
        except ArithmeticError as error:
            raise not_definite() from error

    def weak_vertex(self, values: np.ndarray) -> int:
        """Where the factorisation breaks down.

        CHOLMOD names a column in an order that it has improved on ours and does not tell: it is asked again without.
        """
        free, width = self._pattern.free, self._pattern.width
        self._A.V = self._matrix(values)
        options = dict(self._cholmod.options)
        self._cholmod.options.update(postorder=False, supernodal=2)
        try:
            order = self._amd.order(self._A)
            self._cholmod.numeric(self._A, self._cholmod.symbolic(self._A, p=order))
        except ArithmeticError as error:
            return int(free[int(order[int(error.args[0])]) // width])
        finally:
            self._cholmod.options.clear()
            self._cholmod.options.update(options)
        return int(free[0])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solve with the last factorisation."""
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        self._cholmod.solve(self._factor, b)
        return np.array(b).reshape(right_hand_side.shape)

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Half a solution. As sparse right-hand sides they are solved several at a time, dense ones one by one."""
        b = self._matrix(np.asarray(right_hand_side, dtype=np.float64)[self._permutation])
        if right_hand_side.ndim == 1:
            self._cholmod.solve(self._factor, b, sys=FORWARD)
        else:
            b = self._matrix(self._cholmod.spsolve(self._factor, self._sparse(b), sys=FORWARD))
        return np.array(b).reshape(right_hand_side.shape)

    @cached_property
    def _permutation(self) -> np.ndarray:
        """The order of the factor's rows, which is known once there is one."""
        numbers = self._matrix(np.arange(self._pattern.size, dtype=np.float64))
        self._cholmod.solve(self._factor, numbers, sys=PERMUTE)
        return np.array(numbers).ravel().astype(np.intp)

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """The other half."""
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        for part in (BACKWARD, PERMUTE_BACK):
            self._cholmod.solve(self._factor, b, sys=part)
        return np.array(b).reshape(right_hand_side.shape)
