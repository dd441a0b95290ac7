"""All direct solvers over the block sparsity: the same solution, and the vertex where a matrix is not definite."""

from __future__ import annotations

import importlib.util
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.core.foundation.errors import FactorizationError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.mechanics.assembly.elements import ElementNodes
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.numerics.linear_solvers import cholmod, ordering
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver, supernodes
from sinew.core.numerics.linear_solvers.factorized import factorized
from sinew.core.numerics.linear_solvers.ordering import (
    METIS,
    METIS_FROM,
    MINIMUM_DEGREE,
    expand,
    factor_entries,
    minimum_degree,
    nested_dissection,
    sparsest,
)
from sinew.core.numerics.linear_solvers.registry import DIRECT_SOLVERS, installed

SOLVERS = pytest.mark.parametrize(
    "solver",
    [
        pytest.param(solver, marks=pytest.mark.skipif(not installed(solver), reason=f"{solver.package} is missing"))
        for solver in DIRECT_SOLVERS
    ],
    ids=lambda solver: solver.name,
)


@pytest.fixture(scope="module")
def system():
    """A random definite matrix on a small mesh with some vertices left out: sparsity, values, the full matrix."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    surface = SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=6))
    n, m = len(mesh.rest_positions), len(mesh.tets)
    sparsity = BlockSparsity(ElementNodes.of_tets(mesh.tets), n, np.arange(0, n, 7))
    rng = np.random.default_rng(1)
    A = rng.normal(size=(m, 9, 9))
    H = A @ A.transpose(0, 2, 1)
    N = rng.normal(size=(m, 4, 3))
    w, masses = rng.uniform(1, 2, m), rng.uniform(1, 2, m)
    blocks = np.empty((m, 10, 3, 3))
    full = np.zeros((3 * n, 3 * n))
    for e, tet in enumerate(mesh.tets):
        B = np.zeros((9, 12))
        for a in range(4):
            for i in range(3):
                B[3 * i : 3 * i + 3, 3 * a + i] = N[e, a]
        K = w[e] * B.T @ H[e] @ B + masses[e] / 20 * np.kron(np.ones((4, 4)) + np.eye(4), np.eye(3))
        blocks[e] = [K[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(4) for b in range(a + 1)]
        at = (3 * tet[:, None] + np.arange(3)).ravel()
        full[np.ix_(at, at)] += K
    values = np.empty(len(sparsity.pattern.row_indices))
    sparsity.fill(blocks.reshape(-1, 3, 3), values)
    free = (3 * sparsity.free[:, None] + np.arange(3)).ravel()
    return sparsity.pattern, values, full[np.ix_(free, free)]


def test_assembly_equals_the_plain_sum(system):
    pattern, values, full = system
    lower = sp.csc_matrix((values, pattern.row_indices, pattern.column_starts), shape=full.shape).toarray()
    np.testing.assert_allclose(lower, np.tril(full), atol=1e-12 * np.abs(full).max())


@SOLVERS
def test_solution(system, solver):
    pattern, values, full = system
    b = np.random.default_rng(2).normal(size=pattern.size)
    direct = solver(pattern)
    for scale in (1.0, 3.0):
        direct.factorize(scale * values)
        np.testing.assert_allclose(scale * full @ direct.solve(b), b, atol=1e-9)


@SOLVERS
def test_several_right_hand_sides(system, solver):
    pattern, values, full = system
    b = np.random.default_rng(3).normal(size=(pattern.size, 3))
    direct = solver(pattern)
    direct.factorize(values)
    np.testing.assert_allclose(full @ direct.solve(b), b, atol=1e-9)


@SOLVERS
def test_halves_of_a_solution(system, solver):
    """``b . A^-1 c`` by the first half of each; both make a whole one."""
    pattern, values, full = system
    B = np.random.default_rng(5).normal(size=(pattern.size, 4))
    B[:, 3] = 0.0
    direct = solver(pattern)
    direct.factorize(values)
    halves, expected = direct.forward(B), np.linalg.solve(full, B)
    assert np.abs(halves.T @ halves - B.T @ expected).max() <= 1e-12 * np.abs(B.T @ expected).max()
    for k in range(4):
        half = direct.forward(B[:, k])
        assert half.shape == (pattern.size,) and np.abs(half - halves[:, k]).max() <= 1e-12 * np.abs(halves).max()
        assert np.abs(direct.backward(half) - expected[:, k]).max() <= 1e-11 * np.abs(expected).max()


@SOLVERS
def test_the_same_input_gives_the_same_bits(system, solver):
    pattern, values, _full = system
    b = np.random.default_rng(4).normal(size=pattern.size)
    solutions = []
    for _ in range(2):
        direct = solver(pattern)
        direct.factorize(values)
        solutions.append(direct.solve(b))
    np.testing.assert_array_equal(*solutions)


@SOLVERS
def test_a_matrix_that_is_not_definite_names_its_vertex(system, solver):
    pattern, values, _full = system
    for number in (3, len(pattern.free) // 2, len(pattern.free) - 2):
        broken = values.copy()
        broken[pattern.column_starts[3 * number]] = -1e9
        direct = solver(pattern)
        with pytest.raises(FactorizationError):
            direct.factorize(broken)
        assert direct.weak_vertex(broken) == pattern.free[number]
        direct.factorize(values)  # and goes on from there


@SOLVERS
def test_an_unknown_without_stiffness_names_its_vertex(system, solver):
    pattern, values, _full = system
    number = 3 * (len(pattern.free) // 2)
    columns = np.repeat(np.arange(pattern.size), np.diff(pattern.column_starts))
    singular = np.where((pattern.row_indices == number) | (columns == number), 0.0, values)
    direct = solver(pattern)
    with pytest.raises(FactorizationError):
        direct.factorize(singular)
    assert direct.weak_vertex(singular) == pattern.free[number // 3]


needs_metis = pytest.mark.skipif(importlib.util.find_spec("pymetis") is None, reason="there is no METIS (Windows)")


@needs_metis
def test_nested_dissection_is_a_permutation(system):
    order = nested_dissection(system[0])
    assert order is not None
    assert np.array_equal(np.sort(order), np.arange(len(system[0].free)))


@pytest.mark.parametrize(
    "order_of",
    [pytest.param(nested_dissection, marks=needs_metis), lambda pattern: np.arange(len(pattern.free))],
)
def test_the_size_of_the_factor(system, order_of):
    pattern, values, full = system
    order = order_of(pattern)
    scalar = expand(order, 3)
    # The pattern of the factor does not depend on the values: with these nothing cancels.
    generic = np.where(full != 0.0, -1e-3, 0.0) + np.diag(np.full(len(full), 10.0))
    factor = np.linalg.cholesky(generic[np.ix_(scalar, scalar)])
    assert factor_entries(pattern, order) == np.count_nonzero(factor)


def _block_pattern(*cells):
    """Return the pattern of a lattice of so many cells, six tets each."""
    corners = np.indices(np.add(cells, 1)).reshape(3, -1).T
    number = np.arange(len(corners)).reshape(np.add(cells, 1))
    ways = np.cumsum(np.eye(3, dtype=int)[list(itertools.permutations(range(3)))], axis=1)
    at = np.indices(cells).reshape(3, -1).T[:, None, None] + np.pad(ways, ((0, 0), (1, 0), (0, 0)))[None]
    return BlockSparsity(
        ElementNodes.of_tets(number[tuple(at.reshape(-1, 4, 3).transpose(2, 0, 1))]), len(corners), np.arange(4)
    ).pattern


@needs_metis
def test_the_order_that_leaves_least(monkeypatch):
    """A thin body is not handed to METIS, a small one neither; of a thick one the better order is taken."""
    thick, thin = _block_pattern(13, 13, 13), _block_pattern(500, 1, 1)
    assert min(len(each.free) for each in (thick, thin)) >= METIS_FROM
    orders = nested_dissection(thick), minimum_degree(thick)
    entries = [factor_entries(thick, order) for order in orders]
    found = sparsest(thick)
    assert found.entries == min(entries) == entries[0] and found.by == METIS
    assert np.array_equal(found.vertices, orders[0])

    monkeypatch.setattr(ordering, "nested_dissection", None)
    for pattern in (thin, _block_pattern(8, 8, 8)):
        found = sparsest(pattern)
        assert found.by == MINIMUM_DEGREE and found.entries == factor_entries(pattern, found.vertices)


@SOLVERS
def test_a_matrix_of_three_unknowns_a_vertex(solver, system):
    pattern, _values, full = system
    b = np.random.default_rng(2).normal(size=len(full))
    found = factorized(sp.csc_matrix(full), solver, pattern)
    x = found.solve(b)
    assert np.abs(full @ x - b).max() <= 1e-10 * np.abs(b).max()
    if solver is CholmodSolver:
        assert found.factor_entries == solver(pattern).factor_entries


@SOLVERS
def test_a_plain_sparse_matrix(solver):
    rng = np.random.default_rng(4)
    B = sp.random(40, 40, 0.1, random_state=rng, format="csr")
    A = B @ B.T + sp.identity(40)
    b = rng.normal(size=(40, 3))
    x = factorized(A, solver).solve(b)
    assert np.abs(A @ x - b).max() <= 1e-12 * np.abs(b).max()
    with pytest.raises(FactorizationError):
        factorized(A - 2.0 * sp.identity(40), solver)


def test_cholmods_factor_is_read(system, monkeypatch):
    """Without it several right-hand sides go one by one, which is told."""
    pattern, values, full = system
    solver = CholmodSolver(pattern)
    solver.factorize(values)
    assert supernodes(solver._factor, pattern.size) is not None
    assert supernodes(solver._factor, pattern.size + 1) is None
    b = np.zeros((pattern.size, 101))  # more than one thread's, and no multiple of what registers hold
    b[np.arange(101) % pattern.size, np.arange(101)] = 1.0
    assert np.abs(full @ solver.solve(b) - b).max() <= 1e-10
    assert np.abs(solver.solve(np.asfortranarray(b)) - solver.solve(b)).max() == 0.0
    assert solver.label == CholmodSolver.label
    monkeypatch.setattr(cholmod, "supernodes", lambda *_: None)
    assert np.abs(full @ solver.solve(b) - b).max() <= 1e-10 and "slow" in solver.label
