"""Direct solvers: CHOLMOD through cvxopt, and SciPy's SuperLU where that is missing.

CHOLMOD's supernodal factorisation in a nested-dissection order of the vertices (METIS, through pymetis, where
installed) was the fastest that may be shipped; its symbolic step is made once per sparsity.
"""

from __future__ import annotations

import contextlib
import importlib.util
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from ..assembly.sparsity import BlockSparsity
from ..errors import FactorizationError
from .blas_kernels import load_cvxopt
from .protocol import DirectSolver

METIS_FROM = 2000
"""Vertices from which nested dissection pays for itself; below, CHOLMOD's own minimum degree is used."""


def nested_dissection(sparsity: BlockSparsity) -> np.ndarray | None:
    """Fill-reducing order of scalar unknowns, (3f,), by METIS on the vertex graph; None where pymetis is missing."""
    if importlib.util.find_spec("pymetis") is None:
        return None
    import pymetis

    f = len(sparsity.free)
    columns = np.repeat(np.arange(f), np.diff(sparsity.block_starts))
    lower = sp.coo_matrix((np.ones(len(columns), dtype=np.int8), (sparsity.block_rows, columns)), shape=(f, f))
    graph = (lower + lower.T).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    order, _inverse = pymetis.nested_dissection(adjacency)
    # Through intp: an array of C long long, as METIS hands back, is refused by cvxopt.
    return (3 * np.array(order, dtype=np.intp)[:, None] + np.arange(3)).ravel().astype(np.intp)


class CholmodSolver:
    """CHOLMOD, supernodal. Holds the interpreter's lock while it factorises: run it in a process of its own."""

    name = "CHOLMOD"

    def __init__(self, sparsity: BlockSparsity) -> None:
        cvxopt = load_cvxopt()
        cholmod, matrix, spmatrix = cvxopt.cholmod, cvxopt.matrix, cvxopt.spmatrix
        self._cholmod, self._matrix, self._amd, self._free = cholmod, matrix, cvxopt.amd, sparsity.free
        columns = np.repeat(np.arange(sparsity.size), np.diff(sparsity.column_starts))
        # Ones off the diagonal and many on it: some positive-definite values for the symbolic step.
        self._A = spmatrix(
            matrix(1.0, (len(columns), 1)),
            matrix(sparsity.row_indices),
            matrix(columns),
            (sparsity.size, sparsity.size),
        )
        order = nested_dissection(sparsity) if len(sparsity.free) >= METIS_FROM else None
        self.ordering = "AMD" if order is None else "METIS"
        self._factor = cholmod.symbolic(self._A) if order is None else cholmod.symbolic(self._A, p=matrix(order))

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
        self._A.V = self._matrix(values)
        options = dict(self._cholmod.options)
        self._cholmod.options.update(postorder=False, supernodal=2)
        try:
            order = self._amd.order(self._A)
            self._cholmod.numeric(self._A, self._cholmod.symbolic(self._A, p=order))
        except ArithmeticError as error:
            return int(self._free[int(order[int(error.args[0])]) // 3])
        finally:
            self._cholmod.options.clear()
            self._cholmod.options.update(options)
        return int(self._free[0])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solve with the last factorisation."""
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        self._cholmod.solve(self._factor, b)
        return np.array(b).ravel()


class SuperLUSolver:
    """SciPy's SuperLU: always there, several times slower; knows no definiteness, so the diagonal's sign stands for
    it.
    """

    name = "SuperLU"
    ordering = "minimum degree"

    def __init__(self, sparsity: BlockSparsity) -> None:
        self._sparsity = sparsity

    def factorize(self, values: np.ndarray) -> None:
        """Expand the lower triangle and factorise."""
        s = self._sparsity
        lower = sp.csc_matrix((values, s.row_indices, s.column_starts), shape=(s.size, s.size))
        full = (lower + sp.tril(lower, -1).T).tocsc()
        options = {"SymmetricMode": True}
        try:
            self._factor = spla.splu(full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise not_definite() from error
        if (self._factor.U.diagonal() <= 0.0).any():
            raise not_definite()

    def weak_vertex(self, values: np.ndarray) -> int:
        """The first unknown, in the order of elimination, whose pivot is not positive."""
        with contextlib.suppress(FactorizationError):
            self.factorize(values)
        negative = np.flatnonzero(self._factor.U.diagonal() <= 0.0)
        column = int(self._factor.perm_c.argsort()[negative[0]]) if len(negative) else 0
        return int(self._sparsity.free[column // 3])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solve with the last factorisation."""
        return self._factor.solve(np.asarray(right_hand_side, dtype=np.float64))


def not_definite(vertex: int | None = None) -> FactorizationError:
    """The error of a system without a Cholesky factor, with the vertex where that shows when it is known."""
    where = "" if vertex is None else f" (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed elements there; use more substeps, or a smaller ratio of stiffnesses.",
    )


@dataclass(frozen=True)
class Choice:
    """A direct solver and why it was taken."""

    solver: type[DirectSolver]
    reason: str


def choose_direct_solver() -> Choice:
    """The fastest direct solver that is installed."""
    if importlib.util.find_spec("cvxopt") is not None:
        metis = importlib.util.find_spec("pymetis") is not None
        return Choice(
            CholmodSolver, "cvxopt is installed" + ("" if metis else "; pymetis is not, so the order is AMD's")
        )
    return Choice(SuperLUSolver, "cvxopt is not installed")
