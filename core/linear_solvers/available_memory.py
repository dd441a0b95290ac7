"""How much memory the system could give to this process now."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that can be used without swapping; None where the system does not tell."""
    if sys.platform.startswith("linux"):
        return _linux()
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    return None


def _linux() -> int | None:
    """What the kernel counts as available, or what a container still allows, whichever is less."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", MEMINFO.read_text(), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    available = 1024 * int(found[1])
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        used -= int(re.search(r"^inactive_file (\d+)", (CGROUP / "memory.stat").read_text(), re.MULTILINE)[1])
    except (OSError, ValueError, TypeError):  # no container, or one that keeps other books
        return available
    return available if limit == "max" else max(min(available, int(limit) - used), 0)


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = [
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        ("total_physical", ctypes.c_ulonglong),
        ("available_physical", ctypes.c_ulonglong),
        ("total_page_file", ctypes.c_ulonglong),
        ("available_page_file", ctypes.c_ulonglong),
        ("total_virtual", ctypes.c_ulonglong),
        ("available_virtual", ctypes.c_ulonglong),
        ("available_extended_virtual", ctypes.c_ulonglong),
    ]


def _windows() -> int | None:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.available_physical)


def _macos() -> int | None:
    """Free, inactive and speculative pages of ``vm_stat``."""
    try:
        text = subprocess.run(["/usr/bin/vm_stat"], capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_vm_stat(text)


def parse_vm_stat(text: str) -> int | None:
    """Available bytes in the output of macOS' ``vm_stat``; None when it is not understood."""
    page = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|speculative):\s+(\d+)\.", text, re.MULTILINE)
    return int(page[1]) * sum(map(int, pages)) if page and pages else None
