"""Embedding: affine motions are carried exactly, inside and outside; the containing or nearest tet is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from sinew.core.foundation.errors import MeshError
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.lattice import lattice_tets


@pytest.fixture(scope="module")
def mesh(make_sphere):
    return lattice_tets(make_sphere(2), 6)


def distance(tet, p):
    """Distance of a point from a tet as a small constrained least-squares problem."""
    heavy = 1e4
    return nnls(np.vstack([tet.T, heavy * np.ones(4)]), np.append(p, heavy))[1]


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_affine_motions_are_carried_exactly(mesh, scale):
    mesh = TetMesh(mesh.rest_positions * scale, mesh.tets)
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (2000, 3)) * scale
    embedding = embed(points, mesh)
    assert 0 < embedding.outside.sum() < len(points)
    np.testing.assert_allclose(embedding.barycentric.sum(axis=1), 1.0, rtol=0, atol=1e-14 * 50)
    linear = np.array([(1.2, 0.3, 0.0), (-0.4, 0.9, 0.2), (0.1, 0.0, 1.5)])
    moved = embedding.apply(mesh.rest_positions @ linear.T + 0.7 * scale, mesh.tets)
    np.testing.assert_allclose(moved, points @ linear.T + 0.7 * scale, rtol=0, atol=1e-12 * mesh.size)


def test_inside_points_lie_in_their_tet(mesh):
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(4), len(mesh.tets))
    points = np.einsum("mc,mci->mi", weights, mesh.rest_positions[mesh.tets])
    embedding = embed(points, mesh)
    assert not embedding.outside.any()
    assert embedding.barycentric.min() > -1e-10
    clear = weights.min(axis=1) > 1e-6
    assert np.array_equal(embedding.tet_indices[clear], np.arange(len(mesh.tets))[clear])


def test_outside_points_go_to_the_nearest_tet(mesh):
    rng = np.random.default_rng(6)
    points = rng.normal(size=(12, 3))
    points *= rng.uniform(1.5, 4.0, (12, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    embedding = embed(points, mesh)
    assert embedding.outside.all()
    corners = mesh.rest_positions[mesh.tets]
    for p, chosen in zip(points, embedding.tet_indices):
        near = np.argsort(np.linalg.norm(corners.mean(axis=1) - p, axis=1))[:60]
        best = min(distance(corners[t], p) for t in near)
        assert distance(corners[chosen], p) <= best * (1.0 + 1e-6)


def test_ties_go_to_the_lowest_index(mesh):
    embedding = embed(mesh.rest_positions, mesh)
    lowest = np.full(len(mesh.rest_positions), len(mesh.tets))
    np.minimum.at(lowest, mesh.tets.ravel(), np.repeat(np.arange(len(mesh.tets)), 4))
    assert np.array_equal(embedding.tet_indices, lowest)


def test_the_matrix_is_the_same_map(mesh):
    points = np.random.default_rng(7).uniform(-1.5, 1.5, (100, 3))
    embedding = embed(points, mesh)
    matrix = embedding.matrix(mesh.tets, len(mesh.rest_positions))
    assert matrix.shape == (100, len(mesh.rest_positions))
    np.testing.assert_allclose(matrix @ mesh.rest_positions, points, atol=1e-13)


def test_a_far_away_body_is_embedded_within_round_off(make_sphere):
    s = make_sphere(2, 1.0, (1e6, -1e6, 1e6))
    assert not embed(s.positions, lattice_tets(s, 6)).outside.any()


def test_flat_tets_are_passed_over():
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)], dtype=float)
    mesh = TetMesh(points, [(0, 1, 2, 3), (0, 1, 2, 4)])
    embedding = embed(np.array([(0.2, 0.2, 0.0), (0.9, 0.9, -0.1)]), mesh)
    assert embedding.tet_indices.tolist() == [1, 1]
    assert embedding.outside.tolist() == [False, True]


def test_points_that_are_not_numbers_are_refused(mesh):
    with pytest.raises(MeshError, match="Point 1"):
        embed(np.array([(0.0, 0.0, 0.0), (0.0, np.inf, 0.0)]), mesh)


@pytest.mark.parametrize("name", ["coarse_bunny", "gummy_bear"])
def test_reference_bodies_embed_their_own_surface(reference_bodies, name):
    with np.load(reference_bodies / f"{name}.npz", allow_pickle=False) as data:
        mesh, deformed = TetMesh(data["vertices"], data["tets"]), data["vertices"] @ np.diag([1.1, 0.9, 1.0])
    embedding = embed(mesh.rest_positions, mesh)
    assert not embedding.outside.any()
    np.testing.assert_allclose(embedding.apply(deformed, mesh.tets), deformed, atol=1e-11 * mesh.size)
