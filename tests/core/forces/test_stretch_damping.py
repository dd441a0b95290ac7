"""Internal friction of a step as a potential: its derivatives, and that it knows nothing of turns."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.model.model import build_model
from sinew.core.methods.model.state import State
from sinew.core.methods.solvers.stretch_damping import StretchDamping
from sinew.core.numerics.integrators import bdf2
from sinew.core.numerics.integrators.time_step import History


def turned(x: np.ndarray) -> np.ndarray:
    """By 200 degrees about an axis of its own, and moved away."""
    axis, angle = np.array([1.0, 2.0, -2.0]) / 3.0, np.radians(200.0)
    K = np.cross(np.eye(3), axis)
    return x @ (np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K).T + [3.0, -1.0, 2.0]


class Friction:
    """The friction of a body, of a step that begins deformed and on its way, as a potential of positions."""

    exact = True

    def __init__(self, energy: str) -> None:
        mesh = block((1, 1, 1), (0.1, 0.1, 0.1))
        self.model = build_model(mesh, 1e4, 0.3, 1e3, energy)
        rng = np.random.default_rng(5)
        before = mesh.rest_positions + 0.005 * rng.standard_normal((8, 3))
        self.start = before + 0.003 * rng.standard_normal((8, 3))
        self.state = State(self.start, np.zeros((8, 3)), np.zeros((6, 6)), History(before, np.zeros((8, 3)), 0.05))
        self.step = bdf2.begin(self.start, self.state.velocities, self.state.history, 0.04)
        self.friction = StretchDamping(self.model.elastic, 0.02, self.state, self.step)

    def value(self, x: np.ndarray) -> float:
        return self.friction.value(self.model.elastic.deformation(x).stretch())

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self.model.elastic.nodal_forces(self.friction.stress(self.model.elastic.deformation(x)))

    def add_stiffness(self, x: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        elastic = self.model.elastic
        hessians = self.friction.condensed(elastic.deformation(x), self.exact, scale)[1]
        blocks += elastic.elements.matrices(hessians)


@pytest.mark.parametrize("energy", ENERGIES)
def test_derivatives(energy, differences):
    """Value, gradient and Hessian; the part that solvers fall back on is semi-definite, inverted tets or not."""
    body = Friction(energy)
    x = body.start + 0.008 * np.random.default_rng(6).standard_normal((8, 3))
    assert body.model.elastic.deformation(x).sigma.min() > 0.2
    g = body.gradient(x)
    assert np.abs(g - differences.numeric_gradient(body, x, 1e-6)).max() <= 1e-7 * np.abs(g).max()
    K = differences.dense_stiffness(body, x, body.model.mesh.tets)
    assert np.abs(K - differences.numeric_hessian(body, x, 1e-6)).max() <= 1e-7 * np.abs(K).max()
    inside_out = x * [1.0, 1.0, -1.0]
    assert body.model.elastic.deformation(inside_out).sigma.min() < 0.0
    body.exact = False
    for place in (x, inside_out):
        values = np.linalg.eigvalsh(differences.dense_stiffness(body, place, body.model.mesh.tets))
        assert values[0] >= -1e-12 * values[-1]


def test_what_is_inside_out_or_torn_apart_has_none():
    """At the beginning of the step, or of the one before."""
    body = Friction("stable_neo_hookean")
    odd = [body.start * each for each in ([1.0, 1.0, -1.0], [20.0, 1.0, 1.0])]
    for start, before in [*((each, body.start) for each in odd), *((body.start, each) for each in odd)]:
        still = body.state.velocities
        state = State(start, still, body.state.stretch, History(before, still, 0.05))
        friction = StretchDamping(body.model.elastic, 0.02, state, body.step)
        assert friction.value(body.model.elastic.deformation(1.1 * body.start).stretch()) == 0.0
    assert body.value(1.1 * body.start) > 0.0


def test_it_knows_nothing_of_turns():
    """Turned and moved, the value is the same; its forces have neither a sum nor a torque; a turn from rest is free."""
    body = Friction("stable_neo_hookean")
    x = body.start + 0.008 * np.random.default_rng(6).standard_normal((8, 3))
    g = body.gradient(x)
    assert body.value(turned(x)) == pytest.approx(body.value(x), rel=1e-10)
    assert np.abs(g.sum(axis=0)).max() <= 1e-13 * np.abs(g).max()
    assert np.abs(np.cross(x, g).sum(axis=0)).max() <= 1e-13 * np.abs(g).max()
    still = State(
        body.start, body.state.velocities, body.state.stretch, History(turned(body.start), body.state.velocities, 0.05)
    )
    friction = StretchDamping(body.model.elastic, 0.02, still, body.step)
    stress = friction.stress(body.model.elastic.deformation(turned(body.start) @ np.diag([-1.0, -1.0, 1.0])))
    assert np.abs(body.model.elastic.nodal_forces(stress)).max() <= 1e-10 * np.abs(g).max()
