"""All full-space solvers, at several step lengths: remaining motion and error over time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS, SolverKind
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import BAR, UNSTABLE, Motion, as_published, bar, move, reference, statics, with_nodes
from .bars import amplitude

CELLS, E, PULL = (14, 4, 4), 1e5, (0.0, 4.2, -9.0)
RATES, SECONDS, FINER = (48, 96, 192), 1.0, 8
"""Steps per second, seconds, and reference steps per shortest step."""
CAPS, NODES = (1, 2), (1, 4)
RULES = ("backward_euler", "bdf2")


class Way(NamedTuple):
    """Compared method: a name, a model, and settings."""

    name: str
    model: Model
    settings: dict[str, Any]


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one picture."""
    yield Case("picture", _picture)


def ways(model: Model) -> list[Way]:
    """Return every listed full-space solver with each time integration rule, cap and number of nodes that it reads."""
    return [way for kind in SOLVER_KINDS.values() if not kind.takes_modes for way in _ways(kind, model)]


def _ways(kind: SolverKind, model: Model) -> Iterator[Way]:
    bodies = (
        {f", {n} nodes": with_nodes(model, as_published(model, n)) for n in NODES} if kind.takes_nodes else {"": model}
    )
    caps = CAPS if kind.iterates and not kind.takes_nodes else (1,)
    for nodes, body in bodies.items():
        for rule in RULES if kind.integrates else RULES[:1]:
            for cap in caps:
                of_rule = (" BDF2" if rule == "bdf2" else " Euler") if kind.integrates else ""
                name = f"{kind.label}{of_rule}{nodes}" + (f", {cap}" if len(caps) > 1 else "")
                yield Way(name, body, {"solver": kind.name, "integrator": rule, "max_iterations": cap})


def _picture() -> Iterable[Row]:
    """Simulate a bar of 1e5 Pa, bent and released, for a second, with default betas and gammas."""
    warm_up(ignore)
    case, finest = "picture", max(RATES)
    model = bar(E, cells=CELLS)
    start = model.state_at(statics(model, np.tile(PULL, (model.unknowns, 1))))
    truth = reference(model, start, 1.0 / (finest * FINER), round(finest * FINER * SECONDS))
    yield row(case, "bent by, sizes", amplitude(model, start))
    lively, off, spent = [], [], []
    styles = [f"C{k % 10}{line}" for line in ("o-", "s--", "^:") for k in range(10)]
    for way, style in zip(ways(model), styles):
        rates, times, parts, errors = [], [], [], []
        for rate in RATES:
            seconds, part, error = yield from _one(case, way, start, rate, truth.every(finest * FINER // rate))
            if np.isfinite(part):
                rates, times, parts, errors = [*rates, rate], [*times, seconds], [*parts, part], [*errors, error]
        spent.append(Curve(way.name, rates, times, style))
        lively.append(Curve("", times, parts, style))
        off.append(Curve("", times, errors, style))
    panels = [
        Plot("liveliness", "computing a second takes, s", "kinetic energy / reference", lively, log_x=True),
        Plot("error", "computing a second takes, s", "farthest point off, sizes", off, True, True),
        Plot("time", "steps a second", "computing a second takes, s", spent, True, True),
    ]
    draw("conjac", case, panels)


def _one(
    case: str, way: Way, start: State, rate: int, truth: Motion
) -> Generator[Row, None, tuple[float, float, float]]:
    """Yield rows of one motion; return seconds, liveliness and error, not finite if it was aborted."""
    seen = move(way.model, start, 1.0 / rate, round(rate * SECONDS), most=UNSTABLE, **way.settings)
    name = f"{way.name}, {rate} a second"
    if seen.stopped:
        yield row(case, f"{name}: broke off, {seen.stopped}", len(seen.seconds) / rate, "s")
        return np.nan, np.nan, np.nan
    part, error = seen.liveliness / truth.liveliness, seen.farthest(truth, BAR[0])
    seconds = float(np.median(seen.seconds) * len(seen.seconds)) / SECONDS
    yield row(case, f"{name}: kinetic energy / reference", part)
    yield row(case, f"{name}: farthest point off", error, "sizes")
    yield row(case, f"{name}: computing a second takes", seconds, "s")
    return seconds, part, error
