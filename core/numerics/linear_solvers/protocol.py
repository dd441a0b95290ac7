"""Protocols of linear solvers: for sparse matrices, and for a body's system that uses them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import Pattern


class DirectSolver(Protocol):
    """Sparse symmetric positive-definite systems over the lower triangle of a :class:`Pattern`.

    ``name`` is the value of the setting, ``label`` the text for the artist, ``package`` the required module.
    ``ordering`` names the order of the unknowns. ``factor_entries`` is the number of non-zeros of the factor, None
    while unknown.
    """

    name: str
    label: str
    package: str
    ordering: str
    factor_entries: int | None

    def __init__(self, pattern: Pattern, like: DirectSolver | None = None) -> None:
        """Run the symbolic step, or take the order of ``like``, a solver of the same kind and size."""

    def factorize(self, values: np.ndarray) -> None:
        """Run the numeric step with values (nnz,); raise FactorizationError if a pivot is not positive."""

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the vertex where the numeric step breaks down; slow, for error messages."""

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution for right-hand sides (size,) or (size, k), a new array."""

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place in the rows ``rows`` (size,) of x (N,k), without touching other rows."""

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Forward substitution: ``R^-1 b`` of the factor, ``A = R R^T``, for right-hand sides (size,) or (size, k)."""

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Backward substitution: ``R^-T b`` (size,)."""


class ErrorEstimate(NamedTuple):
    """Algebraic error: an exact solution would add ``decrement`` kg m² and ``movement`` of one vertex, m."""

    decrement: float
    movement: float


class SystemSolver(Protocol):
    """Solves the system of a body, given by element blocks.

    ``free`` (f,) are the vertices that are not pinned. ``residual_work`` is ``x . (A x - b)`` of the last solution.
    ``label`` and ``ordering`` describe the solver. ``low_rank`` is the low-rank part of the last factorised matrix.
    """

    label: str
    low_rank: LowRank | None
    free: np.ndarray
    residual_work: float

    @property
    def ordering(self) -> str:
        """Order of the unknowns or make-up of the solver, for the report."""

    @property
    def factor_entries(self) -> int | None:
        """Non-zeros of its factor, None while unknown."""

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update to other shear moduli (m,), Pa."""

    def fill(
        self,
        blocks: np.ndarray,
        scale: float,
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Sum element blocks (m,10,3,3), assembled with ``scale`` (h² for a step), and ``pairs`` of unknowns.

        ``added`` (m,10,3) is the part of the blocks' diagonals that is neither the tets' mass nor their stiffness, or
        None.
        """

    def clear_pairs(self) -> None:
        """Forget earlier pairs: the following bits must not depend on them."""

    def try_factorize(self) -> bool:
        """Factorise, without a low rank that would make the matrix indefinite; return False if it is itself not
        definite."""

    def weak_vertex(self) -> int:
        """Return a vertex where the matrix is not positive definite; slow, for error messages."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) for a right-hand side b (f,3)."""

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve right-hand sides x (n,3,k) in place, at the vertices that are not pinned."""

    def error_estimate(self) -> ErrorEstimate:
        """Estimate the error of the last solution."""


def not_definite(vertex: int | None = None, among: int = 0) -> FactorizationError:
    """Return the error of a system without a Cholesky factor, with the vertex where it fails, if known.

    ``among`` is the number of vertices.
    """
    where = "" if vertex is None else " (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed elements there; use more substeps, or a smaller ratio of stiffnesses.",
        vertex,
        among,
    )
