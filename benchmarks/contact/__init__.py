"""Bodies that meet: scenes without a crossing, arrival, friction, what it costs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ..registry import Case, chained


def cases(data: Path | None) -> Iterator[Case]:
    """The cases of the modules in this folder."""
    return chained(sys.modules[__name__], data)
