"""Ten thousand steps of 5 ms, and of a frame each: a released bar never gains energy beyond the initial one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import CHEAP, as_published, bar, move, with_nodes
from .bars import GRAB, amplitude, grabbed

STEPS, CELLS = 10_000, (6, 2, 2)
LENGTHS = {"5ms": 0.005, "frame": 1 / 24}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per length of the steps."""
    for name, step in LENGTHS.items():
        yield Case(f"endurance_{name}", lambda name=name, step=step: _endurance(f"endurance_{name}", step))


def _endurance(case: str, step: float) -> Iterable[Row]:
    """Simulate the soft bar on a coarse mesh, four nodes, released as in ``soft_bar``."""
    warm_up(ignore)
    model = bar(1e4, cells=CELLS)
    start = grabbed(model, GRAB)
    seen = move(with_nodes(model, as_published(model, 4)), start, step, STEPS, **CHEAP)
    part = seen.energies / seen.energies[0]
    yield row(case, "pulled by, sizes", amplitude(model, start))
    yield row(case, "steps made", len(seen.seconds), "", at_least=STEPS)
    yield row(case, "largest energy / starting one", seen.highest, "", at_most=1.02)
    for after in (100, 1000, STEPS):
        yield row(case, f"energy / starting one after {after} steps", part[min(after, len(part) - 1)])
    draw("conjac", case, [Plot("energy, of the starting one", "step", "", [Curve("", np.arange(len(part)), part)])])
