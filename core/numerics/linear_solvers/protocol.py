"""Protocols of linear solvers: direct solvers of sparse matrices, and solvers of a body's linear system."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import Pattern


class DirectSolver(Protocol):
    """Direct solver of sparse symmetric positive-definite matrices.

    A matrix is given by its values in the lower triangle of a :class:`Pattern`.

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
        """Analyse the ``pattern`` symbolically.

        ``like``: solver of the same class and size whose fill-reducing order may be reused, or None.
        """

    def factorize(self, values: np.ndarray) -> None:
        """Factorise the matrix with the lower triangle ``values`` (nnz,).

        Raises FactorizationError if the matrix is not positive definite.
        """

    def weak_vertex(self, values: np.ndarray) -> int:
        """Return the index of the vertex at which the factorisation breaks down. Slow, for error messages.

        ``values`` (nnz,): lower triangle of the matrix.
        """

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution by the last factorisation, as a new array. ``right_hand_side``: (size,) or (size,k)."""

    def solve_in(self, x: np.ndarray, rows: np.ndarray) -> None:
        """Solve in place for the right-hand sides ``x[rows]``, by the last factorisation.

        ``x`` (N,k): k right-hand sides in columns. ``rows`` (size,): row of x per row of the matrix. Other rows of x
        stay unchanged.
        """

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-1 b``, the forward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,) or (size,k).
        """

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return ``R^-T b``, the backward substitution with the factor of ``A = R R^T``.

        ``right_hand_side`` b: (size,).
        """


class ErrorEstimate(NamedTuple):
    """Estimated error of an approximate solution of the Newton system.

    ``decrement``, kg m²: amount by which the Newton decrement of the exact solution is larger. ``movement``, m: largest
    difference from the exact solution at a vertex.
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
    is_indefinite : True if the last solution found the matrix indefinite, although :meth:`try_factorize` did not
    """

    label: str
    low_rank: LowRank | None
    free: np.ndarray
    residual_work: float
    is_indefinite: bool

    @property
    def ordering(self) -> str:
        """Text for reports: fill-reducing order of a direct solver, or number of deflation groups of conjugate
        gradients.
        """

    @property
    def factor_entries(self) -> int | None:
        """Number of scalar non-zeros of the factor, None while unknown."""

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update the solver for new shear moduli. ``shear_modulus`` (e,), Pa: modulus of each element."""

    def fill(self, blocks: np.ndarray, low_rank: LowRank | None = None, pairs: Pairs | None = None) -> None:
        """Assemble the matrix from element blocks, contact pairs and a term of low rank.

        ``blocks`` (b,3,3): element blocks. ``low_rank``: additional term, which may stay in factored form. ``pairs``:
        blocks between vertices coupled by contact.
        """

    def begin_step(self, negligible: float = 0.0) -> None:
        """Forget the systems of earlier steps, so that results do not depend on them.

        ``negligible``, m: displacement that the step's stop rule neglects. Smaller solutions may be less accurate.
        """

    def try_factorize(self) -> bool:
        """Factorise the last assembled matrix; return False if the matrix is not positive definite.

        A term ``low_rank`` that makes the matrix indefinite is dropped.
        """

    def weak_vertex(self) -> int:
        """Return the index of a vertex at which the matrix is not positive definite. Slow, for error messages."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) for a right-hand side b (f,3)."""

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place. Entries of pinned vertices are ignored and kept."""

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution."""


def not_definite(vertex: int | None = None, among: int = 0) -> FactorizationError:
    """Return the error for a matrix that is not positive definite.

    ``vertex``: index of the vertex at which the factorisation fails, or None. ``among``: number of vertices.
    """
    where = "" if vertex is None else f" (near vertex {vertex})"
    return FactorizationError(
        f"The system matrix is not positive definite{where}.",
        "Look for collapsed tetrahedra; use more substeps, or materials whose stiffness differs less.",
        vertex,
        among,
    )
