"""Text, rectangles, lines and discs over a 3D View, in pixels of its region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import blf
import gpu
from gpu_extras.batch import batch_for_shader

Colour = Sequence[float]
Corner = tuple[float, float]

WHITE = (1.0, 1.0, 1.0, 1.0)
DISC = 16
"""Number of corners of a disc."""


def write(words: str, x: float, y: float, colour: Colour = WHITE) -> None:
    """Write text at a position in pixels, in the font size that was set last."""
    blf.color(0, *colour)
    blf.position(0, x, y, 0.0)
    blf.draw(0, words)


def write_lines(context: Any, lines: Sequence[str], colours: Sequence[Colour] = ()) -> None:
    """Write lines of text in the lower left corner, beside the toolbar.

    ``colours``: colour of each line. Lines without a colour are white.
    """
    scale, left = context.preferences.system.ui_scale, free_corners(context)[0]
    blf.size(0, 12.0 * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    for k, (words, colour) in enumerate(zip_longest(lines, colours, fillvalue=WHITE), start=1):
        write(words, left + 20.0 * scale, (20.0 + 18.0 * (len(lines) - k)) * scale, colour)
    blf.disable(0, blf.SHADOW)


def rectangle(low: Corner, high: Corner, colour: Colour) -> None:
    """Draw a filled rectangle."""
    _shape("TRIS", _corners(low, high), [(0, 1, 2), (0, 2, 3)], colour)


def frame(low: Corner, high: Corner, colour: Colour) -> None:
    """Draw the edges of a rectangle."""
    _shape("LINES", _corners(low, high), [(0, 1), (1, 2), (2, 3), (3, 0)], colour)


def line(start: Corner, end: Corner, colour: Colour) -> None:
    """Draw a line."""
    _shape("LINES", [(*start, 0.0), (*end, 0.0)], None, colour)


def disc(centre: Corner, radius: float, colour: Colour) -> None:
    """Draw a filled circle."""
    angles = [2.0 * math.pi * k / DISC for k in range(DISC)]
    around = [(centre[0] + radius * math.cos(t), centre[1] + radius * math.sin(t), 0.0) for t in angles]
    _shape("TRIS", around, [(0, k, k + 1) for k in range(1, DISC - 1)], colour)


def mark(centre: Corner, radius: float, colour: Colour, form: str) -> None:
    """Draw a mark of the width 2 ``radius``.

    ``form``: shape of the mark, one of ``overlay_shader.FORMS``, or LINE for a thin horizontal bar.
    """
    (x, y), r = centre, radius
    if form == "ROUND":
        disc(centre, r, colour)
    elif form == "DIAMOND":
        around = [(x - r, y, 0.0), (x, y - r, 0.0), (x + r, y, 0.0), (x, y + r, 0.0)]
        _shape("TRIS", around, [(0, 1, 2), (0, 2, 3)], colour)
    elif form == "CROSS":
        thick = 0.35 * r
        for side in (1.0, -1.0):
            around = [(x + a * r + b * thick, y + side * (a * r - b * thick), 0.0)
                      for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]  # fmt: skip
            _shape("TRIS", around, [(0, 1, 2), (0, 2, 3)], colour)
    else:
        high = 0.2 * r if form == "LINE" else r
        rectangle((x - r, y - high), (x + r, y + high), colour)


def _corners(low: Corner, high: Corner) -> list[tuple[float, float, float]]:
    return [(*low, 0.0), (high[0], low[1], 0.0), (*high, 0.0), (low[0], high[1], 0.0)]


def _shape(kind: str, points: list[Any], indices: list[Any] | None, colour: Colour) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, kind, {"pos": points}, indices=indices)
    shader.uniform_float("color", tuple(colour))
    gpu.state.blend_set("ALPHA")
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def free_corners(context: Any) -> tuple[float, float, float]:
    """Return the left, right and lower edge of the visible part of a 3D View, in pixels.

    Toolbar, sidebar and asset shelf cover the rest of the region.
    """
    region = context.region
    left, right, below = 0.0, float(region.width), 0.0
    if not context.preferences.system.use_region_overlap:
        return left, right, below
    for other in context.area.regions:
        if other.type == "TOOLS" and other.alignment == "LEFT":
            left = float(other.width)
        if other.type == "UI" and other.alignment == "RIGHT" and other.width > 1:
            right = min(right, float(other.x - region.x))
        if other.type in {"ASSET_SHELF", "ASSET_SHELF_HEADER"} and other.height > 1:
            below = max(below, float(other.y + other.height - region.y))
    return left, right, below
