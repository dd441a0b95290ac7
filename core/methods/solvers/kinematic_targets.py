"""Dirichlet conditions with contact: move pins and colliders to their prescribed positions without collisions, before
the step is solved.

If the straight path is free of collisions, they move there at once. Otherwise all vertices move with them along
Newton's direction

    H_FF dx_F = -g_F - H_FK dx_K,

where K are the prescribed degrees of freedom and F the others. CCD limits the step size, and the merit
``E + rho (remaining part of the path)`` decreases. After a few such steps they arrive, or an obstacle that cannot give
way blocks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...numerics.optimization.line_search import backtrack
from ...numerics.optimization.step_report import StepReport
from .incremental_potential import IncrementalPotential

if TYPE_CHECKING:
    from .step_solver import NewtonIterate, StepSolver

MAX_SUBSTEPS = 60
"""Largest number of Newton steps along the prescribed path."""

FLOOR, ABOVE = 0.5e6, 1.5
"""Lower bounds of the penalty rho: FLOOR times ``dx . M dx``, and ABOVE times the slope of the energy along dx."""

MIN_PROGRESS, STALL_WINDOW = 0.01, 3
"""Smallest part of the path that STALL_WINDOW steps must cover. Below it the path counts as blocked."""

NARROW_GAP, MIN_PROGRESS_NARROW = 0.1, 0.02
"""Normalized gap (over the barrier's activation distance) below which two steps must cover MIN_PROGRESS_NARROW of the
path.
"""

BLOCKED_GAP, SAFE_GAP = 1e-3, 0.3
"""Normalized gaps (over the barrier's activation distance). Below BLOCKED_GAP the path is blocked; above SAFE_GAP the
surfaces can rest where they are.
"""

BISECTIONS = 5
"""Bisections of the last increment, which locate the farthest safe point of the path."""


def advance_prescribed_motion(
    solver: StepSolver, x: np.ndarray, step: IncrementalPotential, report: StepReport
) -> np.ndarray:
    """Return positions (n,3) m with pins at their prescribed positions, or as near as they come, from collision-free
    positions x (n,3) m. Obstacles move too. ``report.blocked`` holds the remaining part of the path.
    """
    model, meeting, x = solver.model, step.meeting, x.copy()
    gained: list[float] = []
    left, rho = 1.0, 0.0
    rests, beyond = _PathPoint(x, meeting.collider_positions, left), None
    for _ in range(MAX_SUBSTEPS):
        given = np.zeros_like(x)
        given[model.pinned] = step.prescribed_positions - x[model.pinned]
        places, way = meeting.collider_positions, meeting.remaining_displacement
        if not (given.any() or way.any()) or step.max_step_size(x, given, going=True) == 1.0:
            meeting.collider_positions = places + way
            x += given
            x[model.pinned] = step.prescribed_positions
            return x
        here = solver.evaluate(x, step)
        dx, slope = _newton_direction_with_dirichlet(solver, here, given, step, report)
        rho = max(rho, FLOOR * float(np.sum(dx * (model.mass @ dx))), ABOVE * slope)

        # Colliders approach a surface beyond the barrier's range: the energy does not limit their step size yet.
        comes = not given.any() and meeting.normalized_gap(x) == np.inf

        def merit(alpha: float, x=x, dx=dx, places=places, way=way, left=left, rho=rho, comes=comes):
            meeting.collider_positions = places + alpha * way
            trial = solver.evaluate(x + alpha * dx, step)
            if comes:
                return 0.0 if meeting.normalized_gap(trial.x) > SAFE_GAP else np.inf, 0.0, trial
            return trial.value + rho * (1.0 - alpha) * left, trial.magnitude + rho * left, trial

        longest = step.max_step_size(x, dx, going=True)
        start, magnitude = here.value + rho * left, here.magnitude + rho * left
        slope -= rho * left
        if comes:
            start = slope = 0.0
        alpha, accepted = backtrack(merit, start, magnitude, slope, longest)
        meeting.collider_positions = places + alpha * way
        report.iterations += 1
        x = accepted.x if accepted is not None else x
        gained.append(alpha * left)
        left *= 1.0 - alpha
        room, now = step.feasibility_margin(x), _PathPoint(x, meeting.collider_positions, left)
        if room > SAFE_GAP:
            rests, beyond = now, None
        else:
            beyond = beyond or now
        if room < BLOCKED_GAP or (len(gained) >= STALL_WINDOW and sum(gained[-STALL_WINDOW:]) < MIN_PROGRESS):
            break
        if room < NARROW_GAP and len(gained) > 1 and sum(gained[-2:]) < MIN_PROGRESS_NARROW:
            break
    if beyond is not None:
        rests = _bisect_last_increment(step, rests, beyond)
    x, meeting.collider_positions, report.blocked = rests
    step.prescribed_positions = x[model.pinned]
    return x


class _PathPoint(NamedTuple):
    """A point of the prescribed path: positions (n,3) m, collider positions (c,3) m, and the remaining part of the
    path.
    """

    x: np.ndarray
    collider_positions: np.ndarray
    remaining: float


def _bisect_last_increment(step: IncrementalPotential, rests: _PathPoint, beyond: _PathPoint) -> _PathPoint:
    """Return the farthest point with a safe gap on the collision-free segment from ``rests`` (safe) to ``beyond`` (not
    safe), by bisection.
    """
    for _ in range(BISECTIONS):
        between = _PathPoint(*(0.5 * (a + b) for a, b in zip(rests, beyond)))
        step.meeting.collider_positions = between.collider_positions
        if step.feasibility_margin(between.x) > SAFE_GAP:
            rests = between
        else:
            beyond = between
    return rests


def _newton_direction_with_dirichlet(
    solver: StepSolver, at: NewtonIterate, dx_prescribed: np.ndarray, step: IncrementalPotential, report: StepReport
) -> tuple[np.ndarray, float]:
    """Return Newton's direction (n,3) m for prescribed displacements ``dx_prescribed`` (n,3) m of the pins, and the
    energy's slope along it, kg m².
    """
    elastic, system, h2 = solver.elastic, solver.system, step.h**2
    with report.timed("assembly"):
        tangent, low_rank = step.tangent(at.deformation), step.low_rank(at.deformation)
        system.assemble_tangent(tangent, h2, at.x, step.potentials, None, low_rank)
        g = step.gradient_at(at.x, at.deformation, of_pins=True)
        driving = h2 * elastic.nodal_forces(tangent.stress_change(elastic.delta_F(dx_prescribed)))
        driving += solver.inertia.mass @ dx_prescribed + h2 * step.meeting.hessian_product(at.x, dx_prescribed)
        driving += 0.0 if low_rank is None else h2 * low_rank.times(dx_prescribed)
    with report.timed("factorization"):
        system.factorize()
    with report.timed("solve"):
        dx = dx_prescribed + system.solve(-g - driving)
    return dx, float(np.sum(g * dx)) + h2 * step.meeting.prescribed_work(at.x)
