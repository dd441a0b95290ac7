"""Frequencies as text."""

from __future__ import annotations

import math


def frequency_words(frequency: float) -> str:
    """Return a frequency in Hz, at least 0, with at least three significant digits: ``0.640``; without unit."""
    decimals = 2 - math.floor(math.log10(frequency)) if frequency > 0.0 else 0
    return f"{frequency:,.{max(decimals, 0)}f}"
