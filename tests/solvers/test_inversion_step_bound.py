"""Bodies that meet, of an energy that stays upright: no tet is ever inside out, by their corners' determinants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.mechanics.energies.registry import ENERGIES
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.incremental_potential import IncrementalPotential

from .test_contact_load import STILL, H, box, meeting, plate

SOLVERS = pytest.mark.parametrize("solver", ("newton", "mixed_fem"))


def rubber(pinned=lambda X: np.zeros(len(X), dtype=bool), ratio: float = 0.3) -> Model:
    """A cube of 10 cm, 2 mm above the ground."""
    mesh = box((0.0, 0.0, 0.002), cells=4).mesh
    held = np.flatnonzero(pinned(mesh.rest_positions))
    return build_model(TetMesh(mesh.rest_positions, mesh.tets), 1e5, ratio, 1e3, "neo_hookean", pinned=held)


def smallest(model: Model, x: np.ndarray) -> float:
    """Volume of each tet over that at rest."""
    volumes = (np.linalg.det(at[model.mesh.tets[:, 1:]] - at[model.mesh.tets[:, :1]]) for at in (x, rest(model)))
    return float(np.divide(*volumes).min())


def rest(model: Model) -> np.ndarray:
    return model.mesh.rest_positions


@pytest.fixture
def iterates(monkeypatch):
    """Positions at which gradients are evaluated, in the order of time."""
    found, gradient = [], IncrementalPotential.gradient

    def noting(self, x, *others, **named):
        found.append(x.copy())
        return gradient(self, x, *others, **named)

    monkeypatch.setattr(IncrementalPotential, "gradient", noting)
    return found


def crushed(solver: str, to: float, ratio: float, rule: str = "backward_euler"):
    """A block between plates that close to a part of its height in three steps, and one more: states and reports."""
    model = rubber(ratio=ratio)
    meet = meeting(model, [plate(0.0), plate(0.104)])
    first, states, reports = meet.collider_positions, [model.rest_state()], []
    stepper = make_solver(
        model, SolverSettings(solver=solver, max_iterations=200, gravity=STILL, stop_rule="movement", integrator=rule)
    )
    for k in range(4):
        closed = 0.1 * (1.0 - to) * min((k + 1) / 3.0, 1.0)
        meet.targets = first - np.outer(np.arange(8) >= 4, [0.0, 0.0, closed])
        state, report = stepper.step(states[-1], np.zeros((0, 3)), H, (meet,))
        states.append(state)
        reports.append(report)
    return model, states, reports


@SOLVERS
@pytest.mark.parametrize("rule", ("backward_euler", "theta_midpoint"))
@pytest.mark.parametrize("to, ratio", ((0.4, 0.4), (0.1, 0.3)))
def test_a_crusher_turns_nothing_inside_out(solver, rule, to, ratio, iterates):
    model, states, reports = crushed(solver, to, ratio, rule)
    assert min(smallest(model, each) for each in [*iterates, *(state.positions for state in states)]) > 0.0
    assert all(report.converged and not report.blocked for report in reports)


@SOLVERS
def test_a_crusher_to_a_twentieth_turns_nothing_inside_out(solver, iterates, monkeypatch):
    """Tets invert without the guard, since the energy continues as a polynomial; with it none does."""
    for prevents_inversion in (True, False):
        monkeypatch.setitem(
            ENERGIES, "neo_hookean", replace(ENERGIES["neo_hookean"], prevents_inversion=prevents_inversion)
        )
        iterates.clear()
        model, states, _ = crushed(solver, 0.03, 0.0)
        least = [min(smallest(model, x) for x in found) for found in (iterates, [each.positions for each in states])]
        assert all((each > 0.0) == prevents_inversion for each in least)


@pytest.mark.parametrize("solver", ("linearly_implicit", "conjac"))
def test_no_step_of_others_ends_inside_out(solver):
    """Solvers that linearise elasticity, or move first and check then, keep every step's end."""
    model, states, _ = crushed(solver, 0.03, 0.0)
    assert min(smallest(model, each.positions) for each in states) > 0.0


@SOLVERS
def test_pins_that_would_turn_tets_inside_out_stay_behind(solver, iterates):
    """With nothing near: the upper pins are told to go below the lower ones."""
    model = rubber(lambda X: (X[:, 2] > 0.102 - 1e-9) | (X[:, 2] < 0.028))
    meet, X = meeting(model), rest(model)[model.pinned]
    stepper = make_solver(model, SolverSettings(solver=solver, max_iterations=200, gravity=STILL))
    down = np.where(X[:, 2:] > 0.05, -0.09, 0.0) * [0.0, 0.0, 1.0]
    state, report = stepper.step(model.rest_state(), X + down, H, (meet,))
    assert report.blocked > 0.0 and report.converged
    assert min(smallest(model, each) for each in [*iterates, state.positions]) > 0.0
    assert state.positions[model.pinned][:, 2].max() < 0.1
