"""Kernels of a job's steps are read from disk before its first frame."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sinew.core.foundation.events import Phase
from sinew.core.foundation.kernels import jit
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.environment import Ground
from sinew.core.simulation.frame_loop import compile_kernels

from ..jobs import free_box, shaken_bar, surrounded_bar

REPOSITORY = Path(__file__).resolve().parents[3]

SCRIPT = """
import gc, sys
import build_addon
build_addon.mount()
from numba.core.dispatcher import Dispatcher
from sinew.core.jobs.job.job import Job
from sinew.core.simulation.preparation.prepare import prepare
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.frame_loop.compile_kernels import load_kernels

def loaded():
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {f"{d.py_func.__module__}.{d.py_func.__name__} {k}" for d in found for k in d.overloads}

job = Job.load(sys.argv[1])
prepared = prepare(job)
load_kernels(job, live=True)
before = loaded()
for _frame in simulate_body(job, prepared):
    pass
print(len(before), "then", sorted(loaded() - before))
"""


MEETING = """
import gc
import build_addon
build_addon.mount()
from numba.core.dispatcher import Dispatcher
from sinew.benchmarks.meetings import Scene, box, plate, watch
from sinew.core.simulation.frame_loop import compile_kernels

def loaded():
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {f"{d.py_func.__module__}.{d.py_func.__name__} {k}" for d in found for k in d.overloads}

for stage in compile_kernels.STAGES:
    stage.compile()
before = loaded()
stack = [box((0.005 * k, 0.0, 0.0005 + 0.1005 * k), (2, 2, 2)) for k in range(2)]
for solver in ("mixed_fem", "newton"):
    watch(Scene(stack, [plate(0.0)]), 2, 0.01, solver)
print(len(before), "then", sorted(loaded() - before))
"""


def test_what_a_first_bake_needs_comes_first():
    """The first stages serve a default body on a ground; other kernels are compiled for jobs that need them."""
    first = free_box(2, colliders=(Ground(),))
    of_first = [stage.name for stage in compile_kernels.STAGES if stage.is_needed(first.body, True)]
    assert of_first == [stage.name for stage in compile_kernels.STAGES[: len(of_first)]] and len(of_first) == 6
    other = shaken_bar(2, solver="newton")
    assert "solver-newton" in [stage.name for stage in compile_kernels.STAGES if stage.is_needed(other.body, False)]
    assert sum(stage.seconds for stage in compile_kernels.STAGES[:5]) > 0.5 * sum(
        stage.seconds for stage in compile_kernels.STAGES
    )


def test_the_share_goes_by_the_seconds_of_stages(monkeypatch, tmp_path):
    """And each stage is compiled once, whoever shares the folder."""
    monkeypatch.setattr(jit, "_folder", tmp_path)
    ran, told = [], []
    stages = [
        compile_kernels.Stage(name, seconds, lambda name=name: ran.append(name), lambda *_: True)
        for name, seconds in (("first", 3.0), ("last", 1.0))
    ]
    monkeypatch.setattr(compile_kernels, "STAGES", stages)
    compile_kernels.warm_up(told.append)
    assert ran == ["first", "last"] and told == [Phase("compile", done, 100) for done in (0, 75, 100)]
    compile_kernels.warm_up(told.append)
    assert len(ran) == 2 and len(told) == 3


def test_whoever_goes_on_counts_on(monkeypatch, tmp_path):
    """A bake compiles what it needs, and what compiles the rest begins where it ended."""
    monkeypatch.setattr(jit, "_folder", tmp_path)
    needs = [True, False, True]
    stages = [compile_kernels.Stage(f"{k}", 1.0 + k, lambda: None, lambda *_, k=k: needs[k]) for k in range(3)]
    monkeypatch.setattr(compile_kernels, "STAGES", stages)
    told = []
    compile_kernels.warm_up(told.append, [free_box(2)])
    compile_kernels.warm_up(told.append)
    shares = [(event.done, event.total) for event in told]
    assert shares == [(0, 66), (16, 66), (66, 66), (66, 100), (100, 100)]


HOLDER = """
import sys, time
from pathlib import Path
import build_addon
build_addon.mount()
from sinew.core.jobs.store.store_lock import locked

place = Path(sys.argv[1], "first.stage")
place.mkdir()
with locked(place):
    print("held", flush=True)
    time.sleep(0.5)
    Path(sys.argv[1], "first.compiled").touch()
"""


@pytest.mark.skipif("SINEW_PACKAGE" in os.environ, reason="an installed extension has another import name")
def test_what_another_process_compiles_is_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "_folder", tmp_path)
    stage = compile_kernels.Stage("first", 1.0, lambda: pytest.fail("it was compiled twice"), lambda *_: True)
    monkeypatch.setattr(compile_kernels, "STAGES", [stage])
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], cwd=REPOSITORY, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        compile_kernels.warm_up(lambda event: None)
    assert other.returncode == 0 and jit.is_compiled("first")


@pytest.mark.skipif(jit.THREADS < 2, reason="one processor compiles alone")
def test_another_process_compiles_a_part(monkeypatch, tmp_path):
    """Compile the second of two stages in another process while this one compiles the first."""
    monkeypatch.setenv("SINEW_KERNEL_CACHE", str(tmp_path))
    monkeypatch.setattr(jit, "_folder", jit._probed(jit._wanted_folder()))

    def wait():
        until = time.monotonic() + 300.0
        while not jit.is_compiled("fields") and time.monotonic() < until:
            time.sleep(0.05)

    first = compile_kernels.Stage("extrapolated", 1.0, wait, lambda *_: True)
    second = compile_kernels.Stage("fields", 1.0, lambda: pytest.fail("it was compiled here"), lambda *_: True)
    monkeypatch.setattr(compile_kernels, "STAGES", [first, second])
    told = []
    compile_kernels.warm_up(told.append)
    assert jit.is_compiled("fields") and list(jit.cache_folder().rglob("*.nbc"))
    assert [event.done for event in told] == [0, 100]


@pytest.mark.skipif("SINEW_PACKAGE" in os.environ, reason="an installed extension has another import name")
def test_no_step_of_bodies_that_meet_waits_for_a_kernel():
    ran = [sys.executable, "-c", MEETING]
    told = subprocess.run(ran, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert told.strip().partition(" then ")[2] == "[]"


@pytest.mark.skipif("SINEW_PACKAGE" in os.environ, reason="an installed extension has another import name")
@pytest.mark.parametrize(
    "job", ["everything outside", "newton", "linearly_implicit", "subspace_mixed_fem", "pcg", "damped bdf2"]
)
def test_no_frame_waits_for_a_kernel(job, tmp_path):
    solver = {"solver": job} if job in SOLVER_KINDS else {}
    solver |= {"pcg": {"linear_solver": "pcg"}}.get(job, {})
    solver |= {"damped bdf2": {"integrator": "bdf2", "mass_damping": 1.0, "stiffness_damping": 0.01}}.get(job, {})
    made = surrounded_bar(12) if job == "everything outside" else shaken_bar(4, **solver)
    compile_kernels.warm_up(lambda event: None, [made], live=True)
    made.save(tmp_path / "job.npz")
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "job.npz"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    count, _, late = told.strip().partition(" then ")
    assert int(count) > 10 and late == "[]"
