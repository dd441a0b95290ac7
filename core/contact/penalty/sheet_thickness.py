"""Distances at which solid parts and sheets of colliders begin to push.

This module imports no solver library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SHEET_SKIN = 5e-3
"""Smallest contact thickness of sheets, in body sizes. Below it, a resting body could sink through."""


def sheet_thickness(size: float) -> float:
    """Return the smallest contact thickness of sheets for a body, in the unit of ``size``."""
    return SHEET_SKIN * size


def contact_distance(solid: Any, thickness: float, least: float) -> np.ndarray:
    """Return the distance at which each face begins to push, (t,).

    The distance is ``thickness`` for faces of solids, and the larger of ``thickness`` and ``least`` for faces of
    sheets. ``solid`` (t,) bool marks the faces of solids.
    """
    return np.where(solid, thickness, max(thickness, least))
