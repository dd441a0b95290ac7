"""What a job's steps run is read from the disk before its first frame."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sinew.core.simulation.warm_up import warm_up
from sinew.core.solver_kinds import SOLVER_KINDS

from ..jobs import shaken_bar, surrounded_bar

REPOSITORY = Path(__file__).resolve().parents[3]

SCRIPT = """
import gc, sys
import build_addon
build_addon.mount()
from numba.core.dispatcher import Dispatcher
from sinew.core.job.job import Job
from sinew.core.body.prepare import prepare
from sinew.core.simulation.run import simulate
from sinew.core.simulation.warm_up import load_kernels

def loaded():
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {f"{d.py_func.__module__}.{d.py_func.__name__} {k}" for d in found for k in d.overloads}

job = Job.load(sys.argv[1])
prepared = prepare(job)
load_kernels(job)
before = loaded()
for _frame in simulate(job, prepared):
    pass
print(len(before), "then", sorted(loaded() - before))
"""


MEETING = """
import gc
import build_addon
build_addon.mount()
from numba.core.dispatcher import Dispatcher
from sinew.benchmarks.meetings import Scene, box, plate, watch
from sinew.core.simulation import warm_up

def loaded():
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {f"{d.py_func.__module__}.{d.py_func.__name__} {k}" for d in found for k in d.overloads}

for _name, stage in warm_up._stages():
    stage()
before = loaded()
stack = [box((0.005 * k, 0.0, 0.0005 + 0.1005 * k), (2, 2, 2)) for k in range(2)]
for solver in ("mixed_fem", "newton"):
    watch(Scene(stack, [plate(0.0)]), 2, 0.01, solver)
print(len(before), "then", sorted(loaded() - before))
"""


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
    warm_up(lambda event: None)
    made.save(tmp_path / "job.npz")
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "job.npz"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    count, _, late = told.strip().partition(" then ")
    assert int(count) > 10 and late == "[]"
