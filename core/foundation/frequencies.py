"""Frequencies in words."""

from __future__ import annotations

import math


def frequency_words(frequency: float) -> str:
    """A frequency in Hz, at least 0, three significant digits, or all before the point: ``0.640``; without its unit."""
    decimals = 2 - math.floor(math.log10(frequency)) if frequency > 0.0 else 0
    return f"{frequency:,.{max(decimals, 0)}f}"
