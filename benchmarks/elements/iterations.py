"""Iterations, recovery and cost of converged steps of Mixed FEM: smoothed elements over plain tets of the same mesh."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import build_model
from ...core.methods.solvers import make_solver
from ..pictures import Bars, Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row
from .bars import DENSITY, TURNS, lattice_bar, measure_stiffness

LENGTH = 4.0
SOFT = 1e4
"""Young's modulus of the soft part, Pa."""
RATIO = 0.49
CONTRASTS = (1e4, 1e6, 1e8)
STEPS, STEP = 8, 1 / 24
ROTATED = ("0.4 about y", "0.7 about (1,1,1)")
CELLS = 3
MOST_ITERATIONS = 1.1
MOST_SECONDS = 1.2
EQUAL_ERROR, MOST_AT_EQUAL_ERROR = 0.1, 0.25
"""Error of torsional stiffness at which costs are compared, and the largest ratio of seconds to those of plain tets."""
FINEST = 8
"""Most cells through the bar that are tried for that error."""
SCRAMBLED = 0.42
"""Standard deviation of scrambled vertices, in cells: 24 % of the tets are inverted."""
COST_CELLS, REPEATS = 5, 3
ENDS = 0.06
"""Share of the length at an end whose vertices are held."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the parts and motions whose iterations are counted, scrambled bodies, cost."""
    for part in PARTS:
        yield Case(f"iterations_{part}", partial(_iterations, part))
    yield Case("scrambled", _scrambled)
    yield Case("cost", _cost)
    yield Case("cost_at_equal_error", _cost_at_equal_error)


def _core(X: np.ndarray) -> np.ndarray:
    return np.hypot(X[:, 1], X[:, 2]) < 0.3


def _half(X: np.ndarray) -> np.ndarray:
    return X[:, 1] > 0.0


def _slabs(X: np.ndarray) -> np.ndarray:
    return np.floor((X[:, 0] / LENGTH + 0.5) * 4.0).clip(0.0, 3.0) % 2.0 == 1.0


PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"bone": _core, "half": _half, "slabs": _slabs}
"""Stiff tets, by their centres (m,3) along and across the bar."""


def stiff_part(mesh: TetMesh, turn: np.ndarray, part: str, contrast: float) -> np.ndarray:
    """Return Young's moduli (m,), Pa, of a bar with a stiff part."""
    return np.where(PARTS[part](mesh.rest_positions[mesh.tets].mean(axis=1) @ turn), contrast * SOFT, SOFT)


class Motion(NamedTuple):
    """Iterations of all steps, number of steps that did not converge, most tets inverted after a step, seconds of each
    step, positions in the end.
    """

    iterations: int
    unconverged: int
    inverted: int
    seconds: list[float]
    positions: np.ndarray


def inverted_tets(positions: np.ndarray, tets: np.ndarray) -> int:
    """Return the number of inverted tets."""
    x = positions[tets]
    return int((np.linalg.det(x[:, 1:] - x[:, :1]) < 0.0).sum())


class Moving:
    """Bar in steps to convergence: held at an end, with gravity ("swing") or without ("hold"), or moved at both ends
    ("twist", "squeeze").
    """

    def __init__(
        self, mesh: TetMesh, turn: np.ndarray, moduli: np.ndarray | float, ratio: float, kind: str, smoothed: bool
    ) -> None:
        X = mesh.rest_positions @ turn
        low = np.flatnonzero(X[:, 0] < (ENDS - 0.5) * LENGTH)
        high = np.flatnonzero(X[:, 0] > (0.5 - ENDS) * LENGTH)
        pinned = low if kind in ("swing", "hold") else np.r_[low, high]
        self.model = build_model(mesh, moduli, ratio, DENSITY, pinned=pinned, smoothed=smoothed)
        gravity = (0.0, 0.0, -9.81) if kind == "swing" else (0.0, 0.0, 0.0)
        self.solver = make_solver(
            self.model, SolverSettings(max_iterations=100, stop_rule="movement", tolerance=1e-5, gravity=gravity)
        )
        self._turn, self._kind = turn, kind
        self._held, self._high = X[self.model.pinned], np.isin(self.model.pinned, high)
        self.state, self.motion = self.model.rest_state(), Motion(0, 0, 0, [], mesh.rest_positions)

    def pins(self, time: float) -> np.ndarray:
        """Return the positions (p,3) m of the held vertices, at a time from 0 to 1."""
        held, high = self._held.copy(), self._high
        if self._kind == "twist":
            c, s = np.cos(2.5 * time), np.sin(2.5 * time)
            held[high, 1:] = held[high, 1:] @ np.array([[c, s], [-s, c]])
        elif self._kind == "squeeze":
            held[high, 0] -= 0.4 * LENGTH * time
        return held @ self._turn.T

    def advance(self, time_of_pins: float) -> None:
        """Advance by one step."""
        begin = time.perf_counter()
        self.state, report = self.solver.step(self.state, self.pins(time_of_pins), STEP, ())
        seconds = time.perf_counter() - begin
        x, last = self.state.positions, self.motion
        self.motion = Motion(
            last.iterations + report.iterations,
            last.unconverged + (not report.converged),
            max(last.inverted, inverted_tets(x, self.model.mesh.tets)),
            [*last.seconds, seconds],
            x,
        )


def _moved(moving: Moving) -> Motion:
    for k in range(STEPS):
        moving.advance((k + 1) / STEPS)
    return moving.motion


def _iterations(part: str) -> Iterable[Row]:
    case, shown, shot = f"iterations_{part}", {"plain": [], "smoothed": []}, None
    for kind in ("swing", "twist", "squeeze"):
        sums = {name: [] for name in shown}
        for name, contrast in product(ROTATED, CONTRASTS):
            turn = TURNS[name]
            mesh = lattice_bar(CELLS, turn, LENGTH)
            moduli = stiff_part(mesh, turn, part, contrast)
            for words in shown:
                sums[words].append(_moved(Moving(mesh, turn, moduli, RATIO, kind, words == "smoothed")))
            if kind == "squeeze":
                shot = Snapshot("squeezed", sums["smoothed"][-1].positions @ turn, mesh.tets, moduli)
        for words, motions in sums.items():
            of_all = sum(each.iterations for each in motions)
            shown[words].append(of_all / (STEPS * len(motions)))
            yield row(case, f"{kind}, {words}: iterations", " ".join(str(each.iterations) for each in motions))
            yield row(case, f"{kind}, {words}: steps unconverged", sum(each.unconverged for each in motions))
            yield row(case, f"{kind}, {words}: tets inverted, most", max(each.inverted for each in motions))
        ratio = shown["smoothed"][-1] / shown["plain"][-1]
        yield row(case, f"{kind}: iterations over plain", ratio, at_most=MOST_ITERATIONS)
    draw("elements", case, [Bars("iterations a step", "mean", ["swing", "twist", "squeeze"], shown), shot])


def _scrambled() -> Iterable[Row]:
    case, name = "scrambled", "0.7 about (1,1,1)"
    turn, shots = TURNS[name], []
    mesh = lattice_bar(CELLS, turn, LENGTH)
    for ratio, contrast in product((0.3, 0.49), (1.0, 1e4)):
        moduli = stiff_part(mesh, turn, "slabs", contrast)
        for smoothed in (True, False):
            moving = Moving(mesh, turn, moduli, ratio, "hold", smoothed)
            model, x = moving.model, mesh.rest_positions.copy()
            x += SCRAMBLED / CELLS * np.random.default_rng(3).standard_normal(x.shape)
            x[model.pinned] = mesh.rest_positions[model.pinned]
            moving.state = model.state_at(x)
            moving.advance(0.0)
            words = f"nu {ratio}, {contrast:.0e}, {'smoothed' if smoothed else 'plain'}"
            yield row(case, f"{words}: tets inverted before", inverted_tets(x, mesh.tets) / len(mesh.tets))
            after = model.elastic.deformation(moving.state.positions).sigma[:, 2] <= 0.0
            yield row(case, f"{words}: elements inverted", int(after.sum()), at_most=0 if smoothed else None)
            yield row(case, f"{words}: tets inverted", moving.motion.inverted, at_most=0 if smoothed else None)
            yield row(case, f"{words}: iterations", moving.motion.iterations)
            shots = shots or [
                Snapshot("scrambled", x @ turn, mesh.tets),
                Snapshot("a step later", moving.state.positions @ turn, mesh.tets),
            ]
    draw("elements", case, shots)


def _cost() -> Iterable[Row]:
    case, curves, turn = "cost", [], TURNS["0.4 about y"]
    mesh = lattice_bar(COST_CELLS, turn, LENGTH)
    for ratio, contrast in ((0.3, 1.0), (0.49, 1.0), (0.49, 1e4)):
        moduli, seconds = stiff_part(mesh, turn, "slabs", contrast), {"plain": [], "smoothed": []}
        for _ in range(REPEATS):
            bars = {words: Moving(mesh, turn, moduli, ratio, "swing", words == "smoothed") for words in seconds}
            for k in range(STEPS):
                for bar in bars.values():
                    bar.advance((k + 1) / STEPS)
            for words, bar in bars.items():
                # The first step of a solver analyses the pattern of its matrix.
                seconds[words] += bar.motion.seconds[1:]
        words = f"nu {ratio}, {contrast:.0e}"
        medians = {name: float(np.median(each)) for name, each in seconds.items()}
        for name, median in medians.items():
            yield row(case, f"{words}, {name}: a step, median", 1e3 * median, "ms")
        over = medians["smoothed"] / medians["plain"]
        yield row(case, f"{words}: seconds over plain", over, at_most=MOST_SECONDS)
        curves += [Curve(f"{words}, {name}", np.arange(len(each)), each) for name, each in seconds.items()]
    yield row(case, "tets", len(mesh.tets))
    draw("elements", case, [Plot("seconds of a step", "step", "s", curves)])


def _cells_for_error(ratio: float, smoothed: bool) -> int:
    """Return the fewest cells through a bar for which torsion is within EQUAL_ERROR, or FINEST."""
    for cells in range(2, FINEST):
        bars = [(lattice_bar(cells, TURNS[name]), TURNS[name]) for name in ROTATED]
        if all(measure_stiffness(*bar, ratio, smoothed).torsion < 1.0 + EQUAL_ERROR for bar in bars):
            return cells
    return FINEST


def _cost_at_equal_error() -> Iterable[Row]:
    case, turn = "cost_at_equal_error", TURNS["0.4 about y"]
    for ratio in (0.3, 0.49):
        medians = {}
        for words in ("smoothed", "plain"):
            cells = _cells_for_error(ratio, words == "smoothed")
            bar = Moving(lattice_bar(cells, turn, LENGTH), turn, SOFT, ratio, "swing", words == "smoothed")
            for k in range(STEPS):
                bar.advance((k + 1) / STEPS)
            medians[words] = float(np.median(bar.motion.seconds[1:]))
            yield row(case, f"nu {ratio}, {words}: cells for 10 % in torsion, at most {FINEST}", cells)
            yield row(case, f"nu {ratio}, {words}: a step, median", 1e3 * medians[words], "ms")
        over = medians["smoothed"] / medians["plain"]
        yield row(case, f"nu {ratio}: seconds over plain", over, at_most=MOST_AT_EQUAL_ERROR)
