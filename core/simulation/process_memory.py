"""How much memory this process has taken."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes of memory that the process held at most so far; 0 where the system does not tell.

    Linux's usage record would not do: a process inherits there the peak of the one that started it.
    """
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "linux":
        (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


class _Counters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of the Windows API."""

    _fields_ = [
        ("size", ctypes.c_ulong),
        ("page_faults", ctypes.c_ulong),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        ("peak_paged_pool", ctypes.c_size_t),
        ("paged_pool", ctypes.c_size_t),
        ("peak_non_paged_pool", ctypes.c_size_t),
        ("non_paged_pool", ctypes.c_size_t),
        ("page_file", ctypes.c_size_t),
        ("peak_page_file", ctypes.c_size_t),
    ]


def _windows() -> int:
    kernel = ctypes.WinDLL("kernel32")  # our own: what it is told of results is nobody else's
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    counters = _Counters(size=ctypes.sizeof(_Counters))
    this = ctypes.c_void_p(kernel.GetCurrentProcess())
    told = kernel.K32GetProcessMemoryInfo(this, ctypes.byref(counters), counters.size)
    return int(counters.peak_working_set) if told else 0
