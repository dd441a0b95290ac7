"""How much memory this process has taken."""

from __future__ import annotations

import sys


def peak_memory() -> int:
    """Bytes of memory that the process held at most so far; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
