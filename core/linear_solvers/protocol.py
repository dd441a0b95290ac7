"""What a direct solver offers: analyse a pattern once, factorise values often, solve."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..assembly.sparsity import BlockSparsity


class DirectSolver(Protocol):
    """Sparse symmetric positive-definite systems over the lower triangle of a :class:`BlockSparsity`."""

    name: str

    def __init__(self, sparsity: BlockSparsity) -> None:
        """The symbolic step."""

    def factorize(self, values: np.ndarray) -> None:
        """The numeric step with values (nnz,); FactorizationError where a pivot is not positive."""

    def weak_vertex(self, values: np.ndarray) -> int:
        """The vertex where the numeric step breaks down; slow, for error messages."""

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution for a right-hand side (3f,), a new array."""
