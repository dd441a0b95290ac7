"""Cubature points: weights sum to the volume, borders hold, soft and thin parts get more."""

import numpy as np
import pytest
from sinew.benchmarks import creatures
from sinew.benchmarks.bodies import block
from sinew.core.foundation.errors import SubspaceError
from sinew.core.methods.subspaces import cubature as module
from sinew.core.methods.subspaces.cubature import every_tet, spectral_clusters, weight_features
from sinew.core.methods.subspaces.reduced_model import find_subspace


def cloud(seed=0, count=2000):
    rng = np.random.default_rng(seed)
    return rng.random((count, 3)), rng.random(count) + 0.5


def test_weights_are_the_volumes_of_clusters_and_points_lie_in_theirs():
    features, volumes = cloud()
    found = spectral_clusters(features, volumes, np.zeros(2000, dtype=int), 50)
    assert len(found.elements) == 50
    assert np.allclose(found.weights, np.bincount(found.clusters, volumes))
    assert np.array_equal(found.clusters[found.elements], np.arange(50))


def test_clusters_are_those_of_the_nearest_centre():
    """Distant blobs are one cluster each, represented by the point in their middle."""
    blobs = np.array([[0.0, 0, 0], [10, 0, 0], [0, 10, 0]])
    offsets = np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    features = (blobs[:, None] + offsets).reshape(-1, 3)
    found = spectral_clusters(features, np.ones(21), np.zeros(21, dtype=int), 3)
    assert sorted(found.elements) == [0, 7, 14]


def test_clusters_end_at_the_borders_of_parts():
    features, volumes = cloud()
    parts = (features[:, 0] > 0.3).astype(int)
    found = spectral_clusters(features, volumes, parts, 20)
    assert np.array_equal(parts[found.elements][found.clusters], parts)
    with pytest.raises(SubspaceError, match="2 parts"):
        spectral_clusters(features, volumes, parts, 1)


def test_what_varies_gets_points():
    """The one of two equal volumes whose weights vary ten times as much gets most points."""
    features, _volumes = cloud()
    parts = np.repeat([0, 1], 1000)
    features[1000:] *= 0.1
    found = spectral_clusters(features, np.ones(2000), parts, 100)
    first, second = np.bincount(parts[found.elements])
    assert first + second == 100
    assert first > 10 * second


def test_stiff_parts_leave_their_points_to_soft_ones():
    """Twice as stiff, by twice to the power -3/5; however stiff, a quarter of what it would have."""
    features, _volumes = cloud()
    parts = np.repeat([0, 1], 1000)
    counts = {}
    for ratio in (1.0, 2.0, 10.0, 1e10):
        moduli = np.where(parts == 1, ratio, 1.0)
        found = spectral_clusters(features, np.ones(2000), parts, 200, moduli=moduli)
        counts[ratio] = np.bincount(parts[found.elements])
    assert all(each.sum() == 200 for each in counts.values())
    share = {ratio: stiff / soft for ratio, (soft, stiff) in counts.items()}
    assert share[2.0] == pytest.approx(share[1.0] * 2.0**-0.6, rel=0.05)
    assert share[10.0] == pytest.approx(share[1.0] / 4.0, rel=0.06) and share[1e10] == share[10.0]


def test_features_are_scaled_weights_and_places():
    """Constant modes say nothing; the second mode bends at twice the eigenvalue and counts a quarter."""
    mesh = block((3, 2, 2), (0.3, 0.2, 0.2))
    weights = np.random.default_rng(0).random((len(mesh.rest_positions), 3))
    features = weight_features(weights, np.array([0.0, 2.0, 4.0]), mesh)
    assert features.shape == (len(mesh.tets), 5)
    by_weight = weights[mesh.tets, 1:].mean(axis=1) * [1.0, 0.25]
    places = mesh.rest_positions[mesh.tets].mean(axis=1)
    for part, values, off in ((features[:, :2], by_weight, 1e-12), (features[:, 2:], places, 6.0 * module.JITTER)):
        away = values - values.mean(axis=0)
        away /= np.sqrt(np.mean(np.sum(away**2, axis=1)))
        np.testing.assert_allclose(part, away, atol=off)
    assert len(np.unique(features[:, 2:].round(9), axis=0)) == len(mesh.tets), "places differ by more than round-off"
    rigid = weight_features(weights[:, :1], np.zeros(1), mesh)
    assert np.allclose(rigid, features[:, 2:])


def test_every_tet_is_exact():
    volumes = np.array([1.0, 2.0, 3.0])
    found = spectral_clusters(np.zeros((3, 1)), volumes, np.zeros(3, dtype=int), 5)
    assert np.array_equal(found.weights, volumes)
    assert np.array_equal(found.elements, every_tet(volumes).elements)


def test_soft_and_thin_parts_get_more_points_for_their_volume():
    """A crab's soft joints beside its shell, a pendulum's strands beside its blocks ([SubMFEM23] Figs. 6, 16)."""
    crab, pendulum = creatures.crab(0.06), creatures.pendulum(0.06)
    joints = crab.elastic.parameters[:, 0] < 1e8
    x, y, z = np.abs(pendulum.mesh.rest_positions[pendulum.mesh.tets].mean(axis=1)).T
    strands = (z < 0.6) | ((z > 1.02) & (z < 1.68))
    assert (np.maximum(x, y)[strands] < 0.06).all()
    for model, part, points in ((crab, joints, 342), (pendulum, strands, 400)):
        parts, volumes = find_subspace(model, 16, points), model.elastic.weights
        inside = part[parts.elements]
        assert inside.sum() / volumes[part].sum() > 1.4 * (~inside).sum() / volumes[~part].sum()


def test_a_sample_finds_as_good_clusters_as_all_tets(monkeypatch):
    rng = np.random.default_rng(3)
    features, volumes, parts = rng.random((30_000, 3)), rng.random(30_000), np.zeros(30_000, dtype=int)
    errors = []
    for sample in (5_000, 10**6):
        monkeypatch.setattr(module, "SAMPLE", sample)
        found = spectral_clusters(features, volumes, parts, 60)
        assert found.weights.sum() == pytest.approx(volumes.sum())
        assert np.array_equal(np.unique(found.clusters), np.arange(60))
        away = features - features[found.elements][found.clusters]
        errors.append(volumes @ np.sum(away**2, axis=1))
    assert errors[0] <= 1.05 * errors[1]
