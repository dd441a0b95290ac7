"""A bar two cells through, twisted by a solver, is as stiff as the closed form if its elements are smoothed."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.elements.bars import LENGTH, TURNS, WIDTH, lattice_bar
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers.registry import make_solver

YOUNGS_MODULUS = 1e5
ANGLE = 0.04
"""Angle between the ends, rad."""
STILL = 1e4
"""Time step, s, in which inertia does not matter."""


def torsional_stiffness(solver: str, ratio: float, smoothed: bool) -> float:
    """Torque over the rate of twist in the middle, where the held ends do not matter, over ``G J``."""
    turn = TURNS["0.4 about y"]
    mesh = lattice_bar(2, turn)
    X = mesh.rest_positions @ turn
    ends = np.flatnonzero(np.abs(X[:, 0]) > 0.46 * LENGTH)
    model = build_model(mesh, YOUNGS_MODULUS, ratio, 1e3, pinned=ends, smoothed=smoothed)
    settings = SolverSettings(
        solver=solver, gravity=(0.0, 0.0, 0.0), max_iterations=60, stop_rule="movement", tolerance=1e-9
    )
    angles = 0.5 * ANGLE * np.sign(X[model.pinned, 0])
    c, s, held = np.cos(angles), np.sin(angles), X[model.pinned]
    held = np.column_stack([held[:, 0], c * held[:, 1] - s * held[:, 2], s * held[:, 1] + c * held[:, 2]])
    state, report = make_solver(model, settings).step(model.rest_state(), held @ turn.T, STILL, ())
    assert report.converged
    x = state.positions @ turn
    forces = model.elastic.gradient(model.elastic.deformation(state.positions))
    if smoothed:
        forces += model.elastic.stabilization.gradient(state.positions)
    forces = forces @ turn
    torques = x[:, 1] * forces[:, 2] - x[:, 2] * forces[:, 1]
    torque = 0.5 * float(np.sum(np.sign(X[model.pinned, 0]) * torques[model.pinned]))
    middle = np.abs(X[:, 0]) < 0.3 * LENGTH
    arms, away = X[middle], (x - X)[middle]
    turned = arms[:, 1] * away[:, 2] - arms[:, 2] * away[:, 1]
    weight = (arms[:, 1:] ** 2).sum(axis=1)
    rate = float(np.sum(arms[:, 0] * turned) / np.sum(weight * arms[:, 0] ** 2))
    return torque / rate / (YOUNGS_MODULUS / (2.0 * (1.0 + ratio)) * 0.140577 * WIDTH**4)


@pytest.mark.parametrize("ratio", [0.3, 0.499])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_bar_two_cells_through_twists_as_the_closed_form(solver, ratio):
    assert torsional_stiffness(solver, ratio, True) == pytest.approx(1.0, abs=0.19)
    assert torsional_stiffness(solver, ratio, False) > 1.4
