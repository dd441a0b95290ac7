"""Two bakes of one surface, compared frame by frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import StoreError
from sinew.core.jobs.results.difference import cached_difference, distances, find_difference
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.model.state import State

from ..jobs import shaken_bar

STATE = State(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((1, 6)))


@pytest.fixture
def two(tmp_path):
    """Stores whose frames differ by 0.01 m a frame along y at every vertex, at the first twice that."""
    job = shaken_bar(frames=6)
    other = job.with_body(solver=replace(job.body.solver, substeps=2)).until(job.frame_start + 3)
    first, second = FrameStore.create(tmp_path / "a", job), FrameStore.create(tmp_path / "b", other)
    for frame in range(job.frame_start, job.frame_end + 1):
        first.write(frame, job.body.surface.positions, STATE, [], 0.5)
    for k in range(3):
        moved = job.body.surface.positions + [0.0, 0.01 * k, 0.0]
        moved[0, 1] += 0.01 * k
        second.write(job.frame_start + k, moved, STATE, [], 0.125)
    return job, first, second


def test_distances_are_those_of_vertices_that_belong_together():
    a = np.zeros((4, 3))
    b = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    assert distances(a, b) == (5.0, 2.0)


def test_shared_frames_are_compared_and_kept(two):
    job, first, second = two
    assert cached_difference(first, second) is None
    found = find_difference(first, second, "solver (substeps 1 → 2)")
    n, start = len(job.body.surface.positions), job.frame_start
    assert found.frames.tolist() == [start, start + 1, start + 2]
    assert found.largest == pytest.approx([0.0, 0.02, 0.04], abs=1e-12)
    assert found.mean == pytest.approx([0.0, 0.01 * (n + 1) / n, 0.02 * (n + 1) / n], abs=1e-12)
    assert found.worst == 2 and found.size == job.body.surface.size and found.seconds == (0.5, 0.125)
    assert found.at(start + 1) == pytest.approx((0.02, 0.01 * (n + 1) / n)) and found.at(start + 5) is None
    cached = cached_difference(first, FrameStore(second.folder))
    assert (
        cached.words == found.words
        and np.array_equal(cached.largest, found.largest)
        and cached.seconds == found.seconds
    )


def test_what_is_kept_is_of_these_two_alone(two, tmp_path):
    job, first, second = two
    find_difference(first, second, "")
    another = FrameStore.create(tmp_path / "c", job.with_body(solver=replace(job.body.solver, substeps=3)))
    assert cached_difference(another, second) is None
    second.write_cached("difference", {"frames": np.zeros(1, dtype=np.int32)}, second.read_cached("difference")[1])
    assert cached_difference(first, second) is None


def test_nothing_in_common_is_refused(two, tmp_path):
    job, first, second = two
    empty = FrameStore.create(tmp_path / "c", job)
    with pytest.raises(StoreError, match="share no frame"):
        find_difference(empty, second, "")
    assert cached_difference(first, empty) is None
    second.delete()
    assert not second.folder.exists()
