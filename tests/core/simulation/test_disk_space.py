"""Disk space: the estimate holds for a real bake, and what will not fit is refused with both sizes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sinew.core.errors import StoreError
from sinew.core.mesh.tet_count import expected_tets, measured
from sinew.core.model.state import State
from sinew.core.simulation import disk_space
from sinew.core.simulation.bake import bake
from sinew.core.simulation.disk_space import body_bytes, check_disk_space, expected_bytes, size_words
from sinew.core.simulation.frame_store import FrameStore

from .jobs import shaken_bar


def body_of(job) -> float:
    return body_bytes(expected_tets(measured(job.surface), "lattice", job.resolution.cells_across), job.solver)


def test_what_does_not_fit_is_refused(tmp_path, monkeypatch):
    job = shaken_bar(frames=5)
    store = FrameStore(tmp_path / "not" / "there")
    frames = expected_bytes(len(job.surface.positions), 5)
    need = frames + body_of(job)
    assert frames > 5 * 24 * len(job.surface.positions)
    free = {"now": need}
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free["now"]))
    check_disk_space(job, store)
    with pytest.raises(StoreError, match="needs about .* on disk, and .* has .* left"):
        check_disk_space(job, store, with_cache=True)
    free["now"] = need - 1
    with pytest.raises(StoreError, match="Free disk space"):
        check_disk_space(job, store)
    free["now"] = frames
    check_disk_space(job, store, kept_frames=1)  # the tetrahedra are there


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_coarse_surface_full_of_tetrahedra_is_counted(tmp_path, monkeypatch, solver):
    """A bar of 8 vertices is some thousand tets, whose states and modes are kept, too."""
    job = shaken_bar(frames=3)
    resolution, chosen = replace(job.resolution, cells_across=24), replace(job.solver, solver=solver)
    job, store = replace(job, resolution=resolution, solver=chosen), FrameStore(tmp_path / "bake")
    told = []
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    monkeypatch.setattr(disk_space, "size_words", told.append)
    with pytest.raises(StoreError):
        check_disk_space(job, store)
    monkeypatch.undo()
    bake(job, FrameStore.create(store.folder, job))
    assert store.size_on_disk() < told[0] < 2.0 * store.size_on_disk()


def test_an_earlier_bake_makes_room(tmp_path, monkeypatch):
    job = shaken_bar(frames=5)
    store = FrameStore.create(tmp_path / "bake", job)
    state = State(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((1, 6)))
    for frame in range(job.frame_start, job.frame_end + 1):
        store.write(frame, job.surface.positions, state, [])
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    with pytest.raises(StoreError):
        check_disk_space(job, store, kept_frames=1)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=5 * 4096 * 1.1 + body_of(job)))
    check_disk_space(job, store)


def test_sizes_are_said_with_three_digits():
    assert [size_words(s) for s in (0, 999, 28_800_000, 1.5e9)] == ["0 bytes", "999 bytes", "28.8 MB", "1.5 GB"]
