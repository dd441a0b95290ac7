"""Report of a step: iterations, convergence, time of each part, and stop reason.

The incremental potential is ``1/2 |x - x~|²_M + h² (W(x) + ...)`` in kg m². Its gradient is in kg m, and divided by h²
a force in N. The decrement ``-g . dx`` estimates twice the remaining decrease.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

REDONE_BY = "; made again by "
"""Mark in a step's reason, before the name of the rule that replaced it."""


@dataclass
class Iteration:
    """Record of one iteration.

    Attributes
    ----------
    gradient_norm : of the incremental potential over free vertices before the iteration, kg m; None if not evaluated
    decrement : Newton decrement, minus the slope of the incremental potential, kg m²
    predicted_decrease : minus the slope of the line search's merit, kg m²
    step_length : accepted part of the search direction
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
    gradient_norm : of the incremental potential at the end, over free vertices, kg m
    linear_solver : solver of the linear systems, and why it was chosen
    force : ``gradient_norm`` over h², N
    movement : largest displacement in the last search direction, m, before the line search
    taken : part of the elastic energy that a match removes, if known (``eigenfit.stretch_potential``)
    lost : part of the initial kinetic energy that dynamic nodes cannot carry (``solvers.conjac``)
    buckles : the tangent of dynamic nodes had to be projected
    blocked : remaining part of the prescribed path of pins and obstacles
    blocked_by : pairs of names that were nearest to each other when blocked
    contacts : active contact pairs at the end, the nearest at ``distance``, m, None without contact
    solved_with : names of other bodies in the same system, since contact with them was possible
    seconds : by part (assembly, factorization, solve, local, line_search), s
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
        """Return a context manager that adds its time to one part."""
        return _Timed(self.seconds, part)

    def instead_of(self, refused: StepReport, rule: str) -> StepReport:
        """Add the work of a refused step to this report of the ``rule`` that replaced it."""
        self.reason += f"{REDONE_BY}{rule}, since the rule chosen would have gained energy"
        self.iterations += refused.iterations
        self.history = refused.history + self.history
        for part, seconds in refused.seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + seconds
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


class _Timed:
    """Timer as a plain class: a generator takes three times as long, and a step of a small body has a dozen."""

    __slots__ = ("part", "seconds", "start")

    def __init__(self, seconds: dict[str, float], part: str) -> None:
        self.seconds, self.part = seconds, part

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_error: object) -> None:
        self.seconds[self.part] = self.seconds.get(self.part, 0.0) + time.perf_counter() - self.start
