"""Partition of [SMS25] Sec. 3.6: connected, by geodesic distance, large where the body is stiff."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, dijkstra
from sinew.benchmarks.bodies import block
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.methods.handles.partition import dual_graph, partition

BEAM = block((16, 4, 4), (4.0, 1.0, 1.0))
CENTRES = BEAM.rest_positions[BEAM.tets].mean(axis=1)


def _partition(stiffness, count=24, mesh=BEAM):
    return partition(mesh.rest_positions, mesh.tets, np.broadcast_to(stiffness, len(mesh.tets)), count)


def _is_connected(graph, chosen) -> bool:
    return connected_components(graph[chosen][:, chosen], directed=False)[0] == 1


@pytest.mark.parametrize("contrast", [1.0, 1e2, 1e6])
def test_clusters_are_connected_and_as_many_as_requested(contrast):
    E = np.where(np.abs(CENTRES[:, 0] - 2.0) < 0.5, contrast, 1.0)
    labels = _partition(E)
    assert np.array_equal(np.unique(labels), np.arange(24))
    graph = dual_graph(BEAM.rest_positions, BEAM.tets, E)
    assert all(_is_connected(graph, np.flatnonzero(labels == k)) for k in range(24))


def test_clusters_of_a_homogeneous_body_have_like_volumes():
    sizes = np.bincount(_partition(1.0), BEAM.volumes)
    assert sizes.max() < 2.5 * np.median(sizes) and sizes.min() > np.median(sizes) / 2.5


def test_clusters_are_larger_where_the_body_is_stiff_and_end_near_the_material():
    stiff = np.abs(CENTRES[:, 0] - 2.0) < 0.75
    labels = _partition(np.where(stiff, 1e4, 1.0))
    inside, outside = np.bincount(labels[stiff], minlength=24), np.bincount(labels[~stiff], minlength=24)
    of_stiff = inside > outside
    assert of_stiff.sum() <= 2
    assert outside[of_stiff].sum() < 0.05 * outside.sum() and inside[~of_stiff].sum() < 0.05 * inside.sum()


def test_the_travel_time_is_the_distance_over_the_root_of_the_stiffness():
    """A long path through faces is at most 1.8 times as long as the straight one."""
    soft = dijkstra(dual_graph(BEAM.rest_positions, BEAM.tets, np.ones(len(BEAM.tets))), indices=0)
    hard = dijkstra(dual_graph(BEAM.rest_positions, BEAM.tets, np.full(len(BEAM.tets), 4.0)), indices=0)
    np.testing.assert_allclose(hard, 0.5 * soft)
    straight = np.linalg.norm(CENTRES - CENTRES[0], axis=1)
    assert (soft >= straight * (1.0 - 1e-12)).all() and (soft <= 1.8 * straight)[straight > 1.0].all()


def test_tets_at_the_border_of_two_materials_delay_the_path():
    E = np.where(CENTRES[:, 0] < 2.0, 1.0, 100.0)
    graph = dual_graph(BEAM.rest_positions, BEAM.tets, E).tocoo()
    speed = np.linalg.norm(CENTRES[graph.row] - CENTRES[graph.col], axis=1) / graph.data
    crossing, far = E[graph.row] != E[graph.col], np.abs(CENTRES[graph.row, 0] - 2.0) > 0.6
    assert speed[crossing].max() <= 0.32  # the root of 0.1
    assert 5.0 < speed[far & (E[graph.row] == 100.0)].min() and speed[far & (E[graph.row] == 1.0)].max() <= 1.0 + 1e-12


def test_every_separate_part_has_a_cluster():
    near = block((2, 2, 2), (1.0, 1.0, 1.0))
    X = np.concatenate([near.rest_positions + [3.0 * k, 0.0, 0.0] for k in range(5)])
    tets = np.concatenate([near.tets + k * len(near.rest_positions) for k in range(5)])
    labels = _partition(1.0, 2, TetMesh(X, tets))
    assert len(np.unique(labels)) == 5
    assert all(len(np.unique(labels[k * len(near.tets) : (k + 1) * len(near.tets)])) == 1 for k in range(5))


def test_no_more_clusters_than_tets():
    tiny = block((1, 1, 1), (1.0, 1.0, 1.0))
    assert len(np.unique(_partition(1.0, 100, tiny))) == len(tiny.tets)


def test_a_partition_repeats_to_the_bit():
    E = np.where(CENTRES[:, 0] < 2.0, 1.0, 100.0)
    assert np.array_equal(_partition(E), _partition(E))
