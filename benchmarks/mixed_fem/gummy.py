"""Gummy bear ([MFEM22] Figs. 7-8): one step from its recorded state, the stiff part from 6e4 to 1e14 Pa."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..bodies import has, recorded
from ..measures import StepProblem, gradient_norms
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

SOFT = 6e4
STIFF = (6e4, 1e6, 1e7, 1e8, 1e9, 1e10, 1e12, 1e14)
CAP = 30
VARIANTS = {
    "plain": ("mixed_fem", {"quadratic_finish": False}),
    "ours": ("mixed_fem", {}),
    "Newton": ("newton", {}),
}


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case, if the body is available."""
    if data is not None and has(data, "gummy_bear"):
        yield Case("gummy", lambda: _gummy(data))


def _gummy(data: Path) -> Iterable[Row]:
    curves: dict[str, dict[float, np.ndarray]] = {variant: {} for variant in VARIANTS}
    for stiff in STIFF:
        model, state = recorded(data, "gummy_bear", SOFT, stiff)
        problem = StepProblem(model, state)
        minimiser = None
        for variant, (solver, settings) in VARIANTS.items():
            end, report = problem.step(solver, CAP, **settings)
            curves[variant][stiff] = gradient_norms(report, CAP)
            minimiser = end.positions if variant == "ours" else minimiser
        yield from _rows(stiff, {variant: curves[variant][stiff] for variant in VARIANTS}, problem, minimiser)
    _draw(data, curves)


def _rows(stiff: float, norms: dict[str, np.ndarray], problem: StepProblem, minimiser: np.ndarray) -> Iterator[Row]:
    at = f"{stiff:.0e} Pa"
    noise = problem.gradient_noise(minimiser)
    target = max(1e-8, 10 * noise)
    yield row("gummy", f"one-ulp noise of the gradient, {at}", noise, "kg m")
    for variant, values in norms.items():
        yield row("gummy", f"gradient after {CAP}, {variant}, {at}", values[CAP], "kg m")
    for after in (5, 10):
        at_least = 1e3 if stiff == 1e10 else None
        for variant in ("plain", "ours"):
            ratio = norms["Newton"][after] / norms[variant][after]
            yield row("gummy", f"Newton / {variant} after {after}, {at}", ratio, "", at_least=at_least)
    needed = {variant: _first_below(values, target) for variant, values in norms.items()}
    for variant in ("plain", "Newton"):
        yield row("gummy", f"iterations to the target, {variant}, {at}", needed[variant])
    best = min(needed["plain"], needed["Newton"])
    yield row("gummy", f"iterations to the target, ours, {at}", needed["ours"], "", at_most=min(best, CAP))


def _first_below(norms: np.ndarray, target: float) -> float:
    """Return the number of iterations until the norm is at most the target; inf if it never is."""
    below = np.flatnonzero(norms <= target)
    return float(below[0]) if len(below) else np.inf


def _draw(data: Path, curves: dict[str, dict[float, np.ndarray]]) -> None:
    at_cap = [
        Curve(variant, STIFF, [by_stiff[stiff][CAP] for stiff in STIFF], "o-") for variant, by_stiff in curves.items()
    ]
    panels: list[Plot | Snapshot] = [
        Plot(f"after {CAP} iterations (Fig. 7)", "stiff part, Pa", "gradient norm, kg m", at_cap, True, True)
    ]
    panels += [
        Plot(
            f"{variant} (Fig. 8)",
            "iteration",
            "gradient norm, kg m",
            [Curve(f"{stiff:.0e} Pa", np.arange(CAP + 1), norms) for stiff, norms in by_stiff.items()],
            log_y=True,
        )
        for variant, by_stiff in curves.items()
    ]
    model, state = recorded(data, "gummy_bear", SOFT, 1e10)
    E = np.where(model.elastic.parameters[:, 0] > 1e6, 1e10, SOFT)
    panels.append(
        Snapshot("the recorded state", state.positions, model.mesh.tets, E, (0.2, -0.3, -1.0), (0.0, 1.0, 0.0))
    )
    draw("mixed-fem", "gummy", panels)
