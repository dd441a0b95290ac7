"""Contact settings of a pair: a body and another body or collider. They override the settings of each."""

from __future__ import annotations

from dataclasses import dataclass

from ...foundation.errors import SettingsError
from ...foundation.schema.setting_fields import check_ranges, number, words_of


@dataclass(frozen=True)
class PairSettings:
    """Contact settings between a body and another body, collider or ground, named ``other``.

    None keeps the value that follows from the settings of both. The distance to a ground is at least that of the
    ground. One of the two bodies has these settings, or both have the same.
    """

    other: str
    friction: float | None = number(
        None, 0.0, 10.0, "", "Coulomb's coefficient between the two, no unit: ice 0.05, wood 0.4, rubber 1"
    )
    thickness: float | None = number(
        None, 0.0, 10.0, "m", "Contact distance of the two, m; 0 for the smallest possible", "distance"
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, f"The pair with “{words_of(self.other)}”")
        if not self.other:
            raise SettingsError(
                "A pair has no other body or collider.", "Name the other body or collider, or remove the pair."
            )

    @property
    def name(self) -> str:
        """Name in messages."""
        return f"pair with {self.other}"

    @property
    def overrides(self) -> dict[str, float]:
        """Settings of the pair that are not None, by name."""
        both = {"friction": self.friction, "thickness": self.thickness}
        return {name: value for name, value in both.items() if value is not None}
