"""Winding numbers: exact where the answer is known, near the plain sum of solid angles elsewhere."""

from __future__ import annotations

import numpy as np
from sinew.core.geometry.mesh.winding_number import WindingNumber


def summed(corners, q):
    """The plain sum over triangles."""
    a = corners - q
    length = np.linalg.norm(a, axis=2)
    triple = np.einsum("ti,ti->t", a[:, 0], np.cross(a[:, 1], a[:, 2]))
    dots = [np.einsum("ti,ti->t", a[:, i], a[:, (i + 1) % 3]) * length[:, (i + 2) % 3] for i in range(3)]
    return 2.0 * np.arctan2(triple, length.prod(axis=1) + sum(dots)).sum() / (4.0 * np.pi)


def test_one_inside_zero_outside(make_sphere):
    s = make_sphere(4)
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    winding = WindingNumber(s.positions, s.triangles)
    np.testing.assert_allclose(winding.at(0.9 * directions), 1.0, atol=0.1)
    np.testing.assert_allclose(winding.at(1.1 * directions), 0.0, atol=0.1)
    assert winding.contains(0.98 * directions).all() and not winding.contains(1.01 * directions).any()


def test_clusters_agree_with_the_plain_sum(make_body):
    body = make_body("open")
    winding = WindingNumber(body.positions, body.triangles)
    points = np.random.default_rng(2).uniform(-1.5, 1.5, (300, 3))
    exact = np.array([summed(body.positions[body.triangles], q) for q in points])
    error = np.abs(winding.at(points) - exact)
    assert error.max() < 0.1 and error.mean() < 0.01


def test_a_far_point_sees_the_dipole(make_body):
    body = make_body("triangle")
    winding = WindingNumber(body.positions, body.triangles)
    q = np.array([[30.0, 20.0, -40.0]])
    assert abs(winding.at(q)[0] / summed(body.positions[body.triangles], q[0]) - 1.0) < 1e-3


def test_overlapping_bodies_wind_twice(make_body):
    body = make_body("self_intersecting")
    winding = WindingNumber(body.positions, body.triangles).at(np.array([[0.4, 0.05, 0.0], [-0.7, 0.0, 0.0]]))
    np.testing.assert_allclose(winding, [2.0, 1.0], atol=0.1)


def test_triangles_without_area_are_left_out(make_sphere):
    s = make_sphere(2)
    spoilt = np.vstack([s.triangles, [[0, 0, 1], [2, 2, 2]]])
    points = np.random.default_rng(4).uniform(-1.0, 1.0, (50, 3))
    assert np.array_equal(
        WindingNumber(s.positions, spoilt).at(points), WindingNumber(s.positions, s.triangles).at(points)
    )
    assert not WindingNumber(s.positions, spoilt[-2:]).at(points).any()
