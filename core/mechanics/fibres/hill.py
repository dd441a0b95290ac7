"""Hill-type muscle fibres: active tension that depends on the length as in sarcomeres, and passive tension.

    psi'(l) = s0 (alpha exp(-((l - 1)/w)²) + p (exp(k (l - 1)) - 1)),   the second term for l > 1 only

is the tension per rest area, with the isometric strength s0, the activation alpha, and the passive factor p
(F. Zajac, "Muscle and tendon: properties, models, scaling, and application", Crit. Rev. Biomed. Eng. 17, 1989). k is
``PASSIVE_RATE`` times the muscle's ``stiffening``. Beyond the stretch ``LONGEST`` the passive density continues as a
quadratic polynomial.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from ...foundation.schema.muscle_settings import MuscleSettings
from .law import FibreTerms

WIDTH = 0.4
"""Width w of the active bell curve: a fibre at half its length has a fifth of its isometric strength."""

PASSIVE_RATE = 4.0
"""Rate k of the passive tension at a ``stiffening`` of 1."""

LONGEST = 1.5
"""Stretch beyond which the passive tension grows linearly."""


class HillFibres:
    """Hill law (see the module)."""

    name, label = "hill", "Hill"
    description = "Strongest at its rest length and weaker when shortened or stretched, as real muscle"

    def terms(self, stretch: np.ndarray, activation: np.ndarray, settings: MuscleSettings) -> FibreTerms:
        """Return psi, psi' and psi'' (:class:`.law.FibreLaw`)."""
        s0, p, k = settings.strength, settings.passive, PASSIVE_RATE * settings.stiffening
        z = (stretch - 1.0) / WIDTH
        bell = s0 * activation * np.exp(-z * z)
        active = s0 * activation * 0.5 * np.sqrt(np.pi) * WIDTH * (erf(z) + erf(1.0 / WIDTH))
        beyond = np.clip(stretch - 1.0, 0.0, LONGEST - 1.0)
        growth, over = np.exp(k * beyond), np.maximum(stretch - LONGEST, 0.0)
        slope = s0 * p * (growth - 1.0)
        curvature = np.where(stretch > 1.0, s0 * p * k * growth, 0.0)
        density = s0 * p * (np.expm1(k * beyond) / k - beyond) + over * (slope + 0.5 * over * curvature)
        return FibreTerms(active + density, bell + slope + over * curvature, curvature - 2.0 * z / WIDTH * bell)


LAW = HillFibres()
