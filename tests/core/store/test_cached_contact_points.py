"""The choice of touching points is kept in the store, and can be cancelled."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.farthest_points import farthest_points
from sinew.core.jobs.store import cached_contact_points
from sinew.core.jobs.store.cached_contact_points import cached_farthest_points
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.preparation.prepare import Stopped

from ..jobs import free_box

POINTS = np.random.default_rng(3).standard_normal((200, 3))


def go_on() -> None:
    pass


@pytest.fixture
def store(tmp_path):
    return FrameStore.create(tmp_path / "store", free_box(2))


def test_it_is_found_once(store, monkeypatch):
    first = cached_farthest_points(store, go_on)(POINTS, 20)
    again = farthest_points(POINTS, 20)
    assert np.array_equal(first.points, again.points) and np.array_equal(first.nearest, again.nearest)
    monkeypatch.setattr(cached_contact_points, "farthest_points", None)
    cached = cached_farthest_points(store, go_on)(POINTS, 20)
    assert np.array_equal(cached.points, first.points) and np.array_equal(cached.nearest, first.nearest)
    with pytest.raises(TypeError):
        cached_farthest_points(store, go_on)(POINTS, 21)
    with pytest.raises(TypeError):
        cached_farthest_points(store, go_on)(POINTS + 1e-9, 20)


@pytest.mark.parametrize(
    "harm", [{"nearest": np.full(200, 20)}, {"points": np.arange(21)}, {"nearest": np.zeros(3, int)}]
)
def test_what_cannot_be_is_found_anew(store, harm):
    choose = cached_farthest_points(store, go_on)
    good = choose(POINTS, 20)
    arrays, about = store.read_cached("touching")
    store.write_cached("touching", arrays | harm, about)
    assert np.array_equal(choose(POINTS, 20).nearest, good.nearest)


def test_it_can_be_stopped(store):
    asked = []

    def stop() -> None:
        asked.append(1)
        if len(asked) == 5:
            raise Stopped

    with pytest.raises(Stopped):
        cached_farthest_points(store, stop)(POINTS, 20)
    assert store.read_cached("touching") is None
