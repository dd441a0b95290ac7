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
from ..assembly.mass import add_mass
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
        tangent = None
        if self._beta > 0.0:
            tangent = elastic.tangent(elastic.deformation(motion.start)).scaled(self._beta)
        return RayleighPotential(elastic, self._alpha * self._mass, self._alpha * self._masses, tangent, motion)


class RayleighPotential:
    """Rayleigh damping during one step: ``drag`` (n,n) and ``drags`` (m,) are alpha times the mass, of the vertices and
    of the tets, kg/s; ``tangent`` is beta times the stiffness, Pa s, or None where beta is 0.
    """

    def __init__(
        self,
        elastic: ElasticPotential,
        drag: sp.csr_matrix,
        drags: np.ndarray,
        tangent: Tangent | None,
        motion: Motion,
    ) -> None:
        self._elastic, self._drag, self._drags, self._tangent, self._motion = elastic, drag, drags, tangent, motion
        self._blocks: np.ndarray | None = None
        if tangent is not None:
            self._blocks = np.empty((len(elastic.tets), 10, 3, 3))
            tangent_blocks(tangent, elastic.N, elastic.weights, np.zeros(len(elastic.tets)), self._blocks)

    def value(self, positions: np.ndarray) -> float:
        """Half of what it takes from the body within the step, J."""
        return 0.5 * float(np.sum((positions - self._motion.base) * self.gradient(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """``(alpha M + beta K) v``, (n,3), N."""
        v = (positions - self._motion.base) / self._motion.step
        force = self._drag @ v
        if self._tangent is not None:
            change = self._tangent.stress_change(deformation_gradients(v, self._elastic.tets, self._elastic.N))
            force += self._elastic.nodal(change)
        return force

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """The same at all positions."""
        factor = scale / self._motion.step
        add_mass(factor * self._drags, blocks)
        if self._blocks is not None:
            blocks += factor * self._blocks

    def update(self, positions: np.ndarray) -> bool:
        """Nothing is renewed within a step."""
        return False
