"""Cubature by moment fitting: exact for products of columns of the basis, with few tets where weights are simple."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sinew.benchmarks.bodies import block
from sinew.benchmarks.multilevel.cubature import fitted_volumes
from sinew.core.methods.handles.affine_handles import affine_basis, handles_of

BEAM = block((20, 6, 6), (4.0, 1.0, 1.0))
X, TETS = BEAM.rest_positions, BEAM.tets


def _fit(E, count=3):
    labels, (weights, _pinned, centres) = handles_of(X, TETS, E, np.zeros(0, dtype=np.int64), count)
    A = affine_basis(weights, X, X[centres])
    return labels, A, fitted_volumes(A, TETS, BEAM.volumes, labels)


def test_the_moments_of_every_cluster_are_exact():
    labels, A, weights = _fit(np.ones(len(TETS)))
    at_centres = A.toarray()[TETS].mean(axis=1)
    assert weights.min() >= 0.0
    for k in range(labels.max() + 1):
        of = labels == k
        columns, V, w = at_centres[of], BEAM.volumes[of], weights[of]
        exact = np.einsum("ti,tj,t->ij", columns, columns, V)
        np.testing.assert_allclose(
            np.einsum("ti,tj,t->ij", columns, columns, w), exact, atol=1e-8 * np.abs(exact).max()
        )
        np.testing.assert_allclose(columns.T @ w, columns.T @ V, atol=1e-8)
        np.testing.assert_allclose(w.sum(), V.sum(), rtol=1e-8)


def test_fewer_tets_than_all_are_kept_and_fewer_where_the_body_is_stiff():
    _labels, _A, weights = _fit(np.ones(len(TETS)))
    assert 0 < np.count_nonzero(weights) < 0.4 * len(TETS)
    stiff = np.abs(X[TETS].mean(axis=1)[:, 0] - 2.0) < 1.2
    _labels, _A, weights = _fit(np.where(stiff, 1e4, 1.0), 6)
    assert np.mean(weights[stiff] > 0.0) < np.mean(weights[~stiff] > 0.0)


def test_all_tets_are_kept_if_their_number_does_not_exceed_the_moments():
    mesh = block((2, 2, 2), (1.0, 1.0, 1.0))
    A = affine_basis(_one(len(mesh.rest_positions)), mesh.rest_positions, np.zeros((1, 3)))
    weights = fitted_volumes(A, mesh.tets, mesh.volumes, np.zeros(len(mesh.tets), dtype=np.int64))
    assert 10 <= np.count_nonzero(weights) <= len(mesh.tets)
    np.testing.assert_allclose(weights.sum(), 1.0)


def _one(n):
    return sp.csr_matrix(np.ones((n, 1)))
