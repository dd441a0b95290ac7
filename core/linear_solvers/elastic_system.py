"""The system ``M + h² sum_e w_e B_e^T H_e B_e`` over the free vertices: every full-space solver assembles and solves
it.
"""

from __future__ import annotations

import numpy as np

from ..assembly.sparsity import BlockSparsity
from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from ..forces.step_potential import StepPotential
from .body import Body
from .conjugate_gradient import ConjugateGradients
from .direct import Direct
from .protocol import Shortfall, SystemSolver, not_definite
from .registry import ITERATIVE, Choice


class ElasticSystem:
    """Assembles element matrices, factorises, solves.

    ``blocks`` (m,10,3,3): element matrices, pairs of corners (a, b), a >= b, row by row; whoever assembles fills them
    from the shape gradients ``N`` (m,4,3) and the ``masses`` (m,4).

    Parameters
    ----------
    body : Body
    choice : Choice of the linear solver
    inner_iterations : of conjugate gradients, at most
    """

    is_small = False
    """Whether it may be factorised several times in an iteration, for directions that need fewer iterations."""

    def __init__(self, body: Body, choice: Choice, inner_iterations: int = 5) -> None:
        self._body = body
        self.N, self.masses = body.N, body.masses
        sparsity = BlockSparsity(body.tets, len(body.rest_positions), body.pinned)
        self._choice = choice
        self._solver: SystemSolver
        if self._choice.name == ITERATIVE:
            self._solver = ConjugateGradients(body, sparsity.vertex_pattern, inner_iterations, self._choice.solver)
        else:
            self._solver = Direct(sparsity, self._choice.solver)
        self.blocks = np.empty((len(body.tets), 10, 3, 3))
        self.residual_work = 0.0
        """Of the last solve of ``A dx = b``: ``dx . (A dx - b)``, kg m²; 0 from a direct solver."""

    @property
    def free(self) -> np.ndarray:
        """Vertices that are not pinned."""
        return self._solver.free

    @property
    def is_direct(self) -> bool:
        """Whether nothing but its assembled entries depends on the stiffness."""
        return self._choice.name != ITERATIVE

    @property
    def choice(self) -> str:
        """The linear solver and why it was taken, for reports."""
        solver = self._solver
        entries = solver.factor_entries
        size = "" if entries is None else f" (factor {8e-6 * entries:.3g} MB)"
        return f"{solver.label}, {solver.ordering}{size}: {self._choice.reason}"

    def assemble(
        self,
        scale: float,
        positions: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
    ) -> None:
        """Gather the matrix from ``blocks``, which hold the tets' stiffness and mass, from what is ``added`` to them
        (m,10,3,3), and from the step's other potentials at positions (n,3), times ``scale`` (h² for a step).
        """
        more = bool(potentials) or added is not None
        own = self._diagonals() if more and self._choice.name == ITERATIVE else None
        if added is not None:
            self.blocks += added
        for potential in potentials:
            potential.add_stiffness(positions, scale, self.blocks)
        self._solver.fill(self.blocks, scale, None if own is None else self._diagonals() - own)

    def _diagonals(self) -> np.ndarray:
        """Of the element blocks, a copy, (m,10,3)."""
        return np.stack([self.blocks[:, :, i, i] for i in range(3)], axis=2)

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        positions: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
    ) -> None:
        """The same from a tangent of all tets, Pa."""
        tangent_blocks(tangent, self.N, scale * self._body.weights, self.masses, self.blocks)
        self.assemble(scale, positions, potentials, added)

    def try_factorize(self) -> bool:
        """Factorise what was assembled last; False when it is not positive definite. Conjugate gradients factorise a
        coarse part alone.
        """
        return self._solver.try_factorize()

    def factorize(self) -> None:
        """The same; FactorizationError names the vertex where it is not positive definite."""
        if not self.try_factorize():
            raise not_definite(self._solver.weak_vertex())

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution (n,3) with zeros at pinned vertices for a right-hand side (n,3)."""
        out = np.zeros((len(self._body.rest_positions), 3))
        out[self.free] = self._solver.solve(right_hand_side[self.free])
        self.residual_work = self._solver.residual_work
        return out

    def shortfall(self) -> Shortfall:
        """By how much the last solution may miss the exact one: zeros from a direct solver."""
        return self._solver.shortfall()
