"""Odd meshes settle with smoothed elements wherever they do with plain tets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import Delaunay
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.tet_mesh import TetMesh, oriented
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers.registry import make_solver

from ..surfaces import box, joined, sphere

STEPS, STEP = 6, 1.0 / 24.0
SOFT = 1e4


def slivers() -> TetMesh:
    """Delaunay tets of a slightly shaken grid: many are flat to a thousandth of a cell."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0), np.arange(3.0), np.arange(3.0)], indexing="ij"), -1).reshape(-1, 3)
    points = 0.1 * (grid + 1e-3 * np.random.default_rng(1).uniform(-1.0, 1.0, grid.shape))
    tets = Delaunay(points).simplices
    corners = points[tets]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    return oriented(points, tets[volumes > 1e-5 * volumes.max()])


def nearly_empty() -> TetMesh:
    """A bar that fills its outer cells to a ten thousandth."""
    return lattice_tets(box((0.4 + 1e-5, 0.1 + 1e-5, 0.1 + 1e-5)), 8)


def with_an_island() -> TetMesh:
    mesh, apart = lattice_tets(box((0.4, 0.1, 0.1)), 8), np.array([[0, 0, 1], [0.1, 0, 1], [0, 0.1, 1], [0, 0, 1.1]])
    n = len(mesh.rest_positions)
    return oriented(np.vstack([mesh.rest_positions, apart]), np.vstack([mesh.tets, np.arange(n, n + 4)]))


def lone_tets() -> TetMesh:
    """No tet has a neighbour."""
    tet = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    return oriented(np.vstack([tet + [0.3 * k, 0.0, 0.0] for k in range(4)]), np.arange(16).reshape(4, 4))


MESHES = {
    "slivers": slivers,
    "nearly empty border cells": nearly_empty,
    "an island of one tet": with_an_island,
    "a sheet thinner than a cell": lambda: lattice_tets(box((0.4, 0.3, 0.002)), 10),
    "a surface that crosses itself": lambda: lattice_tets(joined(sphere(2, 0.1), sphere(2, 0.1, (0.1, 0.03, 0.0))), 10),
    "one cell": lambda: lattice_tets(box((0.1, 0.1, 0.1)), 2),
    "tets without neighbours": lone_tets,
}


@pytest.mark.parametrize("contrast", [1.0, 1e11])
@pytest.mark.parametrize("name", MESHES)
def test_an_odd_mesh_settles_as_with_plain_tets(name, contrast):
    """It hangs by an end, all alike, or with 1e14 Pa beside 1e3."""
    mesh = MESHES[name]()
    X = mesh.rest_positions
    along = X[:, 0] - X[:, 0].min()
    size = float(np.ptp(X[:, 0]))
    stiff = X[mesh.tets].mean(axis=1)[:, 0] > X[:, 0].min() + 0.5 * size
    E = np.where(stiff, 1e3 * contrast, 1e3) if contrast > 1.0 else SOFT
    taken, unsettled = {}, {}
    for smoothed in (False, True):
        model = build_model(mesh, E, 0.49, 1e3, pinned=np.flatnonzero(along < 0.2 * size), smoothed=smoothed)
        settings = SolverSettings(max_iterations=100, stop_rule="movement", tolerance=1e-5)
        solver, state = make_solver(model, settings), model.rest_state()
        reports = []
        for _ in range(STEPS):
            state, report = solver.step(state, X[model.pinned], STEP, ())
            reports.append(report)
        assert np.isfinite(state.positions).all()
        taken[smoothed] = sum(each.iterations for each in reports)
        unsettled[smoothed] = sum(not each.converged for each in reports)
    assert unsettled[True] <= unsettled[False]
    assert unsettled[True] or taken[True] <= 2.0 * taken[False]
