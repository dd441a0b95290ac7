"""Proposed nodes lie apart, where the body is soft, once in each stiff part, and in pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sinew.core.mechanics.constraints.propose_nodes import propose_nodes, stiff_parts

from ..jobs import box_surface

NONE = np.empty(0, dtype=np.int32)


@pytest.fixture
def bar():
    """A bar along x of 4 : 1 : 1, its middle at the origin, and the vertices at its one end."""
    surface = box_surface(cells=(16, 4, 4))
    positions = surface.positions - surface.positions.mean(axis=0)
    return positions, surface.triangles, np.flatnonzero(positions[:, 0] < -0.199)


def opposite(positions, axis):
    flip = np.ones(3)
    flip[axis] = -1.0
    away = cdist(positions * flip, positions)
    assert away.min(axis=1).max() < 1e-12
    return away.argmin(axis=1)


@pytest.mark.parametrize("pinned", [False, True])
def test_nodes_are_distinct_free_and_apart(bar, pinned):
    positions, _, pins = bar
    pins = pins if pinned else NONE
    nodes = propose_nodes(positions, np.ones(len(positions)), pins, 8)
    assert len(set(nodes.tolist())) == 8 and nodes.dtype == np.int32 and not np.isin(nodes, pins).any()
    # A surface of 0.18 m², shared by 8, gives each a disc of 8 cm across.
    assert pdist(positions[nodes]).min() > 0.08
    assert not pinned or cdist(positions[nodes], positions[pins]).min() > 0.08
    assert np.array_equal(nodes, propose_nodes(positions, np.ones(len(positions)), pins, 8))
    assert np.array_equal(nodes[:3], propose_nodes(positions, np.ones(len(positions)), pins, 3))


def test_the_first_of_a_pinned_bar_is_at_its_free_end(bar):
    positions, _, pins = bar
    (node,) = propose_nodes(positions, np.ones(len(positions)), pins, 1)
    assert positions[node, 0] == pytest.approx(0.2)


def test_the_soft_half_gets_more(bar):
    positions, _, _ = bar
    soft = np.where(positions[:, 0] > 0.0, 1.0, 0.02)
    evenly, unevenly = (propose_nodes(positions, s, NONE, 8) for s in (np.ones(len(positions)), soft))
    share = [(positions[nodes, 0] > 0.0).sum() for nodes in (evenly, unevenly)]
    assert share[0] <= 5 and share[1] >= 6


def test_each_stiff_part_gets_one_and_none_with_a_pin(bar):
    """Three plates across the bar, one of them held."""
    positions, triangles, pins = bar
    x = positions[:, 0]
    stiff = (x < -0.17) | (np.abs(x + 0.05) < 0.03) | (x > 0.17)
    softness = np.where(stiff, 1e-9, 1e-5)
    part = stiff_parts(triangles, softness)
    assert sorted(set(part.tolist())) == [-1, 0, 1, 2] and np.array_equal(part >= 0, stiff)
    for count in (2, 6):
        nodes = propose_nodes(positions, softness, pins, count, part)
        assert len(nodes) == count
        held = part[pins[0]]
        assert [np.count_nonzero(part[nodes] == k) for k in range(3)] == [0 if k == held else 1 for k in range(3)]
    assert len(propose_nodes(positions, softness, pins, 1, part)) == 1


def test_stiffness_alike_makes_no_part(bar):
    _, triangles, _ = bar
    softness = np.linspace(1e-6, 1e-5, triangles.max() + 1)
    assert (stiff_parts(triangles, softness) == -1).all()


@pytest.mark.parametrize("count", [4, 5, 8, 9])
def test_nodes_come_in_pairs(bar, count):
    positions, _, pins = bar
    mirror = opposite(positions, 1)
    nodes = propose_nodes(positions, np.ones(len(positions)), pins, count, mirror=mirror)
    assert len(nodes) == count and set(mirror[nodes].tolist()) == set(nodes.tolist())
    assert pdist(positions[nodes]).min() > 0.04, "no pair straddles the plane closely"


def test_what_has_no_partner_is_left_out_or_alone(bar):
    positions, _, _ = bar
    inner = np.flatnonzero(np.abs(positions[:, 1]) > 1e-9)
    softness = np.ones(len(inner))
    mirror = opposite(positions[inner], 1)
    assert len(propose_nodes(positions[inner], softness, NONE, 3, mirror=mirror)) == 2, "none lies on the plane"
    mirror[positions[inner, 1] > 0.0] = -1
    mirror[positions[inner, 1] < 0.0] = -1
    assert len(propose_nodes(positions[inner], softness, NONE, 3, mirror=mirror)) == 3


@pytest.mark.parametrize("low", [-1.0, 0.03])
def test_stiff_parts_are_mirrored_too(bar, low):
    """A plate across the plane gets one node, on it; a plate on each side one each, opposite to one another."""
    positions, triangles, _ = bar
    mirror = opposite(positions, 1)
    stiff = (positions[:, 0] > 0.1) & (np.abs(positions[:, 1]) > low)
    softness = np.where(stiff, 1e-9, 1e-5)
    part = stiff_parts(triangles, softness)
    assert part.max() == (0 if low < 0.0 else 1)
    nodes = propose_nodes(positions, softness, NONE, 4, part, mirror)
    inside = nodes[part[nodes] >= 0]
    assert len(inside) == part.max() + 1 and sorted(mirror[inside]) == sorted(inside)
    assert set(mirror[nodes].tolist()) == set(nodes.tolist())


def test_where_nothing_is_left_there_are_fewer(bar):
    positions, _, pins = bar
    softness = np.zeros(len(positions))
    softness[:3] = 1.0
    assert sorted(propose_nodes(positions, softness, NONE, 9)) == [0, 1, 2]
    assert len(propose_nodes(positions, softness, np.arange(len(positions)), 9)) == 0
    assert len(propose_nodes(positions, softness, pins, 0)) == 0
