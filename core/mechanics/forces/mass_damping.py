"""Mass-proportional Rayleigh damping: forces ``-alpha M v``.

Within a step, the damping forces are minus the gradient of a convex potential D, the same for every solver:

    D(x) = step/2 v . alpha M v,      v = (x - base) / step

with ``base`` and ``step`` of :class:`Motion`. Sifakis and Barbic 2012 (SIGGRAPH course notes), Sec. 1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .step_potential import Motion, StepPotential


class MassDamping:
    """Mass-proportional damping as a load.

    Parameters
    ----------
    mass : (n,n) kg, mass matrix M that acts on each of the coordinates x, y and z
    stiffness : ``alpha M`` as element blocks (b,3,3), or as the matrix of a subspace, kg/s
    alpha : damping coefficient, 1/s
    """

    def __init__(self, mass: sp.csr_matrix | np.ndarray, stiffness: np.ndarray, alpha: float) -> None:
        self._drag, self._stiffness = alpha * mass, stiffness

    def begin(self, motion: Motion) -> MassDampingPotential:
        """Return the damping potential of a step with the given ``motion``."""
        return MassDampingPotential(self._drag, self._stiffness, motion)


class MassDampingPotential(StepPotential):
    """Potential of the mass-proportional damping during one step.

    ``drag`` (n,n), kg/s: alpha times the mass matrix, the same for x, y and z. ``stiffness``: drag as element blocks
    (b,3,3), or as the matrix of a subspace.
    """

    def __init__(self, drag: sp.csr_matrix | np.ndarray, stiffness: np.ndarray, motion: Motion) -> None:
        self._drag, self._stiffness, self._motion = drag, stiffness, motion

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J: half of the energy that the damping dissipates within the step."""
        return 0.5 * float(np.sum((positions - self._motion.base) * self.gradient(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the positions, ``alpha M v``, (n,3) N, with the velocities v."""
        return self._drag @ ((positions - self._motion.base) / self._motion.step)

    def add_stiffness(self, positions: np.ndarray, scale: float, stiffness: np.ndarray) -> None:
        """Add ``scale`` times the constant Hessian ``alpha M / step`` to the blocks ``stiffness``, in place."""
        stiffness += (scale / self._motion.step) * self._stiffness
