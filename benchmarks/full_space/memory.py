"""Peak memory of a run of 100,000 tets in a process of its own, beside what is estimated before it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.assembly.sparsity import BlockSparsity
from ...core.linear_solvers.factor_size import entries_of
from ...core.model.settings import SolverSettings
from ...core.simulation.memory import estimated_memory
from ...core.simulation.prepare import ignore
from ...core.simulation.warm_up import warm_up
from ...core.solvers import make_solver
from ..bodies import bent_beam
from ..measures import EARTH, STEP
from ..registry import Case, Row, row

CELLS = (66, 16, 16)
"""19,363 vertices and 101,376 tets."""
ROUTES = ("cholmod", "pcg")
STEPS = 2


def cases(data: Path | None) -> Iterator[Case]:
    """Both routes."""
    for route in ROUTES:
        yield Case(f"memory_{route}", lambda route=route: _memory(route))


def _memory(route: str) -> Iterable[Row]:
    warm_up(ignore)  # so that the child compiles nothing
    program = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('build_addon', sys.argv[1])\n"
        "build_addon = importlib.util.module_from_spec(spec)\n"
        "sys.modules['build_addon'] = build_addon\n"
        "spec.loader.exec_module(build_addon)\n"
        "build_addon.mount()\n"
        "from sinew.benchmarks.full_space.memory import simulate\n"
        "simulate(sys.argv[2])\n"
    )
    entry = Path(__file__).resolve().parents[2] / "build_addon.py"
    command = [sys.executable, "-c", program, str(entry), route]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    name = f"memory_{route}"
    yield row(name, "peak", told["peak"] / 1e9, "GB", at_most=2.0)
    yield row(name, "estimated", told["estimated"] / 1e9, "GB")
    yield row(name, "estimated / peak", told["estimated"] / told["peak"])


def simulate(route: str) -> None:
    """Some steps of the beam; prints the peak and the estimate in bytes as JSON. Run it in a process of its own."""
    import resource

    model, state = bent_beam(CELLS)
    pattern = BlockSparsity(model.mesh.tets, len(model.mesh.rest_positions), model.pinned)
    entries = entries_of(pattern.pattern if route == "cholmod" else pattern.vertex_pattern)
    estimated = estimated_memory(len(model.mesh.tets), len(model.mesh.rest_positions), entries)
    settings = SolverSettings(max_iterations=4, gravity=EARTH, linear_solver=route)
    solver = make_solver(model, settings)
    for _ in range(STEPS):
        state, _report = solver.step(state, state.positions[model.pinned], STEP)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"peak": peak, "estimated": estimated}))
