"""Field of accelerations (wind, an explosion, local gravity) as a load.

The force conjugate to accelerations a at the tet vertices is ``M a`` with the consistent mass, so a uniform field
equals gravity up to round-off.
"""

from __future__ import annotations

import numpy as np

from .step_potential import Motion, StepPotential


class AccelerationField(StepPotential):
    """Potential ``-sum a . M x`` of prescribed accelerations a during one step.

    Parameters
    ----------
    forces : (n,3) N
        Forces ``M a`` of the accelerations a at the vertices, with the mass matrix M.
    """

    def __init__(self, forces: np.ndarray) -> None:
        self._forces = forces

    def begin(self, _motion: Motion) -> AccelerationField:
        """Return the field itself, constant during the step."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m, up to a constant."""
        return -float(np.sum(self._forces * positions))

    def gradient(self, _positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        return -self._forces

    def add_stiffness(self, _positions: np.ndarray, _scale: float, _blocks: np.ndarray) -> None:
        """Add nothing to the blocks: the potential is linear, so the Hessian is zero."""
