"""Growth of a step's time from 20,000 to a million tets, and the memory of a bake of a million."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.process.process_memory import keep_freed, peak_memory
from ...core.jobs.checks.costs import iterative_entries, peak_bytes
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..processes import fresh
from ..registry import Case, Row, row
from .scenes import SCENES, Played

TETS = (20_000, 100_000, 1_000_000)
STEPS = 10
MOST_MEMORY = 24.0
"""Largest peak memory, GB."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the pile of ten boxes."""
    yield Case("scale_pile", _growth)


def _growth() -> Iterable[Row]:
    warm_up(ignore)
    told: list[dict[str, Any]] = []
    for tets in TETS:
        told.append(fresh(baked, tets))
        here = told[-1]
        words = f"{tets:,} tets"
        yield row("scale_pile", f"step, mean of {STEPS}, {words}", here["seconds"] / STEPS, "s")
        yield row("scale_pile", f"iteration, {words}", here["seconds"] / here["iterations"], "s")
        yield row("scale_pile", f"iterations a step, {words}", here["iterations"] / STEPS)
        yield row("scale_pile", f"set-up, {words}", here["setup"], "s")
        yield row("scale_pile", f"steps unconverged, {words}", here["unconverged"])
        yield row("scale_pile", f"active pairs at the end, {words}", here["pairs"])
        yield row("scale_pile", f"peak memory, {words}", here["peak"] / 1e9, "GB", at_most=MOST_MEMORY)
        yield row("scale_pile", f"memory estimated, {words}", here["estimated"] / 1e9, "GB")
        yield row("scale_pile", f"linear solver, {words}", here["linear_solver"])
    for words, key in (("step", "seconds"), ("iteration", "iterations")):
        costs = [each["seconds"] / (1 if key == "seconds" else each["iterations"]) for each in told]
        exponent = float(np.polyfit(np.log(TETS), np.log(costs), 1)[0])
        yield row("scale_pile", f"exponent of a {words}'s time in tets", exponent, "", at_most=1.25)


def baked(tets: int) -> dict[str, Any]:
    """Simulate the steps in a separate process; return seconds of processor time, counts, and memory in bytes."""
    keep_freed()
    begin = time.process_time()
    played = Played.of(SCENES["pile"](tets))
    solver, state = played.solver(), played.scene.state(played.whole)
    ready = time.process_time()
    iterations = unconverged = 0
    for number in range(STEPS):
        state, report = played.step(solver, state, number)
        iterations, unconverged = iterations + report.iterations, unconverged + (not report.converged)
        print(f"step {number}: {report.iterations} iterations, {time.process_time() - ready:.0f} s", flush=True)
    mesh = played.whole.mesh
    vertices = len(mesh.rest_positions)
    return {
        "setup": ready - begin,
        "seconds": time.process_time() - ready,
        "iterations": iterations,
        "unconverged": unconverged,
        "pairs": played.contact.barrier.collision_count(played.contact.surface_positions(state.positions)),
        "peak": peak_memory(),
        "estimated": peak_bytes(len(mesh.tets), vertices, iterative_entries(vertices)),
        "linear_solver": report.linear_solver,
    }
