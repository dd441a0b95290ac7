"""Distances at which colliders begin to push: solid parts and sheets. This module imports no solver library."""

from __future__ import annotations

from typing import Any

import numpy as np

SHEET_SKIN = 5e-3
"""Least contact thickness of sheets, in body sizes: a resting body must not sink through to the other side."""


def sheet_thickness(size: float) -> float:
    """Return the least contact thickness of sheets for a body of this ``size``, in the same unit."""
    return SHEET_SKIN * size


def contact_distance(solid: Any, thickness: float, least: float) -> np.ndarray:
    """Return the distance at which faces push: ``thickness`` where ``solid``, and at least ``least`` for sheets."""
    return np.where(solid, thickness, max(thickness, least))
