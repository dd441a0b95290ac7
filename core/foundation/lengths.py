"""Lengths in words."""

from __future__ import annotations


def length_words(length: float) -> str:
    """A length in metres, at least 0, three significant digits: ``2.34 mm``; in millimetres down to a hundredth."""
    for least, size, unit in ((0.9995, 1.0, "m"), (1e-5, 1e-3, "mm"), (1e-9, 1e-6, "µm")):
        if length >= least:
            return f"{length / size:.3g} {unit}" if length < 999.5 * size else f"{length / size:,.0f} {unit}"
    return "0 m" if length == 0.0 else "less than 1 nm"
