"""Accelerations at the surface, carried into the body by each direct solver."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.numerics.linear_solvers.registry import DIRECT_SOLVERS, installed
from sinew.core.simulation.preparation.surface_to_body import SurfaceToBody

from ..jobs import box_surface

CUBE = box_surface((1.0, 1.0, 1.0), (1, 1, 1))


@pytest.fixture(scope="module")
def mesh():
    return tetrahedralize(CUBE, ResolutionSettings(cells_across=2))


@pytest.fixture(params=[solver for solver in DIRECT_SOLVERS if installed(solver)], ids=lambda solver: solver.name)
def solver(request):
    return request.param


def test_a_uniform_field_comes_back_uniform(mesh, solver):
    g = np.array([1.0, -2.0, 3.0])
    a = SurfaceToBody(mesh, embed(CUBE.positions, mesh), solver).extend(np.tile(g, (len(CUBE.positions), 1)))
    assert np.abs(a - g).max() <= 1e-8


def test_a_field_meets_its_samples_and_stays_between_them_inside(mesh, solver):
    embedding = embed(CUBE.positions, mesh)
    samples = np.zeros((len(CUBE.positions), 3))
    samples[CUBE.positions[:, 2] == 1.0, 0] = 5.0
    a = SurfaceToBody(mesh, embedding, solver).extend(samples)
    assert np.abs(embedding.apply(a, mesh.tets) - samples).max() <= 1e-3 * 5.0
    middle = embed(np.array([[0.5, 0.5, 0.5]]), mesh).apply(a, mesh.tets)
    assert middle[0] == pytest.approx([2.5, 0.0, 0.0], abs=0.05)


def test_one_sample_is_carried_to_its_whole_part_and_no_other(mesh, solver):
    two = np.concatenate([mesh.rest_positions, mesh.rest_positions + [5.0, 0.0, 0.0]])
    n = len(mesh.rest_positions)
    both = type(mesh)(two, np.concatenate([mesh.tets, mesh.tets + n]))
    sample = embed(np.array([[0.5, 0.5, 0.5]]), both)
    a = SurfaceToBody(both, sample, solver).extend(np.array([[0.0, 2.0, 0.0]]))
    assert np.abs(a[:n] - [0.0, 2.0, 0.0]).max() <= 1e-4
    assert np.abs(a[n:]).max() <= 1e-4
