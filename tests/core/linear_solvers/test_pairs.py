"""Coupling of vertices that share no tet, in every linear solver, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.core.mechanics.assembly.pairs import Pairs, joined_pairs, pairs_of
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.mechanics.assembly.stencils import joined_stencils, stencils_of
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.conjugate_gradient import ConjugateGradients
from sinew.core.numerics.linear_solvers.direct import FEW, Direct
from sinew.core.numerics.linear_solvers.superlu import SuperLUSolver

from .bars import bar, blocks_of, dense


def touching(count: int, stencils: int, seed: int, stiffness: float = 1.0) -> sp.csr_matrix:
    """A semi-definite matrix (3n,3n) as contact makes it: normals of four vertices each, any of all."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(stencils):
        row = np.zeros((count, 3))
        row[rng.choice(count, 4, replace=False)] = np.outer([1.0, -0.2, -0.5, -0.3], rng.standard_normal(3))
        rows.append(row.ravel())
    N = sp.csr_matrix(np.array(rows))
    return stiffness * (N.T @ N)


@pytest.mark.parametrize("kind", (CholmodSolver, SuperLUSolver, None))
def test_as_dense(kind):
    """Pairs appear, separate and return; without any, the bits are as before."""
    body = bar(10.0)
    sparsity, blocks = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), blocks_of(body)
    if kind is None:
        solver = ConjugateGradients(body, CholmodSolver, 1e-8)
    else:
        solver = Direct(sparsity, kind)
    A = dense(body, blocks)
    b = np.random.default_rng(1).standard_normal((len(A) // 3, 3))

    def solved(C) -> np.ndarray:
        solver.fill(blocks, None, None if C is None else pairs_of(C))
        assert solver.try_factorize()
        return solver.solve(b)

    alone = solved(None)
    few, others = touching(len(b), 5, 0), touching(len(b), 40, 1)
    for C in (few, others, few, few + others, 100.0 * few):
        whole = A + C.toarray()
        expected = np.linalg.solve(whole, b.ravel())
        error = solved(C).ravel() - expected
        assert error @ whole @ error <= 1e-6**2 * (expected @ whole @ expected)
    assert np.array_equal(solved(None), alone)


def test_what_lies_in_tets_makes_no_pattern():
    """And few pairs keep the order; others are ordered anew."""
    body = bar(10.0)
    sparsity, blocks = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), blocks_of(body)
    solver, n = Direct(sparsity, CholmodSolver), len(sparsity.free)
    alone, own = solver._solver, sparsity.pattern
    inside = Pairs(
        own.block_rows,
        np.repeat(np.arange(n), np.diff(own.block_starts)),
        np.tile(np.eye(3), (len(own.block_rows), 1, 1)),
    )
    solver.fill(blocks, None, inside)
    assert solver._solver is alone and solver.try_factorize()
    b = np.random.default_rng(1).standard_normal((n, 3))
    whole = dense(body, blocks) + inside.matrix(n).toarray()
    np.testing.assert_allclose(solver.solve(b).ravel(), np.linalg.solve(whole, b.ravel()), rtol=1e-6)
    far = np.array([[n - 1, 0], [n - 2, 1]])
    for count in (1, 2):
        few = Pairs(*far[:count].T, np.zeros((count, 3, 3)))
        assert len(sparsity.beside(joined_pairs([inside, few]))) == count
    solver.fill(blocks, None, few)
    assert solver._solver is not alone and solver._solver._order is alone._order
    solver.fill(blocks, None, pairs_of(touching(n, 40, 1)))
    assert solver._solver._order is not alone._order


def test_few_pairs_by_few_are_ordered_anew_in_the_end():
    body = bar(10.0)
    sparsity, blocks = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), blocks_of(body)
    solver, n = Direct(sparsity, CholmodSolver), len(sparsity.free)
    alone = solver._solver
    for count in range(1, FEW + 1):
        far = Pairs(n - 1 - np.arange(count), np.arange(count), np.full((count, 3, 3), 1e9))
        assert len(sparsity.beside(far)) == count
        solver.fill(blocks, None, far)
        assert (solver._solver._order is alone._order) == (count < FEW)


def test_what_is_new_and_soft_is_on_the_diagonal():
    """It is at least as stiff there in any direction; stiff pairs, and the first ones, extend the pattern."""
    body = bar(10.0)
    sparsity, blocks = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), blocks_of(body)
    solver, n, A = Direct(sparsity, CholmodSolver), len(sparsity.free), dense(body, blocks)
    b = np.random.default_rng(1).standard_normal((n, 3))

    def solved(C) -> np.ndarray:
        solver.fill(blocks, None, pairs_of(C))
        assert solver.try_factorize()
        return solver.solve(b).ravel()

    least = np.diag(A).min()
    few, others = touching(n, 5, 0), touching(n, 5, 1)
    others *= 0.01 * least / np.abs(others).max()
    np.testing.assert_allclose(solved(few), np.linalg.solve(A + few.toarray(), b.ravel()), rtol=1e-6, atol=1e-12)
    before = solver._solver
    both = pairs_of(few + others)
    new = solver._sparsity.lacks(both)
    lumped = both.of(new).lumped()
    # In their place, what is no softer.
    instead = lumped.matrix(n).toarray() - both.of(new).matrix(n).toarray()
    assert new.any() and np.linalg.eigvalsh(instead).min() > -1e-12 * least
    found = solved(few + others)
    expected = np.linalg.solve(A + (few + others).toarray() + instead, b.ravel())
    assert solver._solver is before
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    stiff = few + 1e4 * others
    np.testing.assert_allclose(solved(stiff), np.linalg.solve(A + stiff.toarray(), b.ravel()), rtol=1e-6, atol=1e-12)
    assert solver._solver is not before


def test_a_pattern_serves_the_next_step_that_begins_with_it():
    """To the same bits as one that was made anew."""
    body = bar(10.0)
    sparsity, blocks = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned), blocks_of(body)
    used, new = Direct(sparsity, CholmodSolver), Direct(sparsity, CholmodSolver)
    b = np.random.default_rng(1).standard_normal((len(used.free), 3))
    few, others = (pairs_of(touching(len(b), 6, seed)) for seed in (0, 1))

    def solved(solver, pairs) -> np.ndarray:
        solver.fill(blocks, None, pairs)
        assert solver.try_factorize()
        return solver.solve(b)

    expected = solved(new, few)
    for between in ((), (others,), (few, None, few)):
        used.begin_step()
        assert np.array_equal(solved(used, few), expected)
        before = used._solver
        used.begin_step()
        assert np.array_equal(solved(used, few), expected) and used._solver is before
        for pairs in between:
            solved(used, pairs)


def test_stencils():
    """Summed by the vertices that carry their points: as the product of matrices is."""
    rng, k, p, n = np.random.default_rng(0), 30, 12, 9
    shares = sp.random(k, p + 2, 0.2, random_state=0, format="csr")
    shares = sp.vstack([row if row.nnz <= 4 else 0.0 * row for row in shares]).tocsr()
    shares.eliminate_zeros()
    K = rng.standard_normal((k, 3, 3))
    K += K.transpose(0, 2, 1)
    found = joined_stencils([stencils_of(shares[:7], K[:7]), stencils_of(shares[7:], K[7:])])
    ways = sp.kron(shares, sp.eye(3)).toarray()
    expected = ways.T @ sp.block_diag(list(K)).toarray() @ ways
    x = rng.standard_normal((p + 2, 3))
    np.testing.assert_allclose(found.times(x).ravel(), expected @ x.ravel(), atol=1e-12)
    np.testing.assert_allclose(found.matrix(p).toarray(), expected[: 3 * p, : 3 * p], atol=1e-12)
    carriers = np.array([rng.choice(n, 3, replace=False) for _ in range(p)])
    weights = rng.standard_normal((p, 3))
    carriers[::3, 2] = -1
    carried = np.zeros((p, n))
    for c in range(3):
        kept = carriers[:, c] >= 0
        carried[np.flatnonzero(kept), carriers[kept, c]] += weights[kept, c]
    moved = np.kron(carried, np.eye(3))
    pairs = found.pairs(carriers, weights, n)
    np.testing.assert_allclose(pairs.matrix(n).toarray(), moved.T @ expected[: 3 * p, : 3 * p] @ moved, atol=1e-11)
    assert (pairs.rows >= pairs.columns).all() and len(np.unique(pairs.rows * n + pairs.columns)) == len(pairs.rows)


def test_their_algebra():
    n = 12
    C, D = touching(n, 6, 0), touching(n, 9, 1)
    x = np.random.default_rng(2).standard_normal((n, 3))
    both = joined_pairs([pairs_of(C), pairs_of(sp.csr_matrix((3 * n, 3 * n))), pairs_of(D)])
    np.testing.assert_allclose(both.matrix(n) @ x.ravel(), (C + D) @ x.ravel(), atol=1e-12)
    assert len(np.unique(both.rows * n + both.columns)) == len(both.rows) and (both.rows >= both.columns).all()
    kept = np.arange(1, n, 2)
    number = np.full(n, -1)
    number[kept] = np.arange(len(kept))
    scalars = (3 * kept[:, None] + np.arange(3)).ravel()
    y = x[kept]
    expected = 2.0 * (C + D).toarray()[np.ix_(scalars, scalars)] @ y.ravel()
    np.testing.assert_allclose(both.renumbered(number).scaled(2.0).matrix(len(kept)) @ y.ravel(), expected, atol=1e-12)
    assert joined_pairs([]) is None and isinstance(joined_pairs([both]), Pairs)
