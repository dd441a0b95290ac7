"""Both direct solvers over the block sparsity: the same solution, and the vertex where a matrix is not definite."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.core.assembly.sparsity import BlockSparsity, element_blocks
from sinew.core.errors import FactorizationError
from sinew.core.linear_solvers.cholesky import CholmodSolver, SuperLUSolver, choose_direct_solver, nested_dissection
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.mesh.tetrahedralize import tetrahedralize
from sinew.core.model.settings import ResolutionSettings

SOLVERS = pytest.mark.parametrize("solver", [CholmodSolver, SuperLUSolver])


@pytest.fixture(scope="module")
def system():
    """A random definite matrix on a small mesh with some vertices left out: sparsity, values, the full matrix."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    surface = SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=6))
    n, m = len(mesh.rest_positions), len(mesh.tets)
    sparsity = BlockSparsity(mesh.tets, n, np.arange(0, n, 7))
    rng = np.random.default_rng(1)
    A = rng.normal(size=(m, 9, 9))
    H = A @ A.transpose(0, 2, 1)
    N = rng.normal(size=(m, 4, 3))
    w, masses = rng.uniform(1, 2, m), rng.uniform(1, 2, m)
    blocks = np.empty((m, 10, 3, 3))
    element_blocks(H, N, w, masses, blocks)
    values = np.empty(len(sparsity.row_indices))
    sparsity.fill(blocks, values)
    full = np.zeros((3 * n, 3 * n))
    for e, tet in enumerate(mesh.tets):
        B = np.zeros((9, 12))
        for a in range(4):
            for i in range(3):
                B[3 * i : 3 * i + 3, 3 * a + i] = N[e, a]
        inertia = masses[e] / 20 * np.kron(np.ones((4, 4)) + np.eye(4), np.eye(3))
        at = (3 * tet[:, None] + np.arange(3)).ravel()
        full[np.ix_(at, at)] += w[e] * B.T @ H[e] @ B + inertia
    free = (3 * sparsity.free[:, None] + np.arange(3)).ravel()
    return sparsity, values, full[np.ix_(free, free)]


def test_assembly_equals_the_plain_sum(system):
    sparsity, values, full = system
    lower = sp.csc_matrix((values, sparsity.row_indices, sparsity.column_starts), shape=full.shape).toarray()
    np.testing.assert_allclose(lower, np.tril(full), atol=1e-12 * np.abs(full).max())


@SOLVERS
def test_solution(system, solver):
    sparsity, values, full = system
    b = np.random.default_rng(2).normal(size=sparsity.size)
    direct = solver(sparsity)
    for scale in (1.0, 3.0):
        direct.factorize(scale * values)
        np.testing.assert_allclose(scale * full @ direct.solve(b), b, atol=1e-9)


@SOLVERS
def test_a_matrix_that_is_not_definite_names_its_vertex(system, solver):
    sparsity, values, _full = system
    for number in (3, len(sparsity.free) // 2, len(sparsity.free) - 2):
        broken = values.copy()
        broken[sparsity.column_starts[3 * number]] = -1e9
        direct = solver(sparsity)
        with pytest.raises(FactorizationError):
            direct.factorize(broken)
        assert direct.weak_vertex(broken) == sparsity.free[number]


def test_nested_dissection_is_a_permutation(system):
    order = nested_dissection(system[0])
    assert order is not None
    assert np.array_equal(np.sort(order), np.arange(system[0].size))


def test_the_choice_says_why():
    choice = choose_direct_solver()
    assert choice.solver is CholmodSolver
    assert "cvxopt" in choice.reason
