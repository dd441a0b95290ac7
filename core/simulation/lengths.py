"""Lengths in words."""

from __future__ import annotations


def length_words(length: float) -> str:
    """A length in metres, at least 0, with three significant digits: ``2.34 mm``."""
    for size, unit in ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")):
        if length >= 0.9995 * size:
            return f"{length / size:.3g} {unit}" if length < 999.5 * size else f"{length / size:,.0f} {unit}"
    return "0 m" if length == 0.0 else "less than 1 nm"
