"""Inertia with the consistent mass matrix, and gravity with lumped masses, as potentials of positions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..assembly.mass import mass_times


class InertiaPotential:
    """Inertia ``1/2 |x - x~|_M^2`` of positions x and predicted positions x~, with the mass matrix M.

    Implicit Euler minimizes this potential plus ``h²`` times the other potentials, with the time step h ([MFEM22] Eq.
    2).
    """

    def __init__(self, mass: sp.csr_matrix | np.ndarray) -> None:
        self.mass = mass

    def value(self, positions: np.ndarray, predicted: np.ndarray) -> float:
        """Return the potential, kg m².

        ``positions`` x (n,3), m. ``predicted`` x~ (n,3), m: positions at the end of the step due to inertia alone.
        """
        d = positions - predicted
        return 0.5 * float((d * mass_times(self.mass, d)).sum())

    def gradient(self, positions: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the positions, (n,3) kg m. Arguments are as for :meth:`value`."""
        return mass_times(self.mass, positions - predicted)


class GravityPotential:
    """Gravity ``-sum_v m_v g . x_v`` with lumped masses m (n,) kg and a uniform acceleration g (3,) m/s²."""

    def __init__(self, lumped_masses: np.ndarray, acceleration: np.ndarray) -> None:
        self.forces = lumped_masses[:, None] * np.asarray(acceleration, dtype=np.float64)

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m, up to a constant."""
        return -float((self.forces * positions).sum())

    def gradient(self) -> np.ndarray:
        """Return the gradient of the potential by the positions, (n,3) N: minus the weight of each vertex."""
        return -self.forces
