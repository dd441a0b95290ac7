"""Pins and colliders arrive where they are told without a crossing, before a step is solved.

Where the way is free they are there at once. Else all is moved with them, along Newton's step of what they drive,

    H_FF dx_F = -g_F - H_FK dx_K,

as far as nothing crosses, and the merit ``E + rho (what remains of the way)`` falls: in a few such steps all arrive, or
something that cannot give way blocks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..optimization.line_search import backtrack
from ..optimization.report import StepReport
from .incremental_potential import IncrementalPotential

if TYPE_CHECKING:
    from .step_solver import NewtonIterate, StepSolver

MOST = 60
"""Steps of an arrival."""

FLOOR, ABOVE = 0.5e6, 1.5
"""rho is at least so many times the work of the masses on their way, and so many times what the slope asks for."""

HARDLY, STUCK = 0.01, 3
"""Of the way, that so many steps have to gain, or something blocks."""

NARROW, SLOW = 0.1, 0.02
"""A gap, of the distance from which surfaces push, in which two steps have to gain so much of the way."""

CLOSED, OPEN = 1e-3, 0.3
"""Gaps, of the distance from which surfaces push: one under which something that cannot give way blocks, and one over
which all rests well where it is then.
"""

HALVES = 5
"""Of the last piece of a way, until it is known how far of it can be gone."""


def arrive(solver: StepSolver, x: np.ndarray, step: IncrementalPotential, report: StepReport) -> np.ndarray:
    """Positions (n,3) with pins where they are told, from ones without a crossing, or as near as they come; obstacles,
    too. What part of the way is left is in the report.
    """
    model, meeting, x = solver.model, step.meeting, x.copy()
    gained: list[float] = []
    left, rho = 1.0, 0.0
    rests, beyond = _Place(x, meeting.places, left), None
    for _ in range(MOST):
        given = np.zeros_like(x)
        given[model.pinned] = step.given - x[model.pinned]
        places, way = meeting.places, meeting.way
        if not (given.any() or way.any()) or step.longest(x, given, going=True) == 1.0:
            meeting.places = places + way
            x += given
            x[model.pinned] = step.given
            return x
        here = solver.evaluate(x, step)
        dx, slope = _driven(solver, here, given, step, report)
        rho = max(rho, FLOOR * float(np.sum(dx * (model.mass @ dx))), ABOVE * slope)

        # Colliders that come to what nothing pushes yet: no energy tells how far they may go.
        comes = not given.any() and meeting.gap(x) == np.inf

        def merit(alpha: float, x=x, dx=dx, places=places, way=way, left=left, rho=rho, comes=comes):
            meeting.places = places + alpha * way
            trial = solver.evaluate(x + alpha * dx, step)
            if comes:
                return 0.0 if meeting.gap(trial.x) > OPEN else np.inf, 0.0, trial
            return trial.value + rho * (1.0 - alpha) * left, trial.magnitude + rho * left, trial

        longest = step.longest(x, dx, going=True)
        start, magnitude = here.value + rho * left, here.magnitude + rho * left
        slope -= rho * left
        if comes:
            start = slope = 0.0
        alpha, accepted = backtrack(merit, start, magnitude, slope, longest)
        meeting.places = places + alpha * way
        report.iterations += 1
        x = accepted.x if accepted is not None else x
        gained.append(alpha * left)
        left *= 1.0 - alpha
        room, now = step.room(x), _Place(x, meeting.places, left)
        if room > OPEN:
            rests, beyond = now, None
        else:
            beyond = beyond or now
        if room < CLOSED or (len(gained) >= STUCK and sum(gained[-STUCK:]) < HARDLY):
            break
        if room < NARROW and len(gained) > 1 and sum(gained[-2:]) < SLOW:
            break
    if beyond is not None:
        rests = _farther(step, rests, beyond)
    x, meeting.places, report.blocked = rests
    step.given = x[model.pinned]
    return x


class _Place(NamedTuple):
    """Positions (n,3) on the way, where obstacles are then, and what part of the way is left."""

    x: np.ndarray
    places: np.ndarray
    left: float


def _farther(step: IncrementalPotential, rests: _Place, beyond: _Place) -> _Place:
    """The farthest that rests well of the straight, free way from one place to one where nothing does, by halves."""
    for _ in range(HALVES):
        between = _Place(*(0.5 * (a + b) for a, b in zip(rests, beyond)))
        step.meeting.places = between.places
        if step.room(between.x) > OPEN:
            rests = between
        else:
            beyond = between
    return rests


def _driven(
    solver: StepSolver, at: NewtonIterate, given: np.ndarray, step: IncrementalPotential, report: StepReport
) -> tuple[np.ndarray, float]:
    """What all is moved by (n,3) with pins that are moved by what is ``given`` (n,3), and the energy's slope."""
    elastic, system, h2 = solver.elastic, solver.system, step.h**2
    with report.timed("assembly"):
        tangent, low_rank = step.tangent(at.deformation), step.low_rank(at.deformation)
        system.assemble_tangent(tangent, h2, at.x, step.potentials, None, low_rank)
        g = step.gradient_at(at.x, at.deformation, of_pins=True)
        driving = h2 * elastic.nodal(tangent.stress_change(elastic.change(given)))
        driving += solver.inertia.mass @ given + h2 * step.meeting.pull(at.x, given)
        driving += 0.0 if low_rank is None else h2 * low_rank.times(given)
    with report.timed("factorization"):
        system.factorize()
    with report.timed("solve"):
        dx = given + system.solve(-g - driving)
    return dx, float(np.sum(g * dx)) + h2 * step.meeting.work(at.x)
