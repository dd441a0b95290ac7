"""Modes that cross during the motion of a bar: Fig. 5 of [EigenFit19], soft and stiff, and the error of each method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...core.methods.eigenfit.near_modes import near_modes
from ...core.methods.eigenfit.vibrations import vibrations
from ...core.methods.model.model import Model
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..resolutions import STEP, Course, motions, pushing
from .nonlinear import bar

LEADING, FOLLOWED = 3, 8
"""Number of modes shown, and of modes computed to track them."""
AMPLITUDES = {"soft": 0.6, "stiff": 0.06}
"""Amplitudes under one force, of bars with Young's moduli ten times apart."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield both bars of the figure."""
    for name, amplitude in AMPLITUDES.items():
        yield Case(f"fig_5_bar_{name}", lambda name=name, a=amplitude: _crossed(f"fig_5_bar_{name}", a))


def _crossed(case: str, amplitude: float) -> Iterable[Row]:
    pair_ = bar()
    seen = motions(pair_, pushing(pair_, amplitude))
    values = np.sqrt(followed_eigenvalues(pair_.coarse, seen.coarse["plain"])) / (2.0 * np.pi)
    order = np.argsort(values, axis=1)[:, :LEADING]
    yield row(case, "amplitude, of the size", seen.amplitude / pair_.fine.size)
    yield row(case, f"crossings of the first {LEADING} modes", int((order[1:] != order[:-1]).any(axis=1).sum()))
    for name in seen.coarse:
        yield row(case, f"error, {name}", seen.error(name), "%")
    times = STEP * np.arange(len(values))
    curves = [Curve(f"mode {k + 1}", times, values[:, k]) for k in range(FOLLOWED)]
    draw("eigenfit", case, [Plot("coarse body, plain", "t (s)", "Hz", curves)])


def followed_eigenvalues(model: Model, course: Course) -> np.ndarray:
    """Return the lowest eigenvalues of a moving body, each tracked by its mode shape, (steps,k), 1/s²."""
    at_rest = vibrations(model, FOLLOWED)
    modes, finder, found = at_rest.modes, near_modes(model, None, at_rest.eigenvalues[0]), []
    for x in course.unknowns:
        tangent = model.elastic.tangent(model.elastic.deformation(x))
        now = finder.find(model, tangent, modes, FOLLOWED)
        assurance = np.einsum("kni,lni->kl", modes, np.array([model.mass @ u for u in now.modes])) ** 2
        order = linear_sum_assignment(-assurance)[1]
        modes = now.modes[order]
        found.append(now.eigenvalues[order])
    return np.array(found)
