"""Base class of the linear systems of the full space and of subspaces. The defaults are those of exact solvers."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.elastic import ElasticDensity
from ...mechanics.forces.step_potential import StepPotential
from .protocol import ErrorEstimate, not_definite


class LinearSystem:
    """Linear system assembled from the energies of e elements.

    Subclasses define ``assemble``, ``try_factorize`` and ``solve``.

    Attributes
    ----------
    hessians : (e,6,3,3) second derivatives of the elements' energies by F, filled by the caller: the blocks of the
        columns (a, b), a >= b, of F as in ``tangent_blocks``
    weights : (e,) volumes that multiply the elastic energy densities, m³
    """

    is_small = False
    """True if the system is so small that several factorisations per iteration pay off by saving iterations."""

    low_rank: LowRank | None = None
    """Low-rank term of the last factorised matrix; None without one, or if it would make the matrix indefinite."""

    residual_work = 0.0
    """``dx . (A dx - b)`` of the last solve of ``A dx = b``, kg m²."""

    is_indefinite = False
    """True if the last solution found the matrix indefinite, although :meth:`factorize` did not."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights
        self.hessians = np.empty((len(weights), 6, 3, 3))

    def follow(self, _shear_modulus: np.ndarray) -> None:
        """Do nothing: an exact solver uses the shear moduli (e,), Pa, only through the assembled matrix."""

    def flow(self, elastic: ElasticDensity) -> None:
        """Take over the shape gradients of an elastic density, which change with the plastic flow."""

    def begin_step(self, _slow_steps: int = 0, _negligible: float = 0.0) -> None:
        """Do nothing: no result depends on earlier steps.

        Subclasses forget the systems of earlier steps here. Then a resumed bake gives identical results.
        """

    def slow_steps(self, before: int) -> int:
        """Return ``before``: no other linear solver would be faster."""
        return before

    def assemble_tangent(
        self,
        tangent: Tangent,
        scale: float,
        unknowns: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
    ) -> None:
        """Fill ``hessians`` from the elements' tangent, and assemble the matrix.

        ``tangent``: second derivatives of the energy densities, Pa. ``scale``: factor of the stiffness, h² for a step
        h. The other arguments are those of ``assemble``.
        """
        tangent_blocks(tangent, scale * self.weights, self.hessians)
        self.assemble(scale, unknowns, potentials, added, low_rank)

    def factorize(self) -> None:
        """Factorise the last assembled matrix. Raises FactorizationError if the matrix is not positive definite."""
        if not self.try_factorize():
            raise self.error()

    def error(self) -> FactorizationError:
        """Return the error that :meth:`factorize` raises."""
        return not_definite()

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution: zeros, since an exact solver has only round-off."""
        return ErrorEstimate(0.0, 0.0)
