"""Drag by the mass: derivatives, and the force that its factor asks for."""

from __future__ import annotations

import numpy as np
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.mechanics.forces.mass_damping import MassDamping
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.model.model import build_model

STEP, ALPHA = 0.04, 3.0


def test_derivatives(differences):
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    mesh = TetMesh(corners, np.array([[0, 1, 2, 3], [4, 2, 1, 3]], dtype=np.int32))
    model = build_model(mesh, 1e4, 0.3, 1e3)
    rng = np.random.default_rng(5)
    x = corners + 0.05 * rng.standard_normal(corners.shape)
    base = x + 0.01 * rng.standard_normal(x.shape)
    load = MassDamping(model.mass, model.stiffness(None, ALPHA), ALPHA)
    potential = load.begin(Motion(x, base, STEP))
    drag = ALPHA * (model.mass @ (x - base)) / STEP
    g = potential.gradient(x)
    assert np.abs(g - drag).max() <= 1e-14 * np.abs(drag).max()
    assert np.abs(g - differences.numeric_gradient(potential, x, 1e-4)).max() <= 1e-7 * np.abs(g).max()
    K = differences.dense_stiffness(potential, x, mesh.tets)
    wanted = ALPHA / STEP * np.kron(model.mass.toarray(), np.eye(3))
    assert np.abs(K - wanted).max() <= 1e-14 * np.abs(K).max()
    half = differences.dense_stiffness(potential, x, mesh.tets, 0.5)
    assert np.abs(half - 0.5 * K).max() <= 1e-14 * np.abs(K).max()
