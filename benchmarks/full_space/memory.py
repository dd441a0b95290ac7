"""Peak memory of a run of 100,000 tets in a separate process, compared with the estimate before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.foundation.events import ignore
from ...core.foundation.process.process_memory import peak_memory
from ...core.foundation.schema.settings import SolverSettings
from ...core.jobs.checks.costs import iterative_entries, peak_bytes
from ...core.mechanics.assembly.sparsity import BlockSparsity
from ...core.methods.solvers import make_solver
from ...core.numerics.linear_solvers.factor_size import entries_of
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent_beam
from ..measures import EARTH, STEP
from ..processes import fresh
from ..registry import Case, Row, row

CELLS = (66, 16, 16)
"""19,363 vertices and 101,376 tets."""
ROUTES = ("cholmod", "pcg")
STEPS = 2


def cases(data: Path | None) -> Iterator[Case]:
    """Yield both linear solvers."""
    for route in ROUTES:
        yield Case(f"memory_{route}", lambda route=route: _memory(route))


def _memory(route: str) -> Iterable[Row]:
    warm_up(ignore)  # so that the child compiles nothing
    told = fresh(simulate, route)
    name = f"memory_{route}"
    yield row(name, "peak", told["peak"] / 1e9, "GB", at_most=2.0)
    yield row(name, "estimated", told["estimated"] / 1e9, "GB")
    yield row(name, "estimated / peak", told["estimated"] / told["peak"])


def simulate(route: str) -> dict[str, int]:
    """Run some steps of the beam in a separate process; return the peak and the estimate, bytes."""
    model, state = bent_beam(CELLS)
    vertices = len(model.mesh.rest_positions)
    entries = iterative_entries(vertices)
    if route == "cholmod":
        entries = entries_of(BlockSparsity(model.elements.nodes, vertices, model.pinned).pattern)
    estimated = peak_bytes(len(model.mesh.tets), vertices, entries)
    settings = SolverSettings(max_iterations=4, gravity=EARTH, linear_solver=route)
    solver = make_solver(model, settings)
    for _ in range(STEPS):
        state, _report = solver.step(state, state.positions[model.pinned], STEP)
    return {"peak": peak_memory(), "estimated": estimated}
