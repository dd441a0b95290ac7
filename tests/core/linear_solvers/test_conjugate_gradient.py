"""Deflated conjugate gradients against a dense solution."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.kernels import jit, phases, shared_items
from sinew.core.mechanics.assembly.block_rows import BlockRows
from sinew.core.mechanics.assembly.elements import ElementNodes
from sinew.core.mechanics.assembly.pairs import pairs_of
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.conjugate_gradient import ConjugateGradients

from .bars import bar, blocks_of, dense
from .test_pairs import touching

STIFF = 1e4
"""Largest stiffness at which round-off of the dense solution still permits the comparison."""


class Problem:
    """A bar with a very stiff middle, its matrix, a load and the exact solution."""

    def __init__(self, stiff: float = STIFF) -> None:
        self.body = bar(stiff)
        self.blocks = blocks_of(self.body)
        self.A = dense(self.body, self.blocks)
        self.b = np.random.default_rng(0).normal(size=(len(self.A) // 3, 3))
        self.exact = np.linalg.solve(self.A, self.b.ravel())

    def solver(self, iterations: int, tolerance: float = 1e-8, **options) -> ConjugateGradients:
        solver = ConjugateGradients(self.body, CholmodSolver, tolerance, **options)
        solver.most_iterations = iterations
        solver.fill(self.blocks)
        assert solver.try_factorize()
        return solver

    def energy(self, error: np.ndarray) -> float:
        return float(error @ self.A @ error)

    def error(self, x: np.ndarray) -> float:
        return float(np.sqrt(self.energy(x.ravel() - self.exact) / self.energy(self.exact)))


@pytest.fixture(scope="module")
def problem():
    return Problem()


def test_many_iterations_give_the_exact_solution(problem):
    solver = problem.solver(500)
    assert problem.error(solver.solve(problem.b)) < 1e-7
    assert solver.iterations < 100


def test_deflation_by_stiff_parts_beats_that_by_the_whole_body(problem):
    whole = np.zeros(len(problem.b), dtype=np.int64)
    assert problem.error(problem.solver(20).solve(problem.b)) < 1e-2 * problem.error(
        problem.solver(20, groups=whole).solve(problem.b)
    )


@pytest.mark.parametrize("iterations", [1, 2, 5, 10])
def test_every_iterate_is_a_minimiser_over_what_was_tried(problem, iterations):
    """So its residual does no work on it, it descends, and more iterations are never worse."""
    solver = problem.solver(iterations)
    x = solver.solve(problem.b)
    descent = np.sum(problem.b * x)
    assert descent > 0
    residual = problem.A @ x.ravel() - problem.b.ravel()
    assert abs(x.ravel() @ residual) < 1e-8 * descent
    assert solver.residual_work == pytest.approx(x.ravel() @ residual, abs=1e-9 * descent)
    assert problem.error(x) < problem.error(problem.solver(iterations - 1).solve(problem.b))


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3])
def test_the_shortfall_tells_how_much_is_missing(problem, tolerance):
    solver = problem.solver(400, tolerance)
    x = solver.solve(problem.b)
    missing = problem.exact - x.ravel()
    error_estimate = solver.error_estimate()
    movement = np.linalg.norm(missing.reshape(-1, 3), axis=1).max()
    assert 0.5 * problem.energy(missing) < error_estimate.decrement < 100 * problem.energy(missing)
    assert 0.5 * movement < error_estimate.movement < 100 * movement


def test_the_shortfall_of_a_rigid_part_in_a_soft_body():
    """Far beyond what a dense solution can tell, the estimate falls with the iterations and never grows stale."""
    problem = Problem(1e12)
    estimates = []
    for iterations in (2, 10, 30):
        solver = problem.solver(iterations)
        solver.solve(problem.b)
        estimates.append(solver.error_estimate())
    assert estimates[0].movement > 10 * estimates[1].movement > 100 * estimates[2].movement


def test_the_tolerance_ends_the_iteration(problem):
    loose, tight = problem.solver(500, tolerance=1e-2), problem.solver(500)
    loose.solve(problem.b)
    tight.solve(problem.b)
    assert loose.iterations < tight.iterations


def test_displacements_that_the_stop_rule_neglects_need_not_be_exact():
    problem = Problem(10.0)
    solver, size = problem.solver(500, 1e-2), np.abs(problem.exact).max()
    usual = solver.solve(problem.b)
    count, missing = solver.iterations, np.abs(solver.error_estimate().movement)
    solver.begin_step(0.3 * size)
    assert np.array_equal(solver.solve(problem.b), usual)  # the solution is larger
    solver.begin_step(10.0 * size)
    solver.solve(problem.b)
    assert solver.iterations < count
    assert missing < solver.error_estimate().movement < 10.0 * size


def test_no_load_no_movement(problem):
    solver = problem.solver(5)
    assert not solver.solve(np.zeros_like(problem.b)).any()
    assert solver.error_estimate() == (0.0, 0.0)


def test_another_step_length_renews_the_preconditioner(problem):
    solver = problem.solver(500)
    for scale in (1e-2, 1e2):
        blocks = blocks_of(problem.body, scale)
        solver.fill(blocks)
        assert solver.try_factorize()
        A = dense(problem.body, blocks)
        x = solver.solve(problem.b).ravel()
        np.testing.assert_allclose(x, np.linalg.solve(A, problem.b.ravel()), atol=1e-6 * np.abs(x).max())
        assert solver.iterations < 150


def test_stiffness_from_outside_costs_few_iterations(problem):
    blocks = problem.blocks.copy()
    pressed = np.arange(9, len(blocks), 50)  # of each fifth tet's last corner, along z
    blocks[pressed, 2, 2] += 1e6 * np.abs(problem.blocks[9::10]).max()
    exact = np.linalg.solve(dense(problem.body, blocks), problem.b.ravel())
    solver = problem.solver(2000)
    solver.fill(blocks)
    assert solver.try_factorize()
    np.testing.assert_allclose(solver.solve(problem.b).ravel(), exact, atol=1e-5 * np.abs(exact).max())
    assert solver.iterations < 150
    solver.fill(problem.blocks)  # what has let go leaves nothing behind
    assert solver.try_factorize()
    x = solver.solve(problem.b).ravel()
    np.testing.assert_allclose(x, problem.exact, atol=1e-5 * np.abs(problem.exact).max())


def test_a_matrix_that_is_not_definite_is_refused_or_ends_in_a_descent(problem):
    """A negative eigenvalue that neither diagonal blocks nor affine movements show."""
    solver = problem.solver(50)
    negative = problem.blocks.copy()
    K = np.random.default_rng(5).normal(size=(len(problem.body.tets), 3, 3))
    for pair, sign in zip(range(10), (0, 1, 0, 1, 1, 0, 1, 1, 1, 0), strict=True):
        negative[pair::10] += sign * 0.02 * (K + K.transpose(0, 2, 1))
    A = dense(problem.body, negative)
    assert np.linalg.eigvalsh(A)[0] < 0
    solver.fill(negative)
    if solver.try_factorize():
        x = solver.solve(problem.b)
        assert np.isfinite(x).all()
        assert np.sum(x * problem.b) > 0 and solver.is_indefinite
    else:
        assert solver.weak_vertex() in solver.free


def test_an_inverted_diagonal_names_its_vertex(problem):
    solver = problem.solver(5)
    broken = problem.blocks.copy()
    tet = len(problem.body.tets) // 2
    broken[10 * tet] -= 1e12 * np.eye(3)
    solver.fill(broken)
    assert not solver.try_factorize()
    assert solver.weak_vertex() == problem.body.tets[tet, 0]


def test_the_same_input_gives_the_same_bits(problem):
    first, second = (problem.solver(10).solve(problem.b) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    """A body with more vertices than one thread takes alone, with contact pairs and a thin stiff part."""
    body = bar(1e4, cells=(40, 6, 6))
    across = body.rest_positions[body.tets].mean(axis=1)[:, 1:]
    body = body._replace(shear_modulus=np.where((across < 1.0).all(axis=1), 1e4, 1.0))
    blocks, count = blocks_of(body), len(body.rest_positions) - len(body.pinned)
    assert count > jit.FEW
    pairs = pairs_of(touching(count, 40, 0, 1e3))
    b, ends = np.random.default_rng(0).normal(size=(count, 3)), []
    for threads in (1, 2):
        for module in (jit, phases, shared_items):
            monkeypatch.setattr(module, "THREADS", threads)
        solver = ConjugateGradients(body, CholmodSolver)
        solver.fill(blocks, pairs=pairs)
        assert solver.try_factorize() and len(solver._preconditioner.thin)
        ends.append(solver.solve(b))
    assert solver.iterations > 3
    np.testing.assert_array_equal(*ends)


def test_numbers_of_four_bytes_do_not_run_over():
    """NumPy before 2.0 makes such on Windows, and products of two of them pass their end from 46,341 vertices on."""
    assert bar(STIFF).free_numbers().dtype == np.int64
    last = 60_000 + np.arange(4)
    A = BlockRows(ElementNodes.of_tets(last[None]), np.arange(60_004, dtype=np.int32))
    assert np.array_equal(np.flatnonzero(np.diff(A.starts)), last)
    assert np.array_equal(A.columns.reshape(4, 4), [last] * 4)
