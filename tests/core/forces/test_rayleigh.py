"""Rayleigh damping: derivatives, and what each of its two factors asks for."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.forces.rayleigh import RayleighDamping
from sinew.core.forces.step_potential import Motion
from sinew.core.mesh.tet_mesh import TetMesh
from sinew.core.model.model import build_model

STEP = 0.04


@pytest.fixture(scope="module")
def model():
    """Two tets on a common side, of different mass."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    mesh = TetMesh(corners, np.array([[0, 1, 2, 3], [4, 2, 1, 3]], dtype=np.int32))
    return build_model(mesh, 1e4, 0.3, 1e3)


def begun(model, alpha, beta):
    """A step's damping from a bent body that is on its way."""
    rng = np.random.default_rng(5)
    start = model.mesh.rest_positions + 0.05 * rng.standard_normal(model.mesh.rest_positions.shape)
    base = start + 0.01 * rng.standard_normal(start.shape)
    damping = RayleighDamping(model.elastic, model.mass, model.stiffness, alpha, beta)
    return damping.begin(Motion(start, base, STEP)), start, base


@pytest.mark.parametrize(("alpha", "beta"), [(3.0, 0.0), (0.0, 0.02), (3.0, 0.02)])
def test_derivatives(model, differences, alpha, beta):
    potential, x, _base = begun(model, alpha, beta)
    g = potential.gradient(x)
    assert np.abs(g - differences.numeric_gradient(potential, x, 1e-4)).max() <= 1e-7 * np.abs(g).max()
    K = differences.dense_stiffness(potential, x, model.mesh.tets)
    assert np.abs(K - differences.numeric_hessian(potential, x, 1e-3)).max() <= 1e-9 * np.abs(K).max()
    half = differences.dense_stiffness(potential, x, model.mesh.tets, 0.5)
    assert np.abs(half - 0.5 * K).max() <= 1e-14 * np.abs(K).max()


def test_drag_alone_is_the_mass_and_asks_for_no_tangent(model, differences, monkeypatch):
    monkeypatch.setattr(model.elastic, "tangent", lambda *_: pytest.fail("a tangent was made"))
    potential, x, base = begun(model, 3.0, 0.0)
    drag = 3.0 * (model.mass @ (x - base)) / STEP
    assert np.abs(potential.gradient(x) - drag).max() <= 1e-14 * np.abs(drag).max()
    K = differences.dense_stiffness(potential, x, model.mesh.tets)
    M = np.kron(model.mass.toarray(), np.eye(3))
    assert np.abs(K - 3.0 / STEP * M).max() <= 1e-14 * np.abs(K).max()


def test_stiffness_damping_leaves_a_flight_alone(model):
    potential, x, base = begun(model, 0.0, 0.02)
    flight = potential.gradient(base + [1.0, -2.0, 3.0])
    assert np.abs(flight).max() <= 1e-11 * np.abs(potential.gradient(x)).max()
