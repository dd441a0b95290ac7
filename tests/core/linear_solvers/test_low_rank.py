"""A matrix with a low rank beside it, solved by the matrix's own factor or by conjugate gradients: against dense
matrices.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.benchmarks.bodies import block
from sinew.core.mechanics.assembly.low_rank import LowRank
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.methods.model.model import build_model
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.conjugate_gradient import ConjugateGradients
from sinew.core.numerics.linear_solvers.direct import Direct
from sinew.core.numerics.linear_solvers.elastic_system import ElasticSystem
from sinew.core.numerics.linear_solvers.factorized import factorized
from sinew.core.numerics.linear_solvers.low_rank import UpdatedFactor
from sinew.core.numerics.linear_solvers.registry import choose
from sinew.core.numerics.linear_solvers.superlu import SuperLUSolver

from .bars import bar, blocks_of, dense

N = 30


def low_rank_of(A, signs, size, twice=False):
    """Return a low-rank update whose C has these eigenvalues times ``size``, in directions that are orthonormal in A's
    inverse: A plus it is definite if all are above minus one. ``twice``: linearly dependent columns.
    """
    rng = np.random.default_rng(3)
    Z, mixed = (np.linalg.qr(rng.standard_normal((rows, len(signs))))[0] for rows in (len(A), len(signs)))
    Y, C = np.linalg.cholesky(A) @ Z @ mixed.T, size * (mixed * signs) @ mixed.T
    if twice:
        Y, C = np.hstack([Y, Y]), 0.25 * np.tile(C, (2, 2))
    return LowRank(Y.reshape(len(A) // 3, 3, -1), C)


def as_matrix(low_rank):
    Y = low_rank.vectors.reshape(-1, len(low_rank.core))
    return Y @ low_rank.core @ Y.T


def system(signs, size=3.0, twice=False):
    """A (90,90) with eigenvalues over six decades, its low rank, and their sum."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3 * N, 3 * N)))[0]
    A = (Q * np.logspace(-3, 3, 3 * N)) @ Q.T
    A = 0.5 * (A + A.T)
    low_rank = low_rank_of(A, signs, size, twice)
    return A, low_rank, A + as_matrix(low_rank)


def updated(A, low_rank, kind=CholmodSolver):
    return UpdatedFactor(factorized(sp.csc_matrix(A), kind), low_rank)


def off(found, expected, whole):
    """In the norm of the whole."""
    error = (found - expected).ravel()
    return np.sqrt((error @ whole @ error) / (expected.ravel() @ whole @ expected.ravel()))


SIGNS = pytest.mark.parametrize("signs", ([1, 1, 1], [-1, -1], [1, -1, 0.3, -0.7, 0], [0]), ids=str)


@pytest.mark.parametrize("kind", (CholmodSolver, SuperLUSolver))
@pytest.mark.parametrize("twice", (False, True))
@pytest.mark.parametrize("size", (1e-6, 0.5, 0.999))
@SIGNS
def test_as_dense(signs, size, twice, kind):
    A, low_rank, whole = system(signs, size, twice)
    b = np.random.default_rng(1).standard_normal((3 * N, 2))
    update, expected = updated(A, low_rank, kind), refined(A, low_rank, b)
    # A backward stable solution is off by eps times the condition number in the energy norm; 0.03 of that was seen.
    within = np.finfo(float).eps * np.linalg.cond(whole)
    assert update.is_definite
    assert off(update.solve(b[:, 0]), expected[:, 0], whole) <= within
    for column, right in zip(update.solve_columns(b).T, expected.T):
        assert off(column, right, whole) <= within


def test_a_direction_that_is_none():
    A, low_rank, whole = system([1, -1], 0.5)
    none = np.zeros((*low_rank.vectors.shape[:-1], 1))
    core = np.pad(low_rank.core, (0, 1), constant_values=0.3)
    update = updated(A, LowRank(np.concatenate([low_rank.vectors, none], axis=-1), core))
    b = np.random.default_rng(1).standard_normal(3 * N)
    assert update.is_definite and off(update.solve(b), np.linalg.solve(whole, b), whole) <= 1e-9


def refined(A, low_rank, b):
    """The solution of the sum, as b, to the last digits of a double: a dense solution alone is off by 1e-6 at a
    condition number of 1e11; residuals in extended precision, by A and the low rank apart, take that away.
    """
    Y = low_rank.vectors.reshape(len(A), -1).astype(np.longdouble)
    whole, x = A + as_matrix(low_rank), np.zeros(b.shape)
    for _ in range(4):
        x = x + np.linalg.solve(
            whole, (b - A.astype(np.longdouble) @ x - Y @ (low_rank.core @ (Y.T @ x))).astype(float)
        )
    return x


def test_far_stiffer_than_the_matrix():
    """Seen by A, the sum has eigenvalues from 1 to 1e6: rounding is amplified by that much, with a margin of ten."""
    stiffest = 1e6
    A, low_rank, whole = system([1, 1, 1, 1], stiffest)
    b = np.random.default_rng(1).standard_normal(3 * N)
    update, expected = updated(A, low_rank), refined(A, low_rank, b)
    amplified = 10.0 * stiffest * np.finfo(np.float64).eps
    assert off(update.solve(b), expected, whole) <= amplified
    assert off(update.solve_columns(b[:, None])[:, 0], expected, whole) <= amplified


@pytest.mark.parametrize("twice", (False, True))
@pytest.mark.parametrize("signs", ([-1], [1, -1, 1], [-1, -1, -1, 0]), ids=str)
def test_what_is_not_definite_is_told_by_a_millionth(signs, twice):
    for size, definite in ((1.0 - 1e-6, True), (1.0 + 1e-6, False), (1e3, False)):
        assert updated(*system(signs, size, twice)[:2]).is_definite == definite


def direct(body, low_rank, blocks):
    solver = Direct(BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), CholmodSolver)
    solver.fill(blocks, low_rank)
    return solver


def iterative(body, low_rank, blocks):
    solver = ConjugateGradients(body, CholmodSolver, 1e-8)
    solver.fill(blocks, low_rank)
    return solver


@pytest.mark.parametrize("kind", (direct, iterative))
@SIGNS
def test_of_a_body(signs, kind):
    body = bar(10.0)
    blocks = blocks_of(body)
    A = dense(body, blocks)
    low_rank = low_rank_of(A, signs, 0.9)
    solver, b = kind(body, low_rank, blocks), np.random.default_rng(1).standard_normal((len(A) // 3, 3))
    assert solver.try_factorize() and solver.low_rank is low_rank
    x, whole = solver.solve(b), A + as_matrix(low_rank)
    assert off(x, np.linalg.solve(whole, b.ravel()).reshape(b.shape), whole) <= 1e-6
    assert abs(solver.residual_work - np.sum(x * ((whole @ x.ravel()).reshape(x.shape) - b))) <= 1e-9 * np.sum(x * b)


def test_few_conjugate_gradients_are_the_least_over_what_was_tried():
    """So that they descend and their residual does no work, with the low rank as without."""
    body = bar(10.0)
    blocks = blocks_of(body)
    low_rank = low_rank_of(dense(body, blocks), [1, -1, 0.3], 0.9)
    solver = ConjugateGradients(body, CholmodSolver, 1e-8)
    solver.most_iterations = 5
    solver.fill(blocks, low_rank)
    assert solver.try_factorize()
    b = np.random.default_rng(1).standard_normal((len(solver.free), 3))
    x, whole = solver.solve(b), dense(body, blocks) + as_matrix(low_rank)
    assert abs(np.sum(x * ((whole @ x.ravel()).reshape(x.shape) - b))) <= 1e-9 * np.sum(x * b)


@pytest.mark.parametrize("kind", (direct, iterative))
def test_a_body_whose_sum_is_not_definite_is_solved_without_it(kind):
    body = bar(10.0)
    blocks = blocks_of(body)
    A = dense(body, blocks)
    # A movement of the whole: what conjugate gradients see before they begin.
    Y = (A @ np.tile([0.0, 0.0, 1.0], len(A) // 3)).reshape(-1, 3, 1)
    low_rank = LowRank(Y, np.array([[-1.5 / Y[:, 2].sum()]]))
    assert np.linalg.eigvalsh(A + as_matrix(low_rank))[0] < 0.0
    solver, b = kind(body, low_rank, blocks), np.random.default_rng(1).standard_normal((len(A) // 3, 3))
    assert solver.try_factorize() and solver.low_rank is None
    assert off(solver.solve(b), np.linalg.solve(A, b.ravel()).reshape(b.shape), A) <= 1e-6


@pytest.mark.parametrize("name", ("cholmod", "pcg"))
def test_a_system_with_pins_scales_it_and_knows_it_by_all_vertices(name):
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    model = build_model(mesh, 1e5, 0.3, 1e3, pinned=np.arange(9))
    system = ElasticSystem(model.body, choose(name, model.body), is_exact=True)
    tangent = model.elastic.tangent(model.elastic.deformation(mesh.rest_positions))
    Y = model.mass @ np.random.default_rng(2).standard_normal((model.unknowns, 6))
    low_rank = LowRank(Y.reshape(-1, 3, 2), np.diag([1e4, 1e5]))
    b = np.random.default_rng(1).standard_normal((model.unknowns, 3))
    b[model.pinned] = 0.0
    system.assemble_tangent(tangent, 1e-4, mesh.rest_positions, (), None, low_rank)
    system.factorize()
    x = system.solve(b)
    system.assemble_tangent(tangent, 1e-4, mesh.rest_positions)
    system.factorize()
    without = system.solve(b - 1e-4 * low_rank.times(x))
    assert np.abs(without - x).max() <= 1e-6 * np.abs(x).max() and not x[model.pinned].any()
    assert np.abs(system.solve(b) - x).max() > 1e-2 * np.abs(x).max()


def test_parts_of_a_low_rank():
    _A, low_rank, _whole = system([1, -0.5, 0.2])
    x = np.random.default_rng(2).standard_normal((N, 3))
    full = as_matrix(low_rank)
    np.testing.assert_allclose(low_rank.times(x).ravel(), full @ x.ravel(), rtol=1e-10, atol=1e-9)
    assert low_rank.work(x) == pytest.approx(x.ravel() @ full @ x.ravel(), rel=1e-10)
    assert low_rank.scaled(4.0).work(x) == pytest.approx(4.0 * low_rank.work(x))
    rows = np.array([3, 5, 20])
    assert low_rank.of(rows).work(x[rows]) == pytest.approx(
        low_rank.work(np.where(np.isin(range(N), rows)[:, None], x, 0.0))
    )
