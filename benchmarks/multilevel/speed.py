"""One step in contact against Newton with CHOLMOD, and any stiffness (Figs. 13, 14, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.methods.multilevel.levels import conjugate_gradients
from ...core.methods.multilevel.multilevel_system import Levels
from ...core.numerics.optimization.step_report import StepReport
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row
from .bodies import SCENES, Direction, Moment, basketball, moment_of

TETS = {name: (16_000, 100_000) for name in ("jelly", "slabs", "basketball", "roller")}
SETTINGS = {"kooshball": {"handles": 64, "polishing": 40}}
"""Settings of scenes with thin parts; the paper's kooshball has 400 handles and 40 iterations (Table 1)."""

STEPS_BEFORE = 2
NEWTON = {"solver": "newton", "linear_solver": "cholmod"}
WAYS: dict[str, dict[str, Any]] = {
    "Newton": NEWTON,
    "published": {"solver": "multilevel_published", "subspace_tolerance": 1e-3},
    "published, our stop rule": {"solver": "multilevel_published"},
    "Mixed FEM": {"solver": "mixed_fem", "linear_solver": "cholmod"},
}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per scene and number of tets, and the sweep of stiffnesses."""
    for name in SCENES:
        for tets in TETS.get(name, (16_000,)):
            case = f"step_{name}_{tets // 1000}k"
            yield Case(case, partial(_stepped, case, name, tets))
    yield Case("stiffness", stiffness)


def _stepped(case: str, name: str, tets: int) -> Iterable[Row]:
    """Compare by processor time, since others may use the machine."""
    warm_up(ignore)
    moment = moment_of(SCENES[name](tets), STEPS_BEFORE)
    exact = moment.advanced(tolerance=1e-8, **NEWTON)[0].positions
    moved = np.linalg.norm(exact - moment.state.positions, axis=1).max()
    yield row(case, "tets", len(moment.whole.mesh.tets))
    yield row(case, "bodies", len(moment.whole.slices))
    seconds, shown = {}, [Snapshot("Newton", exact, moment.whole.mesh.tets)]
    for words, settings in WAYS.items():
        end, report, seconds[words], solver = moment.advanced(**SETTINGS.get(name, {}), **settings)
        error = float(np.linalg.norm(end.positions - exact, axis=1).max())
        if words == "published":
            yield row(case, f"choice: {solver.system.choice}", report.iterations)
            yield row(case, "largest error over the diagonal", error / moment.diagonal, "", at_most=0.01)
            shown.append(Snapshot(words, end.positions, moment.whole.mesh.tets))
        yield row(case, f"iterations, {words}", report.iterations)
        yield row(case, f"converged, {words}", int(report.converged))
        yield row(case, f"error over the step, {words}", error / moved)
        yield row(case, f"time over Newton's, {words}", seconds[words] / seconds["Newton"])
    draw("multilevel", case, shown)


def _by_diagonal(levels: Levels, b: np.ndarray) -> np.ndarray:
    """Solve by conjugate gradients with the diagonal as preconditioner: Newton-PCG of [SMS25] Fig. 14."""
    matrix, diagonal = levels.matrix, levels.matrix.diagonal
    levels.polished = conjugate_gradients(matrix.times, lambda r: r / diagonal, b, 20_000, 1e-4)
    levels.iterations, levels.subspace_part = (0, 0, len(levels.polished.lengths)), levels.polished.x
    return levels.polished.x


def stiffness() -> Iterable[Row]:
    """Solve the basketball's first step on the ground from 1e6 to 1e10 Pa by the levels and by Newton-PCG."""
    case, found = "stiffness", {"published": [], "Newton-PCG": []}
    moduli = 1e6, 1e7, 1e8, 1e9, 1e10
    for E in moduli:
        moment, times = moment_of(basketball(16_000, E), 0), {}
        for words in found:
            inner, report, times[words] = _counted(moment, _by_diagonal if words == "Newton-PCG" else Levels.solve)
            found[words].append(inner)
            yield row(case, f"inner iterations per direction, {words}, {E:.0e} Pa", inner)
            yield row(case, f"Newton iterations, {words}, {E:.0e} Pa", report.iterations)
        yield row(case, f"time of Newton-PCG over published, {E:.0e} Pa", times["Newton-PCG"] / times["published"])
    curves = [Curve(words, moduli, inner, f"C{k}o-") for k, (words, inner) in enumerate(found.items())]
    draw("multilevel", case, [Plot("", "Pa", "inner iterations", curves, True, True)])


def _counted(moment: Moment, direction: Direction) -> tuple[float, StepReport, float]:
    """Return the mean number of inner iterations of a step, its report and its time, s."""
    counts: list[int] = []

    def counting(levels: Levels, b: np.ndarray) -> np.ndarray:
        x = direction(levels, b)
        counts.append(sum(levels.iterations))
        return x

    _end, report, seconds, _solver = moment.advanced(direction=counting, **WAYS["published"])
    return float(np.mean(counts)), report, seconds
