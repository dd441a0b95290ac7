"""Motion of pins and colliders to their prescribed positions, without collisions, before a step is solved.

In steps without contact, ``StepSolver.start`` sets the positions of pins. Around kinematic regions, free vertices start
with a :class:`PinExtension` of the pins' displacements, since tets beside a region would be inverted otherwise. With
contact, pins and colliders move to the
end of the straight path at once if the path is free of collisions. Otherwise all vertices of the body move along with
them in Newton's direction

    H_FF dx_F = -g_F - H_FK dx_K,

where K are the prescribed degrees of freedom and F the free ones. CCD limits the step size. The merit decreases: the
incremental potential E, plus a penalty rho times the remaining fraction of the path. After a few such steps pins and
colliders arrive, or an obstacle that cannot move blocks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...mechanics.forces.body_forces import InertiaPotential
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.registry import fastest
from ...numerics.optimization.line_search import backtrack
from ...numerics.optimization.step_report import StepReport
from ..model.model import Model
from ..subspaces.elastic_laplacian import elastic_laplacian
from ..subspaces.space import Space
from .incremental_potential import IncrementalPotential, NewtonIterate

MAX_SUBSTEPS = 60
"""Largest number of Newton steps along the prescribed path."""

FLOOR, ABOVE = 0.5e6, 1.5
"""Factors in two lower bounds of the penalty rho in the merit of the line search.

The merit is the incremental potential plus rho times the remaining fraction of the prescribed path. rho is at least
FLOOR times ``dx . M dx``, where dx is Newton's direction and M the mass matrix. rho is also at least ABOVE times the
slope of the incremental potential along dx.
"""

MIN_PROGRESS, STALL_WINDOW = 0.01, 3
"""The path counts as blocked if STALL_WINDOW successive steps cover less than MIN_PROGRESS of the path."""

NARROW_GAP, MIN_PROGRESS_NARROW = 0.1, 0.02
"""Stricter test for a blocked path at a feasibility margin (normalized gap or det F) below NARROW_GAP.

The path counts as blocked if two successive steps together cover less than the fraction MIN_PROGRESS_NARROW of the
path.
"""

BLOCKED_GAP, SAFE_GAP = 1e-3, 0.3
"""Limits of the feasibility margin, the smaller of the normalized gap and det F.

The normalized gap is the gap divided by the barrier's activation distance. A path with a margin below BLOCKED_GAP is
blocked. A blocked motion ends at the last point with a margin above SAFE_GAP.
"""

BISECTIONS = 5
"""Number of bisections that locate the farthest safe point of a blocked path."""


class PinExtension:
    """Extension of the displacements of pins to the free vertices of a body, for the start of a step.

    The extension d minimises ``d . M d / 2 + h² d . L d / 6``, with the mass M and the elastic Laplacian L (the sum of
    the xx, yy and zz blocks of the stiffness). So the flesh that sound passes within the step h moves along.

    Parameters
    ----------
    model : model with pins
    h : effective length of the step, s
    """

    def __init__(self, model: Model, h: float) -> None:
        A, n = (model.mass + h**2 / 3.0 * elastic_laplacian(model)).tocsr(), model.unknowns
        self.h, self._free = h, np.setdiff1d(np.arange(n), model.pinned)
        self._factor = factorized(A[self._free][:, self._free], fastest())
        self._coupling = A[self._free][:, model.pinned]

    def extend(self, x: np.ndarray, displacements: np.ndarray) -> None:
        """Move the free vertices of the positions x (n,3) m, in place, along with pins.

        ``displacements`` (p,3), m: displacements of the pins.
        """
        pull = -(self._coupling @ displacements)
        x[self._free] += np.column_stack([self._factor.solve(np.ascontiguousarray(column)) for column in pull.T])


class NewtonSystem(Protocol):
    """Interface of a solver for Newton steps with prescribed displacements."""

    model: Space
    elastic: Any
    inertia: InertiaPotential
    system: Any

    def evaluate(self, x: np.ndarray, step: IncrementalPotential) -> NewtonIterate:
        """Return the deformation and the incremental potential at positions x (n,3) m."""
        ...


def advance_prescribed_motion(
    solver: NewtonSystem, x: np.ndarray, step: IncrementalPotential, report: StepReport
) -> np.ndarray:
    """Move pins and obstacles towards their prescribed positions, and return the body's positions (n,3) m at the end.

    ``x`` (n,3) m: collision-free positions of the body. If an obstacle blocks the motion, ``report.blocked`` is set to
    the remaining fraction of the path.
    """
    model, contact, x = solver.model, step.contact, x.copy()
    progress: list[float] = []
    remaining, rho = 1.0, 0.0
    safe, unsafe = _PathPoint(x, contact.collider_positions, remaining), None
    for _ in range(MAX_SUBSTEPS):
        dx_prescribed = np.zeros_like(x)
        dx_prescribed[model.pinned] = step.prescribed_positions - x[model.pinned]
        collider_x, collider_dx = contact.collider_positions, contact.remaining_displacement
        if (
            not (dx_prescribed.any() or collider_dx.any())
            or step.max_step_size(x, dx_prescribed, with_prescribed_motion=True) == 1.0
        ):
            contact.collider_positions = collider_x + collider_dx
            x += dx_prescribed
            x[model.pinned] = step.prescribed_positions
            return x
        here = solver.evaluate(x, step)
        dx, slope = _newton_direction_with_dirichlet(solver, here, dx_prescribed, step, report)
        rho = max(rho, FLOOR * float(np.sum(dx * (model.mass @ dx))), ABOVE * slope)

        # Colliders approach a surface beyond the barrier's range: the energy does not limit their step size yet.
        is_approaching = not dx_prescribed.any() and contact.normalized_gap(x) == np.inf

        merit = _merit(
            solver, step, _PathPoint(x, collider_x, remaining), dx, collider_dx, np.inf if is_approaching else rho
        )
        alpha_max = step.max_step_size(x, dx, with_prescribed_motion=True)
        start, magnitude = here.value + rho * remaining, here.magnitude + rho * remaining
        slope -= rho * remaining
        if is_approaching:
            start = slope = 0.0
        alpha, accepted = backtrack(merit, start, magnitude, slope, alpha_max)
        contact.collider_positions = collider_x + alpha * collider_dx
        report.iterations += 1
        x = accepted.x if accepted is not None else x
        progress.append(alpha * remaining)
        remaining *= 1.0 - alpha
        margin, now = step.feasibility_margin(x), _PathPoint(x, contact.collider_positions, remaining)
        if margin > SAFE_GAP:
            safe, unsafe = now, None
        else:
            unsafe = unsafe or now
        if margin < BLOCKED_GAP or (len(progress) >= STALL_WINDOW and sum(progress[-STALL_WINDOW:]) < MIN_PROGRESS):
            break
        if margin < NARROW_GAP and len(progress) > 1 and sum(progress[-2:]) < MIN_PROGRESS_NARROW:
            break
    if unsafe is not None:
        safe = _bisect_last_increment(step, safe, unsafe)
    x, contact.collider_positions, report.blocked = safe
    step.prescribed_positions = x[model.pinned]
    return x


class _PathPoint(NamedTuple):
    """Point on the path to the prescribed positions.

    ``x`` (n,3) m: positions of the body. ``collider_positions`` (c,3) m. ``remaining``: remaining fraction of the path.
    """

    x: np.ndarray
    collider_positions: np.ndarray
    remaining: float


def _merit(
    solver: NewtonSystem,
    step: IncrementalPotential,
    at: _PathPoint,
    dx: np.ndarray,
    collider_dx: np.ndarray,
    rho: float,
) -> Callable[[float], tuple[float, float, NewtonIterate]]:
    """Return the merit of a line search: the incremental potential plus ``rho`` times the remaining path.

    The merit maps a step length to a value, a magnitude and an iterate. If ``rho`` is infinite, the value is 0 at a
    normalized gap above SAFE_GAP, else inf.
    """

    def merit(alpha: float) -> tuple[float, float, NewtonIterate]:
        step.contact.collider_positions = at.collider_positions + alpha * collider_dx
        trial = solver.evaluate(at.x + alpha * dx, step)
        if rho == np.inf:
            return 0.0 if step.contact.normalized_gap(trial.x) > SAFE_GAP else np.inf, 0.0, trial
        return trial.value + rho * (1.0 - alpha) * at.remaining, trial.magnitude + rho * at.remaining, trial

    return merit


def _bisect_last_increment(step: IncrementalPotential, safe: _PathPoint, unsafe: _PathPoint) -> _PathPoint:
    """Return the farthest safe point of the path between ``safe`` and ``unsafe``, by bisection."""
    for _ in range(BISECTIONS):
        between = _PathPoint(*(0.5 * (a + b) for a, b in zip(safe, unsafe)))
        step.contact.collider_positions = between.collider_positions
        if step.feasibility_margin(between.x) > SAFE_GAP:
            safe = between
        else:
            unsafe = between
    return safe


def _newton_direction_with_dirichlet(
    solver: NewtonSystem, at: NewtonIterate, dx_prescribed: np.ndarray, step: IncrementalPotential, report: StepReport
) -> tuple[np.ndarray, float]:
    """Return Newton's direction dx (n,3) m, and the slope of the incremental potential along dx, kg m².

    dx contains the prescribed displacements of the pins, ``dx_prescribed`` (n,3) m. The slope includes the work along
    the remaining displacement of the obstacles.
    """
    elastic, system, h2 = solver.elastic, solver.system, step.h**2
    with report.timed("assembly"):
        tangent, low_rank = step.tangent(at.deformation), step.low_rank(at.deformation)
        system.assemble_tangent(tangent, h2, at.x, step.potentials, None, low_rank)
        g = step.gradient_at(at.x, at.deformation, of_pins=True)
        driving = h2 * elastic.nodal_forces(tangent.stress_change(elastic.delta_F(dx_prescribed)))
        driving += solver.inertia.mass @ dx_prescribed + h2 * step.contact.hessian_product(at.x, dx_prescribed)
        driving += 0.0 if low_rank is None else h2 * low_rank.times(dx_prescribed)
    with report.timed("factorization"):
        system.factorize()
    with report.timed("solve"):
        dx = dx_prescribed + system.solve(-g - driving)
    return dx, float(np.sum(g * dx)) + h2 * step.contact.prescribed_work(at.x)
