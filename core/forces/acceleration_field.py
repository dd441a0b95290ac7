"""A field of accelerations (wind, an explosion, a local gravity) as a load.

The force conjugate to accelerations a at the tet vertices is ``M a`` with the consistent mass: a uniform field is
gravity to the last digit.
"""

from __future__ import annotations

import numpy as np

from .step_potential import Motion, StepPotential


class AccelerationField(StepPotential):
    """``-sum a . M x`` during one step.

    Parameters
    ----------
    forces : (n,3) N
        What accelerations a pull the unknowns with, ``M a``.
    """

    def __init__(self, forces: np.ndarray) -> None:
        self._forces = forces

    def begin(self, _motion: Motion) -> AccelerationField:
        """Itself: it is the same all through the step."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """J, up to the choice of the origin."""
        return -float(np.sum(self._forces * positions))

    def gradient(self, _positions: np.ndarray) -> np.ndarray:
        """(n,3), N."""
        return -self._forces

    def add_stiffness(self, _positions: np.ndarray, _scale: float, _blocks: np.ndarray) -> None:
        """None: it is linear."""
