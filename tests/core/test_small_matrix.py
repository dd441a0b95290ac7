"""3 x 3 decompositions at the matrices that break careless ones."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.kernels.small_matrix import batch_eigh, batch_stretch, batch_svd

RNG = np.random.default_rng(4)
MATRICES = {
    "random": RNG.normal(size=(50, 3, 3)),
    "zero": np.zeros((1, 3, 3)),
    "identity": np.eye(3)[None],
    "mirror": np.diag([1.0, 1.0, -1.0])[None],
    "rank one": np.outer([1.0, 2, 3], [4.0, 5, 6])[None],
    "rank two": (np.diag([1.0, 1, 0]) @ RNG.normal(size=(3, 3)))[None],
    "tiny": 1e-200 * RNG.normal(size=(5, 3, 3)),
    "huge": 1e150 * RNG.normal(size=(5, 3, 3)),
    "wide range": np.diag([1e8, 1.0, 1e-8])[None],
    "nearly equal": np.eye(3) + 1e-15 * RNG.normal(size=(5, 3, 3)),
}


@pytest.mark.parametrize("F", MATRICES.values(), ids=MATRICES.keys())
def test_svd(F):
    F = np.ascontiguousarray(F)
    U, sigma, V = batch_svd(F)
    scale = max(np.abs(F).max(), 1e-300)
    np.testing.assert_allclose(np.einsum("nij,nj,nkj->nik", U, sigma, V) / scale, F / scale, atol=1e-14)
    for R in (U, V):
        np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (len(F), 1, 1)), atol=1e-13)
        np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-13)
    assert (sigma[:, 0] >= sigma[:, 1]).all()
    assert (sigma[:, 1] >= np.abs(sigma[:, 2])).all()
    assert (np.sign(sigma[:, 2]) * np.sign(np.linalg.det(F / scale)) >= 0).all()


def test_small_singular_values_keep_their_digits():
    U, _, V = batch_svd(RNG.normal(size=(20, 3, 3)))
    exact = np.array([1.0, 1e-5, 1e-10])
    _, sigma, _ = batch_svd(np.ascontiguousarray(U * exact @ V.transpose(0, 2, 1)))
    np.testing.assert_allclose(sigma[:, :2], np.tile(exact[:2], (20, 1)), rtol=1e-10)


@pytest.mark.parametrize("started", ["from the axes", "from any frame"])
def test_eigh(started):
    s = RNG.normal(size=(50, 6))
    s[0] = (1, 1, 1, 0, 0, 0)
    s[1] = 0
    frames = np.tile(np.eye(3), (50, 1, 1))
    if started == "from any frame":
        frames = batch_svd(RNG.normal(size=(50, 3, 3)))[2]
    values, Q = batch_eigh(s, frames)
    np.testing.assert_allclose(Q @ Q.transpose(0, 2, 1), np.tile(np.eye(3), (50, 1, 1)), atol=1e-14)
    back = np.einsum("nij,nj,nkj->nik", Q, values, Q)
    for k, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]):
        np.testing.assert_allclose(back[:, i, j], s[:, k], atol=1e-13)


def test_decompositions_started_from_others_are_as_good():
    """From start to start round-off does not grow, and the values are those of a cold start."""
    rng = np.random.default_rng(4)
    F = np.eye(3) + 0.2 * rng.normal(size=(200, 3, 3))
    V = Q = None
    for _ in range(60):
        G = F @ (np.eye(3) + 1e-2 * rng.normal(size=(200, 3, 3)))
        U, sigma, V = batch_svd(G, V)
        s = batch_stretch(sigma, V)
        values, Q = batch_eigh(s, Q)
    np.testing.assert_allclose(U * sigma[:, None] @ V.transpose(0, 2, 1), G, atol=5e-15)
    for frame in (U, V, Q):
        np.testing.assert_allclose(frame @ frame.transpose(0, 2, 1), np.tile(np.eye(3), (200, 1, 1)), atol=5e-15)
    np.testing.assert_allclose(sigma, batch_svd(G)[1], atol=1e-14)
    np.testing.assert_allclose(np.sort(values), np.sort(sigma), atol=1e-14)
