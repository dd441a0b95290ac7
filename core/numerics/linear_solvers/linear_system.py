"""Base class of the linear systems of all spaces. Exact solvers inherit its defaults."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.step_potential import StepPotential
from .protocol import ErrorEstimate, not_definite


class LinearSystem:
    """Assembles element matrices, factorises and solves; spaces define ``assemble``, ``try_factorize`` and ``solve``.

    ``blocks`` (m,10,3,3) are the element matrices, pairs of corners (a, b), a >= b, row by row. The caller fills them
    from the shape gradients ``N`` (m,4,3) 1/m, the ``weights`` (m,) m³ and the ``masses`` (m,4) kg.
    """

    is_small = False
    """True if several factorisations per iteration are affordable, for directions that need fewer iterations."""

    low_rank: LowRank | None = None
    """Low-rank part of the last factorised matrix; None if it had to be left out."""

    residual_work = 0.0
    """``dx . (A dx - b)`` of the last solve of ``A dx = b``, kg m²."""

    def __init__(self, N: np.ndarray, weights: np.ndarray, masses: np.ndarray) -> None:
        self.N, self.weights, self.masses = N, weights, masses
        self.blocks = np.empty((len(weights), 10, 3, 3))

    def follow(self, _shear_modulus: np.ndarray) -> None:
        """Do nothing for other shear moduli (m,), Pa: a factorisation needs the matrix alone."""

    def clear_pairs(self) -> None:
        """Forget previously coupled pairs of vertices, so that a resumed bake gives the same bits."""

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
        """Factorise the last assembled matrix; raise FactorizationError if it is not positive definite."""
        if not self.try_factorize():
            raise self.error()

    def error(self) -> FactorizationError:
        """Return the error that :meth:`factorize` raises."""
        return not_definite()

    def error_estimate(self) -> ErrorEstimate:
        """Estimate the error of the last solution: zeros."""
        return ErrorEstimate(0.0, 0.0)
