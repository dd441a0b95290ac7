"""Growth of a step's processor time with the tets and with contacts, in boxes that lie on one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..meetings import Scene, Watched, box, plate, watch
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

H = 0.01
MOST = 1.5
"""Exponent of a step's time; the direct solver's factorisation alone has about 1.3 to 2 in three dimensions."""

SIZES = {7: (4, 100), 12: (3, 100), 17: (2, 100), 25: (1, 4)}
"""Cells along the edge of two boxes, steps, and maximum iterations of each: 4,116 to 187,500 tets; the last one
measures only an iteration.
"""

THIN = {(4, 4, 12): (4, 100), (10, 10, 6): (3, 100), (20, 20, 4): (3, 100), (36, 36, 2): (2, 100), (72, 72, 1): (1, 8)}
"""Cells of two boxes, increasingly flat, so that a larger fraction is in contact; steps, maximum iterations."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield both cases, with Mixed FEM."""
    yield Case("growth_tets", _tets)
    yield Case("growth_contacts", _contacts)


def _pair(cells: tuple[int, int, int]) -> Scene:
    """Return two boxes of 0.2 m, slightly offset, with a gap at which the barrier hardly pushes."""
    edge = 0.2 / cells[0]
    gap, high = 0.112 * edge, edge * cells[2]
    bodies = [box((0.013 * k, 0.007 * k, gap + k * (high + gap)), cells, (0.2, 0.2, high)) for k in range(2)]
    return Scene(bodies, [plate(0.0)])


def _measured(seen: Watched) -> dict[str, float]:
    touching = seen.meeting.barrier.normal_collisions(seen.meeting.surface_positions(seen.states[-1].positions))
    linear = 0.0
    for report in seen.reports:
        linear += report.seconds.get("factorization", 0.0) + report.seconds.get("solve", 0.0)
    return {
        "tets": float(len(seen.whole.mesh.tets)),
        "contacts": float(len(touching)),
        "iterations a step": float(seen.iterations.mean()),
        "s a step": sum(seen.processor) / len(seen.reports),
        "ms an iteration": 1e3 * sum(seen.processor) / seen.iterations.sum(),
        "of it, linear": linear / seen.seconds,
    }


def _rows(case: str, against: str, runs: dict[tuple[int, int, int], tuple[int, int]]) -> Iterator[Row]:
    """Yield rows of each size, and exponents of a step (those not stopped early) and of an iteration (all)."""
    warm_up(ignore)
    measured, whole = [], []
    for cells, (steps, most) in runs.items():
        seen = watch(_pair(cells), steps, H, "mixed_fem", max_iterations=most)
        measured.append(_measured(seen))
        yield row(case, f"frames with a crossing, {cells}", seen.crossed, "", at_most=0)
        for metric, value in measured[-1].items():
            yield row(case, f"{metric}, {measured[-1][against]:.0f} {against}", value)
        if all(report.converged for report in seen.reports):
            whole.append(measured[-1])
    for metric, of, bar in (
        ("s a step", whole, None),
        ("ms an iteration", measured, MOST),
        ("iterations a step", whole, None),
    ):
        x, y = (np.log([each[name] for each in of]) for name in (against, metric))
        yield row(case, f"exponent of {metric} in {against}", float(np.polyfit(x, y, 1)[0]), "", at_most=bar)
    curve = Curve("", *([each[name] for each in measured] for name in (against, "ms an iteration")), "o-")
    draw("contact", case, [Plot(case, against, "ms an iteration", [curve], True, True)])


def _tets() -> Iterable[Row]:
    """Measure boxes of equal shape: contacts grow with the power 2/3."""
    yield from _rows("growth_tets", "tets", {(n, n, n): run for n, run in SIZES.items()})


def _contacts() -> Iterable[Row]:
    """Measure increasingly flat boxes."""
    yield from _rows("growth_contacts", "contacts", THIN)
