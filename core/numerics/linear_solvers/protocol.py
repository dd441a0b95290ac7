"""Protocols of linear solvers: direct solvers of sparse matrices, and solvers of a body's linear system."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import Pattern


class DirectSolver(Protocol):
    """Direct solver of sparse symmetric positive-definite matrices, given by the lower triangle of a :class:`Pattern`.

    Attributes
    ----------
    name : value of the setting ``linear_solver``
    label : name of the solver in Blender and in reports
    package : required Python module
    ordering : name of the fill-reducing order
    factor_entries : number of scalar non-zeros of the factor, None while unknown
    """

    name: str
    label: str
    package: str
    ordering: str
    factor_entries: int | None

    def __init__(self, pattern: Pattern, like: DirectSolver | None = None) -> None:
        """Analyse the ``pattern`` symbolically. ``like`` is a solver of the same class and size; if given, the solver
        may take the fill-reducing order of ``like``.
        """

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with the lower-triangle ``values`` (nnz,) of the pattern; raise FactorizationError if it
        is not positive definite.
        """

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the index of the vertex at which the factorisation of the matrix with ``values`` (nnz,) breaks down;
        slow, for error messages.
        """

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution for right-hand sides (size,) or (size,k), by the last factorisation, as a new array."""

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place for k right-hand sides, the columns of ``x[rows]`` (size,k). Other rows of x (N,k) stay
        unchanged.
        """

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b`` (forward substitution, ``A = R R^T``) for right-hand sides (size,) or (size,k)."""

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b`` (backward substitution, ``A = R R^T``) for a right-hand side (size,)."""


class ErrorEstimate(NamedTuple):
    """Estimated error of a solution dx of the Newton system. The exact solution has a Newton decrement larger by
    ``decrement`` kg m², and differs from dx by at most ``movement`` m at each vertex.
    """

    decrement: float
    movement: float


class SystemSolver(Protocol):
    """Solver of a body's linear system ``A x = b``, with A assembled from element blocks.

    Attributes
    ----------
    label : name of the solver, for reports
    low_rank : low-rank term of the last factorised A, or None
    free : (f,) indices of the vertices that are not pinned
    residual_work : ``x . (A x - b)`` of the last solution
    """

    label: str
    low_rank: LowRank | None
    free: np.ndarray
    residual_work: float

    @property
    def ordering(self) -> str:
        """Text for reports: the fill-reducing order of a direct solver, or the number of vertex groups of conjugate
        gradients.
        """

    @property
    def factor_entries(self) -> int | None:
        """Number of scalar non-zeros of the factor, None while unknown."""

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update the solver for changed shear moduli (m,), Pa, of the tets."""

    def fill(
        self,
        blocks: np.ndarray,
        scale: float,
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Assemble A from the element ``blocks`` (b,3,3), the contact ``pairs`` and the term ``low_rank``. ``pairs``
        are blocks between vertices coupled by contact. ``low_rank`` may stay in factored form.

        ``scale`` (h² for a step) is the factor of the stiffness in the blocks. ``added`` (b,3), if given, is the part
        of the blocks' diagonals that is not from the tets' mass and elasticity.
        """

    def clear_pairs(self) -> None:
        """Remove the contact pairs of earlier steps from the matrix pattern, so that results do not depend on them."""

    def try_factorize(self) -> bool:
        """Factorise the last assembled A. If A is indefinite, drop the term ``low_rank`` that :meth:`fill` added.
        Return False if A without this term is not positive definite.
        """

    def weak_vertex(self) -> int:
        """Return the index of a vertex at which the matrix is not positive definite; slow, for error messages."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) for a right-hand side b (f,3)."""

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve in place for k right-hand sides x (n,3,k); entries of pinned vertices are ignored and kept."""

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution."""


def not_definite(vertex: int | None = None, among: int = 0) -> FactorizationError:
    """Return the error for a matrix without a Cholesky factor. ``vertex`` is the index of the vertex where the
    factorisation fails, None if unknown; ``among`` is the number of vertices.
    """
    where = "" if vertex is None else " (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed tetrahedra; use more substeps, or materials whose stiffness differs less.",
        vertex,
        among,
    )
