"""Settings of a muscle: how its fibres pull."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import MaterialError
from .setting_fields import check_ranges, choice, number


@dataclass(frozen=True)
class MuscleSettings:
    """Settings of the fibres of one muscle. ``law`` is a name in ``core.mechanics.fibres.registry``."""

    law: str = choice("target_length", "How the tension of the fibres depends on their length", label="", menu=True)
    strength: float = number(
        1e5,
        1.0,
        1e15,
        "Pa",
        "Fibre stiffness of the active muscle, Pa; in the law Hill, its tension at rest length. Muscle 1e5 to 3e5",
        "strength",
    )
    shortening: float = number(
        0.3,
        0.0,
        0.9,
        "",
        "Fraction of their length by which fully active fibres shorten if nothing resists, no unit: 0.2 to 0.5. Hill "
        "ignores it",
    )
    passive: float = number(
        0.1, 0.0, 1.0, "", "Tension of relaxed, stretched fibres, as a fraction of the strength: tendons 1, muscle 0.1"
    )
    stiffening: float = number(
        1.0, 0.05, 20.0, "", "How fast stretched fibres stiffen, in the laws Fung and Hill, no unit: 0.5 to 4"
    )

    tendon: float = number(
        0.0,
        0.0,
        0.45,
        "",
        "Fraction of the length at each end that is tendon, which activation leaves as it is: 0 to 0.3",
    )
    tendon_stiffness: float = number(1e7, 1.0, 1e15, "Pa", "Stiffness of the tendons' fibres, Pa: 1e6 to 1e9", "tendon")

    def __post_init__(self) -> None:
        check_ranges(self, MaterialError, "Muscle")

    @property
    def of_tendon(self) -> MuscleSettings:
        """Settings of the fibres of the tendons."""
        return replace(self, strength=self.tendon_stiffness, passive=1.0)

    def is_tendon(self, part: np.ndarray) -> np.ndarray:
        """Return a mask (f,) of the fibres that belong to the tendons.

        ``part`` (f,): position of each fibre from the origin, 0, to the insertion, 1.
        """
        return (part < self.tendon) | (part > 1.0 - self.tendon)
