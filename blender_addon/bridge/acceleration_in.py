"""A vector attribute of the points -> accelerations in world space, sampled frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import SettingsError
from .animation_in import Moment
from .mesh_in import vectors_of

REMEDY = "Simulate after the modifier that makes it (Resolution > Simulate), or clear Acceleration under Fields."


class AccelerationSampler:
    """The named attribute at each frame, m/s²."""

    def __init__(self, obj: Any) -> None:
        self._object, self._name = obj.name, obj.sinew.acceleration_attribute
        self._accelerations: list[np.ndarray] = []

    def take(self, moment: Moment) -> None:
        """One frame; SettingsError when the attribute is not there, or of another kind."""
        if not self._name:
            return
        attribute = moment.mesh.attributes.get(self._name)
        if attribute is None:
            raise SettingsError(
                f"“{self._object}” has no attribute “{self._name}” at frame {moment.frame} where it is simulated.",
                REMEDY,
            )
        if attribute.domain != "POINT" or attribute.data_type != "FLOAT_VECTOR":
            kind = f"{attribute.data_type.replace('_', ' ').lower()} of each {attribute.domain.lower()}"
            raise SettingsError(
                f"The attribute “{self._name}” of “{self._object}” is a {kind}, not a vector of each point.",
                "Store it as a vector on the points.",
            )
        self._accelerations.append(vectors_of(attribute.data, "vector"))

    def accelerations(self) -> np.ndarray | None:
        """(frames,n,3), or None without an attribute."""
        return np.array(self._accelerations) if self._name else None
