"""Mixed FEM: positions and stretches as independent unknowns, statically condensed to positions ([MFEM22]).

    L(x, s, lambda) = 1/2 |x - x~|_M^2 + h² sum_e w_e ( psi(s_e) + lambda_e . (s(F_e(x)) - s_e) ) - h² f . x

Six numbers represent each symmetric S, and lambda is dual to them, so ``psi``'s derivative by s contains the paper's
``Sym`` (Eq. 6). The constraint has the opposite sign of Eq. 5, so that lambda is the stress ``dpsi/ds``. With
``J = ds(F)/dF``, ``c = s(F) - s`` and the projected ``H_s``, an iteration is

    (M + h² sum w B^T J^T H_s J B) dx = -(M (x - x~) + h² sum w B^T J^T (g_s + H_s c) - h² f)         (Eq. 20)
    ds = c + J B dx,        lambda = g_s + H_s ds                                                      (Eqs. 15, 19)

``H_s`` is never inverted. Other potentials of the step (springs, contact, damping) add their stiffness to the matrix
and their forces to the right-hand side. The line search uses L with the new lambda as merit. Its slope is at most
``r.dx - dx.M dx - h² sum w ds.H_s ds``, with the residual r of the linear solve.

Beyond the paper (``quadratic_finish``): Eq. 14 drops the second derivative of the constraint ``s = s(F)``, so
convergence near the solution of soft bodies is only linear. From the second iteration on, part of this derivative is
added to the matrix. In the full space, this part is due to rotations of elements under tension. Once s and s(F) nearly
agree, the complete derivative is added instead. In a subspace, or with stiffness damping, the part is due to all
rotations of elements. If the matrix is then indefinite, other parts are tried. Once s and s(F) agree (``c.H_s c`` below
three hundredths of the slope), unprojected Newton finishes. Measurements: ``docs/design/mixed_fem.md``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.small_matrix import IDENTITY_STRETCH
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.sparsity import NONE
from ...mechanics.energies.kinematics import Deformation, Stretch
from ...mechanics.fibres.independent_fibres import FibreStep, IndependentFibres
from ...numerics.integrators import statics
from ...numerics.optimization.line_search import backtrack, sums
from ...numerics.optimization.step_report import Iteration, StepReport
from ..model.state import State
from .condensation import Mixed, PolarHessianTerms, condense, local_update
from .incremental_potential import PROJECTIONS, IncrementalPotential
from .mixed_element_trial import mixed_element_trial
from .newton import minimize
from .protocol import check_direction
from .step_solver import StepSolver
from .theta_extrapolation import Solution

HAND_OVER = 0.03
"""Limit below which Mixed FEM hands a step over to Newton's method.

The limit applies to the disagreement of independent and polar stretches, divided by the predicted decrease of the
merit. The disagreement is the energy ``c.H_s c``: c is the polar minus the independent stretch, and H_s the second
derivative of the energy density. A test by the size of c alone would hand over too early in stiff bodies and damp their
motion.
"""

UNTANGLING = 5
"""Number of iterations that restore inverted elements, if a step starts with inverted elements.

Each of these iterations first sets the independent stretches around inverted elements to the identity.
"""

NEAR = 1.0
"""Limit below which the complete second derivative of the constraint ``s = s(F)`` is used in the full space.

The limit applies to the disagreement of the independent stretches s and the polar stretches s(F), divided by the
predicted decrease of the last iteration. The disagreement is the energy ``c . H_s c`` with ``c = s(F) - s`` and the
second derivative H_s of the energy density. At half of this limit, swings of smoothed elements take an iteration more.
"""

TANGLED = 0.01
"""Fraction of inverted elements above which the independent stretches of all elements are reset to the identity.

At smaller fractions, only the stretches around inverted elements are reset. In a scrambled body with a Poisson's ratio
of 0.45, this smaller reset would leave some tets inverted.
"""


class _Iterate(NamedTuple):
    x: np.ndarray
    deformation: Deformation
    polar: np.ndarray  # polar stretches s(F(x)), (m,6)
    stretch: Stretch
    fibres: tuple[IndependentFibres, ...]
    value: float  # L without the multiplier's term
    magnitude: float  # the sum of its parts' magnitudes


class _Direction(NamedTuple):
    dx: np.ndarray
    dF: np.ndarray
    ds: np.ndarray
    multiplier: np.ndarray
    work: np.ndarray  # h² w multiplier . c, (m,)
    decrement: float  # minus the slope of the incremental potential for s = s(F)
    predicted_decrease: float  # minus the slope of the merit
    disagreement: float  # h² sum w c.H_s c
    fibres: tuple[FibreStep, ...]


class MixedFEMSolver(StepSolver):
    """Mixed FEM: sequential quadratic programming on positions, stretches and multipliers ([MFEM22] Alg. 1).

    The solver works in the full space or a subspace ([SubMFEM23]).

    1. Evaluate stress and projected Hessian of each element at its independent stretch.
    2. Condense the stretches, assemble and solve the linear system for dx.
    3. Update the stretches and multipliers element by element.
    4. Line search on the Lagrangian, limited by CCD.
    5. Repeat until the stop rule holds. With ``quadratic_finish``, unprojected Newton takes over near the solution.

    Settings: those of :class:`StepSolver`, and ``quadratic_finish``, which also adds second derivatives of the polar
    stretch to the matrix.
    """

    start_from_prediction = True
    """True to start iterations from the inertial prediction; False: from the last positions, as in [MFEM22] Alg. 1.

    Starting a shaken body from the last positions takes a third more iterations: 200 instead of 147 in 25 steps, and 17
    instead of 8 in the hardest step.
    """

    record_gradients = False
    """True to record the norm of the incremental potential's gradient in each iteration (slower)."""

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Return the solution of a step by Mixed FEM.

        Newton's method finishes the step if the setting ``quadratic_finish`` is on.
        """
        with report.timed("line_search"):
            guess = step.time.predicted if self.start_from_prediction else state.positions
            x, deformation = self._start(guess, state, step, report)
            stretch = Stretch.of(state.stretch, deformation.V)
            fibres = tuple(IndependentFibres(each, x, each.stretches(state.positions)) for each in step.fibres)
            at = self._valued(x, deformation, deformation.stretch(), stretch, fibres, step)
            guessed = None
            if min(at.deformation.sigma.min(), at.stretch.values.min()) <= 0.0:
                guessed = self._restart_mask(self.elastic.deformation(state.positions, deformation))
            tangled = 0 if guessed is None else UNTANGLING
        direction = None
        while report.iterations < self.settings.max_iterations:
            if report.iterations < tangled:
                at = self._restarted(at, self._restart_mask(at.deformation) if report.iterations else guessed, step)
            gradient_norm = self.gradient_norm(at.x, at.deformation, step) if self.record_gradients else None
            # The first iteration often starts with s = s(F): its agreement is meaningless.
            is_near = direction is not None and report.iterations > 1
            is_near = is_near and direction.disagreement < NEAR * direction.predicted_decrease
            # The first iteration has the stretches of the last step: an exact Hessian made steps of a second fail.
            step.begin_iteration(PROJECTIONS[2] if report.iterations == 0 else 0.0)
            direction = self._direction(at, step, report, is_near and not tangled)
            check_direction(direction.dx, direction.predicted_decrease)
            with report.timed("line_search"):
                alpha, accepted, magnitude = self._search(at, direction, step)
            size = self.model.max_displacement(direction.dx)[0]
            iteration = Iteration(gradient_norm, direction.decrement, direction.predicted_decrease, alpha, alpha * size)
            self.check_convergence(report, iteration, size, step.h, magnitude, accepted is not None)
            at = accepted or at
            if report.iterations <= tangled and report.converged:
                # Converged with restarted stretches, which is not the step's solution.
                report.converged, report.reason, tangled = False, "", 0
            changed = self.update_lagging(at.x, step, report)
            if self._hands_over(direction, report):
                report.reason = ""
                end = minimize(self, at.x, step, report, projected=False)
                return Solution(end.x, end.deformation, end.deformation.stretch())
            if report.reason:
                if not self.update_lagging_at_solution(at.x, step, report):
                    break
                changed = True
            if changed:
                at = self._valued(at.x, at.deformation, at.polar, at.stretch, at.fibres, step)
        if not report.reason and report.iterations <= tangled:
            report.reason = (
                f"the cap of {report.iterations} iterations was reached while inverted tets were being restored: "
                f"allow more than {UNTANGLING} iterations"
            )
        return Solution(at.x, at.deformation, at.stretch.s)

    def _start(
        self, guess: np.ndarray, state: State, step: IncrementalPotential, report: StepReport
    ) -> tuple[np.ndarray, Deformation]:
        """Return the initial positions (n,3) m of the iterations, and their deformation."""
        x = self.initial_iterate(guess, state, step, report)
        deformation = self.elastic.deformation(x)
        if step.contact is None and deformation.sigma.min() <= 0.0:
            other = self.start(state.positions, step)
            unmoved = self.elastic.deformation(other, deformation)
            if unmoved.sigma.min() > 0.0:
                return other, unmoved
        return x, deformation

    def _hands_over(self, direction: _Direction, report: StepReport) -> bool:
        """Return True if Newton's method must finish the step."""
        if not self.settings.quadratic_finish or report.converged:
            return False
        # The first iteration often starts with s = s(F): its agreement is meaningless.
        agree = report.iterations > 1 and direction.disagreement < HAND_OVER * direction.predicted_decrease
        return agree or bool(report.reason)

    def _restart_mask(self, deformation: Deformation) -> np.ndarray | None:
        """Return the mask (e,) of the elements whose independent stretches restart from the identity, or None."""
        inverted = deformation.sigma.min(axis=1) <= 0.0
        if inverted.mean() > TANGLED:
            return np.ones_like(inverted)
        free = inverted & ~self.model.near_pins()
        return self.model.dilate_selection(free) if free.any() else None

    def _restarted(self, at: _Iterate, guessed: np.ndarray | None, step: IncrementalPotential) -> _Iterate:
        """Return the iterate with the independent stretches of the elements ``guessed`` reset to the identity."""
        if guessed is None:
            return at
        s = np.where(guessed[:, None], IDENTITY_STRETCH, at.stretch.s)
        return self._valued(at.x, at.deformation, at.polar, Stretch.of(s, at.stretch.Q), at.fibres, step)

    def _valued(
        self,
        x: np.ndarray,
        deformation: Deformation,
        polar: np.ndarray,
        stretch: Stretch,
        fibres: tuple[IndependentFibres, ...],
        step: IncrementalPotential,
    ) -> _Iterate:
        """Evaluate the step's potentials and elastic energy for an iterate."""
        rest, magnitude = step.value_without_elastic(x, stretch.s, stretch, step.with_independent(fibres))
        elastic = step.h**2 * self.elastic.stretch_value(stretch)
        return _Iterate(x, deformation, polar, stretch, fibres, rest + elastic, magnitude + abs(elastic))

    def _direction(self, at: _Iterate, step: IncrementalPotential, report: StepReport, is_near: bool) -> _Direction:
        elastic, stretch = self.elastic, at.stretch
        with report.timed("assembly"):
            stress, tangent = elastic.stretch_stress(stretch), step.stretch_tangent(stretch)
            mixed = Mixed(*at.deformation[1:], at.polar, stretch.s, stretch.Q, stress, tangent.curvature, tangent.flip)
            damping = step.damping and step.damping.condensed(at.deformation, False, step.h**2)
            low_rank = step.low_rank(at.deformation)
        first, *others = self._polar_hessian_terms(report, is_near)
        direction = self._with_direction(mixed, first, damping, low_rank, at, step, report)
        for terms in others:
            if direction is None or direction.predicted_decrease <= 0.0:
                direction = self._with_direction(mixed, terms, damping, low_rank, at, step, report)
        if direction is None and step.project_pressures():
            return self._direction(at, step, report, is_near)
        if direction is None:
            self.system.factorize()  # raises FactorizationError
        return direction

    def _polar_hessian_terms(self, report: StepReport, is_near: bool) -> tuple[PolarHessianTerms, ...]:
        """Return the second derivatives of the constraint ``s = s(F)`` to add to the matrix, in the order of trial."""
        if not self.settings.quadratic_finish:
            return (PolarHessianTerms.NOTHING,)
        # In the first iteration s is that of the last step, and its tension would resist rotations, but not in rigid
        # bodies. Tension is needed only if neither inertia nor stiffness stabilizes the body, such as a pendulum in a
        # very long step.
        if report.iterations == 0:
            return PolarHessianTerms.NOTHING, PolarHessianTerms.TENSION
        # Stretch damping balances relaxing stresses. Tension and pressure in stiff parts cancel when these rotate as
        # a whole, but tension alone would resist the rotation.
        if self.settings.stiffness_damping:
            return PolarHessianTerms.ALL, PolarHessianTerms.NOTHING, PolarHessianTerms.TENSION
        if self.system.is_small:
            return PolarHessianTerms.ALL, PolarHessianTerms.TENSION
        # Elsewhere, large rotations or a scrambled start could lead to a tangled minimum. In statics, tension alone
        # resists the rotation of every element that rotates between two frames.
        if is_near or self.settings.integrator == statics.NAME:
            return PolarHessianTerms.EXACT, PolarHessianTerms.TENSION
        return (PolarHessianTerms.TENSION,)

    def _with_direction(
        self,
        mixed: Mixed,
        terms: PolarHessianTerms,
        damping: tuple[np.ndarray, np.ndarray] | None,
        low_rank: LowRank | None,
        at: _Iterate,
        step: IncrementalPotential,
        report: StepReport,
    ) -> _Direction | None:
        """Return the search direction, or None if the matrix is not positive definite."""
        is_first = report.iterations == 0 and terms == PolarHessianTerms.NOTHING and self.settings.quadratic_finish
        rigid = self.model.rigid_elements if is_first else NONE
        with report.timed("assembly"):
            system = self.system
            P, disagreement = condense(mixed, terms, step.element_weights, system.hessians, rigid)
            P, added = (P, None) if damping is None else (P + damping[0], damping[1])
            for each in at.fibres:
                each.bends = terms != PolarHessianTerms.NOTHING
            system.assemble(step.h**2, at.x, step.with_independent(at.fibres), added, low_rank)
        with report.timed("factorization"):
            if not self.system.try_factorize():
                return None
        with report.timed("solve"):
            residual = at.polar - mixed.s
            g = self._condensed_gradient(at, P, step, residual)
            bends, solution = system.low_rank is not None, self.direction(at.x, g, step)
            if bends and system.low_rank is None:  # the solution found that it makes the matrix indefinite
                g = self._condensed_gradient(at, P, step, residual)
                solution = self.direction(at.x, g, step)
        may_be_indefinite = terms >= PolarHessianTerms.ALL or len(rigid) > 0
        if solution is None or self.system.is_indefinite and may_be_indefinite:
            return None  # other terms follow, which are semi-definite
        dx, residual_work = solution
        with report.timed("local"):
            dF = self.elastic.delta_F(dx)
            ds, multiplier, curvature, work = local_update(mixed, terms, dF, step.element_weights, rigid)
            if step.damping is not None:
                damping_stress, damping_curvature = step.damping.step_by(mixed.s, ds, step.h**2)
                multiplier, curvature = multiplier + damping_stress, curvature + damping_curvature
            bent = 0.0
            if step.strain is not None:
                moved = step.strain.step_by(at.stretch, residual, ds, system.low_rank is not None)
                multiplier, bent = multiplier + moved.multiplier, step.h**2 * (moved.curvature - moved.condensed)
                # The matrix only approximates the strain potential's second derivative.
                bent += 0.0 if system.low_rank is None else system.low_rank.work(dx)
            if step.strain is not None or step.damping is not None:
                work = step.element_weights * (multiplier * residual).sum(axis=1)
            fibres = tuple(each.step_by(dx) for each in at.fibres)
            bent += step.h**2 * sum(each.curvature for each in fibres)
            inertia, _ = sums((dx * (self.model.mass @ dx)).ravel())
            # A sum of squares, except for twists under pressure. The equal difference of the decrement and the
            # curvature of c would cancel in stiff bodies. The gain of TENSION is omitted, which is conservative.
            predicted_decrease = inertia + sums(curvature)[0] + bent - residual_work
        decrement = -float((g * dx).sum())
        apart = sums(disagreement)[0] + step.h**2 * sum(each.disagreement() for each in at.fibres)
        return _Direction(dx, dF, ds, multiplier, work, decrement, predicted_decrease, apart, fibres)

    def _condensed_gradient(
        self, at: _Iterate, P: np.ndarray, step: IncrementalPotential, residual: np.ndarray
    ) -> np.ndarray:
        """Return the gradient (n,3) kg m of the condensed problem.

        P (m,3,3) Pa: condensed elastic stresses. ``residual`` (m,6): polar minus independent stretch.
        """
        if step.strain is not None:
            bends = self.system.low_rank is not None
            P = P + step.strain.forces(at.deformation, at.stretch, residual, bends)
        return step.gradient(at.x, P, potentials=step.with_independent(at.fibres))

    def _search(
        self, at: _Iterate, direction: _Direction, step: IncrementalPotential
    ) -> tuple[float, _Iterate | None, float]:
        def lagrangian(it: _Iterate, work: np.ndarray) -> tuple[float, float, _Iterate]:
            total, size = sums(work)
            for fibres, moved in zip(it.fibres, direction.fibres, strict=True):
                more = step.h**2 * float(moved.multiplier @ fibres.residual)
                total, size = total + more, size + abs(more)
            return it.value + total, it.magnitude + size, it

        def trial(alpha: float) -> tuple[float, float, _Iterate]:
            # F is linear in x, so dF of the local update serves every trial.
            deformation, stretch, polar, work = mixed_element_trial(
                alpha,
                at.deformation,
                at.stretch,
                direction.dF,
                direction.ds,
                direction.multiplier,
                step.element_weights,
            )
            x, steps = at.x + alpha * direction.dx, zip(at.fibres, direction.fibres, strict=True)
            fibres = tuple(each.moved(alpha, moved.change, x) for each, moved in steps)
            return lagrangian(self._valued(x, deformation, polar, stretch, fibres, step), work)

        start, magnitude, _ = lagrangian(at, direction.work)
        longest = step.max_step_size(at.x, direction.dx)
        alpha, accepted = backtrack(trial, start, magnitude, -direction.predicted_decrease, longest)
        return alpha, accepted, magnitude
