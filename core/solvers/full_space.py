"""What the full-space solvers share: the incremental potential of a step, its linear system, pins and the end of a step."""

from __future__ import annotations

import numpy as np

from ..energies.kinematics import Deformation
from ..forces.body_forces import GravityPotential, InertiaPotential
from ..integrators.backward_euler import new_velocities
from ..linear_solvers.elastic_system import ElasticSystem
from ..model.model import Model
from ..model.settings import SolverSettings
from ..model.state import State
from ..optimization.report import StepReport
from .protocol import check_finite


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

    def start(self, state: State, pin_targets: np.ndarray) -> np.ndarray:
        """Positions to iterate from: those of the state, with pins where they have to be."""
        x = state.positions.copy()
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

    def has_settled(self, report: StepReport, movement: float, step_length: float) -> bool:
        """Whether a full step moved no vertex farther than the tolerance; says so in the report."""
        if step_length == 1.0 and movement <= self._smallest_movement:
            report.converged = True
            report.reason = f"no vertex moved farther than {self.settings.tolerance:g} of the body's size"
        return report.converged

    def finish(self, state: State, x: np.ndarray, stretch: np.ndarray, h: float, report: StepReport) -> tuple[State, StepReport]:
        """The new state; names a vertex that is not a number."""
        check_finite(x, "position")
        if not report.reason:
            report.reason = f"the cap of {self.settings.max_iterations} iterations was reached"
        return State(x, new_velocities(x, state.positions, h), stretch), report
