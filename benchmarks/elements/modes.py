"""First ten free modes of a bar two cells through, compared with four times finer elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from ...core.geometry.mesh.embedding import embed
from ...core.methods.eigenfit.vibrations import Vibrations, vibrations
from ...core.methods.model.model import Model
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .bars import ELASTIC, RIGID, TURNS, bar_model, lattice_bar

COARSE, FINE = 2, 8
"""Cells through the bar."""
OFF = 0.08
"""Largest relative error of a frequency."""
UNLIKE = 0.02
"""Largest share of a coarse mode's kinetic energy outside the span of the fine modes."""
MORE = 4
"""Fine modes in that span after the tenth, since the tenth may be one of a pair."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the modes."""
    yield Case("modes", _modes)


def share_outside(coarse: Model, found: Vibrations, fine: Model, span: Vibrations) -> np.ndarray:
    """Return the share (k,) of each coarse mode's kinetic energy that no combination of the fine modes has."""
    at = embed(coarse.mesh.rest_positions, fine.mesh)
    M = coarse.mass
    carried = np.stack([at.apply(mode, fine.mesh.tets).ravel() for mode in span.modes], axis=1)
    modes = found.modes.reshape(len(found.modes), -1).T

    def weighted(columns: np.ndarray) -> np.ndarray:
        return (M @ columns.reshape(M.shape[0], -1)).reshape(columns.shape)

    gram = carried.T @ weighted(carried)
    fitted = carried @ np.linalg.solve(gram, carried.T @ weighted(modes))
    rest = modes - fitted
    return (rest * weighted(rest)).sum(axis=0) / (modes * weighted(modes)).sum(axis=0)


def _modes() -> Iterable[Row]:
    case, curves = "modes", []
    for name, ratio in product(("aligned", "0.7 about (1,1,1)"), (0.3, 0.499)):
        fine = bar_model(lattice_bar(FINE, TURNS[name]), ratio, True)
        span = vibrations(fine, RIGID + ELASTIC + MORE)
        truth = span.after(RIGID, ELASTIC).frequencies
        for smoothed in (True, False):
            coarse = bar_model(lattice_bar(COARSE, TURNS[name]), ratio, smoothed)
            found = vibrations(coarse, RIGID + ELASTIC).after(RIGID, ELASTIC)
            words = f"{name}, nu {ratio}, {'smoothed' if smoothed else 'plain'}"
            over = found.frequencies / truth
            yield row(case, f"{words}: frequencies over finer", " ".join(f"{each:.3f}" for each in over))
            off, outside = float(np.abs(over - 1.0).max()), float(share_outside(coarse, found, fine, span).max())
            yield row(case, f"{words}: frequency off by", off, at_most=OFF if smoothed else None)
            yield row(case, f"{words}: mode outside finer", outside, at_most=UNLIKE if smoothed else None)
            curves.append(Curve(words, np.arange(1, ELASTIC + 1), over))
    draw("elements", case, [Plot("frequency over that of finer elements", "mode", "ratio", curves)])
