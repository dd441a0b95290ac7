"""Curl of bars of which one half contracts along the axis, by Poisson's ratio: no exact solution is needed, as the
curl of a nearly incompressible bar hardly depends on the ratio.

Fibres with the energy ``T/2 |F a|²`` per volume, a along the axis, pull in the upper half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.mechanics.assembly.elements import Elements
from ...core.mechanics.forces.step_potential import Motion, StepPotential
from ...core.methods.model.model import build_model
from ...core.methods.solvers import make_solver
from ..pictures import Bars, Snapshot, draw
from ..registry import Case, Row, row
from .bars import DENSITY, LENGTH, TURNS, YOUNGS_MODULUS, lattice_bar

RATIOS = (0.45, 0.49, 0.499)
CELLS = (2, 4)
TENSION = 0.25 * YOUNGS_MODULUS
"""T, Pa."""
SPREAD = 0.04
"""Largest difference between curls at two Poisson's ratios, relative to their mean, at four cells."""
STEP, STEPS = 100.0, 12
"""Length of a step, s, so long that inertia vanishes; most steps until the bar rests."""
RESTS = 1e-5
"""Displacement in a step below which the bar rests, in its widths."""
ENDS = 0.06
"""Share of the length at an end whose vertices are held."""


class _Fibres(StepPotential):
    """Contracting fibres along ``axis`` (3,), with the tension (e,) Pa per element."""

    def __init__(self, elements: Elements, tension: np.ndarray, axis: np.ndarray) -> None:
        self._elements, self._axis, self._pull = elements, axis, tension * elements.volumes

    def begin(self, motion: Motion) -> StepPotential:
        """Return the potential, which does not depend on the motion."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        along = self._elements.gradients(positions) @ self._axis
        return 0.5 * float(self._pull @ (along * along).sum(axis=1))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        along = self._elements.gradients(positions) @ self._axis
        return self._elements.nodal_forces(along[:, :, None] * self._axis, self._pull)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the Hessian, N/m, to the element ``blocks`` (b,3,3)."""
        first, second = np.tril_indices(3)
        products = self._axis[first] * self._axis[second]
        blocks += self._elements.matrices(
            scale * self._pull[:, None, None, None] * products[:, None, None] * np.eye(3),
        )


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per number of cells through the bar."""
    for cells in CELLS:
        yield Case(f"curl_{cells}", partial(_curls, cells))


def curl(cells: int, turn: np.ndarray, ratio: float, smoothed: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the curl of a bar of the draft lattice (:func:`curl_of`), ``cells`` through."""
    return curl_of(lattice_bar(cells, turn), turn, ratio, smoothed)


def curl_of(mesh: TetMesh, turn: np.ndarray, ratio: float, smoothed: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the angle, rad, by which the bar's free end has turned at rest; positions (n,3) m in the frame of the bar;
    tets.
    """
    X = mesh.rest_positions @ turn
    model = build_model(
        mesh,
        YOUNGS_MODULUS,
        ratio,
        DENSITY,
        pinned=np.flatnonzero(X[:, 0] < (ENDS - 0.5) * LENGTH),
        smoothed=smoothed,
    )
    upper = (X[mesh.tets].mean(axis=1)[:, 2] > 0.0).astype(float)
    fibres = _Fibres(model.elements, TENSION * model.elements.mean(upper), turn[:, 0])
    still = SolverSettings(max_iterations=200, tolerance=1e-7, gravity=(0.0, 0.0, 0.0))
    solver, state = make_solver(model, still), model.rest_state()
    for _ in range(STEPS):
        before = state.positions
        state, report = solver.step(state, mesh.rest_positions[model.pinned], STEP, [fibres])
        if report.converged and np.abs(state.positions - before).max() < RESTS:
            break
    x = state.positions @ turn
    end = X[:, 0] > (0.5 - ENDS) * LENGTH
    # The best rotation about y of the free end.
    A, B = X[end] - X[end].mean(axis=0), x[end] - x[end].mean(axis=0)
    c, s = (A[:, [0, 2]] * B[:, [0, 2]]).sum(), (A[:, 0] * B[:, 2] - A[:, 2] * B[:, 0]).sum()
    return math.atan2(s, c), x, mesh.tets


def spread(angles: Sequence[float]) -> float:
    """Return the largest difference between angles over their mean."""
    return (max(angles) - min(angles)) / abs(float(np.mean(angles)))


def _curls(cells: int) -> Iterable[Row]:
    case, shown, shot = f"curl_{cells}", {}, None
    for smoothed in (True, False):
        words, spreads = "smoothed" if smoothed else "plain", []
        for name, turn in list(TURNS.items())[:3]:
            angles = []
            for ratio in RATIOS:
                angle, x, tets = curl(cells, turn, ratio, smoothed)
                angles.append(angle)
                shot = shot or Snapshot("curled", x, tets)
            spreads.append(spread(angles))
            shown[f"{words}, {name}"] = [math.degrees(each) for each in angles]
            listed = " ".join(f"{each:.1f}" for each in shown[f"{words}, {name}"])
            yield row(case, f"{words}, {name}: curl at nu 0.45, 0.49, 0.499", listed, "°")
        bar = SPREAD if smoothed and cells == 4 else None
        yield row(case, f"{words}: differences of curls over their mean, largest", max(spreads), at_most=bar)
    draw("elements", case, [Bars("curl", "degrees", [f"nu {each}" for each in RATIOS], shown), shot])
