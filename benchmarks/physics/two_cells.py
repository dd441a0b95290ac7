"""Bending and torsion of bodies one, two and four cells of the draft lattice thick: the figures of the manual.

Sag of bars and plates, clamped at one end, compared with quadratic hexahedra; the first torsion of a clamped square bar
with ``f = sqrt(G J / (rho I_p)) / 4 L`` with ``J = 0.1406 a⁴`` [Timoshenko, Goodier].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.api.solid import Solid
from ...core.simulation.preparation.prepare import prepare
from ..pictures import Bars, draw
from ..registry import Case, Row, row
from .lattice import BODIES, EIGHTH, FLESH, Specimen, held_job, rotation, sag_and_frequencies

TURNS = (0.0, 0.2, 0.4, 0.7)
THROUGH = (1, 2, 4)
OFF = {1: 0.30, 2: 0.05, 4: 0.02}
"""Cells through, and allowed relative errors of sag and frequencies."""
RATIOS = (0.3, 0.45)
_TIP = np.array([[1.0, y, z] for y in (0.0, 1.0) for z in (0.0, 1.0 / 16.0)])
PLATES = {
    ratio: Specimen(np.ones((64, 64, 4), dtype=bool), (1.0, 1.0, 1.0 / 16.0), "", ratio, _TIP, sag, frequencies)
    for ratio, sag, frequencies in (
        (0.3, 0.35728303, (0.329395, 0.7887781, 1.982113, 2.515785, 2.827102)),
        (0.45, 0.32298351, (0.3463256, 0.7710561, 2.006333, 2.620914, 2.815178)),
    )
}
"""Clamped plates 16 : 16 : 1, by scikit-fem 12 (``ElementHex2``, 32 x 24 x 2)."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield bending of bars and plates, torsion of bars."""
    yield Case("two_cells_bending", _bending)
    yield Case("two_cells_torsion", _torsion)


def _cells(through: int, thickness: float) -> int:
    return round(through / thickness + 0.5)


def _bending() -> Iterable[Row]:
    case, shown = "two_cells_bending", {}
    for ratio in RATIOS:
        bar = BODIES["bar 8:1" if ratio == 0.3 else "bar 8:1, nu 0.45"]
        for name, body, thickness in (("bar", bar, EIGHTH), ("plate", PLATES[ratio], 1.0 / 16.0)):
            for through in THROUGH if name == "bar" else THROUGH[:2]:
                sags, off = [], []
                for turned in TURNS:
                    prepared, R = prepare(held_job(body, _cells(through, thickness), turned)), rotation(turned)
                    sag, frequencies, _ = sag_and_frequencies(prepared, body.tip @ R.T, -R[:, 2], 5)
                    sags.append(sag / body.sag)
                    off.append(np.abs(frequencies / body.frequencies - 1.0).max())
                shown[f"{name} {ratio}, {through}"] = [min(sags), max(sags)]
                metric, bar = f"{name}, nu {ratio}, {through} cells", OFF[through]
                yield row(case, f"{metric}: sag over truth", " ".join(f"{sag:.3f}" for sag in sags))
                yield row(case, f"{metric}: sag off by, most", max(abs(sag - 1.0) for sag in sags), at_most=bar)
                yield row(case, f"{metric}: five frequencies off by", " ".join(f"{each:.3f}" for each in off))
                yield row(case, f"{metric}: frequencies off by, most", max(off), at_most=bar)
    draw("physics", case, [Bars("sag over truth", "ratio", ["least", "most"], shown)])


def _torsion() -> Iterable[Row]:
    case, shown = "two_cells_torsion", {}
    for ratio in (*RATIOS, 0.49):
        exact = 0.25 * math.sqrt(FLESH / (2.0 * (1.0 + ratio)) * 0.1406 * 6.0 / 1e3)
        for through in THROUGH:
            stiffer = []
            for turned in TURNS:
                body = BODIES["bar 8:1"]._replace(ratio=ratio)
                solid = Solid.of(held_job(body, _cells(through, EIGHTH), turned))
                stiffer.append((torsional_frequency(solid, rotation(turned)) / exact) ** 2)
            shown[f"{ratio}, {through}"] = [min(stiffer), max(stiffer)]
            metric = f"nu {ratio}, {through} cells: torsional stiffness over truth"
            yield row(case, metric, " ".join(f"{each:.2f}" for each in stiffer))
    draw("physics", case, [Bars("torsional stiffness over truth", "ratio", ["least", "most"], shown)])


def torsional_frequency(solid: Solid, turn: np.ndarray) -> float:
    """Return the frequency, Hz, of the mode, of the first eight, with the largest axial angular momentum."""
    frequencies, modes = solid.modes(8)
    axis, arms, M = turn[:, 0], solid.rest - turn @ [0.5, 0.5 * EIGHTH, 0.5 * EIGHTH], solid.M()
    spins = [abs((np.cross(arms, (M @ mode.ravel()).reshape(-1, 3)) @ axis).sum()) for mode in modes]
    return float(frequencies[int(np.argmax(spins))])
