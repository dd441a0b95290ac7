"""Contracted poses of coarse bodies with and without Match Resolution, against a finer body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.preparation.prepare import prepare
from ..registry import Case, Row, row
from .arms import arm, bellies, posed

COARSE, FINE = (8, 12), 22
"""Cells along the longest side."""
WORSE = 1.0
"""Largest increase of the error by a match, % of the largest displacement."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per body and activation."""

    def relaxed(cells: int, passive: float, **solver: object) -> Job:
        return bellies((0.0, 0.0), cells, passive, 3e5, **{"gravity": (0.0, 0.0, -3.0)} | solver)

    for name, make in (
        ("arm", lambda cells, **solver: arm((1.0,), cells, **solver)),
        ("bellies", lambda cells, **solver: bellies((1.0, 0.0), cells, **solver)),
        ("passive", lambda cells, **solver: bellies((1.0, 0.0), cells, 1.0, 3e5, **solver)),
        ("sag_passive", lambda cells, **solver: relaxed(cells, 1.0, **solver)),
        ("sag", lambda cells, **solver: relaxed(cells, 0.0, **solver)),
    ):
        yield Case(f"matched_{name}", lambda name=name, make=make: _compared(f"matched_{name}", make))


def _compared(case: str, make: Callable[..., Job]) -> Iterable[Row]:
    warm_up(ignore)
    fine = posed(make(FINE), prepare(make(FINE)))
    moved = np.linalg.norm(fine - make(FINE).body.surface.positions, axis=1).max()
    yield row(case, f"largest displacement, {FINE} cells", moved, "m")
    for cells in COARSE:
        plain = 0.0
        for words, settings in (("plain", {}), ("matched", {"match_resolution": True, "match_cells": FINE})):
            job = make(cells, **settings)
            prepared = prepare(job)
            found = posed(job, prepared)
            error = 100.0 * np.linalg.norm(found - fine, axis=1).max() / moved
            bar = plain + WORSE if words == "matched" else None
            name = words if prepared.matching or not settings else f"{words} (refused)"
            yield row(case, f"{cells} cells, {name}: error", error, "%", at_most=bar)
            plain = error
