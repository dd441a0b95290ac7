"""Lagged friction of points whose motion is known in closed form."""

import numpy as np
import pytest
from sinew.core.contact.friction import LaggedFriction

H, EPS = 0.01, 1e-3
UP = np.array([[0.0, 0.0, 1.0]])


def rubbing(forces, **more):
    count = len(forces)
    return LaggedFriction(
        np.asarray(forces, dtype=float), np.repeat(UP, count, axis=0), np.zeros((count, 3)), H, EPS, **more
    )


def newton(friction, y, masses, speeds):
    """One iteration of points of ``masses`` that would go on at ``speeds`` (p,3)."""
    inertia = (masses / H**2)[:, None]
    g = inertia * (y - H * speeds) + friction.gradient(y)
    K = friction.stiffness(y) + inertia[:, :, None] * np.eye(3)
    return y - np.linalg.solve(K, g[:, :, None])[:, :, 0]


def test_what_slides_as_expected_is_there_in_one_iteration_from_rest():
    """It is slowed by ``F h / m``; from where it is, whose slip is 0, it would be held."""
    masses, forces = np.array([2.0]), np.array([30.0])
    speeds = np.array([[1.2, 0.9, 0.0]])
    slowed = (1.5 - forces[0] * H / masses[0]) / 1.5 * speeds
    there = newton(rubbing(forces, predicted_velocity=slowed), np.zeros((1, 3)), masses, speeds)
    assert there / H == pytest.approx(slowed, rel=1e-12)
    assert np.linalg.norm(newton(rubbing(forces), np.zeros((1, 3)), masses, speeds)) / H < 0.02


def test_it_goes_on_with_the_true_derivative_and_begins_with_a_secant():
    rng = np.random.default_rng(0)
    forces = np.array([3.0, 5.0, 2.0])
    y = H * EPS * np.array([[0.3, 0.2, 0.0], [4.0, -3.0, 0.0], [0.9, 0.1, 0.0]])
    friction = rubbing(forces)
    friction.linearize_at(y)
    K, way = friction.stiffness(y), 1e-6 * H * EPS * rng.standard_normal((3, 3))
    differences = friction.gradient(y + way) - friction.gradient(y - way)
    assert np.einsum("pij,pj->pi", K, 2.0 * way) == pytest.approx(differences, rel=1e-4, abs=1e-9)
    K = rubbing(forces).stiffness(y)
    assert np.einsum("pij,pj->pi", K, y) == pytest.approx(friction.gradient(y), rel=1e-9)


def test_a_small_body_beside_a_heavy_one_is_not_done_while_its_friction_was_taken_wrong():
    """The friction of the heavy body, which has converged, does not hide the light one's."""
    slips = EPS * np.array([[3.0, 0.0, 0.0], [0.8, 0.0, 0.0]])
    asked = {}
    for name, bodies in (("each", [[0, 2], [1, 3]]), ("one", [[0, 0], [0, 0]])):
        friction = rubbing([1e6, 1.0], bodies=np.array(bodies))
        friction.linearize_at(H * slips)
        friction.stiffness(H * slips)
        asked[name] = friction.is_unconverged(H * (slips + EPS * np.array([[1.0, 0.0, 0.0], [0.6, 0.0, 0.0]])))
    assert asked == {"each": True, "one": False}
