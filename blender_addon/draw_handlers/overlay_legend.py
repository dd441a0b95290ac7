"""Legend of the overlays, in the lower right corner of a 3D View."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import blf
import numpy as np

from ..drawing.preview_colours import as_shown
from ..drawing.screen import WHITE, Colour, free_corners, mark, rectangle, write
from ..properties.choices import STIFFNESS_UNITS, fitting_unit

LINE, TEXT, BAR, GAP = 18.0, 12.0, 150.0, 8.0
"""Line height, text size, bar height and spacing. Unit: pixels at a UI scale of 1."""
NEAR = 0.09
"""Minimum distance between tick labels, as a fraction of the bar's height."""


@dataclass
class Legend:
    """Content of the legend.

    ``title``: heading. ``bar`` (n,3): display colours of a colour bar from bottom to top. ``ticks``: position on the
    bar, 0 to 1, and label. ``rows``: display colour, label, and mark shape of ``screen.mark``. ``words``: lines of
    text.
    """

    title: str = ""
    bar: np.ndarray | None = None
    ticks: list[tuple[float, str]] = field(default_factory=list)
    rows: list[tuple[Colour, str, str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def add(self, linear: Colour, words: str, form: str = "SQUARE") -> None:
        """Add a row with the label ``words`` and a mark.

        ``linear``: colour of the mark, linear RGB. ``form``: shape of the mark (see ``screen.mark``).
        """
        self.rows.append((as_shown(np.array(linear)), words, form))

    @property
    def is_empty(self) -> bool:
        """True if the legend has no content."""
        return not (self.title or self.rows or self.words)


def short_pascals(stiffness: float) -> str:
    """Format a stiffness or pressure in Pa with at most three digits, such as ``50 kPa``."""
    stiffness = float(f"{stiffness:.3g}")
    name = fitting_unit(stiffness)
    label, size = next((label, size) for identifier, label, size in STIFFNESS_UNITS if identifier == name)
    return f"{stiffness / size:.3g} {label}"


def ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return the ticks (position 0 to 1, label) of a logarithmic colour bar.

    ``low``, ``high``: ends of the bar, Pa. The ticks are both ends, and the powers of ten between them whose labels do
    not overlap.
    """
    first, last = math.log10(low), math.log10(high)
    if last - first < 1e-9:
        return [(0.5, short_pascals(low))]
    found = [(0.0, short_pascals(low))]
    for power in range(math.floor(first) + 1, math.ceil(last)):
        fraction = (power - first) / (last - first)
        if fraction - found[-1][0] >= NEAR and 1.0 - fraction >= NEAR:
            found.append((fraction, short_pascals(10.0**power)))
    return [*found, (1.0, short_pascals(high))]


def draw(legend: Legend, context: Any) -> None:
    """Draw the legend into the current region."""
    if legend.is_empty:
        return
    scale = context.preferences.system.ui_scale
    font = 0
    blf.size(font, TEXT * scale)
    texts = [legend.title, *legend.words, *(f"      {words}" for _, words, _ in legend.rows)]
    texts += [f"      {words}" for _, words in legend.ticks]
    width = max(blf.dimensions(font, text)[0] for text in texts if text) + 2.0 * GAP * scale
    lines = bool(legend.title) + len(legend.rows) + len(legend.words)
    height = (LINE * lines + 2.0 * GAP + (BAR + 2.0 * GAP if legend.bar is not None else 0.0)) * scale
    _, right, below = free_corners(context)
    left, low = right - GAP * scale - width, below + GAP * scale
    rectangle((left, low), (left + width, low + height), (0.0, 0.0, 0.0, 0.45))
    _write_all(legend, left + GAP * scale, low + height - GAP * scale, scale)


def _write_all(legend: Legend, left: float, top: float, scale: float) -> None:
    line, side = LINE * scale, TEXT * scale
    if legend.title:
        top -= line
        write(legend.title, left, top + 0.3 * line)
    if legend.bar is not None:
        top -= GAP * scale
        low = top - BAR * scale
        _bar(legend.bar, left, low, left + side, top)
        for fraction, words in legend.ticks:
            y = low + fraction * BAR * scale
            rectangle((left + side, y - 0.5 * scale), (left + side + 4.0 * scale, y + 0.5 * scale), WHITE)
            write(words, left + side + GAP * scale, y - 0.35 * side)
        top = low - GAP * scale
    for colour, words, form in legend.rows:
        top -= line
        mark((left + 0.5 * side, top + 0.2 * line + 0.5 * side), 0.5 * side, (*colour[:3], 1.0), form)
        write(words, left + side + GAP * scale, top + 0.3 * line)
    for words in legend.words:
        top -= line
        write(words, left, top + 0.3 * line)


def _bar(colours: np.ndarray, left: float, low: float, right: float, high: float) -> None:
    heights = np.linspace(low, high, len(colours) + 1).tolist()
    for colour, start, end in zip(colours.tolist(), heights[:-1], heights[1:], strict=True):
        rectangle((left, start), (right, end), (*colour, 1.0))
