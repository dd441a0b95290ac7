"""The system ``M + h² sum_e w_e B_e^T H_e B_e`` over the free vertices: every full-space solver assembles and solves
it.
"""

from __future__ import annotations

import numpy as np

from ..assembly.sparsity import BlockSparsity
from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from ..errors import FactorizationError
from ..forces.step_potential import StepPotential
from .cholesky import choose_direct_solver, not_definite


class ElasticSystem:
    """Assembles element matrices into the fixed sparsity, factorises, solves.

    ``blocks`` (m,10,3,3): element matrices, pairs of corners (a, b), a >= b, row by row; whoever assembles fills them.

    Parameters
    ----------
    tets : (m,4), N : (m,4,3), weights : (m,), masses : (m,) kg
    pinned : (p,) vertices that are left out
    """

    def __init__(
        self,
        tets: np.ndarray,
        N: np.ndarray,
        weights: np.ndarray,
        masses: np.ndarray,
        vertex_count: int,
        pinned: np.ndarray,
    ) -> None:
        self._N, self._weights, self._masses = N, weights, masses
        self._sparsity = BlockSparsity(tets, vertex_count, pinned)
        choice = choose_direct_solver()
        self.solver_choice = choice
        self._solver = choice.solver(self._sparsity)
        self.blocks = np.empty((len(tets), 10, 3, 3))
        self._values = np.empty(len(self._sparsity.row_indices))
        self._vertex_count = vertex_count
        self.residual_work = 0.0
        """Of the last solve of ``A dx = b``: ``dx . (A dx - b)``, kg m²; 0 from a direct solver."""

    @property
    def free(self) -> np.ndarray:
        """Vertices that are not pinned."""
        return self._sparsity.free

    def assemble(self, scale: float, positions: np.ndarray, potentials: tuple[StepPotential, ...] = ()) -> None:
        """Gather the matrix from ``blocks``, which hold the tets' stiffness and mass, and from the step's other
        potentials at positions (n,3), times ``scale`` (h² for a step).
        """
        for potential in potentials:
            potential.add_stiffness(positions, scale, self.blocks)
        self._sparsity.fill(self.blocks, self._values)

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        positions: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
    ) -> None:
        """The same from a tangent of all tets, Pa."""
        tangent_blocks(tangent, self._N, scale * self._weights, self._masses, self.blocks)
        self.assemble(scale, positions, potentials)

    def try_factorize(self) -> bool:
        """Numeric factorisation of what was assembled last; False when it is not positive definite."""
        try:
            self._solver.factorize(self._values)
        except FactorizationError:
            return False
        return True

    def factorize(self) -> None:
        """The same; FactorizationError names the vertex where it is not positive definite."""
        if not self.try_factorize():
            raise not_definite(self._solver.weak_vertex(self._values))

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution (n,3) with zeros at pinned vertices for a right-hand side (n,3)."""
        out = np.zeros((self._vertex_count, 3))
        out[self.free] = self._solver.solve(right_hand_side[self.free].ravel()).reshape(-1, 3)
        return out
