"""Base class of the linear systems of the full space and of subspaces; its defaults are those of exact solvers."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.step_potential import StepPotential
from .protocol import ErrorEstimate, not_definite


class LinearSystem:
    """Linear system assembled from element matrices. Subclasses define ``assemble``, ``try_factorize`` and ``solve``.

    Attributes
    ----------
    blocks : (m,10,3,3) element matrices, filled by the caller: per tet the 3 x 3 blocks of corner pairs (a, b), a >= b,
        row by row
    N : (m,4,3) gradients of the tets' shape functions, 1/m
    weights : (m,) volumes that multiply the elastic energy densities, m³
    masses : (m,4) mass of each tet by corner, kg
    """

    is_small = False
    """True if the system is so small that several factorisations per iteration pay off by saving iterations."""

    low_rank: LowRank | None = None
    """Low-rank term of the last factorised matrix; None without one, or if it would make the matrix indefinite."""

    residual_work = 0.0
    """``dx . (A dx - b)`` of the last solve of ``A dx = b``, kg m²."""

    def __init__(self, N: np.ndarray, weights: np.ndarray, masses: np.ndarray) -> None:
        self.N, self.weights, self.masses = N, weights, masses
        self.blocks = np.empty((len(weights), 10, 3, 3))

    def follow(self, _shear_modulus: np.ndarray) -> None:
        """Do nothing when the tets' shear moduli (m,), Pa, change: an exact solver depends on the matrix alone."""

    def clear_pairs(self) -> None:
        """Do nothing. Subclasses whose matrix pattern has contact pairs remove the pairs of earlier steps here."""

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
    ) -> None:
        """Fill ``blocks`` with ``scale`` (h² for a step) times the stiffness of the elements' ``tangent``, Pa, plus the
        masses; then call ``assemble`` with the other arguments.
        """
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
        """Return the estimated error of the last solution: zeros, since an exact solver has only round-off."""
        return ErrorEstimate(0.0, 0.0)
