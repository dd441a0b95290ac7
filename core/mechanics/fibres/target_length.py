"""Fibres with a target length: linear tension, as in projective dynamics and ADMM solvers.

    psi(l) = r E/2 (u - 1)²,   u = l/r > 1;   0 below

with the rest stretch r and the fibre modulus E. ``psi' = E (u - 1)``, ``psi'' = E/r``.
"""

from __future__ import annotations

import numpy as np

from ...foundation.schema.muscle_settings import MuscleSettings
from .law import FibreTerms, modulus, rest_stretch


class TargetLengthFibres:
    """Target length law (see the module)."""

    name, label = "target_length", "Target Length"
    description = "Tension grows in proportion to the stretch beyond the shortened length: simple to predict"

    def terms(self, stretch: np.ndarray, activation: np.ndarray, settings: MuscleSettings) -> FibreTerms:
        """Return psi, psi' and psi'' (:class:`.law.FibreLaw`)."""
        r, E = rest_stretch(activation, settings), modulus(activation, settings)
        u = stretch / r
        E = np.where(u > 1.0, E, 0.0)
        return FibreTerms(0.5 * r * E * (u - 1.0) ** 2, E * (u - 1.0), E / r)


LAW = TargetLengthFibres()
