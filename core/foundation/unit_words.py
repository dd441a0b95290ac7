"""Lengths and frequencies as text."""

from __future__ import annotations

import math


def length_words(length: float) -> str:
    """Return a length as text with a unit, rounded to three significant digits: ``2.34 mm``.

    ``length``: length in m, at least 0.

    The unit is m, mm (from 0.01 mm) or µm. Lengths above 1000 m are rounded to whole metres.
    """
    for least, size, unit in ((0.9995, 1.0, "m"), (1e-5, 1e-3, "mm"), (1e-9, 1e-6, "µm")):
        if length >= least:
            return f"{length / size:.3g} {unit}" if length < 999.5 * size else f"{length / size:,.0f} {unit}"
    return "0 m" if length == 0.0 else "less than 1 nm"


def frequency_words(frequency: float) -> str:
    """Return a frequency as text with at least three significant digits, without the unit: ``0.640``.

    ``frequency``: frequency in Hz, at least 0.
    """
    decimals = 2 - math.floor(math.log10(frequency)) if frequency > 0.0 else 0
    return f"{frequency:,.{max(decimals, 0)}f}"
