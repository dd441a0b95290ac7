"""Anisotropic St. Venant-Kirchhoff fibres (aStVK), the fibres of [ConJac20] Sec. 6.

    psi(l) = r E/8 (u² - 1)²,   u = l/r > 1;   0 below

with the rest stretch r and the fibre modulus E (Kim, de Goes, Iben, "Anisotropic elasticity for inversion-safety and
element rehabilitation", SIGGRAPH 2019, for r = 1). ``psi' = E/2 u (u² - 1)``, ``psi'' = E/(2r) (3u² - 1)``.
"""

from __future__ import annotations

import numpy as np

from ...foundation.schema.muscle_settings import MuscleSettings
from .law import FibreTerms, modulus, rest_stretch


class StVKFibres:
    """aStVK law (see the module)."""

    name, label = "astvk", "StVK"
    description = "Tension grows with the cube of the stretch: cords and tendons"

    def terms(self, stretch: np.ndarray, activation: np.ndarray, settings: MuscleSettings) -> FibreTerms:
        """Return psi, psi' and psi'' (:class:`.law.FibreLaw`)."""
        r, E = rest_stretch(activation, settings), modulus(activation, settings)
        u = stretch / r
        E = np.where(u > 1.0, E, 0.0)
        strain = u * u - 1.0
        return FibreTerms(0.125 * r * E * strain**2, 0.5 * E * u * strain, 0.5 * E / r * (3.0 * u * u - 1.0))


LAW = StVKFibres()
