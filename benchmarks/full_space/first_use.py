"""First use: what compiling all kernels takes, and how soon a later process has made its first step."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

ROOT = Path(__file__).resolve().parents[2]
STARTS = 3


def cases(data: Path | None) -> Iterator[Case]:
    """One case, in processes of its own."""
    yield Case("first_use", _first_use)


def _first_use() -> Iterable[Row]:
    """An empty cache folder, then the same one again: the shortest of several starts."""
    with tempfile.TemporaryDirectory() as cache:
        compiling = _seconds(cache, "compile")
        steps = [_seconds(cache, "step") for _ in range(STARTS)]
    yield row("first_use", "all kernels compiled", compiling, "s", at_most=60.0)
    yield row("first_use", "start to the first step, from the cache", min(steps), "s", at_most=2.0)
    curves = [Curve("to the first step, from the cache", range(1, STARTS + 1), steps, "o-")]
    draw("full-space", "first_use", [Plot(f"all kernels: {compiling:.0f} s", "start", "s", curves)])


def _seconds(cache: str, task: str) -> float:
    """What a child process measures from its first line to the end of its task."""
    command = [sys.executable, str(ROOT / "benchmarks" / "children" / "first_step.py"), str(ROOT), task]
    environment = {**os.environ, "SINEW_KERNEL_CACHE": cache}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
