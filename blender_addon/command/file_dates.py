"""Comparison of file dates for ``--update``."""

from __future__ import annotations

import time
from pathlib import Path

SKEW = 60 * 10**9
"""Time by which the clock of a file server may be ahead, ns."""


def is_newer(path: Path, than: int) -> bool:
    """Return True if a file was written at the time ``than``, ns since 1970, or later.

    A date more than a minute in the future counts as old: the clock was set back afterwards.
    """
    return than <= path.stat().st_mtime_ns <= time.time_ns() + SKEW
