"""The barrier's second derivatives against ipctk's, and what clamps them against LAPACK."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest
from sinew.core.assembly.semi_definite import clamp_negative
from sinew.core.contact.ipc import Barrier, Surfaces


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


@pytest.mark.parametrize("make", (anywhere, sheets))
def test_as_ipctk_has_it(make):
    """And all kinds of what is near occur."""
    rng = np.random.default_rng(3)
    points, faces, body = make(rng)
    barrier = Barrier(Surfaces(points, faces, body, np.zeros(len(points), dtype=bool)), 0.15, 1e5, 0.3, 1e-3)
    near = barrier.touching(points)
    assert all(map(len, (near.ev_collisions, near.ee_collisions, near.fv_collisions)))
    assert len(near.vv_collisions) or make is sheets
    ways = np.diff(points[np.array(ipctk.edges(faces.astype(np.int32)))], axis=1)[:, 0]
    parallel = (
        np.sum(np.cross(ways[pair.edge0_id], ways[pair.edge1_id]) ** 2) < pair.eps_x for pair in near.ee_collisions
    )
    assert any(parallel) or make is anywhere
    for projected in (False, True):
        how = ipctk.PSDProjectionMethod.CLAMP if projected else ipctk.PSDProjectionMethod.NONE
        expected = barrier._barrier.hessian(near, barrier.mesh, np.asfortranarray(points), how).toarray()
        found = barrier.curvature(points, projected)
        matrix = found.matrix(len(points)).toarray()
        assert np.abs(matrix - expected).max() <= 1e-9 * np.abs(expected).max()
    x = rng.standard_normal(points.shape)
    product = expected @ x.ravel()
    assert np.abs(found.times(x).ravel() - product).max() <= 1e-9 * np.abs(product).max()
