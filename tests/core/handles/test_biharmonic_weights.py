"""Weights of [SMS25] Sec. 3.5: their bounds, supports and Dirichlet sets, and the energy that they minimize."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.methods.handles.affine_handles import affine_basis, handles_of
from sinew.core.methods.handles.biharmonic_weights import biharmonic_weights
from sinew.core.methods.handles.partition import partition

BEAM = block((16, 4, 4), (4.0, 1.0, 1.0))
X, TETS = BEAM.rest_positions, BEAM.tets
CENTRES = X[TETS].mean(axis=1)
STIFF = np.where(np.abs(CENTRES[:, 0] - 2.0) < 0.5, 1e4, 1.0)
NONE = np.zeros(0, dtype=np.int64)

BODIES = pytest.mark.parametrize("E", [np.ones(len(TETS)), STIFF], ids=["homogeneous", "stiff middle"])
PINS = pytest.mark.parametrize("pinned", [NONE, held_end(BEAM)], ids=["free", "pinned"])


def _weights(E, pinned, count=12):
    labels = partition(X, TETS, E, count)
    return labels, biharmonic_weights(X, TETS, E, labels, pinned)


@BODIES
@PINS
def test_weights_are_between_0_and_1_and_sum_to_1(E, pinned):
    _labels, found = _weights(E, pinned)
    assert found.weights.data.min() > 0.0 and found.weights.data.max() <= 1.0 + 1e-12
    np.testing.assert_allclose(np.asarray(found.weights.sum(axis=1)).ravel() + found.pinned, 1.0, atol=1e-12)


@BODIES
@PINS
def test_a_weight_is_1_at_its_centre_and_0_at_the_others(E, pinned):
    _labels, found = _weights(E, pinned)
    np.testing.assert_allclose(found.weights[found.centres].toarray(), np.eye(len(found.centres)), atol=1e-12)


@BODIES
@PINS
def test_a_weight_vanishes_outside_its_cluster_and_the_adjacent_ones(E, pinned):
    labels, found = _weights(E, pinned)
    corners = np.sort(TETS, axis=1)
    for k in range(len(found.centres)):
        own = labels[(TETS == found.centres[k]).any(axis=1)]
        own = np.bincount(own).argmax()
        faces = {tuple(np.delete(tet, i)) for tet in corners[labels == own] for i in range(4)}
        near = {label for tet, label in zip(corners, labels) for i in range(4) if tuple(np.delete(tet, i)) in faces}
        inside = np.unique(TETS[np.isin(labels, list(near))])
        support = found.weights[:, k].nonzero()[0]
        assert np.isin(support, inside).all()
    assert found.weights.nnz < 0.8 * len(X) * len(found.centres)


def test_weights_vanish_at_pins_and_the_weight_of_the_pins_decays():
    pinned = held_end(BEAM)
    _labels, found = _weights(np.ones(len(TETS)), pinned)
    assert found.weights[pinned].nnz == 0
    np.testing.assert_allclose(found.pinned[pinned], 1.0)
    assert found.pinned[X[:, 0] > 3.0].max() == 0.0
    along = [found.pinned[np.isclose(X[:, 0], x)].mean() for x in np.unique(X[:, 0])[:4]]
    assert all(a > b for a, b in pairwise(along))


def _dense_operator(E):
    """The biharmonic operator by the difference quotients of each tet: ``L_ab = sum E V grad_a . grad_b``."""
    L, volume = np.zeros((len(X), len(X))), np.zeros(len(X))
    for tet, stiffness in zip(TETS, E):
        p = np.column_stack([np.ones(4), X[tet]])
        gradients = np.linalg.solve(p, np.eye(4))[1:].T
        V = abs(np.linalg.det(p)) / 6.0
        L[np.ix_(tet, tet)] += stiffness * V * gradients @ gradients.T
        volume[tet] += 0.25 * V
    return L.T @ np.diag(1.0 / volume) @ L


@pytest.mark.parametrize("contrast", [1.0, 100.0])
def test_a_weight_minimizes_the_biharmonic_energy(contrast):
    """With two clusters, both subdomains are the whole body: each raw solution is the minimizer of the dense energy
    with 1 at its centre and 0 at the other, by a saddle point system.
    """
    E = np.where(CENTRES[:, 0] < 2.0, contrast, 1.0)
    labels = (CENTRES[:, 0] > 2.0).astype(np.int64)
    found = biharmonic_weights(X, TETS, E, labels, NONE)
    K = _dense_operator(E)
    C = np.zeros((2, len(X)))
    C[[0, 1], found.centres] = 1.0
    system = np.block([[K / K.max(), C.T], [C, np.zeros((2, 2))]])
    raw = np.stack([np.linalg.solve(system, np.r_[np.zeros(len(X)), g])[: len(X)] for g in np.eye(2)], axis=1)
    raw = np.maximum(raw, 0.0)
    np.testing.assert_allclose(found.weights.toarray(), raw / raw.sum(axis=1, keepdims=True), atol=1e-6)


def test_weights_of_stiff_parts_are_nearly_constant():
    _labels, found = _weights(STIFF, NONE)
    inside = np.unique(TETS[np.abs(CENTRES[:, 0] - 2.0) < 0.4])
    values = found.weights[inside].toarray()
    assert np.ptp(values, axis=0).max() < 0.05


@BODIES
def test_handles_reproduce_affine_displacements(E):
    _labels, found = _weights(E, NONE)
    A = affine_basis(found.weights, X, X[found.centres])
    gradient, shift = np.random.default_rng(1).standard_normal((3, 3)), np.array([0.3, -2.0, 0.7])
    size = float(np.ptp(X, axis=0).max())
    Q = np.concatenate([np.vstack([shift + X[c] @ gradient.T, size * gradient.T]) for c in found.centres])
    np.testing.assert_allclose(A @ Q, shift + X @ gradient.T, atol=1e-10)


def test_vertices_outside_every_support_belong_to_the_handle_of_their_cluster():
    """Clusters in a thin ring of tets leave corners uncovered; their rows still sum to 1."""
    for count in (5, 9, 17, 33, 65):
        _labels, found = _weights(STIFF, NONE, count)
        np.testing.assert_allclose(np.asarray(found.weights.sum(axis=1)).ravel(), 1.0, atol=1e-12)


def test_pinned_clusters_have_no_handle():
    pinned = np.flatnonzero(X[:, 0] < 1.1)
    _labels, found = _weights(np.ones(len(TETS)), pinned, 32)
    free = np.setdiff1d(np.arange(len(X)), pinned)
    np.testing.assert_allclose((np.asarray(found.weights.sum(axis=1)).ravel() + found.pinned)[free], 1.0, atol=1e-12)
    assert len(found.centres) < 32 and not np.isin(found.centres, pinned).any()


def test_handles_ignore_the_unit_of_length_and_of_stiffness():
    pinned = held_end(BEAM)
    first, second = handles_of(X, TETS, STIFF, pinned, 12), handles_of(0.1 * X + 5.0, TETS, 3e4 * STIFF, pinned, 12)
    assert (first.weights.weights != second.weights.weights).nnz == 0
