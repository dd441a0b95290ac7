"""Comparison of file dates for ``--update``."""

from __future__ import annotations

import time
from pathlib import Path

SKEW = 60 * 10**9
"""Nanoseconds by which the clock of a file server may be ahead."""


def is_newer(path: Path, than: int) -> bool:
    """Return True if the file was written at the time ``than``, ns since 1970, or later. A date more than a minute in
    the future, as after the clock was set back, counts as old.
    """
    return than <= path.stat().st_mtime_ns <= time.time_ns() + SKEW
