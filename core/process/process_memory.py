"""How much memory this process has taken."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes of memory that the process held at most so far.

    Linux's usage record would not do: a process inherits there the peak of the one that started it.
    """
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset
    if sys.platform == "linux":
        (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
