"""Dense Cholesky factors of matrices with leading zeros: LAPACK factorises the leading rows, a loop the others."""

import numpy as np
import pytest
from sinew.core.numerics.linear_solvers.factorized import factorized_dense


def chain(dense, links, size=12):
    """A positive definite matrix: a dense block, and blocks of a chain that begins at its end."""
    count = dense + links
    A, random = np.zeros((size * count, size * count)), np.random.default_rng(0)
    for blocks in (range(dense), *((k - 1, k) for k in range(max(dense, 1), count))):
        at = np.concatenate([np.arange(size * k, size * (k + 1)) for k in blocks])
        B = random.normal(size=(len(at), len(at) + 3))
        A[np.ix_(at, at)] += B @ B.T
    return A + np.eye(len(A))


@pytest.mark.parametrize("sizes", [(1, 0), (6, 0), (5, 15), (1, 30)])
def test_the_factor_is_numpys(sizes):
    A = chain(*sizes)
    factor, weak = factorized_dense(A.copy())
    assert weak is None
    np.testing.assert_allclose(np.tril(factor.L), np.linalg.cholesky(A), rtol=0.0, atol=1e-10 * np.abs(A).max() ** 0.5)


@pytest.mark.parametrize("row", [3, 40, 150, 200])
def test_the_row_where_a_matrix_is_not_positive_definite(row):
    A = chain(5, 15)
    A[row, row] = -1.0
    assert factorized_dense(A)[1] == row
