"""What the full-space solvers share: the incremental potential of a step, its linear system, pins and the end of a
step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..energies.kinematics import Deformation
from ..errors import DivergenceError
from ..forces.body_forces import GravityPotential, InertiaPotential
from ..integrators.backward_euler import new_velocities, predicted_positions
from ..linear_solvers.elastic_system import ElasticSystem
from ..model.model import Model
from ..model.settings import SolverSettings
from ..model.state import State
from ..optimization.line_search import backtrack
from ..optimization.report import Iteration, StepReport
from .protocol import check_direction, check_finite

ROUND_OFF_DECREMENT = 1e-9
"""Part of the merit's magnitude under which a decrement is lost in round-off."""

FARTHEST_FLIGHT = 1e3
"""Sizes of the body that a vertex may leave its predicted place by in one step: beyond that the step has blown up."""


class NewtonIterate(NamedTuple):
    """Positions with their deformation, and the incremental potential there with its magnitude."""

    x: np.ndarray
    deformation: Deformation
    value: float
    magnitude: float


class FullSpaceSolver:
    """Base of the solvers whose unknowns are the positions of all free vertices.

    The incremental potential of implicit Euler ([MFEM22] Eq. 2), minimised over the free vertices:

        E(x) = 1/2 |x - x~|_M^2 + h² (W(x) - f . x)
    """

    name = ""

    def __init__(self, model: Model, settings: SolverSettings) -> None:
        self.model = model
        self.settings = settings
        self.elastic = model.elastic
        self.inertia = InertiaPotential(model.mass)
        self.gravity = GravityPotential(model.mass, np.asarray(settings.gravity))
        self.system = ElasticSystem(
            model.mesh.tets,
            model.elastic.N,
            model.elastic.weights,
            model.masses,
            len(model.mesh.rest_positions),
            model.pinned,
        )
        self._smallest_movement = settings.tolerance * model.mesh.size

    def start(self, positions: np.ndarray, pin_targets: np.ndarray) -> np.ndarray:
        """Positions to iterate from, with pins where they have to be."""
        x = positions.copy()
        x[self.model.pinned] = pin_targets
        check_finite(x, "position")
        return x

    def value(self, x: np.ndarray, deformation: Deformation, predicted: np.ndarray, h: float) -> tuple[float, float]:
        """The incremental potential, kg m², and the sum of its parts' magnitudes."""
        inertia = self.inertia.value(x, predicted)
        elastic = h**2 * self.elastic.value(deformation)
        gravity = h**2 * self.gravity.value(x)
        return inertia + elastic + gravity, abs(inertia) + abs(elastic) + abs(gravity)

    def gradient(self, x: np.ndarray, stress: np.ndarray, predicted: np.ndarray, h: float) -> np.ndarray:
        """Its gradient for stresses (m,3,3), with zeros at pins, (n,3), kg m."""
        g = self.inertia.gradient(x, predicted) + h**2 * (self.elastic.nodal(stress) + self.gravity.gradient())
        g[self.model.pinned] = 0.0
        return g

    def evaluate(self, x: np.ndarray, predicted: np.ndarray, h: float) -> NewtonIterate:
        """Positions ready for a Newton iteration."""
        deformation = self.elastic.deformation(x)
        return NewtonIterate(x, deformation, *self.value(x, deformation, predicted, h))

    def newton_iteration(
        self, at: NewtonIterate, predicted: np.ndarray, h: float, report: StepReport, projected: bool
    ) -> NewtonIterate | None:
        """One Newton iteration on the incremental potential, noted in the report; None when no step lowers it any
        further.

        Unprojected Hessians are projected where Cholesky fails.
        """
        with report.timed("assembly"):
            g = self.gradient(at.x, self.elastic.stress(at.deformation), predicted, h)
            self.system.assemble(self.elastic.hessian(at.deformation, projected), h**2)
        with report.timed("factorization"):
            if projected or not self.system.try_factorize():
                if not projected:
                    self.system.assemble(self.elastic.hessian(at.deformation), h**2)
                self.system.factorize()
        with report.timed("solve"):
            dx = self.system.solve(-g)
        decrement = -float(np.sum(g * dx))
        check_direction(dx, decrement)

        def merit(alpha: float) -> tuple[float, float, NewtonIterate]:
            trial = self.evaluate(at.x + alpha * dx, predicted, h)
            return trial.value, trial.magnitude, trial

        with report.timed("line_search"):
            alpha, accepted = backtrack(merit, at.value, at.magnitude, -decrement)
        size = float(np.linalg.norm(dx, axis=1).max())
        iteration = Iteration(float(np.linalg.norm(g)), decrement, alpha, alpha * size)
        self.judge(report, iteration, size, at.magnitude, accepted is not None)
        return accepted

    def judge(
        self, report: StepReport, iteration: Iteration, direction_size: float, magnitude: float, accepted: bool
    ) -> None:
        """Note an iteration, and say in the report when it was the last one and why.

        The whole search direction is judged, not the part that the line search took: at the minimum round-off alone
        decides how much of it is taken.
        """
        report.iterations += 1
        report.history.append(iteration)
        if direction_size <= self._smallest_movement:
            report.converged = True
            report.reason = f"no vertex wants to move farther than {self.settings.tolerance:g} of the body's size"
        elif not accepted and iteration.decrement <= ROUND_OFF_DECREMENT * magnitude:
            report.converged = True
            report.reason = "the energy cannot be lowered any further (round-off)"
        elif not accepted:
            report.reason = "the line search failed: no step along the search direction lowers the energy"

    def finish(
        self, state: State, x: np.ndarray, stretch: np.ndarray, h: float, report: StepReport
    ) -> tuple[State, StepReport]:
        """The new state; DivergenceError names a vertex that is not a number or has flown away."""
        check_finite(x, "position")
        self._check_flight(state, x, h)
        if not report.reason:
            report.reason = f"the cap of {self.settings.max_iterations} iterations was reached"
        return State(x, new_velocities(x, state.positions, h), stretch), report

    def _check_flight(self, state: State, x: np.ndarray, h: float) -> None:
        """A vertex may leave the way of its inertia by as much as the pins moved and a thousand sizes of the body."""
        pinned = self.model.pinned
        flight = np.linalg.norm(x - predicted_positions(state.positions, state.velocities, h), axis=1)
        pulled = np.linalg.norm(x[pinned] - state.positions[pinned], axis=1).max(initial=0.0)
        falling = h**2 * float(np.linalg.norm(self.settings.gravity))
        worst = int(np.argmax(flight))
        if flight[worst] > FARTHEST_FLIGHT * self.model.mesh.size + 10.0 * (pulled + falling):
            raise DivergenceError(
                f"Vertex {worst} flew {flight[worst]:.3g} m away in one step.",
                "Use more substeps, a lower Poisson's ratio, or Mixed FEM.",
            )
