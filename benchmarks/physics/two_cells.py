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
from .lattice import BODIES, EIGHTH, FLESH, Specimen, held_job, rotation, sag_and_frequency

TURNS = (0.0, 0.2, 0.4, 0.7)
THROUGH = (1, 2, 4)
RATIOS = (0.3, 0.45)
_TIP = np.array([[1.0, y, z] for y in (0.0, 1.0) for z in (0.0, 1.0 / 16.0)])
PLATES = {
    ratio: Specimen(np.ones((64, 64, 4), dtype=bool), (1.0, 1.0, 1.0 / 16.0), "", ratio, _TIP, sag, 1.0)
    for ratio, sag in ((0.3, 0.35728303), (0.45, 0.32298351))
}
"""Clamped plates 16 : 16 : 1, by scikit-fem 12 (``ElementHex2``, 20 x 14 x 2)."""


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
                sags = []
                for turned in TURNS:
                    prepared, R = prepare(held_job(body, _cells(through, thickness), turned)), rotation(turned)
                    sags.append(sag_and_frequency(prepared, body.tip @ R.T, -R[:, 2])[0] / body.sag)
                shown[f"{name} {ratio}, {through}"] = [min(sags), max(sags)]
                metric = f"{name}, nu {ratio}, {through} cells: sag over truth"
                yield row(case, metric, " ".join(f"{sag:.2f}" for sag in sags))
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
