"""Cost of matching two resolutions: iterations, a step, a draft with its preparation, and the fine vibrations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.process.process_memory import peak_memory
from ...core.methods.eigenfit.matching import Matching
from ...core.methods.eigenfit.methods import METHODS
from ...core.methods.eigenfit.vibrations import vibrations
from ...core.methods.model.model import Model, build_model
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, has, held_end
from ..processes import fresh
from ..registry import Case, Row, row
from ..resolutions import DEFAULT, FREQUENCY, MATCHED, Mover, Pair, Way, matched, motions, pushing, spectra_of
from .nonlinear import _figure, bar, creature, shared

REPEATS = 3
SIZES = {"60k": (50, 20, 18), "500k": (100, 41, 38)}
"""Cells of blocks with about this many unknowns."""
SECONDS = 2.0
"""Duration of a motion in Table 2: the 200 frames of its figures."""
STIFFNESSES = (1e4, 1e5, 5e5, 1e6, 1e7)
"""Young's moduli of Table 3 of [EigenFit19], Pa."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the cases, with Tables 2 and 3 of [EigenFit19] if the shared bodies are available."""
    yield Case("newton_and_mixed", _same)
    armadillo, arm = (partial(shared, data, name) for name in ("armadillo", "arm"))
    bodies: dict[str, tuple[Callable[[], Pair], str]] = {"bar_linear": (partial(bar, energy="linear"), "newton")}
    bodies["bar"] = bar, "mixed_fem"
    bodies["swordsman_arap"] = partial(creature, _figure, 1.0, "arap"), "mixed_fem"
    if has(data, "armadillo_fine"):
        bodies["armadillo_linear"] = partial(armadillo, energy="linear"), "newton"
        bodies["armadillo_arap"] = partial(armadillo, energy="arap"), "mixed_fem"
    if has(data, "arm_fine"):
        bodies["arm_arap"] = partial(arm, energy="arap"), "mixed_fem"
    for name, (make, solver) in bodies.items():
        yield Case(
            f"table_2_{name}", lambda name=name, make=make, solver=solver: _timed(f"table_2_{name}", make(), solver)
        )
    yield Case("table_3_bar", lambda: _by_stiffness("table_3_bar", bar()))
    if has(data, "arm_fine"):
        yield Case("table_3_arm_arap", lambda: _by_stiffness("table_3_arm_arap", arm(energy="arap")))
    for name in SIZES:
        yield Case(f"fine_modes_{name}", lambda name=name: _fine_modes(name))


def _same() -> Iterable[Row]:
    """Compare Mixed FEM and Newton with matching, each converged; and iterations at the default tolerance."""
    case, pair_ = "newton_and_mixed", bar()
    spectra = spectra_of(pair_)
    options = {"tolerance": 1e-10, "max_iterations": 300}
    for name in (DEFAULT, Matching.name):
        way = matched(METHODS[name], pair_, spectra)
        ends = [pushing(pair_, 0.1, solver=solver, **options)(way).unknowns for solver in ("mixed_fem", "newton")]
        apart = np.linalg.norm(ends[0] - ends[1], axis=2).max() / pair_.coarse.size
        yield row(case, f"Mixed FEM and Newton apart at most, of the size, {name}", apart, at_most=1e-8)
        for solver in ("mixed_fem", "newton"):
            move = pushing(pair_, 0.1, solver=solver)
            matched_, plain = move(way), move(Way(pair_.coarse))
            more = matched_.iterations / plain.iterations
            yield row(case, f"iterations over plain, {name}, {solver}", more, at_most=1.05)
            # A plain body is too stiff: under the same push it moves less, and needs fewer iterations.
            farther = pushing(pair_, 0.1 * matched_.farthest / plain.farthest, solver=solver)(Way(pair_.coarse))
            words = f"iterations over plain that moves as far, {name}, {solver}"
            yield row(case, words, matched_.iterations / farther.iterations)


def _timed(case: str, pair_: Pair, solver: str) -> Iterable[Row]:
    """Compare a step with the plain one, by the shortest of each, and a whole draft with the fine motion."""
    warm_up(ignore)
    linear = solver == "newton"
    move = pushing(pair_, 0.1, seconds=SECONDS, **({"solver": solver} if linear else {}))
    begin = time.perf_counter()
    spectra = spectra_of(pair_)
    found = time.perf_counter() - begin
    fine = move(Way(pair_.fine)).seconds.sum()
    yield row(case, f"fine motion of {SECONDS:g} s", fine, "s")
    yield row(case, "vibrations found in", found, "s")
    plain = _shortest(move, Way(pair_.coarse))
    yield row(case, "plain over fine", plain.sum() / fine)
    for name, method in METHODS.items():
        begin = time.perf_counter()
        way = matched(method, pair_, spectra)
        made = found + time.perf_counter() - begin
        spent, its = _shortest(move, way), name == DEFAULT
        step = {"at_most": 1.1 if linear else 1.25} if its else {}
        yield row(case, f"step over plain, {name}", spent.sum() / plain.sum(), "", **step)
        draft = {"at_most": 0.25 if linear else 0.4} if its else {}
        yield row(case, f"prepared and moved over fine, {name}", (made + spent.sum()) / fine, "", **draft)


def _shortest(move: Mover, way: Way) -> np.ndarray:
    """Return the seconds of each step."""
    return np.min([move(way).seconds for _ in range(REPEATS)], axis=0)


def _by_stiffness(case: str, pair_: Pair) -> Iterable[Row]:
    """Compare errors with the plain body's under the forces that bend the body of 1e5 Pa by a fiftieth of its size."""
    move = pushing(pair_, 0.02)
    for stiffness in STIFFNESSES:
        scaled = pair_.of(lambda model, by=stiffness / 1e5: _scaled(model, by))
        seen = motions(scaled, move)
        words = f"{stiffness:g} Pa (as of a first frequency of {FREQUENCY * np.sqrt(stiffness / 1e5):.3g} Hz)"
        yield row(case, f"{words}: amplitude, of the size", seen.amplitude / pair_.fine.size)
        for name in METHODS:
            yield row(case, f"{words}: error over plain, {name}", seen.error(name) / seen.error("plain"))


def _scaled(model: Model, by: float) -> Model:
    return replace(model, elastic=model.elastic.scaled(np.full(len(model.mesh.tets), by)))


def _fine_modes(name: str) -> Iterable[Row]:
    warm_up(ignore)  # so that the child compiles nothing
    told = fresh(find_modes, name)
    for what, unit in (("unknowns", ""), ("seconds", "s"), ("peak", "GB")):
        yield row(f"fine_modes_{name}", what, told[what], unit)


def find_modes(name: str) -> dict[str, float]:
    """Return the vibrations of a bar, computed in a separate process."""
    mesh = block(SIZES[name], (1.0, 0.4, 0.36))
    model = build_model(mesh, 1e5, 0.45, 1e3, pinned=held_end(mesh))
    begin = time.perf_counter()
    vibrations(model, MATCHED + 10)
    return {
        "unknowns": 3.0 * (model.unknowns - len(model.pinned)),
        "seconds": time.perf_counter() - begin,
        "peak": peak_memory() / 1e9,
    }
