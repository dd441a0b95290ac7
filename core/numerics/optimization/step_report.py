"""Report of a solver on a step: iterations, convergence, stop reason, and time by kind of work.

The incremental potential is ``1/2 |x - x~|²_M + h² (W(x) + ...)`` in kg m². Its gradient g is in kg m; divided by h² it
is a force in N. The Newton decrement ``-g . dx`` estimates twice the remaining decrease of the potential.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

REDONE_BY = "; made again by "
"""Text in ``StepReport.reason`` before the name of the time integration rule that recomputed the step."""


@dataclass
class Iteration:
    """Record of one iteration of a solver.

    Attributes
    ----------
    gradient_norm : norm of the incremental potential's gradient at free vertices before the iteration, kg m, or None
    decrement : Newton decrement: minus the slope of the incremental potential along the search direction, kg m²
    predicted_decrease : minus the slope of the line search's merit along the search direction, kg m²
    step_length : accepted step length, as a multiple of the search direction
    movement : largest displacement of a vertex, m
    """

    gradient_norm: float | None
    decrement: float
    predicted_decrease: float
    step_length: float
    movement: float


@dataclass
class StepReport:
    """Report of a solver on one step.

    Attributes
    ----------
    reason : why the iteration ended, as text
    gradient_norm : norm of the incremental potential's gradient at free vertices at the end of the step, kg m
    linear_solver : name of the linear solver, and the reason for its choice
    force : ``gradient_norm`` / h², N
    movement : largest displacement of a vertex in the last search direction, before the line search, m
    taken : elastic energy removed by vibration matching, divided by the largest energy that it can remove; 0 without
        matching (``eigenfit.stretch_potential``)
    lost : fraction of the initial kinetic energy that dynamic nodes, the vertices that ConJac integrates in time,
        cannot represent (``solvers.conjac``)
    buckles : True if ConJac had to project the Hessian, since the body buckles between its dynamic nodes
    blocked : fraction of the prescribed path of pins and obstacles that remains because contact blocks them
    blocked_by : pairs of names of the bodies and colliders that were nearest to each other when blocked
    contacts : number of active contact pairs at the end of the step
    distance : smallest distance of a contact pair, m; None without contact
    solved_with : names of the other bodies solved in the same system, since contact with them was possible
    history : record of each iteration
    seconds : seconds by kind of work: assembly, factorization, solve, local, line_search
    """

    solver: str
    iterations: int = 0
    converged: bool = False
    reason: str = ""
    gradient_norm: float = float("nan")
    linear_solver: str = ""
    force: float = float("nan")
    movement: float = float("nan")
    taken: float = 0.0
    lost: float = 0.0
    buckles: bool = False
    blocked: float = 0.0
    blocked_by: list[tuple[str, str]] = field(default_factory=list)
    contacts: int = 0
    distance: float | None = None
    solved_with: list[str] = field(default_factory=list)
    history: list[Iteration] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, part: str) -> _Timed:
        """Return a context manager that adds the elapsed time to ``seconds[part]``."""
        return _Timed(self.seconds, part)

    def instead_of(self, refused: StepReport, rule: str) -> StepReport:
        """Merge the report of a refused attempt at the same step into this report, and return this report.

        The iterations and seconds of ``refused`` are added. ``reason`` notes that the time integration rule named
        ``rule`` recomputed the step.
        """
        self.reason += f"{REDONE_BY}{rule}, since the chosen rule would have added energy"
        self.iterations += refused.iterations
        self.history = refused.history + self.history
        for part, seconds in refused.seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + seconds
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary of plain values, for JSON."""
        return asdict(self)


class _Timed:
    """Context manager that adds the duration of a code block to ``seconds[part]``.

    A context manager made from a generator takes three times as long, and a step of a small body needs a dozen.
    """

    __slots__ = ("part", "seconds", "start")

    def __init__(self, seconds: dict[str, float], part: str) -> None:
        self.seconds, self.part = seconds, part

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_error: object) -> None:
        self.seconds[self.part] = self.seconds.get(self.part, 0.0) + time.perf_counter() - self.start
