"""Fibres along, across, diagonal to and around a bar: free contraction against its energy's minimum, and loaded bars as
in the scene Aniso of [ConJac20], Fig. 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..elements.bars import LENGTH
from ..registry import Case, Row, row
from .bars import ENDS, MODULUS, RATIO, Bar, bar, fibres, run, twist

DIAGONAL = math.sqrt(0.5)
DIRECTIONS = {"along": (1.0, 0.0, 0.0), "across": (0.0, 1.0, 0.0), "diagonal": (DIAGONAL, DIAGONAL, 0.0)}
STIFF = 10.0, 100.0
"""Stiffness of the fibres over that of the matrix."""
EXACT, SAME = 1e-6, 1e-8
"""Largest error of a free bar's strain; largest difference between solvers, in sizes of the body."""
WEIGHT = 1.0
"""Acceleration along the axis that loads the bars, m/s²: stretches a bar without fibres by a sixth of its length."""
LEAST_TWIST, STIFFER = 10.0, 0.7
"""Least twist of the bar with helical fibres, degrees; largest movement over that without fibres."""
SLOW, STEPS = 100.0, 8
"""Length of a step, s, so long that inertia vanishes; number of steps."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the cases."""
    yield Case("directions_free", _free)
    yield Case("directions_loaded", _loaded)


def _directed(of: Bar, direction: tuple[float, ...]) -> Bar:
    return of._replace(along=np.tile(direction, (len(of.along), 1)))


def _free() -> Iterable[Row]:
    """Yield the sides of a free bar at full activation, and the error of its strain."""
    warm_up(ignore)
    for name, direction in DIRECTIONS.items():
        for stiff in STIFF:
            of = _directed(bar(2, free=True), direction)
            loads = [fibres(of, "astvk", stiff * MODULUS, min(1.0, 0.25 * (k + 1))) for k in range(STEPS)]
            found = run(of.model, "mixed_fem", loads, SLOW, tolerance=1e-12)
            F = of.model.elastic.deformation(found.positions).F
            strain = np.einsum("eji,ejk->eik", F, F)
            exact = _minimum(np.array(direction), stiff)
            case = f"{name}, fibres {stiff:g} E"
            for axis, side in zip("xyz", np.sqrt(np.diag(exact)), strict=True):
                yield row("directions free", f"{case}: stretch along {axis}", side)
            yield row("directions free", f"{case}: shear", 0.5 * exact[0, 1])
            yield row("directions free", f"{case}: error", np.abs(strain - exact).max(), at_most=EXACT)


def _minimum(along: np.ndarray, stiff: float) -> np.ndarray:
    """Return ``F^T F`` (3,3) at the minimum of the matrix's energy (stable Neo-Hookean) and the fibres' (StVK).

    At full activation, with a shortening of 0.3. Both energies are written out, so that no code of the library is used.
    """
    mu, lam = 0.5 * MODULUS / (1.0 + RATIO), MODULUS * RATIO / (1.0 + RATIO) / (1.0 - 2.0 * RATIO)
    rest = 0.7

    def energy(entries: np.ndarray) -> float:
        U = np.array([[entries[0], entries[3], 0.0], [entries[3], entries[1], 0.0], [0.0, 0.0, entries[2]]])
        J, u = float(np.linalg.det(U)), float(np.linalg.norm(U @ along)) / rest
        matrix = 0.5 * mu * ((U * U).sum() - 3.0) - mu * (J - 1.0) + 0.5 * (lam + mu) * (J - 1.0) ** 2
        return (matrix + rest * stiff * MODULUS / 8.0 * max(u * u - 1.0, 0.0) ** 2) / MODULUS

    found = np.array([1.0, 1.0, 1.0, 0.0])
    for _ in range(3):  # each start resets the search's estimate of the curvature
        found = minimize(
            energy, found, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-16, "maxiter": 4000}
        ).x
    U = np.array([[found[0], found[3], 0.0], [found[3], found[1], 0.0], [0.0, 0.0, found[2]]])
    return U @ U


def _loaded() -> Iterable[Row]:
    """Yield how passive fibres change a bar that hangs from an end."""
    warm_up(ignore)
    bars = {"none": None, "along": False, "across": False, "helical": True}
    moved = {}
    for name, helical in bars.items():
        of = bar(3, helical=bool(helical))
        of = of if helical or helical is None else _directed(of, DIRECTIONS[name])
        load = None if helical is None else fibres(of, "astvk", 10.0 * MODULUS, 0.0)
        settings = {"integrator": "statics", "gravity": (WEIGHT, 0.0, 0.0), "tolerance": 1e-10}
        found = [run(of.model, solver, [load] * STEPS, **settings).positions for solver in ("mixed_fem", "newton")]
        X, end = of.model.mesh.rest_positions, of.model.mesh.rest_positions[:, 0] > (0.5 - ENDS) * LENGTH
        moved[name] = float((found[0] - X)[end, 0].mean()) / LENGTH
        yield row("directions loaded", f"{name}: end moves by", moved[name], "length")
        turned = abs(twist(X[end], found[0][end]))
        at_least = LEAST_TWIST if helical else None
        yield row("directions loaded", f"{name}: twist", turned, "degrees", at_least=at_least)
        apart = np.abs(found[0] - found[1]).max() / of.model.size
        yield row("directions loaded", f"{name}: Mixed FEM - Newton", apart, "size", at_most=SAME)
    for name, at_most in (("along", STIFFER), ("across", None), ("helical", STIFFER)):
        yield row("directions loaded", f"{name}: movement / none", moved[name] / moved["none"], at_most=at_most)
