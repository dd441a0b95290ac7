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

    ``name`` is the value of the setting ``linear_solver``, ``label`` the solver's name in Blender and reports,
    ``package`` the required Python module, ``ordering`` the name of the fill-reducing order. ``factor_entries`` is the
    number of non-zeros of the factor, None while unknown.
    """

    name: str
    label: str
    package: str
    ordering: str
    factor_entries: int | None

    def __init__(self, pattern: Pattern, like: DirectSolver | None = None) -> None:
        """Run the symbolic step; with the order of ``like``, a solver of the same kind and size, if given."""

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with ``values`` (nnz,) of the pattern; raise FactorizationError if not definite."""

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the vertex at which the factorisation breaks down; slow, for error messages."""

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution for right-hand sides (size,) or (size,k), as a new array."""

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place: x (N,k) has right-hand sides and then solutions in its ``rows`` (size,); others stay."""

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b`` (forward substitution, ``A = R R^T``) for right-hand sides (size,) or (size,k)."""

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b`` (backward substitution, ``A = R R^T``) for a right-hand side (size,)."""


class ErrorEstimate(NamedTuple):
    """Estimated error of a solution: an exact one would add ``decrement`` kg m² to the Newton decrement, and displace a
    vertex by at most ``movement`` m.
    """

    decrement: float
    movement: float


class SystemSolver(Protocol):
    """Solver of the linear system ``A x = b`` of a body, given by element blocks.

    ``free`` (f,) are the vertices that are not pinned. ``residual_work`` is ``x . (A x - b)`` of the last solution.
    ``label`` and ``ordering`` describe the solver in reports. ``low_rank`` is a term of the last factorised A, or None.
    """

    label: str
    low_rank: LowRank | None
    free: np.ndarray
    residual_work: float

    @property
    def ordering(self) -> str:
        """Order of the unknowns, or size of the coarse space, as text for the report."""

    @property
    def factor_entries(self) -> int | None:
        """Number of non-zeros of the factor, None while unknown."""

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
        """Sum element blocks (m,10,3,3), assembled with ``scale`` (h² for a step), ``pairs`` and ``low_rank`` to A.

        ``added`` (m,10,3), if any, is the part of the blocks' diagonals that is not from the tets' mass and elasticity.
        """

    def clear_pairs(self) -> None:
        """Remove the pairs of earlier steps from the pattern: later results must not depend on them."""

    def try_factorize(self) -> bool:
        """Factorise, without the low-rank term if that would make the matrix indefinite; return False if the matrix
        without the term is not definite."""

    def weak_vertex(self) -> int:
        """Return a vertex at which the matrix is not positive definite; slow, for error messages."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) for a right-hand side b (f,3)."""

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place, at the vertices that are not pinned."""

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution."""


def not_definite(vertex: int | None = None, among: int = 0) -> FactorizationError:
    """Return the error for a matrix without a Cholesky factor. It names the vertex where that fails, if known.

    ``among`` is the number of vertices.
    """
    where = "" if vertex is None else " (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed tetrahedra; use more substeps, or materials whose stiffness differs less.",
        vertex,
        among,
    )
