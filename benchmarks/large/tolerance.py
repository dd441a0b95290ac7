"""Error that a step's tolerance leaves, in the scenes of ``bench contact``, and iterations that it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..contact.scenes import SCENES
from ..meetings import Scene
from ..registry import Case, Row, row
from .scenes import Played

H, STEPS = 1.0 / 24.0, 24
REFERENCE = 1e-7
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per scene."""
    for name, make in SCENES.items():
        yield Case(f"tolerance_{name}", partial(_measured, f"tolerance_{name}", make))


def _measured(case: str, make: Callable[[float, int], Scene]) -> Iterable[Row]:
    """Step from each state of a bake to ``REFERENCE`` once more with each tolerance."""
    warm_up(ignore)
    played = Played.of(make(H, STEPS))
    exact = played.solver(tolerance=REFERENCE, max_iterations=400)
    solvers = {tolerance: played.solver(tolerance=tolerance) for tolerance in TOLERANCES}
    state, total = played.scene.state(played.whole), 0
    errors, iterations = {each: [] for each in TOLERANCES}, dict.fromkeys(TOLERANCES, 0)
    for number in range(STEPS):
        after, report = played.step(exact, state, number, H)
        total += report.iterations
        for tolerance, solver in solvers.items():
            end, told = played.step(solver, state, number, H)
            iterations[tolerance] += told.iterations
            errors[tolerance].append(_error(played, end.positions, after.positions))
        state = after
    for tolerance in TOLERANCES:
        yield row(case, f"largest error of a step, of the size, tolerance {tolerance:g}", max(errors[tolerance]))
        yield row(case, f"median error, tolerance {tolerance:g}", float(np.median(errors[tolerance])))
        yield row(
            case, f"iterations over those to {REFERENCE:g}, tolerance {tolerance:g}", iterations[tolerance] / total
        )


def _error(played: Played, positions: np.ndarray, exact: np.ndarray) -> float:
    """Return the largest distance of a surface vertex, divided by the size of the bodies."""
    apart = played.contact.surface_positions(positions) - played.contact.surface_positions(exact)
    return float(np.linalg.norm(apart, axis=1).max() / played.whole.size)
