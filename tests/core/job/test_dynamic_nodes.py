"""Dynamic nodes of a job: kept, told of when they change, and refused where they cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import PinError, SettingsError
from sinew.core.jobs.job import dynamic_nodes
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import described

from ..jobs import shaken_bar


@pytest.fixture
def job():
    """The bar held at one end, with a node at the other."""
    bar = shaken_bar(frames=4, solver="newton")
    return bar.with_body(dynamic_nodes=[int(np.argmax(bar.body.surface.positions[:, 0]))])


def test_a_body_has_none_by_default():
    nodes = shaken_bar(frames=2).body.dynamic_nodes
    assert nodes.shape == (0,) and nodes.dtype == np.int32


def test_each_counts_once_and_they_come_back_from_a_file(job, tmp_path):
    job = job.with_body(dynamic_nodes=[60, 40, 60])
    assert job.body.dynamic_nodes.tolist() == [40, 60]
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.body.dynamic_nodes.tolist() == [40, 60] and again.fingerprints() == job.fingerprints()


@pytest.mark.parametrize("nodes", [[-1], [10**6], [[1, 2]]])
def test_what_is_no_vertex_is_refused(job, nodes):
    with pytest.raises(SettingsError, match="dynamic nodes") as raised:
        job.with_body(dynamic_nodes=nodes)
    assert raised.value.remedy


def test_an_edit_of_them_is_named(job):
    other, more = job.with_body(dynamic_nodes=[50]), job.with_body(dynamic_nodes=[50, 60])
    before, now = job.fingerprints(), other.fingerprints()
    assert [part for part in now if now[part] != before[part]] == ["solver"]
    assert described(["solver"], job, other) == ["solver (1 of 1 dynamic nodes)"]
    assert described(["solver"], job, more) == ["solver (1 → 2 dynamic nodes)"]


def test_a_pinned_one_is_refused(job, takes_nodes):
    job.check()
    pin = int(job.body.pinned_vertices[2])
    both = job.with_body(dynamic_nodes=[pin, *job.body.dynamic_nodes])
    with pytest.raises(PinError, match=f"Vertex {pin} is pinned and a dynamic node") as raised:
        both.check()
    assert "from the nodes or the pins" in raised.value.remedy
    held = np.ones((4, len(job.body.pinned_vertices)), dtype=bool)
    held[:, 2] = False
    both.with_body(pin_held=held).check()


def test_too_many_are_refused(job, takes_nodes, monkeypatch):
    monkeypatch.setattr(dynamic_nodes, "MOST_NODES", 3)
    free = np.setdiff1d(np.arange(len(job.body.surface.positions)), job.body.pinned_vertices)
    job.with_body(dynamic_nodes=free[:3]).check()
    with pytest.raises(SettingsError, match="4 dynamic nodes, more than 3") as raised:
        job.with_body(dynamic_nodes=free[:4]).check()
    assert raised.value.remedy


def test_other_solvers_ignore_them(job):
    job.with_body(dynamic_nodes=job.body.pinned_vertices).check()


def test_the_published_step_is_refused_where_a_body_runs_into_something():
    shaken_bar(frames=2, solver="conjac").with_body(colliders=(Ground(),)).check()
    bar = shaken_bar(frames=2, solver="conjac_published")
    bar.check()
    with pytest.raises(SettingsError, match="launches") as raised:
        bar.with_body(colliders=(Ground(),)).check()
    assert "Choose ConJac" in raised.value.remedy
