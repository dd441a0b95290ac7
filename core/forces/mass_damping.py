"""Drag on every movement: forces ``-alpha M v``, the part of Rayleigh damping that the mass has.

Within a step it is the gradient of a convex potential, the same one for every solver:

    D(x) = step/2 v . alpha M v,      v = (x - base) / step

Sifakis and Barbic 2012 (SIGGRAPH course notes), Sec. 1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .step_potential import Motion, StepPotential


class MassDamping:
    """A load.

    Parameters
    ----------
    mass : (n,n) scalar mass matrix, kg
    stiffness : ``alpha M`` in the form that step potentials add their stiffness to
    alpha : 1/s
    """

    def __init__(self, mass: sp.csr_matrix | np.ndarray, stiffness: np.ndarray, alpha: float) -> None:
        self._drag, self._stiffness = alpha * mass, stiffness

    def begin(self, motion: Motion) -> MassDampingPotential:
        """The potential of a step."""
        return MassDampingPotential(self._drag, self._stiffness, motion)


class MassDampingPotential(StepPotential):
    """The drag during one step; ``drag`` (n,n) is alpha times the mass, kg/s."""

    def __init__(self, drag: sp.csr_matrix | np.ndarray, stiffness: np.ndarray, motion: Motion) -> None:
        self._drag, self._stiffness, self._motion = drag, stiffness, motion

    def value(self, positions: np.ndarray) -> float:
        """Half of what it takes from the body within the step, J."""
        return 0.5 * float(np.sum((positions - self._motion.base) * self.gradient(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """``alpha M v``, (n,3), N."""
        return self._drag @ ((positions - self._motion.base) / self._motion.step)

    def add_stiffness(self, positions: np.ndarray, scale: float, stiffness: np.ndarray) -> None:
        """The same at all positions."""
        stiffness += (scale / self._motion.step) * self._stiffness
