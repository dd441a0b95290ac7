"""Disk space: the estimate holds for a real bake, and what will not fit is refused with both sizes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sinew.core.foundation.errors import StoreError
from sinew.core.geometry.tetrahedra.tet_count import expected_tets, measure_surface
from sinew.core.jobs.checks import costs
from sinew.core.jobs.checks.costs import body_bytes, frame_bytes
from sinew.core.jobs.checks.disk_space import ToBake, check_disk_space
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.model.state import State
from sinew.core.simulation.frame_loop.bake import bake

from ..jobs import shaken_bar


def body_of(job) -> float:
    return body_bytes(
        expected_tets(measure_surface(job.body.surface), "lattice", job.body.resolution.cells_across), job.body.solver
    )


def test_what_does_not_fit_is_refused(tmp_path, monkeypatch):
    job = shaken_bar(frames=5)
    store = FrameStore(tmp_path / "not" / "there")
    frames = frame_bytes(len(job.body.surface.positions), 5)
    need = frames + body_of(job)
    assert frames > 5 * 24 * len(job.body.surface.positions)
    free = {"now": need}
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free["now"]))
    check_disk_space(ToBake(job, store))
    with pytest.raises(StoreError, match="needs about .* on disk, and .* has .* left"):
        check_disk_space(ToBake(job, store, with_cache=True))
    free["now"] = need - 1
    with pytest.raises(StoreError, match="Free disk space"):
        check_disk_space(ToBake(job, store))
    free["now"] = frames
    check_disk_space(ToBake(job, store, kept_frames=1))  # the tetrahedra are there
    free["now"] = 1.5 * need
    two = [ToBake(job, FrameStore(tmp_path / name)) for name in "ab"]
    for each in two:
        check_disk_space(each)
    with pytest.raises(StoreError, match="needs about"):
        check_disk_space(*two)
    free["now"] = 2 * need
    check_disk_space(*two)


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_coarse_surface_full_of_tetrahedra_is_counted(tmp_path, monkeypatch, solver):
    """A bar of 8 vertices is some thousand tets, whose states and modes are kept, too."""
    job = shaken_bar(frames=3)
    resolution, chosen = replace(job.body.resolution, cells_across=24), replace(job.body.solver, solver=solver)
    job, store = job.with_body(resolution=resolution, solver=chosen), FrameStore(tmp_path / "bake")
    told = []
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    monkeypatch.setattr(costs, "size_words", told.append)
    with pytest.raises(StoreError):
        check_disk_space(ToBake(job, store))
    monkeypatch.undo()
    bake(job, FrameStore.create(store.folder, job))
    assert store.size_on_disk() < told[0] < 2.0 * store.size_on_disk()


def test_an_earlier_bake_makes_room(tmp_path, monkeypatch):
    job = shaken_bar(frames=5)
    store = FrameStore.create(tmp_path / "bake", job)
    state = State(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((1, 6)))
    for frame in range(job.frame_start, job.frame_end + 1):
        store.write(frame, job.body.surface.positions, state, [])
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    with pytest.raises(StoreError):
        check_disk_space(ToBake(job, store, kept_frames=1))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=5 * 4096 * 1.1 + body_of(job)))
    check_disk_space(ToBake(job, store))
