"""Rayleigh damping: forces ``-(alpha M + beta K) v`` with the stiffness K of the step's beginning.

K is lagged and projected, so that within a step the damping is the gradient of a convex potential, the same one for
every solver:

    D(x) = step/2 v . (alpha M + beta K) v,      v = (x - base) / step

Sifakis and Barbic 2012 (SIGGRAPH course notes), Sec. 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..energies.tangent import Tangent
from .elastic import ElasticPotential
from .step_potential import Motion


class RayleighDamping:
    """A load with the factors alpha (1/s, drags every movement) and beta (s, calms deformation alone).

    Parameters
    ----------
    elastic : elastic potential of the unknowns
    mass : (n,n) scalar mass matrix, kg
    stiffness : callable
        ``stiffness(tangent, alpha)``: a tangent (or None) and alpha times the mass in the form that step potentials
        add their stiffness to.
    """

    def __init__(
        self,
        elastic: ElasticPotential,
        mass: sp.csr_matrix | np.ndarray,
        stiffness: Callable[[Tangent | None, float], np.ndarray],
        alpha: float,
        beta: float,
    ) -> None:
        self._elastic, self._stiffness = elastic, stiffness
        self._drag, self._alpha, self._beta = alpha * mass, alpha, beta
        # Without beta it is the same in every step.
        self._constant = stiffness(None, alpha) if beta == 0.0 else None

    def begin(self, motion: Motion) -> RayleighPotential:
        """The potential of a step, with the stiffness at its beginning."""
        elastic = self._elastic
        if self._constant is not None:
            return RayleighPotential(elastic, self._drag, None, self._constant, motion)
        tangent = elastic.tangent(elastic.deformation(motion.start)).scaled(self._beta)
        return RayleighPotential(elastic, self._drag, tangent, self._stiffness(tangent, self._alpha), motion)


class RayleighPotential:
    """Rayleigh damping during one step: ``drag`` (n,n) is alpha times the mass, kg/s; ``tangent`` is beta times the
    stiffness, Pa s, or None where beta is 0; ``stiffness`` is both in the form that the system is assembled in.
    """

    def __init__(
        self,
        elastic: ElasticPotential,
        drag: sp.csr_matrix | np.ndarray,
        tangent: Tangent | None,
        stiffness: np.ndarray,
        motion: Motion,
    ) -> None:
        self._elastic, self._drag, self._tangent = elastic, drag, tangent
        self._stiffness, self._motion = stiffness, motion

    def value(self, positions: np.ndarray) -> float:
        """Half of what it takes from the body within the step, J."""
        return 0.5 * float(np.sum((positions - self._motion.base) * self.gradient(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """``(alpha M + beta K) v``, (n,3), N."""
        v = (positions - self._motion.base) / self._motion.step
        force = self._drag @ v
        if self._tangent is not None:
            force += self._elastic.nodal(self._tangent.stress_change(self._elastic.change(v)))
        return force

    def add_stiffness(self, positions: np.ndarray, scale: float, stiffness: np.ndarray) -> None:
        """The same at all positions."""
        stiffness += (scale / self._motion.step) * self._stiffness

    def update(self, positions: np.ndarray) -> bool:
        """Nothing is renewed within a step."""
        return False
