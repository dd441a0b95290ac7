"""A matrix with a low rank beside it, solved by the matrix's own factor: against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.assembly.low_rank import LowRank
from sinew.core.linear_solvers.low_rank import solve_with

N = 30


def system(signs, size=3.0, seed=0):
    """A (90,90) with eigenvalues over six decades, its low rank (with ``signs`` of C), and their sum: a definite one
    where all of the low rank is above minus one in A's norm.
    """
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((3 * N, 3 * N)))[0]
    A = (Q * np.logspace(-3, 3, 3 * N)) @ Q.T
    A = 0.5 * (A + A.T)
    Z = np.linalg.qr(rng.standard_normal((3 * N, len(signs))))[0]
    Y = np.linalg.cholesky(A) @ Z  # orthonormal by A's inverse: C are the eigenvalues of what is added
    low_rank = LowRank(Y.reshape(N, 3, -1), np.diag(size * np.asarray(signs, dtype=float)))
    return A, low_rank, A + Y @ low_rank.core @ Y.T


def solver(A):
    return lambda b: np.linalg.solve(A, b.ravel()).reshape(b.shape)


@pytest.mark.parametrize("size", (1e-6, 0.5, 0.99))
@pytest.mark.parametrize("signs", ([1, 1, 1], [-1, -1], [1, -1, 0.3, -0.7, 0.1], [0]), ids=str)
def test_as_dense(signs, size):
    A, low_rank, whole = system(signs, size)
    assert np.linalg.eigvalsh(whole)[0] > 0.0
    b = np.random.default_rng(1).standard_normal((N, 3))
    found, expected = solve_with(solver(A), low_rank, b), np.linalg.solve(whole, b.ravel()).reshape(b.shape)
    error = (found - expected).ravel()
    assert error @ whole @ error <= 1e-16 * (expected.ravel() @ whole @ expected.ravel())


def test_far_stiffer_than_the_matrix():
    A, low_rank, whole = system([1, 1, 1, 1], 1e4)
    b = np.random.default_rng(1).standard_normal((N, 3))
    np.testing.assert_allclose(
        solve_with(solver(A), low_rank, b).ravel(), np.linalg.solve(whole, b.ravel()), rtol=0.0, atol=1e-5
    )


@pytest.mark.parametrize("signs", ([-1], [1, -1, 1], [-1, -1, -1, -1]), ids=str)
def test_what_is_not_definite_is_refused(signs):
    A, low_rank, whole = system(signs, 1.5)
    assert np.linalg.eigvalsh(whole)[0] < 0.0
    assert solve_with(solver(A), low_rank, np.random.default_rng(1).standard_normal((N, 3))) is None


def test_as_many_solves_as_there_are_directions_and_one():
    """And one more, to see that nothing is left."""
    A, low_rank, _whole = system([1, -0.5, 0.3], 0.9)
    solves = []
    solve = solver(A)
    solve_with(lambda b: solves.append(0) or solve(b), low_rank, np.random.default_rng(1).standard_normal((N, 3)))
    assert len(solves) <= 5


def test_nothing_is_asked_nothing_is_done():
    A, low_rank, _whole = system([1, -0.5])
    assert not solve_with(solver(A), low_rank, np.zeros((N, 3))).any()


def test_parts_of_a_low_rank():
    _A, low_rank, _whole = system([1, -0.5, 0.2])
    x = np.random.default_rng(2).standard_normal((N, 3))
    Y = low_rank.vectors.reshape(-1, 3)
    dense = Y @ low_rank.core @ Y.T
    np.testing.assert_allclose(low_rank.times(x).ravel(), dense @ x.ravel(), rtol=1e-10, atol=1e-9)
    assert low_rank.work(x) == pytest.approx(x.ravel() @ dense @ x.ravel(), rel=1e-10)
    assert low_rank.scaled(4.0).work(x) == pytest.approx(4.0 * low_rank.work(x))
    rows = np.array([3, 5, 20])
    assert low_rank.of(rows).work(x[rows]) == pytest.approx(
        low_rank.work(np.where(np.isin(range(N), rows)[:, None], x, 0.0))
    )
