"""Linear colours of the live preview: one colour, or one per vertex by stiffness, mode weight or cluster.

Colour maps are interpolated in display colours, then converted to linear colours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_STIFFNESS = np.array([
    [0.16, 0.18, 0.45], [0.13, 0.45, 0.60], [0.30, 0.68, 0.50], [0.85, 0.80, 0.35], [0.90, 0.45, 0.20],
    [0.65, 0.10, 0.15],
])  # fmt: skip
"""Display colours from soft to stiff: dark blue, teal, green, yellow, orange, red."""

_SIGNED = np.array([[0.10, 0.25, 0.65], [0.45, 0.65, 0.90], [0.93, 0.93, 0.93], [0.95, 0.60, 0.40], [0.70, 0.10, 0.15]])
"""Display colours from -1 to 1: blue, white at 0, red."""

_GOLDEN = 0.61803398875
"""Step of the hue from one cluster to the next, the golden ratio, so that a few clusters have well separated hues."""


def object_colour(obj: Any, shading: Any) -> tuple[float, float, float]:
    """Return the linear colour of an object in Solid mode.

    The viewport's settings ``shading`` choose the viewport's single colour, the colour of the object's first material,
    or the object's own colour. The object's own colour replaces random, attribute and texture colours.
    """
    if shading.color_type == "SINGLE":
        return tuple(shading.single_color)
    if shading.color_type == "MATERIAL":
        material = next((slot.material for slot in obj.material_slots if slot.material is not None), None)
        return tuple(material.diffuse_color[:3]) if material is not None else (0.8, 0.8, 0.8)
    return tuple(obj.color[:3])


def wire_colour(obj: Any, shading: Any, theme: Any) -> tuple[float, float, float]:
    """Return the linear colour of an object's edges.

    The viewport's settings ``shading`` choose the wire colour of ``theme``, the theme of 3D Views, or the object's own
    colour.
    """
    if shading.wireframe_color_type == "THEME":
        return tuple(_linear(np.array(theme.wire)).tolist())
    return tuple(obj.color[:3])


def stiffness_colours(
    log_stiffness: np.ndarray, softest: float | None = None, stiffest: float | None = None
) -> np.ndarray:
    """Return linear colours by stiffness, (n,3): blue at ``softest``, red at ``stiffest``.

    ``log_stiffness`` (n,): logarithms of the stiffness.
    ``softest``, ``stiffest``: logarithms too. The defaults are the minimum and the maximum.
    """
    low = float(log_stiffness.min()) if softest is None else softest
    high = float(log_stiffness.max()) if stiffest is None else stiffest
    # A body of uniform stiffness has the middle colour.
    t = (log_stiffness - low) / (high - low) if high - low > 1e-9 else np.full(len(log_stiffness), 0.5)
    return _mapped(t, _STIFFNESS)


def weight_colours(weights: np.ndarray) -> np.ndarray:
    """Return linear colours for the signed weights of a mode or handle, (n,3).

    The colours are white at 0, and red (positive) or blue (negative) at the largest magnitude.

    ``weights`` (n,): signed weights.
    """
    largest = float(np.abs(weights).max(initial=0.0))
    return _mapped(0.5 + 0.5 * np.asarray(weights, dtype=np.float64) / (largest if largest > 0.0 else 1.0), _SIGNED)


def cluster_colours(clusters: np.ndarray) -> np.ndarray:
    """Return linear colours for cluster indices, (n,3): well separated hues, in three shades.

    ``clusters`` (n,): cluster indices.
    """
    numbers = np.asarray(clusters, dtype=np.int64)
    hue = (numbers * _GOLDEN) % 1.0
    bright = np.array([0.95, 0.70, 0.82])[numbers % 3]
    # Hue to RGB: each component is full over a third of the hue circle, and fades over a sixth on either side.
    away = np.abs(((hue[:, None] - np.array([0.0, 1 / 3, 2 / 3]) + 0.5) % 1.0) - 0.5)
    return _linear(bright[:, None] * (0.25 + 0.75 * np.clip(2.0 - 6.0 * away, 0.0, 1.0)))


def _mapped(t: np.ndarray, stops: np.ndarray) -> np.ndarray:
    at = np.linspace(0.0, 1.0, len(stops))
    t = np.clip(t, 0.0, 1.0)
    return _linear(np.column_stack([np.interp(t, at, stops[:, k]) for k in range(3)]))


def _linear(shown: np.ndarray) -> np.ndarray:
    """Convert display colours to linear ones, IEC 61966-2-1."""
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def as_shown(linear: np.ndarray) -> np.ndarray:
    """Convert linear colours to display colours, IEC 61966-2-1."""
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
