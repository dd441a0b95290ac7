"""Rayleigh damping: forces ``-(alpha M + beta K) v`` with the stiffness K of the step's beginning.

K is lagged and projected, so that within a step the damping is the gradient of a convex potential, the same one for
every solver:

    D(x) = step/2 v . (alpha M + beta K) v,      v = (x - base) / step

Sifakis and Barbic 2012 (SIGGRAPH course notes), Sec. 1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..assembly.deformation_gradient import deformation_gradients
from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from .elastic import ElasticPotential
from .step_potential import Motion


class RayleighDamping:
    """A load with the factors alpha (1/s, drags every movement) and beta (s, calms deformation alone).

    Parameters
    ----------
    elastic : ElasticPotential
    mass : (n,n) scalar mass matrix, kg; masses : (m,) of the tets, kg
    """

    def __init__(
        self, elastic: ElasticPotential, mass: sp.csr_matrix, masses: np.ndarray, alpha: float, beta: float
    ) -> None:
        self._elastic, self._mass, self._masses = elastic, mass, masses
        self._alpha, self._beta = alpha, beta

    def begin(self, motion: Motion) -> RayleighPotential:
        """The potential of a step, with the stiffness at its beginning."""
        elastic = self._elastic
        tangent = elastic.tangent(elastic.deformation(motion.start)).scaled(self._beta)
        blocks = np.empty((len(elastic.tets), 10, 3, 3))
        tangent_blocks(tangent, elastic.N, elastic.weights, self._alpha * self._masses, blocks)
        return RayleighPotential(elastic, self._alpha * self._mass, tangent, blocks, motion)


class RayleighPotential:
    """Rayleigh damping during one step."""

    def __init__(
        self, elastic: ElasticPotential, drag: sp.csr_matrix, tangent: Tangent, blocks: np.ndarray, motion: Motion
    ) -> None:
        self._elastic, self._drag, self._tangent, self._blocks, self._motion = elastic, drag, tangent, blocks, motion

    def value(self, positions: np.ndarray) -> float:
        """Half of what it takes from the body within the step, J."""
        return 0.5 * float(np.sum((positions - self._motion.base) * self.gradient(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """``(alpha M + beta K) v``, (n,3), N."""
        v = (positions - self._motion.base) / self._motion.step
        change = self._tangent.stress_change(deformation_gradients(v, self._elastic.tets, self._elastic.N))
        return self._drag @ v + self._elastic.nodal(change)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """The same at all positions."""
        blocks += (scale / self._motion.step) * self._blocks

    def update(self, positions: np.ndarray) -> bool:
        """Nothing is renewed within a step."""
        return False
