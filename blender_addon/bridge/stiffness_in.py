"""Stiffness of the physical materials, sampled frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.model.settings import moduli
from .animation_in import Moment
from .settings_in import material_settings


class StiffnessSampler:
    """The moduli of an object's materials, where they are animated."""

    def __init__(self, obj: Any) -> None:
        self._object, self._moduli = obj, []

    def take(self, moment: Moment) -> None:
        """One frame."""
        self._moduli.append(moduli([material_settings(m) for m in self._object.sinew.materials]))

    def moduli(self) -> np.ndarray | None:
        """(frames, K) Pa, or None where they stay."""
        values = np.array(self._moduli)
        return values if (values != values[0]).any() else None
