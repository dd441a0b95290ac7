"""What a resolution will cost, before anything is made: tetrahedra, memory, seconds a frame."""

from __future__ import annotations

from dataclasses import dataclass

from ..linear_solvers.available_memory import available_memory
from ..linear_solvers.factor_size import entries_of_compact, factor_bytes
from ..linear_solvers.registry import AUTOMATIC, ITERATIVE, MEMORY_SHARE
from ..mesh.tet_count import SurfaceMeasure, expected_tets
from ..model.settings import ResolutionSettings, SolverSettings
from ..solvers.registry import in_subspace
from .memory import BYTES_A_SURFACE_VERTEX, TETS_A_VERTEX, estimated_memory, reduced_memory

GROWTH = 1.5
"""Power of the number of tets that a step takes: of a compact body's direct factorisation it is 2, of all else 1."""
REDUCED_GROWTH = 1.5
"""The same of the number of modes, in a subspace."""
PACE_TETS, PACE_MODES = 10_000.0, 16
USUAL_SECONDS = {
    "mixed_fem": 0.4,
    "newton": 0.4,
    "linearly_implicit": 0.1,
    "subspace_mixed_fem": 0.04,
    "subspace_fem": 0.04,
}
"""Of a step with ``PACE_TETS`` tets, or with ``PACE_MODES`` modes, on two cores; until a bake has told."""


@dataclass(frozen=True)
class Pace:
    """What a bake has told: seconds of a step, with so many tets, or with so many modes in a subspace."""

    seconds: float
    tets: int
    modes: int


@dataclass(frozen=True)
class Forecast:
    """About how many tets, bytes at the peak, seconds a frame; whether a bake of this solver has told the last."""

    tets: float
    memory: float
    seconds: float
    is_measured: bool


def forecast(
    measure: SurfaceMeasure,
    resolution: ResolutionSettings,
    solver: SolverSettings,
    points: int,
    pace: Pace | None = None,
) -> Forecast:
    """The cost of a body with so many surface vertices."""
    tets = expected_tets(measure, resolution.method, resolution.cells_across, resolution.finest)
    known = pace or Pace(USUAL_SECONDS.get(solver.solver, USUAL_SECONDS["mixed_fem"]), int(PACE_TETS), PACE_MODES)
    if in_subspace(solver):
        growth = (solver.modes / max(known.modes, 1)) ** REDUCED_GROWTH
    else:
        growth = (tets / max(known.tets, 1)) ** GROWTH
    seconds = solver.substeps * known.seconds * growth
    return Forecast(tets, _memory(tets, solver, points), seconds, pace is not None)


def _memory(tets: float, solver: SolverSettings, points: int) -> float:
    vertices, other = tets / TETS_A_VERTEX, BYTES_A_SURFACE_VERTEX * points
    if in_subspace(solver):
        return reduced_memory(tets, vertices, solver.modes, other)
    entries = entries_of_compact(vertices)
    free = available_memory()
    too_large = solver.linear_solver == AUTOMATIC and free and factor_bytes(entries) > MEMORY_SHARE * free
    if solver.linear_solver == ITERATIVE or too_large:
        entries /= 9.0
    return estimated_memory(tets, vertices, entries, other)


def time_words(seconds: float) -> str:
    """A time in words, two significant digits: ``40 ms``, ``1.2 s``, ``3.5 min``, ``39 h``."""
    for least, size, unit in ((5400.0, 3600.0, "h"), (90.0, 60.0, "min"), (0.1, 1.0, "s")):
        if seconds >= least:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return f"{1e3 * seconds:.2g} ms"
