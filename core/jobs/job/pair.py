"""Partners of a body in contact: members of its group, and settings for a pair of the body and a partner.

The settings of a pair override the contact settings of both partners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import SettingsError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.setting_fields import check_ranges, number, words_of


@dataclass(frozen=True)
class GroupMember:
    """Another body that is baked together with this body.

    ``name``: name of the other body.
    ``digest`` (32,): SHA-256 of all data of the other body."""

    name: str
    digest: np.ndarray = field_spec("something of it", dtype=np.uint8)

    def __post_init__(self) -> None:
        coerce(self, SettingsError, "Group member")


@dataclass(frozen=True)
class PairSettings:
    """Contact settings for the pair of this body and the body, collider or ground named ``other``.

    A field that is None keeps the value from the contact settings of both partners. The contact distance to a ground is
    at least the thickness of the ground. For a pair of two bodies, one body has these settings, or both have equal
    settings.
    """

    other: str
    friction: float | None = number(
        None, 0.0, 10.0, "", "Coefficient of friction between the two, no unit: ice 0.05, wood 0.4, rubber 1"
    )
    thickness: float | None = number(
        None, 0.0, 10.0, "m", "Distance of the two surfaces in contact, m; 0 for the smallest possible", "distance"
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, f"The pair with “{words_of(self.other)}”")
        if not self.other:
            raise SettingsError(
                "A contact pair does not name its other body or collider.", "Choose the partner, or remove the pair."
            )

    @property
    def name(self) -> str:
        """Name of the pair in messages."""
        return f"pair with {self.other}"

    @property
    def overrides(self) -> dict[str, float]:
        """Settings of the pair that are not None, by field name."""
        both = {"friction": self.friction, "thickness": self.thickness}
        return {name: value for name, value in both.items() if value is not None}


def check_partners(name: str, pairs: Sequence[PairSettings]) -> None:
    """Raise SettingsError if two ``pairs`` of the body ``name`` have the same partner, or one names the body itself."""
    others = [pair.other for pair in pairs]
    if len(set(others)) < len(others):
        raise SettingsError(
            f"Two contact pairs of “{name}” name “{max(others, key=others.count)}”.", "Remove one of them."
        )
    if name in others:
        raise SettingsError(
            "A contact pair names its own body; it must name another one.",
            "For self-contact, set friction in the body's contact settings (Collide With in Blender).",
        )
