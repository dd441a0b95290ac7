"""What solvers of linear systems offer: those of sparse matrices, and those of a body's system that use them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..assembly.low_rank import LowRank
from ..assembly.pairs import Pairs
from ..assembly.sparsity import Pattern
from ..errors import FactorizationError


class DirectSolver(Protocol):
    """Sparse symmetric positive-definite systems over the lower triangle of a :class:`Pattern`.

    ``name`` is the setting's word, ``label`` what an artist reads, ``package`` the module that it needs; ``ordering``
    says how the unknowns are ordered; ``factor_entries`` how many non-zeros its factor has, None when that is not known
    yet.
    """

    name: str
    label: str
    package: str
    ordering: str
    factor_entries: int | None

    def __init__(self, pattern: Pattern, like: DirectSolver | None = None) -> None:
        """The symbolic step, in the order of one of its kind of as many unknowns, where one is ``like`` it."""

    def factorize(self, values: np.ndarray) -> None:
        """The numeric step with values (nnz,); FactorizationError where a pivot is not positive."""

    def weak_vertex(self, values: np.ndarray) -> int:
        """The vertex where the numeric step breaks down; slow, for error messages."""

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution for right-hand sides (size,) or (size, k), a new array."""

    def solve_in(self, x: np.ndarray, places: np.ndarray) -> None:
        """Make of right-hand sides their solutions in the rows ``places`` (size,) of x (N,k), and touch no other."""

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """``R^-1 b`` of the factor, ``A = R R^T``, for right-hand sides (size,) or (size, k): half a solution."""

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """``R^-T b`` (size,): the other half."""


class ErrorEstimate(NamedTuple):
    """The algebraic error: an exact solution would add ``decrement`` kg m² and ``movement`` of one vertex, m."""

    decrement: float
    movement: float


class SystemSolver(Protocol):
    """Solves the system of a body, given by element blocks.

    ``free`` (f,) are the vertices that are not pinned; ``residual_work`` is ``x . (A x - b)`` of the last solution;
    ``label`` and ``ordering`` say what it is; ``low_rank`` is what the matrix that was factorised last
    has of it.
    """

    label: str
    low_rank: LowRank | None
    free: np.ndarray
    residual_work: float

    @property
    def ordering(self) -> str:
        """How it is ordered or made up, for the report."""

    @property
    def factor_entries(self) -> int | None:
        """Non-zeros of its factor, None when that is not known yet."""

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Go on with tets of other shear moduli (m,), Pa."""

    def fill(
        self,
        blocks: np.ndarray,
        scale: float,
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Sum element blocks (m,10,3,3), which were assembled with ``scale`` (h² for a step), and ``pairs`` of
        unknowns. ``added`` (m,10,3): the part of the blocks' diagonals that is neither the tets' mass nor their
        stiffness; None for none.
        """

    def uncouple(self) -> None:
        """Forget pairs that came before: what follows is to have the same bits whatever that was."""

    def try_factorize(self) -> bool:
        """Factorise, without a low rank that leaves nothing positive definite; False when the matrix itself is not."""

    def weak_vertex(self) -> int:
        """A vertex where it is not positive definite; slow, for error messages."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Solution (f,3) for a right-hand side (f,3)."""

    def solve_columns(self, x: np.ndarray) -> None:
        """Make of right-hand sides (n,3,k) their solutions, in place, at the vertices that are not pinned."""

    def error_estimate(self) -> ErrorEstimate:
        """By how much the last solution may miss the exact one."""


def not_definite(vertex: int | None = None, among: int = 0) -> FactorizationError:
    """The error of a system without a Cholesky factor, with the vertex, ``among`` so many, where that shows when it is
    known.
    """
    where = "" if vertex is None else " (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed elements there; use more substeps, or a smaller ratio of stiffnesses.",
        vertex,
        among,
    )
