"""The barrier's second derivatives against ipctk's, and what clamps them against LAPACK."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest
from sinew.core.contact.barrier.barrier_potential import Barrier
from sinew.core.contact.barrier.collision_mesh import CollisionMesh
from sinew.core.mechanics.assembly.semi_definite import clamp_negative


@pytest.mark.parametrize("n", (2, 3, 6, 9, 12))
def test_what_is_negative_is_left_out(n):
    rng = np.random.default_rng(n)
    for k in range(60):
        A = rng.standard_normal((n, n if k % 3 else 1))
        A = (A + A.T if k % 3 else (-1.0) ** k * A @ A.T) * (0.0 if k % 7 == 6 else 10.0 ** (k % 13 - 6))
        values, vectors = np.linalg.eigh(A)
        expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
        scale = np.abs(A).max()
        clamp_negative(A, np.empty((n, n)), np.empty(n), np.empty(n))
        np.testing.assert_allclose(A, expected, atol=1e-13 * scale)


def anywhere(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles, each a body."""
    points = (rng.random((40, 1, 3)) + 0.3 * rng.standard_normal((40, 3, 3))).reshape(-1, 3)
    return points, np.arange(120).reshape(-1, 3), np.repeat(np.arange(40), 3)


def sheets(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two that lie on each other, whose edges are nearly parallel."""
    i, j = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    at = (5 * i + j).ravel()
    faces = np.concatenate([np.column_stack([at, at + 5, at + 6]), np.column_stack([at, at + 6, at + 1])])
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 5), indexing="ij")
    flat = np.column_stack([x.ravel(), y.ravel(), np.zeros(25)])
    points = np.concatenate([flat, flat + [0.04, 0.03, 0.08]]) + 2e-3 * rng.standard_normal((50, 3))
    return points, np.concatenate([faces, faces + 25]), np.repeat([0, 1], 25)


def whole_mesh(points, faces, body):
    """ipctk's, of all that there is."""
    faces = faces.astype(np.int32)
    mesh = ipctk.CollisionMesh(np.asfortranarray(points), ipctk.edges(faces), faces)
    mesh.can_collide = ipctk.make_vertex_patches_filter(body.astype(np.int32))
    return mesh


@pytest.mark.parametrize("make", (anywhere, sheets))
def test_as_ipctk_has_it(make):
    """And all kinds of what is near occur."""
    rng = np.random.default_rng(3)
    points, faces, body = make(rng)
    barrier = Barrier(CollisionMesh(points, faces, body, np.zeros(len(points), dtype=bool)), 0.15, 1e5, 0.3, 1e-3)
    mesh, near = whole_mesh(points, faces, body), ipctk.NormalCollisions()
    near.use_area_weighting = True
    near.build(mesh, np.asfortranarray(points), 0.15)
    assert len(near) == len(barrier.normal_collisions(points))
    assert all(map(len, (near.ev_collisions, near.ee_collisions, near.fv_collisions)))
    assert len(near.vv_collisions) or make is sheets
    ways = np.diff(points[np.array(ipctk.edges(faces.astype(np.int32)))], axis=1)[:, 0]
    parallel = (
        np.sum(np.cross(ways[pair.edge0_id], ways[pair.edge1_id]) ** 2) < pair.eps_x for pair in near.ee_collisions
    )
    assert any(parallel) or make is anywhere
    for projected in (False, True):
        how = ipctk.PSDProjectionMethod.CLAMP if projected else ipctk.PSDProjectionMethod.NONE
        expected = barrier._barrier.hessian(near, mesh, np.asfortranarray(points), how).toarray()
        found = barrier.hessian(points, projected)
        matrix = found.matrix(len(points)).toarray()
        assert np.abs(matrix - expected).max() <= 1e-9 * np.abs(expected).max()
    x = rng.standard_normal(points.shape)
    product = expected @ x.ravel()
    assert np.abs(found.times(x).ravel() - product).max() <= 1e-9 * np.abs(product).max()


@pytest.mark.parametrize("make", (anywhere, sheets))
def test_what_rubs_is_what_ipctk_says(make):
    """By what forces, and along which ways; and how far apart all is that pushes."""
    points, faces, body = make(np.random.default_rng(3))
    barrier = Barrier(CollisionMesh(points, faces, body, np.zeros(len(points), dtype=bool)), 0.15, 1e5, 0.3, 1e-3)
    mesh, near, rubbing = whole_mesh(points, faces, body), ipctk.NormalCollisions(), ipctk.TangentialCollisions()
    y = np.asfortranarray(points)
    near.use_area_weighting = True
    near.build(mesh, y, 0.15)
    rubbing.build(mesh, y, near, barrier._barrier, 0.3)
    edges, triangles = np.array(mesh.edges), np.array(mesh.faces)
    expected = sorted(0.3 * rubbing[k].normal_force_magnitude * rubbing[k].weight for k in range(len(rubbing)))
    rubs = barrier.tangential_collisions(points)
    shares, forces, slopes, normals, _ = rubs
    np.testing.assert_allclose(sorted(forces), expected, rtol=1e-9)
    np.testing.assert_allclose(np.cross(shares @ points, normals), 0.0, atol=1e-12)
    corners, away = barrier.collision_stencils(points)
    squares = sorted(near[k].compute_distance(near[k].dof(y, edges, triangles)) for k in range(len(near)))
    np.testing.assert_allclose(sorted(0.15 * away), np.sqrt(squares), rtol=1e-9)
    assert all(set(body[each[each >= 0]]) == {body[each[0]], body[each[each >= 0][-1]]} for each in corners)
    way = 1e-7 * np.random.default_rng(4).standard_normal(points.shape)
    change = (
        barrier.tangential_collisions(points + way).friction_bounds
        - barrier.tangential_collisions(points - way).friction_bounds
    )
    linear = slopes * np.sum(normals * (shares @ way), axis=1)
    np.testing.assert_allclose(change, -2.0 * linear, atol=1e-5 * np.abs(linear).max())
    # What would pull takes from what pushes.
    far = rubs.extrapolated(way * np.median(forces / np.abs(linear)))
    model = forces - linear * np.median(forces / np.abs(linear))
    assert model.min() < 0.0 <= far.friction_bounds.min()
    for two in np.unique(rubs.body_ids, axis=0):
        own = (rubs.body_ids == two).all(axis=1)
        assert far.friction_bounds[own].sum() == pytest.approx(max(model[own].sum(), 0.0), rel=1e-9)


def waves(count: int, low: float) -> tuple[np.ndarray, np.ndarray]:
    """A sheet of which only crests come as low as that."""
    i, j = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    at = (i * (count + 1) + j).ravel()
    faces = np.concatenate(
        [np.column_stack(three) for three in ((at, at + count + 1, at + count + 2), (at, at + count + 2, at + 1))]
    )
    x, y = (each.ravel() / count for each in np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij"))
    return np.column_stack([x, y, low + 0.2 * (1.0 - np.cos(9.0 * x + 2.0 * y))]), faces


def test_what_is_far_from_all_else_is_not_asked_of():
    """And what is told is the same, wherever it goes."""
    (upper, own), (floor, other) = (
        waves(20, 0.01),
        (np.array([[-9.0, -9, 0], [9, -9, 0], [0, 9, 0]]), np.array([[0, 1, 2]])),
    )
    points, faces = np.concatenate([upper, floor]), np.concatenate([own, other + len(upper)])
    body = np.repeat([0, 1], [len(upper), 3])
    barrier = Barrier(CollisionMesh(points, faces, body, body == 1), 0.02, 1e5, 0.0, 1e-3)
    mesh, rng, asked = whole_mesh(points, faces, body), np.random.default_rng(0), set()
    short: list[float] = []

    def told(y: np.ndarray, way: np.ndarray) -> float:
        start, ahead, candidates = np.asfortranarray(y), np.asfortranarray(y + way), ipctk.Candidates()
        candidates.build(mesh, start, ahead, 0.01)
        free = candidates.compute_collision_free_stepsize(mesh, start, ahead, 0.0, barrier._ccd)
        assert barrier.collision_free_step_size(y, way) == pytest.approx(free, rel=1e-12)
        return free

    for k in range(12):
        way = (body == 0)[:, None] * ((0.3, 0.1, 0.02) * rng.standard_normal(3) - (0.0, 0.0, 0.03 * (k % 3 == 2)))
        free = told(points, way)
        asked.add(len(barrier._submesh_in_use.kept))
        for part in (0.0, 0.5, 1.0):
            y = np.asfortranarray(points + part * free * way)
            short.append(
                told(y, (body == 0)[:, None] * 10.0 ** rng.uniform(-4, -2) * rng.standard_normal(points.shape))
            )
            near = ipctk.NormalCollisions()
            near.use_area_weighting = True
            near.build(mesh, y, 0.02)
            assert len(barrier.normal_collisions(y)) == len(near)
            assert barrier.value(y) == pytest.approx(barrier._barrier(near, mesh, y), rel=1e-9)
            expected = barrier._barrier.gradient(near, mesh, y).reshape(-1, 3)
            np.testing.assert_allclose(barrier.gradient(y), expected, atol=1e-9 * np.abs(expected).max(initial=1e-9))
        points = y
    barrier.clear_candidates()
    assert not len(barrier.normal_collisions(points + (body == 0)[:, None])) and not len(barrier._submesh_in_use.kept)
    assert len(asked) > 1 and min(asked) < 0.6 * len(points) and min(short) < 1.0 == max(short)
