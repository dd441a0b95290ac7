"""Newton FEM: projected Newton on the incremental potential, with backtracking line search.

Mixed FEM and ConJac also use the iterations of Newton FEM. [MFEM22] Sec. 4 compares Mixed FEM with this method. A
converged step is accurate; a step that stops early is damped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...mechanics.forces.step_potential import LoadsOrFactory
from ...numerics.integrators import backward_euler
from ...numerics.optimization.line_search import Trial, backtrack, expand
from ...numerics.optimization.step_report import REDONE_BY, Iteration, StepReport
from ..model.state import State
from .incremental_potential import IncrementalPotential, NewtonIterate
from .protocol import check_direction
from .step_solver import StepSolver
from .theta_extrapolation import Solution

MAX_EXTENDED_STEP = 64.0
"""Largest step length that a line search tries if the Hessian was indefinite and had to be projected."""

STAGNATION_RATIO = 0.5
"""Convergence stagnates if a full step is longer than this fraction of the full step before it."""


def is_stagnating(history: list[Iteration]) -> bool:
    """Return True if convergence is slow.

    Convergence is slow if some iteration moved the body more than STAGNATION_RATIO times as far as the iteration
    before. Only the last iterations with full steps are compared. A projected Hessian can cause slow convergence.
    """
    for later, earlier in zip(history[:0:-1], history[-2::-1]):
        if min(later.step_length, earlier.step_length) < 1.0:
            return False
        if later.movement > STAGNATION_RATIO * earlier.movement:
            return True
    return False


def line_search_with_contact(
    merit: Callable[[float], tuple[float, float, Trial]],
    start: tuple[float, float, float],
    x: np.ndarray,
    dx: np.ndarray,
    step: IncrementalPotential,
    is_indefinite: bool,
) -> tuple[float, Trial | None]:
    """Return the accepted step length along dx (n,3) m and the trial there.

    The collision-free step size limits the step length. ``merit`` maps a step length to the merit's value, the sum of
    the absolute values of its terms (magnitude), and the trial. ``start``: value, magnitude and slope at x (n,3) m.
    ``is_indefinite``: True if the Hessian had to be projected. Steps longer than 1 are then tried, since a projected
    direction is too short near a saddle.
    """
    alpha, accepted = backtrack(merit, *start, step.max_step_size(x, dx))
    if step.contact is None or not is_indefinite or alpha < 1.0:
        return alpha, accepted
    return expand(merit, alpha, accepted, MAX_EXTENDED_STEP * step.max_step_size(x, MAX_EXTENDED_STEP * dx))


class NewtonSolver(StepSolver):
    """Projected Newton with backtracking line search, in the full space or a subspace.

    The reference method of [MFEM22] Sec. 4. Projection: Teran et al. 2005, "Robust quasistatic finite elements and
    flesh simulation".

    1. Assemble gradient and Hessian of the incremental potential; clamp negative eigenvalues of each element.
    2. Factorise and solve ``H dx = -g``.
    3. Backtrack along dx by Armijo's condition, limited by CCD.
    4. Update lagged terms (friction, pin springs) after full steps.
    5. Repeat until the stop rule holds, then update lagged terms at the solution and continue if they changed.

    With ``stiffness_damping`` the Hessian is projected only if Cholesky fails. Settings: see :class:`StepSolver`.
    """

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return the minimizer of a step's incremental potential, by projected Newton."""
        # Stretch damping balances relaxing elastic stresses. If the Hessians were projected separately, they would
        # resist rotations of stiff parts.
        projected = step.damping is None
        at = minimize(self, self.initial_iterate(state.positions, state, step, report), step, report, projected)
        return Solution(at.x, at.deformation, at.deformation.stretch())


def minimize(
    solver: StepSolver, x: np.ndarray, step: IncrementalPotential, report: StepReport, projected: bool
) -> NewtonIterate:
    """Minimize the incremental potential by Newton's method, and return the last iterate.

    ``x`` (n,3) m: initial positions. ``projected``: True to make elastic Hessians positive semi-definite. In a step
    with a barrier, the Hessians are not projected while convergence stagnates.
    """
    with report.timed("line_search"):
        at = solver.evaluate(x, step)
    while report.iterations < solver.settings.max_iterations:
        accepted = newton_iteration(solver, at, step, report, projected)
        at = accepted or at
        changed = solver.update_lagging(at.x, step, report)
        if report.reason:
            if not solver.update_lagging_at_solution(at.x, step, report):
                break
            changed = True
        if changed:
            at = NewtonIterate(at.x, at.deformation, *step.value(at.x, at.deformation))
    return at


def newton_iteration(
    solver: StepSolver, at: NewtonIterate, step: IncrementalPotential, report: StepReport, projected: bool
) -> NewtonIterate | None:
    """Return the Newton iterate after ``at``, and record the iteration in the report.

    The result is None if no step along the search direction lowers the incremental potential. ``projected``: True to
    make the Hessian positive semi-definite before the first factorisation. Otherwise, or if convergence stagnates in a
    step with a barrier, the Hessian is projected only after its Cholesky factorisation has failed.
    """
    stagnating = step.contact is not None and not solver.keeps_projection and is_stagnating(report.history)

    def assemble(is_projected: bool) -> np.ndarray:
        _assemble(solver, at, step, is_projected, is_projected or not stagnating)
        return step.gradient_at(at.x, at.deformation)

    solve = partial(solver.direction, at.x, step=step)
    g, dx, is_indefinite = solver.descent_direction(assemble, solve, report, projected and not stagnating, step)
    decrement = -float((g * dx).sum())
    check_direction(dx, decrement)

    def merit(alpha: float) -> tuple[float, float, NewtonIterate]:
        trial = solver.evaluate(at.x + alpha * dx, step, at.deformation)
        return trial.value, trial.magnitude, trial

    with report.timed("line_search"):
        alpha, accepted = line_search_with_contact(
            merit, (at.value, at.magnitude, -decrement), at.x, dx, step, is_indefinite
        )
    size = solver.model.max_displacement(dx)[0]
    iteration = Iteration(float(np.linalg.norm(g)), decrement, decrement, alpha, alpha * size)
    solver.check_convergence(report, iteration, size, step.h, at.magnitude, accepted is not None)
    return accepted


def _assemble(
    solver: StepSolver, at: NewtonIterate, step: IncrementalPotential, projected: bool, project_contact: bool = True
) -> None:
    added, system = None, solver.system
    if step.damping is not None:
        added = step.damping.condensed(at.deformation, not projected, step.h**2)[1]
    tangent = step.tangent(at.deformation, projected)
    if step.contact is not None:
        step.contact.projected = project_contact
    low_rank = step.low_rank(at.deformation)
    system.assemble_tangent(tangent, step.h**2, at.x, step.potentials, added, low_rank)


def fallback_step(
    solver: StepSolver, state: State, pin_targets: np.ndarray, time_step: float, loads: LoadsOrFactory
) -> tuple[State, StepReport]:
    """Repeat a step with implicit Euler and Newton's method, because its matrix was not positive definite.

    Return the new state, and the report with the reason.
    """
    newton = NewtonSolver(solver.model, solver.settings, solver.linear_solver)
    newton.integrator = solver.integrator  # stores the previous step in the new state if needed
    new, report = newton.step_by(backward_euler.begin, state, pin_targets, time_step, loads)
    report.reason += f"{REDONE_BY}Implicit Euler and Newton FEM, as the matrix was not positive definite"
    return new, report
