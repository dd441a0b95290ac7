"""How far off bodies are kept: the distance that is set, of sheets at least a part of the body's size."""

from __future__ import annotations

from typing import Any

import numpy as np

SHEET_SKIN = 5e-3
"""Least thickness of sheets in sizes of the body: what lies on a sheet must not sink through to its other side."""


def sheet_thickness(size: float) -> float:
    """Least distance from a sheet, in the unit of the body's ``size``."""
    return SHEET_SKIN * size


def kept_off(solid: Any, thickness: float, least: float) -> np.ndarray:
    """The distance from faces that are ``solid`` (...,) or of sheets, where ``thickness`` is set and sheets have at
    ``least`` that much.
    """
    return np.where(solid, thickness, max(thickness, least))
