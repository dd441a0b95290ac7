"""How much memory the system could give to this process now."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Bytes that can be used without swapping: what the system counts as available, or what a container of Linux still
    allows, whichever is less.
    """
    available = psutil.virtual_memory().available
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        used -= int(re.search(r"^inactive_file (\d+)", (CGROUP / "memory.stat").read_text(), re.MULTILINE)[1])
    except (OSError, ValueError, TypeError):  # no container, or one that keeps other books
        return available
    return available if limit == "max" else max(min(available, int(limit) - used), 0)
