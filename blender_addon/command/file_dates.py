"""Comparison of file dates for ``--update``."""

from __future__ import annotations

import time
from pathlib import Path

SKEW = 60 * 10**9
"""Nanoseconds by which the clock of a file server may be ahead."""


def is_newer(path: Path, than: int) -> bool:
    """Return True if the file ``path`` was written at the time ``than`` or later. A date more than a minute in the
    future counts as old; a file has such a date if the clock was set back afterwards. ``than``: ns since 1970.
    """
    return than <= path.stat().st_mtime_ns <= time.time_ns() + SKEW
