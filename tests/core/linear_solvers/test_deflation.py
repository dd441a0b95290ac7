"""Block rows, groups of vertices, and the coarse space of their affine movements."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.mechanics.assembly.block_rows import BlockRows
from sinew.core.mechanics.assembly.elements import ElementNodes
from sinew.core.mechanics.assembly.pairs import Pairs
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.deflation import AffineDeflation
from sinew.core.numerics.linear_solvers.iteration import Limits, iterate
from sinew.core.numerics.linear_solvers.preconditioner import Preconditioner
from sinew.core.numerics.linear_solvers.stiff_parts import (
    BAND,
    MOST_PARTS,
    PIECE,
    stiffness_bands,
    thin_stiff_vertices,
    vertex_groups,
)

from .bars import bar, blocks_of, dense


@pytest.fixture(scope="module")
def rows():
    """A bar's matrix by block rows, and the whole of it."""
    body = bar(1e3)
    A = BlockRows(body.elements.nodes, body.free_numbers())
    blocks = blocks_of(body)
    A.fill(blocks)
    return body, A, dense(body, blocks)


def test_product_equals_the_dense_one(rows):
    body, A, full = rows
    x = np.random.default_rng(0).normal(size=(len(full) // 3, 3))
    np.testing.assert_allclose(A.times(x).ravel(), full @ x.ravel(), atol=1e-12 * np.abs(full).max())


def test_a_diagonal_block_that_is_not_definite_is_found(rows):
    body, A, _full = rows
    preconditioner = Preconditioner(np.zeros(0, dtype=np.int64), CholmodSolver)
    assert preconditioner.try_factorize(A) is None
    kept = A.values.copy()
    A.values[A.diagonal[17], 2, 2] = 0.0
    assert preconditioner.try_factorize(A) == 17
    A.values[:] = kept


def test_few_vertices_get_the_dense_factor_of_their_matrix(rows):
    """Together with the stiff pairs that couple vertices far from one another. Their order is of no consequence."""
    body, A, full = rows
    thin = np.flatnonzero(body.rest_positions[body.rest_positions[:, 0] > 0][:, 1] == 0.0)[:60]
    far = int(thin[-1]), int(thin[0])
    stiff = 1e5 * np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.5, 0.0, 4.0]])
    blocks = blocks_of(body)
    ends = np.array([far[1], far[0], far[0]]), np.array([far[1], far[0], far[1]])
    A.fill(blocks, Pairs(*ends, np.array([1e6 * np.eye(3), 1e6 * np.eye(3), stiff])))
    whole = full.copy().reshape(len(A), 3, len(A), 3)
    for v in far:
        whole[v, :, v] += 1e6 * np.eye(3)
    whole[far[0], :, far[1]] += stiff
    whole[far[1], :, far[0]] += stiff.T
    preconditioner = Preconditioner(thin, CholmodSolver)
    assert preconditioner.try_factorize(A) is None
    vertices, factor = preconditioner.dense
    assert sorted(vertices) == sorted(thin)
    at = (3 * vertices[:, None] + np.arange(3)).ravel()
    L, expected = np.tril(factor.L), whole.reshape(3 * len(A), -1)[np.ix_(at, at)]
    np.testing.assert_allclose(L @ L.T, expected, atol=1e-10 * np.abs(expected).max())
    # A vertex whose block alone is definite, but not beside its neighbours.
    A.values[A.diagonal[thin[30]]] *= 1e-3
    assert preconditioner.try_factorize(A) in thin
    A.fill(blocks)


def subspace(deflation: AffineDeflation, free_positions: np.ndarray) -> np.ndarray:
    """A dense basis of what the deflation should span, from the definition."""
    columns = []
    for g in range(deflation.count):
        inside = (deflation.groups == g)[:, None]
        for function in np.column_stack([np.ones(len(free_positions)), free_positions]).T:
            for axis in np.eye(3):
                columns.append((inside * function[:, None] * axis).ravel())
    U, s, _ = np.linalg.svd(np.array(columns).T, full_matrices=False)
    return U[:, s > 1e-9 * s[0]]


@pytest.mark.parametrize("flat", [False, True])
def test_first_iterate_and_residual_correction_equal_the_dense_formulas(rows, flat):
    """Without an iteration, x is the coarse solution, and z the preconditioned and deflated residual of x."""
    body, A, full = rows
    X = body.rest_positions[body.rest_positions[:, 0] > 0]
    groups = (X[:, 0] > 6).astype(int)
    if flat:
        groups[X[:, 0] == 12] = 2  # a plane: three affine functions only
    deflation = AffineDeflation(groups, X)
    assert deflation.factorize(A) is None
    W = subspace(deflation, X)
    b = np.random.default_rng(1).normal(size=X.shape)
    preconditioner = Preconditioner(np.zeros(0, dtype=np.int64), CholmodSolver)
    assert preconditioner.try_factorize(A) is None
    solution = iterate(A, preconditioner, deflation, None, b, Limits(1e-8, 1.0, 1.0, 0.0, 0))
    expected = W @ np.linalg.solve(W.T @ full @ W, W.T @ b.ravel())
    np.testing.assert_allclose(solution.x.ravel(), expected, atol=1e-9 * np.abs(expected).max())
    r = b.ravel() - full @ expected
    z = np.einsum("vij,vj->vi", preconditioner.inverses, r.reshape(-1, 3)).ravel()
    expected = z + W @ np.linalg.solve(W.T @ full @ W, W.T @ (r - full @ z))
    np.testing.assert_allclose(solution.z.ravel(), expected, atol=1e-9 * np.abs(expected).max())
    assert solution.work == pytest.approx(r @ expected, rel=1e-9)


def test_a_matrix_that_is_not_definite_in_a_group_names_it(rows):
    body, A, _full = rows
    X = body.rest_positions[body.rest_positions[:, 0] > 0]
    deflation = AffineDeflation((X[:, 0] > 6).astype(int), X)
    kept = A.values.copy()
    A.values[A.diagonal[X[:, 0] == 12]] -= 1e4 * np.eye(3)
    assert deflation.factorize(A) == 1
    A.values[:] = kept
    assert deflation.factorize(A) is None


def test_bands_split_at_jumps_and_keep_noise_together():
    noise = np.random.default_rng(0).uniform(0.8, 1.2, 100)
    bands = stiffness_bands(np.concatenate([1e5 * noise, 1e9 * noise]))
    assert len(np.unique(bands)) == 2
    assert (bands[:100] < bands[100:]).all()


def test_bands_of_a_gradient_are_narrow():
    stiffness = np.logspace(3, 9, 601)
    bands = stiffness_bands(stiffness)
    spans = [np.ptp(np.log10(stiffness[bands == b])) for b in np.unique(bands)]
    assert len(spans) == 4
    assert max(spans) <= BAND
    assert (np.diff(bands) >= 0).all()


def graph_of(tets: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    number = np.full(tets.max() + 1, -1)
    number[free] = np.arange(len(free))
    rows = BlockRows(ElementNodes.of_tets(tets), number)
    return rows.starts, rows.columns


def grouped(X: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, free: np.ndarray | None = None) -> np.ndarray:
    free = np.arange(len(X)) if free is None else free
    return vertex_groups(X, tets, stiffness, free, *graph_of(tets, free))


def test_bones_are_thin_and_cubes_are_not():
    """Two stiff bars and a stiff cube of 12 cells in a soft block: the vertices of the bars alone."""
    mesh = block((24, 16, 16), (24, 16, 16))
    X, tets = mesh.rest_positions, mesh.tets
    x, y, z = X[tets].mean(axis=1).T
    bars = (x < 23) & (y < 2) & ((z < 2) | (z > 14))
    cube = (x > 10) & (x < 22) & (y > 3) & (y < 15) & (z > 3) & (z < 13)
    free = np.arange(40, len(X))
    stiffness = np.where(bars | cube, 1e9, 1e5)
    found = thin_stiff_vertices(X, tets, stiffness, free, grouped(X, tets, stiffness, free))
    assert np.array_equal(free[found], np.setdiff1d(np.unique(tets[bars]), np.arange(40)))
    stiffness = np.where(bars, 2e6, 1e5)
    assert not len(thin_stiff_vertices(X, tets, stiffness, free, grouped(X, tets, stiffness, free)))


def test_a_rigid_tet_is_exact_at_any_stiffness():
    """Its vertices are found although it is neither thin nor stiffer than the block; a larger island is not."""
    mesh, island = block((4, 2, 2), (4, 2, 2)), block((1, 1, 1), (1, 1, 1))
    n, m = len(mesh.rest_positions), len(island.rest_positions)
    corners = np.vstack([np.zeros(3), np.eye(3)])
    X = np.concatenate([mesh.rest_positions, island.rest_positions + 10.0, corners + 20.0])
    tets = np.concatenate([mesh.tets, island.tets + n, np.arange(4)[None] + n + m])
    free, stiffness = np.arange(len(X)), np.full(len(tets), 1e5)
    found = thin_stiff_vertices(X, tets, stiffness, free, grouped(X, tets, stiffness, free))
    assert np.array_equal(found, np.arange(n + m, n + m + 4))


def test_stiff_parts_are_groups_of_their_own():
    """Two stiff cubes in a soft block, and an island: each vertex of a stiff tet is in its part's groups."""
    mesh = block((9, 3, 3), (9, 3, 3))
    X, tets = mesh.rest_positions, mesh.tets
    centres = X[tets].mean(axis=1)
    left, right = centres[:, 0] < 2, centres[:, 0] > 7
    stiffness = np.where(left | right, 1e8, 1e3)
    island = block((2, 2, 2), (2, 2, 2))
    X = np.concatenate([X, island.rest_positions + 100.0])
    tets = np.concatenate([tets, island.tets + tets.max() + 1])
    stiffness = np.concatenate([stiffness, np.full(len(island.tets), 1e3)])
    groups = grouped(X, tets, stiffness)
    sets = [X[:, 0] <= 2, (X[:, 0] > 2) & (X[:, 0] < 7), (X[:, 0] >= 7) & (X[:, 0] < 50), X[:, 0] > 50]
    for a, first in enumerate(sets):
        for second in sets[:a]:
            assert not np.intersect1d(groups[first], groups[second]).size
    assert np.array_equal(np.unique(groups), np.arange(groups.max() + 1))
    assert np.bincount(groups).max() <= 1.5 * max(PIECE * np.sqrt(len(X)), 8)  # METIS balances roughly


def test_many_parts_share_a_group():
    """More stiff pebbles than may have a group: the smallest are put together, the soft body keeps its own."""
    tets = np.arange(4 * 100).reshape(-1, 4)
    X = np.random.default_rng(0).normal(size=(400, 3))
    groups = grouped(X, tets, np.ones(100))
    assert groups.max() + 1 <= MOST_PARTS + 2 * np.sqrt(400) / PIECE


def test_pinned_vertices_are_left_out():
    mesh = block((3, 3, 3), (3, 3, 3))
    X, tets = mesh.rest_positions, mesh.tets
    assert grouped(X, tets, np.ones(len(tets)), np.arange(5, len(X))).shape == (len(X) - 5,)
