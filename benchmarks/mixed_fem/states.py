"""Boat and bunny ([MFEM22] Figs. 2-3): Mixed FEM and Newton converge to the same step, ADMM close to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.methods.model.state import State
from ..bodies import has, recorded
from ..measures import StepProblem, run
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row
from ..rotation_aware_admm import RotationAwareADMM

CAPS = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30)
CONVERGED = 200
ADMM_OBSERVED = (1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300)
VARIANTS = {
    "Mixed FEM": ("mixed_fem", {}, "C1o-"),
    "Mixed FEM, plain": ("mixed_fem", {"quadratic_finish": False}, "C0o-"),
    "Newton": ("newton", {}, "C2o-"),
}
SECONDS = 2.0
VIEW = ((0.3, -0.3, -1.0), (0.0, 1.0, 0.0))


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one state of the boat, three of the bunny, and two seconds of both."""
    if data is None:
        return
    if has(data, "boat"):
        yield Case("boat", lambda: _states(data, "boat", 1e5, ("",)))
        yield Case("boat_2s", lambda: _trajectories(data, "boat", 1e5, ""))
    if has(data, "coarse_bunny"):
        yield Case("bunny", lambda: _states(data, "coarse_bunny", 3e4, ("0002", "0027", "0031")))
        yield Case("bunny_2s", lambda: _trajectories(data, "coarse_bunny", 3e4, "0002"))


def _states(data: Path, name: str, youngs_modulus: float, moments: tuple[str, ...]) -> Iterable[Row]:
    case = "boat" if name == "boat" else "bunny"
    panels: list[Plot | Snapshot] = []
    for moment in moments:
        model, state = recorded(data, name, youngs_modulus, moment=moment)
        problem = StepProblem(model, state)
        ends = {label: problem.step(s, CONVERGED, **o)[0].positions for label, (s, o, _) in VARIANTS.items()}
        apart = np.abs(ends["Mixed FEM"] - ends["Newton"]).max() / model.mesh.size
        yield row(case, f"|dx| / size, Mixed FEM and Newton {moment}", apart, "", at_most=1e-8)
        curves = []
        for label, (solver, settings, style) in VARIANTS.items():
            decrements = [problem.decrement(problem.step(solver, cap, **settings)[0].positions) for cap in CAPS]
            yield row(case, f"iterations to 1e-8, {label} {moment}", _first_below(CAPS, decrements, 1e-8))
            curves.append(Curve(label, CAPS, decrements, style))
        admm, end = _admm(problem)
        yield row(case, f"decrement after {ADMM_OBSERVED[-1]}, ADMM {moment}", admm[-1], "kg^.5 m")
        yield row(case, f"|dx| / size, ADMM {moment}", np.abs(end - ends["Newton"]).max() / model.mesh.size)
        curves.append(Curve("ADMM, rotation-aware", ADMM_OBSERVED, admm, "C3o-"))
        title = f"one step {moment}"
        panels.append(Plot(title, "iteration", "Newton decrement, kg^.5 m", curves, log_x=True, log_y=True))
        panels.append(Snapshot(f"the minimiser {moment}", ends["Mixed FEM"], model.mesh.tets, None, *VIEW))
    draw("mixed-fem", case, panels, columns=2)


def _first_below(caps: tuple[int, ...], values: list[float], bound: float) -> float:
    """Return the first of the caps after which the value is below the bound; inf if none is."""
    return next((float(cap) for cap, value in zip(caps, values, strict=True) if value < bound), np.inf)


def _admm(problem: StepProblem) -> tuple[list[float], np.ndarray]:
    """Return decrements after the observed numbers of iterations, and the last positions."""
    seen: list[np.ndarray] = []
    RotationAwareADMM(problem).iterate(ADMM_OBSERVED[-1], lambda x: seen.append(x))
    return [problem.decrement(seen[k - 1]) for k in ADMM_OBSERVED], seen[-1]


def _trajectories(data: Path, name: str, youngs_modulus: float, moment: str) -> Iterable[Row]:
    """Measure the largest distance of the two motions at any time, with every step converged."""
    case = ("boat" if name == "boat" else "bunny") + "_2s"
    model, state = recorded(data, name, youngs_modulus, moment=moment)
    steps = round(SECONDS * 30)

    def positions(at: State) -> np.ndarray:
        return at.positions

    paths = {
        label: np.array(run(model, state, *VARIANTS[label][:1], CONVERGED, steps, positions, tolerance=1e-10))
        for label in ("Mixed FEM", "Newton")
    }
    size = model.mesh.size
    apart = np.linalg.norm(paths["Mixed FEM"] - paths["Newton"], axis=2).max(axis=1) / size
    yield row(case, "largest distance / size over 2 s", apart.max(), "", at_most=1e-6)
    moved = np.linalg.norm(paths["Newton"] - paths["Newton"][0], axis=2).max(axis=1) / size
    yield row(case, "largest movement / size", moved.max())
    times = np.arange(steps + 1) / 30
    plot = Plot(
        "Mixed FEM and Newton, every step converged",
        "s",
        "part of the size",
        [Curve("distance of the two", times, apart, "C3"), Curve("movement", times, moved, "k")],
        log_y=True,
    )
    last = [Snapshot(f"{label}, 2 s", path[-1], model.mesh.tets, None, *VIEW) for label, path in paths.items()]
    draw("mixed-fem", case, [plot, *last])
