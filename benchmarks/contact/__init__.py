"""Contact of bodies that are simulated: the skin that the draft lattice carries, on many bodies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ..registry import Case, chained


def cases(data: Path | None) -> Iterator[Case]:
    """The cases of the modules in this folder."""
    return chained(sys.modules[__name__], data)
