"""What the linear systems of all spaces share. Those that solve exactly inherit the rest."""

from __future__ import annotations

import numpy as np

from ..assembly.low_rank import LowRank
from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from ..errors import FactorizationError
from ..forces.step_potential import StepPotential
from .protocol import ErrorEstimate, not_definite


class LinearSystem:
    """Assembles element matrices, factorises, solves: ``assemble``, ``try_factorize`` and ``solve`` are a space's own.

    ``blocks`` (m,10,3,3): element matrices, pairs of corners (a, b), a >= b, row by row; whoever assembles fills them
    from the shape gradients ``N`` (m,4,3), the ``weights`` (m,) m³ and the ``masses`` (m,4).
    """

    is_small = False
    """Whether it may be factorised several times in an iteration, for directions that need fewer iterations."""

    low_rank: LowRank | None = None
    """What the matrix that was factorised last has beside element matrices; None where it had to be left out."""

    residual_work = 0.0
    """Of the last solve of ``A dx = b``: ``dx . (A dx - b)``, kg m²."""

    def __init__(self, N: np.ndarray, weights: np.ndarray, masses: np.ndarray) -> None:
        self.N, self.weights, self.masses = N, weights, masses
        self.blocks = np.empty((len(weights), 10, 3, 3))

    def follow(self, _shear_modulus: np.ndarray) -> None:
        """Go on with elements of other shear moduli (m,), Pa: a factorisation asks for the matrix alone."""

    def uncouple(self) -> None:
        """Forget what pairs of vertices were coupled before: a resumed bake goes on with the same bits."""

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
    ) -> None:
        """Assemble from a tangent of all elements, Pa."""
        tangent_blocks(tangent, self.N, scale * self.weights, self.masses, self.blocks)
        self.assemble(scale, unknowns, potentials, added, low_rank)

    def factorize(self) -> None:
        """Factorise what was assembled last; FactorizationError when it is not positive definite."""
        if not self.try_factorize():
            raise self.error()

    def error(self) -> FactorizationError:
        """What :meth:`factorize` raises."""
        return not_definite()

    def error_estimate(self) -> ErrorEstimate:
        """By how much the last solution may miss the exact one."""
        return ErrorEstimate(0.0, 0.0)
