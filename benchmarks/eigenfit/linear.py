"""Linear elasticity at two resolutions: a twisted bar, the armadillo, and a bar that is twisted and pulled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..bodies import has
from ..registry import Case
from ..resolutions import Field, Pair, pushed
from .nonlinear import bar, shared

NEWTON = {"solver": "newton"}
"""Mixed FEM would use the corotated form."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield Figs. 6, 1 and 2 of [EigenFit19]; the second with the shared body, if available."""
    yield _case("fig_6_bar", lambda: bar(energy="linear"), 1 / 20)
    if has(data, "armadillo_fine"):
        yield _case("fig_1_armadillo", lambda: shared(data, "armadillo", energy="linear"), 1 / 20)
    for what, field in (("twisted", _twist), ("pulled", lambda at: np.tile([1.0, 0.0, 0.0], (len(at), 1)))):
        yield _case(f"fig_2_bar_{what}", lambda: bar(energy="linear", ratio=0.3), field=field)


def _case(name: str, make: Callable[[], Pair], part: float | None = None, field: Field | None = None) -> Case:
    return Case(name, lambda: pushed(name, make(), 0.1, part, field=field, **NEWTON))


def _twist(at: np.ndarray) -> np.ndarray:
    """Return accelerations that twist about the bar's axis."""
    return np.cross([1.0, 0.0, 0.0], at - [0.0, 0.125, 0.125]) * at[:, :1]
