"""Plastic materials against closed forms, a finer mesh, energy, and the iterations of elastic bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, mirrored_block
from ..registry import Case, Row, row

E, NU, DENSITY = 1e6, 0.3, 1e3
MU, LAM = E / (2.0 + 2.0 * NU), E * NU / ((1.0 + NU) * (1.0 - 2.0 * NU))
YIELD, HARDENING = 0.05, 0.1
STRETCHES = 1.03, 1.06, 1.1, 1.2, 1.15, 1.1, 0.95, 0.9
"""Stretches of the uniaxial curve: beyond the yield strain, back, and into compression."""
BAR, ANGLE = (4.0, 1.0, 1.0), 1.0
"""Size of the bent bar, m, and the angle by which its end is turned, rad."""
STILL = 0.0, 0.0, 0.0


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the uniaxial curve, bent bars, the energy of a swinging bar, and a squashed cube."""
    yield Case("plastic_uniaxial", _uniaxial)
    yield Case("plastic_bent", _bent)
    yield Case("plastic_energy", _energy)
    for solver in ("mixed_fem", "newton"):
        yield Case(f"plastic_iterations_{solver}", partial(_iterations, solver))


def _plasticity(tets: np.ndarray, yield_strain: float, hardening: float = 0.0) -> np.ndarray | None:
    return np.tile([yield_strain, 0.0, hardening], (len(tets), 1)) if yield_strain else None


def _kirchhoff(logarithms: Iterable[float]) -> np.ndarray:
    """Return the principal Kirchhoff stresses of the neo-Hookean energy at principal logarithmic strains."""
    return MU * (np.exp(2.0 * np.asarray(logarithms)) - 1.0) + LAM * np.sum(logarithms)


def _closed_form(stretch: float, plastic: float, accumulated: float) -> tuple[float, float, float, float]:
    """Return elastic strains along and across a bar with free sides, its plastic and its accumulated plastic strain.

    ``plastic``, ``accumulated``: the plastic strains before.
    """

    def elastic(p: float) -> tuple[float, float]:
        along = np.log(stretch) - p
        return along, brentq(lambda across: _kirchhoff([along, across, across])[1], -0.5, 0.5, xtol=1e-14)

    def excess(p: float) -> float:
        along, across = elastic(p)
        return 2.0 / 3.0 * abs(along - across) - YIELD - HARDENING * (accumulated + abs(p - plastic))

    p = plastic
    if excess(plastic) > 0.0:
        p = brentq(excess, plastic, np.log(stretch), xtol=1e-14)
    return *elastic(p), p, accumulated + abs(p - plastic)


def _uniaxial() -> Iterable[Row]:
    """Stretch a bar with free sides beyond its yield strain, and back into compression, against the closed form."""
    warm_up(ignore)
    mesh = block((2, 2, 2), (1.0, 1.0, 1.0))
    X = mesh.rest_positions
    pinned = np.flatnonzero(((X == 0.0) | (X == 1.0)).any(axis=1))
    plasticity = _plasticity(mesh.tets, YIELD, HARDENING)
    model = build_model(mesh, E, NU, DENSITY, "neo_hookean", pinned=pinned, smoothed=True, plasticity=plasticity)
    solver = make_solver(model, SolverSettings(integrator="statics", gravity=STILL, tolerance=1e-10))
    state, plastic, accumulated, off, across_off, slip = model.rest_state(), 0.0, 0.0, 0.0, 0.0, 0.0
    for stretch in STRETCHES:
        along, across, plastic, accumulated = _closed_form(stretch, plastic, accumulated)
        side = np.exp(across - 0.5 * plastic)
        state, _report = solver.step(state, (X * [stretch, side, side])[pinned], 1.0)
        elastic = model.elastic.flowed(state.plastic)
        deformation = elastic.deformation(state.positions)
        stress = elastic.stress(deformation) @ deformation.F.transpose(0, 2, 1)
        right = _kirchhoff([along, across, across])[0]
        off = max(off, float(np.abs(stress[:, 0, 0] / right - 1.0).max()))
        across_off = max(across_off, float(np.abs(stress[:, 1:, 1:] / right).max()))
        slip = max(slip, float(np.abs(state.plastic[:, 9] - accumulated).max()))
    case = "plastic_uniaxial"
    yield row(case, "plastic strain, accumulated", accumulated)
    yield row(case, "error of the stress, relative", off, "", at_most=1e-6)
    yield row(case, "stress across over the stress along", across_off, "", at_most=1e-6)
    yield row(case, "error of the accumulated strain", slip, "", at_most=1e-6)


def _bent_angle(cells: tuple[int, int, int], yield_strain: float) -> tuple[float, int]:
    """Bend a bar by ``ANGLE`` along an arc, and let go. Return the angle that stays, rad, and the iterations."""
    mesh = mirrored_block(cells, BAR)
    X, length = mesh.rest_positions, BAR[0]
    start, end = (np.flatnonzero(np.isclose(X[:, 0], x)) for x in (0.0, length))
    plasticity = _plasticity(mesh.tets, yield_strain)
    pinned = np.union1d(start, end)
    model = build_model(mesh, E, NU, DENSITY, pinned=pinned, smoothed=True, plasticity=plasticity)
    settings = SolverSettings(integrator="statics", gravity=STILL, tolerance=1e-8, max_iterations=100)
    solver, state, iterations = make_solver(model, settings), model.rest_state(), 0
    centre = np.array([length, 0.5 * BAR[1], 0.5 * BAR[2]])
    for angle in np.linspace(0.0, ANGLE, 21)[1:]:
        radius, c, s = length / angle, np.cos(angle), np.sin(angle)
        moved = X.copy()
        turn = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        moved[end] = [radius * s, centre[1], centre[2] + radius * (1.0 - c)] + (X[end] - centre) @ turn.T
        state, report = solver.step(state, moved[pinned], 1.0)
        iterations += report.iterations
    solver.follow(replace(model, pinned=start), True, False)
    for _ in range(10):
        state, report = solver.step(state, X[start], 1.0)
        iterations += report.iterations
    offset, shown = (x[end] - x[end].mean(axis=0) for x in (X, state.positions))
    image = np.linalg.lstsq(offset[:, [2]], shown, rcond=None)[0][0]
    return float(np.arctan2(-image[0], image[2])), iterations


def _bent() -> Iterable[Row]:
    """Compare the angle that a bent bar keeps with that of a mesh of twice the cells."""
    warm_up(ignore)
    (fine, _), (angle, plastic), (_, elastic) = (
        _bent_angle(cells, limit) for cells, limit in (((32, 8, 8), 0.01), ((16, 4, 4), 0.01), ((16, 4, 4), 0.0))
    )
    case = "plastic_bent"
    yield row(case, "angle kept, 4 cells through", angle, "rad")
    yield row(case, "angle kept, 8 cells through", fine, "rad")
    yield row(case, "difference", abs(angle / fine - 1.0), "", at_most=0.01)
    yield row(case, "iterations over those of an elastic bar", plastic / elastic, "", at_most=1.2)


def _energy() -> Iterable[Row]:
    """Throw a free bar with a bend, and let it swing over 2,000 steps of the midpoint rule."""
    warm_up(ignore)
    mesh = block((6, 2, 2), (0.3, 0.1, 0.1))
    model = build_model(mesh, 1e5, NU, DENSITY, smoothed=True, plasticity=_plasticity(mesh.tets, 0.02, 0.1))
    settings = SolverSettings(integrator="theta_midpoint", theta=0.5, gravity=STILL, tolerance=1e-8)
    X, solver = mesh.rest_positions, make_solver(model, settings)
    state = model.state_at(X, np.outer(40.0 * (X[:, 0] - 0.15) ** 2, [0.0, 0.0, 1.0]))
    energies = []
    for _ in range(2000):
        energies.append(_energy_of(model, state))
        state, _report = solver.step(state, np.zeros((0, 3)), 1.0 / 240.0)
    case = "plastic_energy"
    yield row(case, "energy after 2,000 steps over that of the start", energies[-1] / energies[0], "", at_most=1.0)
    yield row(case, "largest energy above that of the start", max(energies) / energies[0] - 1.0, "", at_most=1e-5)


def _energy_of(model: Model, state: State) -> float:
    elastic = model.elastic.flowed(state.plastic)
    strain = elastic.value(elastic.deformation(state.positions)) + elastic.stabilization.value(state.positions)
    return strain + 0.5 * float(np.sum(state.velocities * (model.mass @ state.velocities)))


def _squash(solver: str, yield_strain: float) -> int:
    """Press a cube to 0.55 of its height between plates that hold it, then shear it. Return the iterations."""
    mesh = mirrored_block((6, 6, 6), (1.0, 1.0, 1.0))
    X = mesh.rest_positions
    pinned, top = np.flatnonzero((X[:, 2] == 0.0) | (X[:, 2] == 1.0)), X[:, 2] == 1.0
    plasticity = _plasticity(mesh.tets, yield_strain)
    model = build_model(mesh, 1e5, NU, DENSITY, pinned=pinned, smoothed=True, plasticity=plasticity)
    stepper = make_solver(model, SolverSettings(solver=solver, gravity=STILL, max_iterations=100))
    state, iterations = model.rest_state(), 0
    for k in range(1, 73):
        moved = X + np.outer(top, [0.5 * np.clip(k / 24.0 - 1.0, 0.0, 1.0), 0.0, -0.45 * min(k / 24.0, 1.0)])
        state, report = stepper.step(state, moved[pinned], 1.0 / 24.0)
        iterations += report.iterations
    return iterations


def _iterations(solver: str) -> Iterable[Row]:
    """Compare the iterations of a cube of clay that is squashed and sheared with those of an elastic one."""
    warm_up(ignore)
    case = f"plastic_iterations_{solver}"
    clay, elastic = (_squash(solver, limit) for limit in (0.01, 0.0))
    yield row(case, "iterations, clay", clay)
    yield row(case, "iterations, elastic", elastic)
    yield row(case, "iterations over those of an elastic cube", clay / elastic, "", at_most=1.0)
