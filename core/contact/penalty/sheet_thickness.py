"""Distances at which solid parts and sheets of colliders begin to push. This module imports no solver library."""

from __future__ import annotations

from typing import Any

import numpy as np

SHEET_SKIN = 5e-3
"""Smallest contact thickness of sheets, in body sizes. Below it, a resting body could sink through to the other side.
"""


def sheet_thickness(size: float) -> float:
    """Return the smallest contact thickness of sheets for a body of length ``size``. Both have the same unit."""
    return SHEET_SKIN * size


def contact_distance(solid: Any, thickness: float, least: float) -> np.ndarray:
    """Return the distance at which each face begins to push, (t,): ``thickness`` for faces of solids (``solid`` is
    True), and the larger of ``thickness`` and ``least`` for faces of sheets.
    """
    return np.where(solid, thickness, max(thickness, least))
