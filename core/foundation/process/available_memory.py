"""Memory available to this process."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the number of bytes that this process can allocate without swapping.

    The memory limit of a Linux container counts, too.
    """
    available = psutil.virtual_memory().available
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        used -= int(re.search(r"^inactive_file (\d+)", (CGROUP / "memory.stat").read_text(), re.MULTILINE)[1])
    except (OSError, ValueError, TypeError):  # no container, or another cgroup version
        return available
    return available if limit == "max" else max(min(available, int(limit) - used), 0)
