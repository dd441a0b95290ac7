"""The story of a step: how many iterations, how far from the minimum, how long each part took, and why it ended.

The incremental potential is ``1/2 |x - x~|²_M + h² (W(x) + ...)``, in kg m²; its gradient is kg m, and over h² a force
in N. The decrement ``-g . dx`` estimates twice what is left to descend.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

REDONE_BY = "; made again by "
"""Mark in the reason of a step that another rule replaced, before the name of that rule."""


@dataclass
class Iteration:
    """One iteration: norm of the incremental potential's gradient over free vertices before it (kg m; None where it was
    not evaluated), the Newton decrement (minus the slope of the incremental potential, kg m²), the predicted
    decrease (minus the slope of the line search's merit), the accepted step length and the largest movement (m).
    """

    gradient_norm: float | None
    decrement: float
    predicted_decrease: float
    step_length: float
    movement: float


@dataclass
class StepReport:
    """What a solver says of one step.

    ``gradient_norm``: of the incremental potential at the end, over free vertices, kg m; ``force``: the same in N,
    divided by h². ``movement``: the largest that the last iteration wanted, m, whatever part of it the line search
    took. ``linear_solver``: what solved the linear systems, and why it was taken. ``taken``: what a match takes of the
    elastic energy, of the most at rest, where it is known (``eigenfit.stretch_potential``). ``lost``: of the kinetic
    energy at the beginning, what dynamic nodes cannot carry (``solvers.conjac``); ``buckles``: what carries it has a
    tangent that had to be made definite. ``blocked``: of the way of pins and obstacles, what is left since something
    was in it, and ``blocked_by`` the pairs, by name, that were nearest to each other there. ``contacts``: pairs of what
    meets that pushed at the end, the nearest of them by ``distance``, m, None where none did. ``solved_with``: names of
    other bodies that were solved as one system with this one, since they may have touched. ``seconds``: by part
    (assembly, factorization, solve, local, line_search).
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
        """A block whose time is added to one part."""
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
        """Plain values, for JSON."""
        return asdict(self)


class _Timed:
    """Plainer than a generator, which takes three times as long: a step of a small body has a dozen."""

    __slots__ = ("part", "seconds", "start")

    def __init__(self, seconds: dict[str, float], part: str) -> None:
        self.seconds, self.part = seconds, part

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_error: object) -> None:
        self.seconds[self.part] = self.seconds.get(self.part, 0.0) + time.perf_counter() - self.start
