"""Memory is estimated before the work begins, and what does not fit is refused with a resolution that does."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.assembly.sparsity import BlockSparsity
from sinew.core.errors import NotEnoughMemoryError
from sinew.core.linear_solvers import available_memory as system
from sinew.core.linear_solvers.factor_size import entries_of, factor_bytes
from sinew.core.mesh.tetrahedralize import tetrahedralize
from sinew.core.model.settings import ResolutionSettings
from sinew.core.simulation import memory, prepare
from sinew.core.simulation.memory import BASE, check_before_solving, check_before_tetrahedra

from .jobs import shaken_bar

NO_PINS = np.array([], dtype=np.int64)


def at(cells_across: int, **solver):
    return replace(shaken_bar(**solver), resolution=ResolutionSettings(cells_across=cells_across))


def proposed(error: NotEnoughMemoryError) -> int:
    return int(re.search(r"Set Resolution to (\d+) or less", error.remedy)[1])


def test_what_fits_is_not_refused():
    job = at(8)
    check_before_tetrahedra(job, 10**9)
    check_before_solving(job, tetrahedralize(job.surface, job.resolution), NO_PINS, 10**9)


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
    mesh = tetrahedralize(direct.surface, direct.resolution)
    vertices = len(mesh.rest_positions)
    factor = entries_of(BlockSparsity(mesh.tets, vertices, NO_PINS).pattern)
    needed = memory.estimated_memory(len(mesh.tets), vertices, factor)
    scarce = int(needed - 0.2 * factor_bytes(factor))
    check_before_solving(direct, mesh, NO_PINS, int(needed) + 1)
    check_before_solving(iterative, mesh, NO_PINS, scarce)
    with pytest.raises(NotEnoughMemoryError) as refused:
        check_before_solving(direct, mesh, NO_PINS, scarce)
    assert "Conjugate Gradients" in refused.value.remedy
    assert proposed(refused.value) < 24


def test_nothing_fits_at_all():
    with pytest.raises(NotEnoughMemoryError) as refused:
        check_before_tetrahedra(at(20), 10**6)
    assert "Close other programs" in refused.value.remedy


def test_where_the_system_does_not_tell_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    check_before_tetrahedra(at(400))


def test_preparing_a_job_asks_before_it_fills_the_body(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: int(BASE) + 10**7)
    monkeypatch.setattr(prepare, "tetrahedralize", lambda *_: pytest.fail("tetrahedra were made"))
    with pytest.raises(NotEnoughMemoryError):
        prepare.prepare(at(60))


def test_preparing_a_job_asks_before_it_builds_the_model(monkeypatch):
    answers = iter([10**12, int(BASE) + 10**6])
    monkeypatch.setattr(memory, "available_memory", lambda: next(answers))
    monkeypatch.setattr(prepare, "build_model", lambda *_: pytest.fail("a model was built"))
    with pytest.raises(NotEnoughMemoryError):
        prepare.prepare(at(8))


def test_linux_tells_what_the_container_allows(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    monkeypatch.setattr(system, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(system, "CGROUP", tmp_path)
    monkeypatch.setattr(system.sys, "platform", "linux")
    assert system.available_memory() == 8000 * 1024
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1500000\n")
    (tmp_path / "memory.stat").write_text("anon 900000\ninactive_file 500000\n")
    assert system.available_memory() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert system.available_memory() == 8000 * 1024


def test_macos_counts_the_pages_that_can_be_had():
    text = "Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free:    100.\nPages active: 900.\n"
    assert system.parse_vm_stat(text + "Pages inactive:   20.\nPages speculative: 3.\n") == 123 * 16384
    assert system.parse_vm_stat("nothing") is None
