"""Distances at which colliders push, for solid parts and for sheets. Importing it loads no library of the solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

SHEET_SKIN = 5e-3
"""Least thickness of sheets, in sizes of the body: a resting body must not sink through to the other side."""


def sheet_thickness(size: float) -> float:
    """Return the least thickness of a sheet, in the unit of the body's ``size``."""
    return SHEET_SKIN * size


def contact_distance(solid: Any, thickness: float, least: float) -> np.ndarray:
    """Return the distance at which faces begin to push: ``thickness`` if ``solid`` (...,), and at least ``least`` for
    sheets.
    """
    return np.where(solid, thickness, max(thickness, least))
