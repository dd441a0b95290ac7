"""What contact costs an iteration, and how iterations grow with contrast."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.events import ignore
from ...core.model.joined import joined
from ...core.settings import SolverSettings
from ...core.simulation.warm_up import warm_up
from ...core.solvers import make_solver
from ..bodies import stiff_slabs
from ..meetings import Scene, box, plate, watch
from ..registry import Case, Row, row

H = 0.01


def cases(_data: Path | None) -> Iterator[Case]:
    """Cost at 20,000 tets, contrast 1e4."""
    yield Case("cost_20k", _cost)
    yield Case("contrast", _contrast)


def _cost() -> Iterable[Row]:
    """A stack of three boxes; the same in free fall, with nothing that meets."""
    warm_up(ignore)
    case = "cost_20k"
    bodies = [box((0.012 * k, 0.006 * k, 0.0009 + 0.1009 * k), (11, 11, 11)) for k in range(3)]
    seen = watch(Scene(bodies, [plate(0.0)]), 12, H, "mixed_fem")
    each = seen.seconds / seen.iterations.sum()
    whole = joined(bodies)
    stepper, state, spent, count = make_solver(whole, SolverSettings(max_iterations=100)), whole.rest_state(), 0.0, 0
    bent = whole.mesh.rest_positions * [1.05, 1.0, 1.0]
    for _ in range(6):
        state = whole.state_at(bent)
        begin = time.perf_counter()
        _, report = stepper.step(state, np.zeros((0, 3)), H)
        spent, count = spent + time.perf_counter() - begin, count + report.iterations
    yield row(case, "tets", len(whole.mesh.tets))
    yield row(case, "iterations a step", float(seen.iterations.mean()))
    yield row(case, "ms an iteration", 1e3 * each, "ms")
    yield row(case, "over one without contact", each / (spent / count), "", at_most=1.7)
    for part, seconds in _parts(seen).items():
        yield row(case, f"of it, {part}", seconds / seen.seconds)


def _parts(seen) -> dict[str, float]:
    total: dict[str, float] = {}
    for report in seen.reports:
        for part, seconds in report.seconds.items():
            total[part] = total.get(part, 0.0) + seconds
    return total


def _contrast() -> Iterable[Row]:
    """Bars of slabs, 1e5 and 1e9 Pa, that fall across each other."""
    case, its, energies = "contrast", {}, {}
    for solver in ("mixed_fem", "newton"):
        bodies = []
        for k, (size, cells) in enumerate((((0.4, 0.06, 0.06), (14, 2, 2)), ((0.06, 0.4, 0.06), (2, 14, 2)))):
            at = (-0.2, -0.03, 0.002) if k == 0 else (-0.03, -0.2, 0.064)
            plain = box(at, cells, size)
            mesh = plain.mesh
            E = stiff_slabs(mesh, 1e9, 1e5) if k == 0 else 1e5
            bodies.append(box(at, cells, size, E))
        seen = watch(Scene(bodies, [plate(0.0)]), 12, H, solver)
        its[solver] = seen.iterations
        yield row(case, f"frames with a crossing, {solver}", seen.crossed, "", at_most=0)
        yield row(case, f"iterations a step, {solver}", float(seen.iterations.mean()))
        capped = watch(Scene(bodies, [plate(0.0)]), 12, H, solver, max_iterations=5)
        whole = seen.whole
        energies[solver] = [
            0.5 * float(np.sum(v * (whole.mass @ v))) for v in (each.states[-1].velocities for each in (seen, capped))
        ]
        off = abs(energies[solver][1] / energies[solver][0] - 1.0)
        yield row(
            case,
            f"kinetic energy off when capped at 5, {solver}",
            off,
            "",
            at_most=0.01 if solver == "mixed_fem" else None,
        )
    yield row(
        case,
        "Mixed FEM's iterations over Newton's",
        float(its["mixed_fem"].sum() / its["newton"].sum()),
        "",
        at_most=0.6,
    )
