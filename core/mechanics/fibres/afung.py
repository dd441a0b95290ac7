"""Anisotropic Fung fibres (aFung) of [ConJac20] Sec. 6: their stiffness grows exponentially with the stretch.

    psi(l) = r E/(8c) (exp(q) - 1),   q = c (u² - 1)²,   u = l/r > 1;   0 below

with the rest stretch r, the fibre modulus E and the exponent c, the muscle's ``stiffening``. ``c -> 0`` is aStVK. Above
the exponent :data:`LARGEST_EXPONENT` the second-order Taylor polynomial in l continues psi, which would overflow.
"""

from __future__ import annotations

import numpy as np

from ...foundation.schema.muscle_settings import MuscleSettings
from .law import FibreTerms, modulus, rest_stretch

LARGEST_EXPONENT = 4.0
"""Largest exponent q of the energy. Above it, a polynomial replaces the exponential."""


class FungFibres:
    """aFung law (see the module)."""

    name, label = "afung", "Fung"
    description = "Tension grows exponentially with the stretch: skin, tendons and passive muscle"

    def terms(self, stretch: np.ndarray, activation: np.ndarray, settings: MuscleSettings) -> FibreTerms:
        """Return psi, psi' and psi'' (:class:`.law.FibreLaw`)."""
        r, E, c = rest_stretch(activation, settings), modulus(activation, settings), settings.stiffening
        last = np.sqrt(1.0 + np.sqrt(LARGEST_EXPONENT / c))
        E = np.where(stretch > r, E, 0.0)
        u = np.minimum(stretch / r, last)
        strain = u * u - 1.0
        growth = np.exp(c * strain**2)
        density = r * E / (8.0 * c) * np.expm1(c * strain**2)
        slope = 0.5 * E * u * strain * growth
        curvature = 0.5 * E / r * growth * (3.0 * u * u - 1.0 + 4.0 * c * (u * strain) ** 2)
        over = np.maximum(stretch - r * last, 0.0)
        density = density + over * (slope + 0.5 * over * curvature)
        return FibreTerms(density, slope + over * curvature, curvature)


LAW = FungFibres()
