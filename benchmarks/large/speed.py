"""Step of a large scene with conjugate gradients and with a direct solver, from the same state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.process.process_memory import peak_memory
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..crossings import forbidden
from ..processes import fresh
from ..registry import Case, Row, row
from .scenes import SCENES, Played

TETS = {"5k": 5_000, "20k": 20_000, "100k": 100_000, "250k": 250_000}
BARS = {("jelly", "20k"): 2.0, ("jelly", "100k"): 5.0, ("jelly", "250k"): 7.0}
"""Least ratio of the direct solver's time to that of conjugate gradients, by scene and size."""
OTHER_BARS = {"5k": 1 / 1.05, "20k": 1.5, "100k": 2.5}
BARS |= {("landing", size): OTHER_BARS["5k"] for size in TETS}  # an additional scene, with bars for none of its sizes
FIRST_STEPS = 4
"""Number of steps before the measured one."""
REPEATS = {"5k": 5, "20k": 5, "100k": 1, "250k": 1}
SOLVERS = {"Mixed FEM": "mixed_fem", "Newton": "newton"}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield every scene at every size, jelly alone at 250,000 tets; memory, and threads."""
    for name in SCENES:
        for size in TETS:
            if size != "250k" or name == "jelly":
                yield Case(f"large_{name}_{size}", partial(_compared, name, size))
    yield Case("large_memory", _memory)
    yield Case("large_threads", _threads)


def _compared(name: str, size: str) -> Iterable[Row]:
    warm_up(ignore)
    case, played = f"large_{name}_{size}", Played.of(SCENES[name](TETS[size]))
    yield row(case, "tets", len(played.whole.mesh.tets))
    begin = time.process_time()
    routes = {"conjugate gradients": played.solver("automatic" if size == "5k" else "pcg")}
    yield row(case, "set-up of conjugate gradients", time.process_time() - begin, "s", at_most=1.0)
    state = played.scene.state(played.whole)
    for number in range(FIRST_STEPS):
        state, _report = played.step(routes["conjugate gradients"], state, number)
    routes["direct"] = played.solver("cholmod")
    seconds = {route: [] for route in routes}
    for _ in range(REPEATS[size]):
        reports, ends = {}, {}
        for route, solver in routes.items():
            begin = time.process_time()
            ends[route], reports[route] = played.step(solver, state, FIRST_STEPS)
            seconds[route].append(time.process_time() - begin)
    for route, report in reports.items():
        yield row(case, f"step, {route}", float(np.median(seconds[route])), "s")
        yield row(case, f"iterations, {route}", report.iterations)
        yield row(case, f"converged, {route}", float(report.converged), "", at_least=1.0)
    more = reports["conjugate gradients"].iterations - reports["direct"].iterations
    yield row(case, "iterations more than direct", more, "", at_most=1.0)
    end = ends["conjugate gradients"].positions
    apart = played.whole.max_displacement(end - ends["direct"].positions)[0]
    yield row(case, "difference of the positions, of the size", apart / played.whole.size)
    if size != "250k":
        crossed = forbidden(played.contact.surface_positions(end), played.contact.barrier.surfaces)
        yield row(case, "crossings", len(crossed), "", at_most=0)
    ratio = float(np.median(seconds["direct"]) / np.median(seconds["conjugate gradients"]))
    yield row(case, "direct / conjugate gradients", ratio, "", at_least=BARS.get((name, size), OTHER_BARS.get(size)))


def _memory() -> Iterable[Row]:
    warm_up(ignore)
    peaks = {route: fresh(peak_of, route) for route in ("pcg", "cholmod")}
    for route, peak in peaks.items():
        yield row("large_memory", f"peak at 250,000 tets, {route}", peak / 1e9, "GB")
    yield row("large_memory", "conjugate gradients / CHOLMOD", peaks["pcg"] / peaks["cholmod"], "", at_most=0.5)


def peak_of(route: str) -> int:
    """Return the peak memory, bytes, of two iterations of the jelly of 250,000 tets in a separate process."""
    played = Played.of(SCENES["jelly"](TETS["250k"]))
    settings = SolverSettings(linear_solver=route, max_iterations=2)
    played.step(make_solver(played.whole, settings), played.scene.state(played.whole), 0)
    return peak_memory()


def _threads() -> Iterable[Row]:
    warm_up(ignore)
    told = {count: fresh(seconds_of, "jelly", TETS["100k"], variables={"NUMBA_NUM_THREADS": count}) for count in "12"}
    for count, (seconds, _checksum) in told.items():
        yield row("large_threads", f"step of 100,000 tets, {count} threads", seconds, "s")
    yield row("large_threads", "speed-up by the second thread", told["1"][0] / told["2"][0], "", at_least=1.5)
    yield row("large_threads", "bits differ", float(told["1"][1] != told["2"][1]), "", at_most=0)


def seconds_of(name: str, tets: int) -> tuple[float, str]:
    """Return wall seconds of the fastest of three steps in a separate process, and a checksum of the last positions."""
    import hashlib

    played = Played.of(SCENES[name](tets))
    solver, state, seconds = played.solver("pcg"), played.scene.state(played.whole), []
    for number in range(FIRST_STEPS + 3):
        begin = time.perf_counter()
        state, _report = played.step(solver, state, number)
        seconds.append((time.perf_counter() - begin) / max(_report.iterations, 1))
    return min(seconds[FIRST_STEPS:]), hashlib.sha256(state.positions.tobytes()).hexdigest()
