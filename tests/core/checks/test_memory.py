"""Memory is estimated before the work begins, and what does not fit is refused with a resolution that does."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sinew.core.foundation.errors import NotEnoughMemoryError
from sinew.core.foundation.process import available_memory as system
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.jobs.checks import memory
from sinew.core.jobs.checks.costs import BASE, iterative_entries, outside_bytes, peak_bytes, state_bytes, vertex_factor
from sinew.core.jobs.checks.memory import _nodes, check_before_solving, check_before_tetrahedra
from sinew.core.jobs.job.environment import Collider, Ground
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.methods.model.state import State
from sinew.core.numerics.linear_solvers.factor_size import entries_of, factor_bytes
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation import prepare

from ..jobs import box_surface, free_box, shaken_bar

NO_PINS = np.array([], dtype=np.int64)


def at(cells_across: int, **solver):
    return shaken_bar(**solver).with_body(resolution=ResolutionSettings(cells_across=cells_across))


def proposed(error: NotEnoughMemoryError) -> int:
    return int(re.search(r"Set Cells Across to (\d+) or less", error.remedy)[1])


def test_what_fits_is_not_refused():
    job = at(8)
    check_before_tetrahedra(job, 10**9)
    check_before_solving(job, tetrahedralize(job.body.surface, job.body.resolution), NO_PINS, 10**9)


@pytest.mark.parametrize("available", [int(BASE + 2e8), int(BASE + 5e8)])
def test_the_proposed_lattice_is_the_finest_that_fits(available):
    with pytest.raises(NotEnoughMemoryError, match="400 cells across need about") as refused:
        check_before_tetrahedra(at(400), available)
    fits = proposed(refused.value)
    check_before_tetrahedra(at(fits), available)
    with pytest.raises(NotEnoughMemoryError):
        check_before_tetrahedra(at(fits + 1), available)


def test_a_direct_solver_is_refused_where_conjugate_gradients_fit():
    direct, iterative = at(24, linear_solver="cholmod"), at(24, linear_solver="pcg")
    mesh = tetrahedralize(direct.body.surface, direct.body.resolution)
    vertices = len(mesh.rest_positions)
    factor = entries_of(BlockSparsity(_nodes(direct, mesh), vertices, NO_PINS).pattern)
    needed = peak_bytes(len(mesh.tets), vertices, factor, outside_bytes(direct))
    scarce = int(needed - 0.2 * factor_bytes(factor))
    check_before_solving(direct, mesh, NO_PINS, int(needed) + 1)
    check_before_solving(iterative, mesh, NO_PINS, scarce)
    with pytest.raises(NotEnoughMemoryError) as refused:
        check_before_solving(direct, mesh, NO_PINS, scarce)
    assert "Conjugate Gradients" in refused.value.remedy
    assert proposed(refused.value) < 24


def test_a_subspace_fits_where_its_body_would_not_and_modes_are_counted():
    job = at(40, solver="subspace_mixed_fem", modes=16)
    full = job.with_body(solver=replace(job.body.solver, solver="mixed_fem", linear_solver="cholmod"))
    mesh = tetrahedralize(job.body.surface, job.body.resolution)
    tets, vertices = len(mesh.tets), len(mesh.rest_positions)
    enough = int(peak_bytes(tets, vertices, vertex_factor(vertices), outside_bytes(job), 17)) + 1
    check_before_tetrahedra(job, 2 * enough)
    check_before_solving(job, mesh, NO_PINS, enough)
    with pytest.raises(NotEnoughMemoryError):
        check_before_solving(full, mesh, NO_PINS, enough)
    with pytest.raises(NotEnoughMemoryError) as refused:
        check_before_solving(job.with_body(solver=replace(job.body.solver, modes=64)), mesh, NO_PINS, enough)
    assert "fewer Modes" in refused.value.remedy


def plate(cells: int, frames: int) -> Collider:
    """A square of 2 cells² triangles below the box; with several frames it rises."""
    n = cells + 1
    places = np.linspace(-1.0, 1.0, n)
    corners = np.stack([*map(np.ravel, np.meshgrid(places, places, indexing="ij")), np.full(n * n, -0.05)], axis=1)
    at = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return Collider("Plate", faces, corners + 1e-4 * np.arange(frames)[:, None, None] * [0.0, 0.0, 1.0])


def fine_box(frames: int, **options) -> Job:
    """A box whose surface has far more vertices than its lattice."""
    box = free_box(frames, **options)
    surface = box_surface((0.2, 0.2, 0.2), (40, 40, 40))
    weights = np.ones((len(surface.positions), 1))
    return box.with_body(surface=surface, material_weights=weights, stiffness_maps=None)


def counted(job: Job) -> int:
    """Most bytes that Python and NumPy hold while a job is prepared and three frames are made, with kernels loaded."""
    _three_frames(job)
    tracemalloc.start()
    _three_frames(job)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _three_frames(job: Job) -> None:
    frames = simulate_body(job, prepare.prepare(job))
    for _ in range(3):
        next(frames)


@pytest.mark.parametrize(
    ("job", "least"),
    [
        (fine_box(3, colliders=(Ground(height=0.0),)), 0.8),
        (free_box(3, solver={"substeps": 2}, colliders=(plate(80, 3),)), 0.8),
        (free_box(3, colliders=(plate(80, 1),)), 0.3),
        (free_box(90, colliders=(plate(80, 90),)), 0.8),
    ],
    ids=["surface", "moving collider", "still collider", "long animation"],
)
def test_what_acts_takes_no_more_than_is_estimated(job, least):
    small = free_box(3, colliders=(Ground(height=0.0),))
    taken = counted(job) - counted(small)
    estimated = outside_bytes(job) - outside_bytes(small)
    assert least * estimated <= taken <= estimated


def test_a_jobs_own_arrays_are_there_before_it_is_asked():
    job = fine_box(60)
    n = len(job.body.surface.positions)
    windy = job.with_body(accelerations=np.ones((60, n, 3)))
    assert outside_bytes(windy) == outside_bytes(job)
    taken = counted(windy) - counted(job)
    assert taken <= 0.1 * windy.body.accelerations.nbytes


def test_accelerations_cost_a_factor_with_one_unknown_a_vertex():
    job = at(20)
    windy = job.with_body(accelerations=np.zeros((job.frame_count, len(job.body.surface.positions), 3)))
    mesh = tetrahedralize(job.body.surface, job.body.resolution)
    tets, vertices = len(mesh.tets), len(mesh.rest_positions)
    iterative = windy.with_body(solver=replace(windy.body.solver, linear_solver="pcg"))
    entries = iterative_entries(vertices) + vertex_factor(vertices)
    enough = peak_bytes(tets, vertices, entries, outside_bytes(windy))
    check_before_solving(iterative, mesh, NO_PINS, int(enough) + 1)
    with pytest.raises(NotEnoughMemoryError):
        check_before_solving(iterative, mesh, NO_PINS, int(enough) - 1)
    check_before_solving(iterative.with_body(accelerations=None), mesh, NO_PINS, int(enough) - 1)


def test_writing_a_frame_copies_nothing_and_a_state_is_counted(tmp_path):
    job = shaken_bar(2).with_body(solver=replace(shaken_bar().body.solver, integrator="bdf2"))
    prepared = prepare.prepare(job)
    mesh = prepared.model.mesh
    kept = list(simulate_body(job, prepared))[-1].state
    held = sum(array.nbytes for array in kept.arrays().values())
    assert held == state_bytes(len(prepared.model.elements), len(mesh.rest_positions))
    store = FrameStore.create(tmp_path / "bake", job)
    large = State(*(np.zeros((200_000, columns)) for columns in (3, 3, 6)))
    store.write(1, np.zeros((1, 3)), large, [])
    tracemalloc.start()
    store.write(2, np.zeros((1, 3)), large, [])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.05 * large.stretch.nbytes


def test_nothing_fits_at_all():
    with pytest.raises(NotEnoughMemoryError) as refused:
        check_before_tetrahedra(at(20), 10**6)
    assert "Close other programs" in refused.value.remedy


def test_preparing_a_job_asks_before_it_fills_the_body(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: int(BASE) + 10**7)
    monkeypatch.setattr(prepare, "made_mesh", lambda *_: pytest.fail("tetrahedra were made"))
    with pytest.raises(NotEnoughMemoryError):
        prepare.prepare(at(60))


def test_preparing_a_job_asks_before_it_builds_the_model(monkeypatch):
    answers = iter([10**12, int(BASE) + 10**6])
    monkeypatch.setattr(memory, "available_memory", lambda: next(answers))
    monkeypatch.setattr(prepare, "body_model", lambda *_: pytest.fail("a model was built"))
    with pytest.raises(NotEnoughMemoryError):
        prepare.prepare(at(8))


def test_linux_tells_what_the_container_allows(monkeypatch, tmp_path):
    monkeypatch.setattr(system.psutil, "virtual_memory", lambda: SimpleNamespace(available=8000 * 1024))
    monkeypatch.setattr(system, "CGROUP", tmp_path)
    assert system.available_memory() == 8000 * 1024
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1500000\n")
    (tmp_path / "memory.stat").write_text("anon 900000\ninactive_file 500000\n")
    assert system.available_memory() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert system.available_memory() == 8000 * 1024
