"""Presets of muscles: settings of the fibres, and the published measurements behind them.

``strength`` makes the active fibres pull at their rest length with the tension of the source: in the law Hill it is
that tension s, in Target Length ``strength = s (1 - shortening)/shortening``. The presets keep the real tensions, since
flesh of 30 to 100 kPa is as stiff as passive muscle. Two values are *effective*:

- ``tendon_stiffness``. A tendon here has the cross-section of its muscle, a real one a small part of it. So the
  stiffness is not 1.2 GPa: at the full tension of the muscle the tendon strains as much as the real tendon does.
- ``passive`` and ``stiffening`` of Hill. Relaxed fibres at 1.6 times their rest length pull about as much as active
  ones at rest length (D. Thelen, J. Biomech. Eng. 125, 2003), without the flesh around them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...foundation.errors import MaterialError
from ...foundation.schema.muscle_settings import MuscleSettings
from .registry import fibre_law

FLESH = 3e4, 1e5
"""Young's moduli, Pa, of the softest and the stiffest flesh for which ``contraction`` holds."""


class MusclePreset(NamedTuple):
    """Settings of one muscle.

    ``description``: use of the muscle, with the published tension. ``source``: publications of the values.
    ``contraction``: fractions of its length that a free muscle loses at full activation in flesh of ``FLESH``, the
    stiffest first.
    """

    name: str
    description: str
    source: str
    settings: MuscleSettings
    contraction: tuple[float, float]

    @property
    def words(self) -> str:
        """Description, with the contraction."""
        flesh = " to ".join(f"{modulus / 1e3:.0f}" for modulus in FLESH)
        lost = " to ".join(f"{100.0 * part:.0f}" for part in self.contraction)
        return f"{self.description}. In flesh of {flesh} kPa it loses {lost} % of its length if nothing resists"


_HUMAN = "human muscle 268 kPa: Persad, Wang, Pino, Binder-Markey, Kaufman, Lieber, J. Appl. Physiol. 2024"

PRESETS: tuple[MusclePreset, ...] = (
    MusclePreset(
        "Biceps",
        "Long fibers between bones. Pulls with 268 kPa at rest length; its tendons strain by 2.5 %",
        f"{_HUMAN}; length change of the long head 56 % of its optimal length: Murray, Buchanan, Delp, J. Biomech. 33, "
        "2000; tendon of the tibialis anterior 1.2 GPa, 2.5 % at full force: Maganaris, Paul, J. Physiol. 521, 1999",
        MuscleSettings("hill", 2.68e5, passive=0.1, stiffening=1.0, tendon=0.1, tendon_stiffness=2.55e6),
        (0.34, 0.43),
    ),
    MusclePreset(
        "Calf",
        "Short belly on long tendons. Pulls with 268 kPa at rest length; its tendons strain by 5 %",
        f"{_HUMAN}; tendon of the gastrocnemius 1.16 GPa, 4.9 % at full force: Maganaris, Paul, J. Biomech. 35, 2002",
        MuscleSettings("hill", 2.68e5, passive=0.1, stiffening=1.0, tendon=0.25, tendon_stiffness=1.24e6),
        (0.22, 0.27),
    ),
    MusclePreset(
        "Jaw",
        "Short, strong fibers from bone to bone, as the masseter's. Pulls with 268 kPa at rest length, and less when "
        "shortened",
        f"{_HUMAN}; fibres of the masseter 19 to 30 mm, below their optimal length when the jaw is closed: van Eijden, "
        "Raadsheer, Anat. Rec. 232, 1992",
        MuscleSettings("hill", 2.68e5, passive=0.1, stiffening=1.0),
        (0.43, 0.54),
    ),
    MusclePreset(
        "Tongue",
        "One fiber family of a body without bones that keeps its volume, such as a trunk. Pulls with 225 kPa at rest "
        "length",
        "muscle of small mammals 225 kPa, as cited by Persad et al. 2024; principle: Kier, Smith, Zool. J. Linn. Soc. "
        "83, 1985; real flesh of a tongue 6 kPa: Buchaillard, Perrier, Payan, J. Acoust. Soc. Am. 126, 2009",
        MuscleSettings("target_length", 3.375e5, shortening=0.4, passive=0.02),
        (0.31, 0.37),
    ),
    MusclePreset(
        "Heart",
        "Wall of a ventricle. Pulls with 143 kPa at rest length; fibers under blood pressure shorten by 15 %",
        "143 kPa: Genet, Lee, Nguyen, et al., J. Appl. Physiol. 117, 2014; shortening of the fibres 15 %: MacGowan, "
        "Shapiro, Azhari, et al., Circulation 96, 1997",
        MuscleSettings("target_length", 5.72e5, shortening=0.2, passive=0.02),
        (0.17, 0.19),
    ),
    MusclePreset(
        "Worm",
        "Segment of an earthworm or another body on fluid. Pulls with 130 kPa at rest length",
        "130 kPa in circular and 26 kPa in longitudinal muscle at the highest pressure: Seymour, J. Exp. Biol. 51, "
        "1969; longitudinal muscle can pull more: Chapman, J. Exp. Biol. 27, 1950",
        MuscleSettings("target_length", 1.3e5, shortening=0.5, passive=0.0),
        (0.31, 0.41),
    ),
)
"""Presets: skeletal muscles, then hollow and boneless bodies."""


def muscle_preset(name: str) -> MuscleSettings:
    """Return the settings of the muscle preset with this name.

    Raises MaterialError, which lists the names, if there is none.
    """
    shown = name[:80] if isinstance(name, str) else "of another type than text"
    found = [preset.settings for preset in PRESETS if preset.name == shown]
    if not found:
        names = ", ".join(preset.name for preset in PRESETS)
        raise MaterialError(f"Unknown muscle preset “{shown}”.", f"Choose one of {names}.")
    return found[0]


def free_contraction(settings: MuscleSettings, youngs_modulus: float) -> float:
    """Return the fraction of its length that a fully active, free bar of muscle loses, its tendons included.

    The stretch l of the incompressible neo-Hookean bar solves ``psi'(l) = mu (1/l² - l)`` with ``mu`` a third of the
    Young's modulus, Pa.
    """
    law, mu = fibre_law(settings.law), youngs_modulus / 3.0

    def tension(stretch: float) -> float:
        slope = law.terms(np.array([stretch]), np.ones(1), settings).slope[0]
        return float(slope) - mu * (stretch**-2 - stretch)

    return (1.0 - brentq(tension, 0.05, 1.0)) * (1.0 - 2.0 * settings.tendon)
