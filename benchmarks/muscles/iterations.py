"""Iterations of contraction and of passive swings: independent stretches, fibres of the positions, and Newton."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..registry import Case, Row, row
from .bars import MODULUS, Bar, LoadForm, bar, fibres, run

CELLS = 3
CONTRACTING, HELD, SWINGING = 5, 5, 8
"""Steps in which the activation rises and stays, and steps of a passive swing under gravity."""
GRAVITY = (0.0, 0.0, -9.81)
BELLY = (0.3, 0.7)
SCENES = {
    "straight 10": ("astvk", False, 10.0, 10.0),
    "helix 10": ("astvk", True, 10.0, 10.0),
    "helix 10, Fung": ("afung", True, 10.0, 10.0),
    "helix 10, target length": ("target_length", True, 10.0, 10.0),
    "helix 1, Hill": ("hill", True, 1.0, 1.0),
    "belly 30, tendons 1e3": ("astvk", False, 30.0, 1e3),
    "belly 30, tendons 1e5": ("astvk", False, 30.0, 1e5),
}
"""Law, helical or straight, and stiffness of the fibres in the belly and at the ends over that of the matrix."""
OVER_NEWTON = {"helix 10": 0.75, "helix 10, Fung": 0.75, "helix 10, target length": 0.75}
OVER_LOAD = {"belly 30, tendons 1e5": 0.6}
SWING_OVER_NEWTON = {"belly 30, tendons 1e5": 0.3}
SAME = 1e-4
"""Largest difference of the end states, in sizes of the body; steps converge to 1e-6 of it."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per scene, and the swing without fibres."""
    yield Case("iterations_none", _no_fibres)
    for name in SCENES:
        yield Case(f"iterations_{name.replace(',', '').replace(' ', '_')}", partial(_iterations, name))


def _no_fibres() -> Iterable[Row]:
    """Yield the iterations of the same swing without fibres: no fibres can take fewer."""
    warm_up(ignore)
    of = bar(CELLS)
    for solver in ("newton", "mixed_fem"):
        found = run(of.model, solver, [None] * SWINGING, gravity=GRAVITY, tolerance=1e-5)
        yield row("iterations none", f"swing without fibres, {solver}: iterations", sum(found.iterations))


def _scene(name: str) -> tuple[Bar, list, list]:
    law, helical, belly, ends = SCENES[name]
    of = bar(CELLS, helical)
    inside = (of.part > BELLY[0]) & (of.part < BELLY[1]) if belly != ends else np.ones(len(of.part), dtype=bool)
    strength, passive = MODULUS * np.where(inside, belly, ends), 0.1 if law == "hill" else 1.0
    rising = np.minimum(np.arange(1, CONTRACTING + HELD + 1) / CONTRACTING, 1.0)
    contract = [fibres(of, law, strength, np.where(inside, a, 0.0), passive=passive) for a in rising]
    return of, contract, [fibres(of, law, strength, 0.0, passive=passive)] * SWINGING


def _iterations(name: str) -> Iterable[Row]:
    warm_up(ignore)
    of, contract, swing = _scene(name)
    case = f"iterations {name}"
    for motion, loads, bars in (
        ("contraction", contract, (OVER_NEWTON, OVER_LOAD)),
        ("swing", swing, (SWING_OVER_NEWTON, {})),
    ):
        settings = {"gravity": GRAVITY, "tolerance": 1e-5}
        newton = run(of.model, "newton", loads, **settings)
        load = run(of.model, "mixed_fem", [LoadForm(each) for each in loads], **settings)
        own = run(of.model, "mixed_fem", loads, **settings)
        for label, each in (("Newton", newton), ("of positions", load), ("independent", own)):
            yield row(case, f"{motion}, {label}: iterations", sum(each.iterations))
            yield row(case, f"{motion}, {label}: most in a step", max(each.iterations))
        totals = [sum(each.iterations) for each in (own, newton, load)]
        yield row(case, f"{motion}: independent / Newton", totals[0] / totals[1], at_most=bars[0].get(name))
        yield row(case, f"{motion}: independent / of positions", totals[0] / totals[2], at_most=bars[1].get(name))
        apart = np.abs(own.positions - newton.positions).max() / of.model.size
        yield row(case, f"{motion}: end states differ by", apart, "size")
        yield row(case, f"{motion}: steps not converged", float(not (own.converged and newton.converged)), at_most=0.0)
