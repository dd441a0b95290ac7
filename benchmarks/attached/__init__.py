"""Attached bodies: regions that move the flesh, ties to bodies and colliders, pressure in chambers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ..registry import Case, chained


def cases(data: Path | None) -> Iterator[Case]:
    """Return the cases of the modules in this folder."""
    return chained(sys.modules[__name__], data)
