"""Step size to the first inversion, against roots of the determinant computed otherwise."""

from __future__ import annotations

import numpy as np
from sinew.core.mechanics.energies.inversion_step_bound import SAFE, upright_part


def first_zero(F: np.ndarray, dF: np.ndarray) -> float:
    """Return the first zero of ``det(F + t dF)`` at t > 0, from its values at four points; inf without one."""
    at = np.array([-1.0, 0.0, 1.0, 2.0])
    cubic = np.polyfit(at, [np.linalg.det(F + t * dF) for t in at], 3)
    roots = np.roots(np.where(abs(cubic) > 1e-12 * abs(cubic).max(), cubic, 0.0))
    return min((root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0.0), default=np.inf)


def test_it_ends_before_the_first_zero():
    """Compared with NumPy's roots, along random directions with an early, a late, no and a threefold root."""
    rng = np.random.default_rng(0)
    F = np.eye(3) + 0.4 * rng.standard_normal((3000, 3, 3))
    dF = rng.standard_normal((3000, 3, 3)) * 10.0 ** rng.uniform(-2.0, 2.0, (3000, 1, 1))
    dF[:100] = 0.5 * rng.standard_normal((100, 3, 1)) * rng.standard_normal((100, 1, 3))  # no square, no cube
    F[np.linalg.det(F) < 0.0] *= -1.0
    part = upright_part(F, dF)
    zero = np.array([first_zero(*each) for each in zip(F, dF)])
    near = np.where(zero <= 1.0, SAFE * zero, 1.0)
    np.testing.assert_allclose(part, near, rtol=1e-6)
    assert {True, False} == set(part < 1.0) and (np.linalg.det(F + part[:, None, None] * dF) > 0.0).all()


def test_of_what_is_crushed_evenly_nothing_is_missed():
    """All three stretches reach zero at once; of a way along one of them, that one; of a turn, none."""
    ways = np.array([-2.0 * np.eye(3), np.diag([-4.0, 0.0, 0.0]), [[-0.9, -1, 0], [1, -0.9, 0], [0, 0, 0]], np.eye(3)])
    np.testing.assert_allclose(upright_part(np.tile(np.eye(3), (4, 1, 1)), ways), [0.45, 0.225, 1, 1], rtol=1e-4)
