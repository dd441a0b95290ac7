"""Independent fibre stretches of Mixed FEM, condensed like the stretches of the elements ([MFEM22] Eqs. 15, 19, 20).

Each fibre has an independent stretch l with the constraint ``l = |v|`` for its vector ``v = F a``, and a multiplier pi:

    L += w (psi(l) + pi (|v| - l))

Let ``c = |v| - l``, ``n = v/|v|`` and ``k = max(psi''(l), 0)``. An iteration adds the tension ``(psi' + k c) n`` to the
forces, and ``k n n^T + (pi/|v|)(I - n n^T)`` to the stiffness. Then ``dl = c + n . dv`` and ``pi = psi' + k dl``. The
second part of the stiffness is the second derivative of the constraint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .fibre_potential import FibrePotential, VectorPotential, directions_of, fibre_stiffness


class FibreStep(NamedTuple):
    """Changes of the fibres in an iteration. ``change`` (f,): change dl of the independent stretches.

    ``multiplier`` (f,), J: multipliers times the volumes of the fibres. ``curvature``, J: ``sum w k dl²``.
    """

    change: np.ndarray
    multiplier: np.ndarray
    curvature: float


class IndependentFibres(VectorPotential):
    """Potential of fibres at their independent stretches, in an iterate of Mixed FEM.

    ``residual`` (f,): lengths of the fibre vectors minus the independent stretches. ``bends``: True if the stiffness
    contains the second derivative of the constraint.

    Parameters
    ----------
    fibres : FibrePotential
    x : (n,3) m, positions of the iterate
    stretch : (f,) independent stretches l of the iterate
    """

    def __init__(self, fibres: FibrePotential, x: np.ndarray, stretch: np.ndarray) -> None:
        self._fibres, self._stretch, weights = fibres, stretch, fibres.weights
        self.vectors = fibres.vectors
        self._length, self._along = directions_of(self.vectors.positions(x))
        terms, self.residual = fibres.law(stretch), self._length - stretch
        self._energy = float(weights @ terms.density)
        self._slope, self._curvature = weights * terms.slope, weights * np.maximum(terms.curvature, 0.0)
        self._condensed = self._slope + self._curvature * self.residual
        self.bends = False

    def value(self, _positions: np.ndarray) -> float:
        """Return the energy of the fibres, J, at their independent stretches."""
        return self._energy

    def gradient(self, _positions: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N, of the condensed fibres."""
        return self.vectors.spread(self._condensed[:, None] * self._along)

    def hessians(self, _positions: np.ndarray) -> np.ndarray:
        """Return the second derivatives (f,3,3) of the condensed fibres by the fibre vectors."""
        slope = np.maximum(self._condensed, 0.0) if self.bends else np.zeros_like(self._condensed)
        return fibre_stiffness(np.ones(len(slope)), slope, self._curvature, self._length, self._along)

    def moved(self, alpha: float, change: np.ndarray, x: np.ndarray) -> IndependentFibres:
        """Return the fibres at the positions x (n,3), m, with the independent stretches ``l + alpha * change``."""
        return IndependentFibres(self._fibres, x, self._stretch + alpha * change)

    def step_by(self, dx: np.ndarray) -> FibreStep:
        """Return the changes of the fibres for displacements ``dx`` (n,3), m."""
        change = self.residual + (self._along * self.vectors.moved(dx)).sum(axis=1)
        multiplier = self._slope + self._curvature * change
        return FibreStep(change, multiplier, float(change @ (self._curvature * change)))

    def disagreement(self) -> float:
        """Return the energy ``sum w k c²``, J, by which lengths and independent stretches of the fibres disagree."""
        return float(self.residual @ (self._curvature * self.residual))
