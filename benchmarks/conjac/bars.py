"""Stiff bar that swings at 11 Hz and soft bar, stretched and bent, after release: liveliness, error, time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import (
    BAR,
    CHEAP,
    MIXED,
    PAPER,
    Motion,
    as_published,
    bar,
    calmest,
    move,
    reference,
    statics,
    with_nodes,
)

SIZE = BAR[0]
STIFF, SOFT = 1e6, 1e4
PULL = (0.0, 21.0, -45.0)
"""Acceleration, m/s², that bends the stiff bar by 0.12 of its length, as in the design note's table."""
GRAB = (18.0, 4.8, -10.8)
"""Acceleration on the outer fifth of the soft bar, m/s²: it moves by 0.41 of its length, axially and laterally."""
NODES = (1, 2, 4, 8, 32)
PUBLISHED_NODES = (1, 4, 32)
REPEATS = 2
STEP, STEPS = 0.005, 200
"""Time step and number of steps of the soft bar, s."""
TIMES = STEP * np.arange(STEPS + 1)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the stiff bar and the soft one."""
    yield Case("stiff_bar", _stiff_bar)
    yield Case("soft_bar", _soft_bar)
    yield Case("soft_bar_published", _soft_bar_published)


def pulled_by_all(model: Model, pull: tuple[float, float, float]) -> State:
    """Return the static state under accelerations of the whole body, m/s²."""
    return model.state_at(statics(model, np.tile(pull, (model.unknowns, 1))))


def grabbed(model: Model, pull: tuple[float, float, float]) -> State:
    """Return the static state under accelerations of the outer fifth, m/s²."""
    outer = model.mesh.rest_positions[:, :1] > 0.8 * SIZE
    return model.state_at(statics(model, np.where(outer, pull, 0.0)))


def amplitude(model: Model, state: State) -> float:
    """Return the largest displacement from rest, in sizes."""
    return float(np.linalg.norm(state.positions - model.mesh.rest_positions, axis=1).max() / model.size)


def _timed(model: Model, start: State, step: float, count: int, **settings: Any) -> tuple[Motion, float]:
    """Return a motion and its seconds: the sum over steps of the shortest of several runs."""
    seen = [move(model, start, step, count, **settings) for _ in range(REPEATS)]
    return seen[0], float(np.min([each.seconds for each in seen], axis=0).sum())


def _stiff_bar() -> Iterable[Row]:
    """Measure one second of 192 steps; the reference makes four steps for each."""
    warm_up(ignore)
    case, rate, finer = "stiff_bar", 192, 4
    model = bar(STIFF)
    start = pulled_by_all(model, PULL)
    truth = reference(model, start, 1.0 / (rate * finer), rate * finer).every(finer)
    yield row(case, "bent by, sizes", amplitude(model, start))
    yield row(case, "reference: energy at the end, of the starting one", truth.energies[-1] / truth.energies[0])
    carried = with_nodes(model, as_published(model, 4))
    ways = {
        "Mixed FEM BDF2, 2": (model, {**MIXED, "max_iterations": 2}),
        "ConJac, 4 nodes": (carried, CHEAP),
        "as published, 4 nodes, beta 0.5": (
            carried,
            {**PAPER, "damping_factor": 0.5},
        ),
        "linearly implicit, beta 1": (model, {"solver": "linearly_implicit"}),
    }
    curves, times, seconds = [], np.arange(rate + 1) / rate, {}
    for name, (body, settings) in ways.items():
        seen, seconds[name] = _timed(body, start, 1.0 / rate, rate, **settings)
        lively, error = seen.liveliness / truth.liveliness, seen.farthest(truth, SIZE)
        mine = name.startswith("ConJac")
        yield row(case, f"kinetic energy / reference, {name}", lively, "", at_least=0.75 if mine else None)
        yield row(case, f"farthest point off, {name}", error, "sizes", at_most=0.05 if mine else None)
        yield row(case, f"seconds a second, {name}", seconds[name], "s")
        yield row(case, f"largest energy / starting one, {name}", seen.highest)
        curves.append(Curve(name, times, seen.energies))
    cost = seconds["ConJac, 4 nodes"] / seconds["Mixed FEM BDF2, 2"]
    yield row(case, "time over Mixed FEM BDF2, 2", cost, "", at_most=1.6)
    curves.append(Curve("reference", times, truth.energies, "k:"))
    draw("conjac", case, [Plot("kinetic and elastic energy", "t (s)", "J", curves)])


@cache
def _soft() -> tuple[Model, State, Motion]:
    """Return the soft bar, its state at release, and its reference motion."""
    model = bar(SOFT)
    start = grabbed(model, GRAB)
    return model, start, reference(model, start, STEP / 3, 3 * STEPS).every(3)


def _soft_bar() -> Iterable[Row]:
    """Measure one second of steps of 5 ms; the reference makes three steps for each."""
    warm_up(ignore)
    case = "soft_bar"
    model, start, truth = _soft()
    yield row(case, "pulled by, sizes", amplitude(model, start))
    curves, errors = [], []
    for cap in (1, 2):
        seen = move(model, start, STEP, STEPS, **{**MIXED, "max_iterations": cap})
        yield from _told(case, f"Mixed FEM BDF2, {cap}", seen, truth)
    for nodes in NODES:
        carried = with_nodes(model, as_published(model, nodes))
        seen = move(carried, start, STEP, STEPS, **CHEAP)
        errors.append(seen.farthest(truth, SIZE))
        name, lively = f"{nodes} nodes", seen.liveliness / truth.liveliness
        yield row(case, f"kinetic energy / reference, {name}", lively, "", at_least=0.85)
        yield row(case, f"the same, {name}", lively, "", at_most=1.08)
        yield row(case, f"farthest point off, {name}", errors[-1], "sizes", at_most=0.04 if nodes == 32 else 0.16)
        yield row(case, f"largest energy / starting one, {name}", seen.highest, "", at_most=1.02)
        curves.append(Curve(name, TIMES, seen.kinetic))
    curves.append(Curve("reference", TIMES, truth.kinetic, "k:"))
    against = Plot("farthest point off", "nodes", "sizes", [Curve("", NODES, errors, "o-")], True, True)
    draw("conjac", case, [Plot("kinetic energy", "t (s)", "J", curves), against])


def _soft_bar_published() -> Iterable[Row]:
    """Measure the soft bar with the paper's step, at its smallest stable beta."""
    warm_up(ignore)
    case, curves = "soft_bar_published", []
    model, start, truth = _soft()
    for nodes in PUBLISHED_NODES:
        carried = with_nodes(model, as_published(model, nodes))
        beta, seen = calmest(carried, start, STEP, STEPS, **PAPER)
        yield row(case, f"smallest stable beta, {nodes} nodes", beta)
        yield from _told(case, f"{nodes} nodes", seen, truth)
        curves.append(Curve(f"{nodes} nodes, beta {beta:g}", TIMES[: len(seen.kinetic)], seen.kinetic))
    curves.append(Curve("reference", TIMES, truth.kinetic, "k:"))
    draw("conjac", case, [Plot("kinetic energy", "t (s)", "J", curves)])


def _told(case: str, name: str, seen: Motion, truth: Motion) -> Iterator[Row]:
    """Yield liveliness and error of a motion, or the reason why it was aborted."""
    if seen.stopped:
        yield row(case, f"broke off, {name}", seen.stopped)
        return
    yield row(case, f"kinetic energy / reference, {name}", seen.liveliness / truth.liveliness)
    yield row(case, f"farthest point off, {name}", seen.farthest(truth, SIZE), "sizes")
