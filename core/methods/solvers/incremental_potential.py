"""Incremental potential of one step, which the solvers minimize over the free vertices ([MFEM22] Eq. 2):

    E(x) = 1/2 |x - x~|_M^2 + h² (W(x) - f . x + sum of the step's other potentials)

W is the elastic energy, and f the weight of the body. The time integration rule defines the positions x~ predicted by
inertia, and the effective step h. Energies are in kg m² (J times s²), gradients in kg m.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...mechanics.assembly.low_rank import LowRank, joined
from ...mechanics.energies.kinematics import Deformation, Stretch
from ...mechanics.energies.tangent import Tangent, project
from ...mechanics.fibres.fibre_potential import FibrePotential
from ...mechanics.forces.body_forces import GravityPotential, InertiaPotential
from ...mechanics.forces.chamber_pressure import ChamberPressure
from ...mechanics.forces.elastic import ElasticPotential
from ...mechanics.forces.step_potential import BarrierStepPotential, LowRankPotential, StepPotential, StrainPotential
from ...mechanics.forces.unilateral_springs import UnilateralPotential, UnilateralSprings
from ...numerics.integrators.time_step import TimeStep
from .stretch_damping import StretchDamping

MAX_LAGGING_ITERATIONS = 4
"""Largest number of updates of lagged potentials at a step's solution.

Lagged potentials are friction and the force law of pin springs: their coefficients are those of an earlier iterate.
Time steps of ordinary length need one or two updates. A time step of 10 s in a subspace needs four updates.
"""

MAX_LAGGING_UPDATES = 30
"""Largest number of iterations per step that update lagged potentials.

After this number, lagged potentials are updated only when the iterations have converged.
"""


PROJECTIONS = 0.0, 0.1, 0.3, 1.0
"""Shares of the projection in the Hessians of pressures, in the order of trial."""


class NewtonIterate(NamedTuple):
    """Iterate of Newton's method.

    ``x`` (n,3) m: positions. ``deformation``: deformation at x. ``value``, kg m²: incremental potential. ``magnitude``,
    kg m²: sum of the absolute values of the potential's terms.
    """

    x: np.ndarray
    deformation: Deformation
    value: float
    magnitude: float


class IncrementalPotential:
    """Incremental potential of one step, with its value, gradient, and collision-free step size.

    Parameters
    ----------
    inertia, gravity, elastic : potentials of the body
    potentials : other potentials, among them at most one barrier and one potential of strain
    time : TimeStep
    pinned : (p,) indices of the pinned vertices, whose gradient is set to zero
    prescribed_positions : (p,3) m, positions of the pinned vertices after the fraction ``time.theta`` of the step
    damping : StretchDamping or None

    Attributes
    ----------
    contact : the barrier or None
    strain : the potential of strain or None
    fibres : potentials of fibres, which ``potentials`` contains too
    h : effective step, s
    element_weights : (m,) m³ s², h² times the element volumes that weight the elastic energy density
    """

    def __init__(
        self,
        inertia: InertiaPotential,
        gravity: GravityPotential,
        elastic: ElasticPotential,
        potentials: tuple[StepPotential, ...],
        time: TimeStep,
        pinned: np.ndarray,
        prescribed_positions: np.ndarray,
        damping: StretchDamping | None = None,
    ) -> None:
        self._inertia, self._gravity, self._elastic, self._pinned = inertia, gravity, elastic, pinned
        self.prescribed_positions = prescribed_positions
        self.contact = next((each for each in potentials if isinstance(each, BarrierStepPotential)), None)
        self.potentials = tuple(each for each in potentials if not isinstance(each, StrainPotential))
        if elastic.stabilization is not None and elastic.stabilization not in potentials:
            self.potentials += (elastic.stabilization,)
        self._pressures = [each for each in potentials if isinstance(each, ChamberPressure)]
        self.fibres = tuple(each for each in potentials if isinstance(each, FibrePotential))
        self.time, self.damping = time, damping
        self.strain = next((each for each in potentials if isinstance(each, StrainPotential)), None)
        self.h = time.step
        self.element_weights = self.h**2 * elastic.weights
        self.lagging_iterations_left = MAX_LAGGING_ITERATIONS
        self._lagging_updates_left = MAX_LAGGING_UPDATES

    def value_without_elastic(
        self,
        x: np.ndarray,
        s: np.ndarray | None,
        stretch: Stretch | None,
        potentials: tuple[StepPotential, ...] | None = None,
    ) -> tuple[float, float]:
        """Return the incremental potential without elastic energy, kg m².

        The second result is the sum of the absolute values of its terms, kg m². ``s`` (m,6): stretches for the stretch
        damping; None without damping. ``stretch``: stretch for the strain potential; None without a strain potential.
        ``potentials``: potentials to add instead of the attribute of this name.
        """
        potentials = self.potentials if potentials is None else potentials
        parts = [self._inertia.value(x, self.time.predicted), self.h**2 * self._gravity.value(x)]
        parts += [self.h**2 * potential.value(x) for potential in potentials]
        if self.damping is not None:
            parts.append(self.h**2 * self.damping.value(s))
        if self.strain is not None:
            parts.append(self.h**2 * self.strain.value(stretch))
        return sum(parts), sum(abs(part) for part in parts)

    def value(self, x: np.ndarray, deformation: Deformation) -> tuple[float, float]:
        """Return the incremental potential at x (n,3) m, and the sum of the absolute values of its terms, kg m²."""
        s = None if self.damping is None else deformation.stretch()
        stretch = None if self.strain is None else self._elastic.strained(deformation)[1]
        other, magnitude = self.value_without_elastic(x, s, stretch)
        elastic = self.h**2 * self._elastic.value(deformation)
        return other + elastic, magnitude + abs(elastic)

    def gradient_at(
        self, x: np.ndarray, deformation: Deformation, more: np.ndarray | float = 0.0, of_pins: bool = False
    ) -> np.ndarray:
        """Return the gradient (n,3) kg m of the incremental potential at x (n,3) m.

        ``more`` (m,3,3), Pa: stresses to add to the stresses of the potentials. ``of_pins``: False to set rows of
        pinned vertices to zero.
        """
        stress = self._elastic.stress(deformation) + more
        if self.damping is not None:
            stress += self.damping.stress(deformation)
        if self.strain is not None:
            stress += self.strain.forces(*self._elastic.strained(deformation))
        return self.gradient(x, stress, of_pins)

    def gradient(
        self,
        x: np.ndarray,
        stress: np.ndarray,
        of_pins: bool = False,
        potentials: tuple[StepPotential, ...] | None = None,
    ) -> np.ndarray:
        """Return the gradient (n,3) kg m of the incremental potential for given stresses.

        ``x`` (n,3) m: positions. ``stress`` (m,3,3) Pa. ``of_pins``: False to set rows of pinned vertices to zero.
        ``potentials``: potentials to add instead of the attribute of this name.
        """
        force = self._elastic.nodal_forces(stress) + self._gravity.gradient()
        for potential in self.potentials if potentials is None else potentials:
            force += potential.gradient(x)
        g = self._inertia.gradient(x, self.time.predicted) + self.h**2 * force
        if not of_pins:
            g[self._pinned] = 0.0
        return g

    def strain_gradient(self, deformation: Deformation) -> np.ndarray | float:
        """Return the gradient (n,3) N of the strain potential alone; 0 without a strain potential."""
        if self.strain is None:
            return 0.0
        return self._elastic.nodal_forces(self.strain.forces(*self._elastic.strained(deformation)))

    def tangent(self, deformation: Deformation, projected: bool = True) -> Tangent:
        """Return the second derivatives of the elastic energy density by the deformation gradient, Pa.

        ``projected``: True to make the result positive semi-definite. A strong strain potential (``is_strong``) may
        cancel most of the elastic energy. Part of the potential's second derivatives is therefore added to the result,
        but only in elements that become softer by the addition.
        """
        if self.strain is None or not self.strain.is_strong:
            return self._elastic.tangent(deformation, projected)
        stretch = self._elastic.strained(deformation)[1]
        return self._softened(stretch, self._elastic.tangent(deformation, projected=False), projected)

    def stretch_tangent(self, stretch: Stretch) -> Tangent:
        """Return the second derivatives of the elastic energy density by the independent stretches, Pa.

        The result is positive semi-definite. A strong strain potential (``is_strong``) may cancel most of the elastic
        energy. Part of the potential's second derivatives is therefore added to the result, but only in elements that
        become softer by the addition.
        """
        if self.strain is None or not self.strain.is_strong:
            return self._elastic.stretch_tangent(stretch)
        return self._softened(stretch, self._elastic.stretch_tangent(stretch, projected=False), True)

    def _softened(self, stretch: Stretch, tangent: Tangent, projected: bool) -> Tangent:
        self.strain.soften(stretch, tangent)
        if projected:
            project(*tangent[2:])
        return tangent

    def low_rank(self, deformation: Deformation) -> LowRank | None:
        """Return the low-rank part of the stiffness, N/m, from potentials that couple distant vertices.

        The result is None without such potentials.
        """
        found = [each.low_rank for each in self.potentials if isinstance(each, LowRankPotential)]
        found += [] if self.strain is None else [self.strain.low_rank(deformation)]
        return joined(found) if found else None

    def max_step_size(self, x: np.ndarray, dx: np.ndarray, with_prescribed_motion: bool = False) -> float:
        """Return the largest step length, at most 1, up to which nothing collides and no tet inverts.

        The step leads from x (n,3) m along dx (n,3) m. Obstacles stand still or, if ``with_prescribed_motion``, move to
        their prescribed positions. The result is 1 if the step has no barrier.
        """
        if self.contact is None:
            return 1.0
        return min(
            self.contact.max_step_size(x, dx, with_prescribed_motion), self._elastic.inversion_free_step_size(x, dx)
        )

    def begin_iteration(self, least: float = 0.0) -> None:
        """Project the Hessians of pressures less than in the last iteration, but by the share ``least``."""
        for each in self._pressures:
            each.projection = max(PROJECTIONS[max(PROJECTIONS.index(each.projection) - 1, 0)], least)

    def projections(self, projected: bool) -> Iterator[bool]:
        """Yield whether to project the elastic Hessians of an iteration, for each attempt to factorise the matrix.

        Pressures are projected only after the elastic Hessians. ``projected``: True to project these at once.
        """
        self.begin_iteration()
        if not projected:
            yield False
        yield True
        while self.project_pressures():
            yield True

    def project_pressures(self) -> bool:
        """Project the Hessians of pressures more, since the matrix is indefinite. Return False if nothing is left."""
        left = [each for each in self._pressures if each.projection < 1.0]
        for each in left:
            each.projection = PROJECTIONS[PROJECTIONS.index(each.projection) + 1]
        return bool(left)

    def without_contact(self) -> IncrementalPotential:
        """Return a copy of the potential without the contact barrier."""
        other = copy.copy(self)
        other.potentials, other.contact = tuple(each for each in self.potentials if each is not self.contact), None
        return other

    def is_path_collision_free(self, before: np.ndarray, x: np.ndarray) -> bool:
        """Return True if the body has no contact at the end x of a path.

        With a barrier, the body must also not collide on the straight path from ``before`` (n,3) m to ``x`` (n,3) m. If
        the result is True, the obstacles of the barrier have moved to their prescribed positions.
        """
        contact = self.contact
        if contact is None:
            return not self.has_active_contact(x)
        positions = contact.collider_positions
        if self.max_step_size(before, x - before, with_prescribed_motion=True) == 1.0:
            contact.collider_positions = positions + contact.remaining_displacement
            if not self.has_active_contact(x):
                return True
        contact.collider_positions = positions
        return False

    def feasibility_margin(self, x: np.ndarray) -> float:
        """Return the smaller of the normalized gap and the least det F at x (n,3) m.

        The normalized gap is that of the barrier. det F is taken over the tets that must not invert.
        """
        return min(self.contact.normalized_gap(x), self._elastic.min_det_F(x))

    def end_step(self) -> None:
        """Accept the step's solution, with the obstacles at their current positions."""
        if self.contact is not None:
            self.contact.end_step()

    def with_independent(self, fibres: tuple[StepPotential, ...]) -> tuple[StepPotential, ...]:
        """Return the potentials of the step, in which ``fibres`` replace the fibres that depend on positions."""
        return (*(each for each in self.potentials if each not in self.fibres), *fibres)

    @property
    def has_contact(self) -> bool:
        """True if the step has a unilateral potential, such as contact."""
        return any(isinstance(potential, UnilateralPotential) for potential in self.potentials)

    def has_active_contact(self, x: np.ndarray) -> bool:
        """Return True if the body is in contact with an obstacle or another body at x (n,3) m."""
        if self.contact is not None and self.contact.normalized_gap(x) < np.inf:
            return True
        return any(
            potential.is_active(x) for potential in self.potentials if isinstance(potential, UnilateralPotential)
        )

    def unilateral_springs(self, x: np.ndarray) -> list[UnilateralSprings]:
        """Return the unilateral springs at x (n,3) m, one set per unilateral potential.

        The linear system must already be assembled at x.
        """
        return [potential.springs(x) for potential in self.potentials if isinstance(potential, UnilateralPotential)]

    def is_unconverged(self, x: np.ndarray) -> bool:
        """Return True if friction in contact requires another iteration at positions x (n,3) m."""
        each = [potential for potential in self.potentials if isinstance(potential, UnilateralPotential)]
        return any(one.is_unconverged(x) for one in [*each, *([self.contact] if self.contact else [])])

    def update_lagging_at_solution(self, x: np.ndarray) -> bool:
        """Update lagged terms (friction, pin springs) at a solution x (n,3) m of the step.

        Return True if the terms changed.
        """
        self.lagging_iterations_left -= 1
        settled = self.contact is not None and self.contact.update_at_solution(x)
        return self._update(x) or settled

    def update_lagging(self, x: np.ndarray) -> bool:
        """Update lagged terms (friction, pin springs) at an iterate x (n,3) m.

        Return True if the terms changed. After MAX_LAGGING_UPDATES calls nothing is updated.
        """
        self._lagging_updates_left -= 1
        return self._lagging_updates_left >= 0 and self._update(x)

    def _update(self, x: np.ndarray) -> bool:
        # A list, not a generator: every potential is updated, also after one returned True.
        return any([potential.update(x) for potential in self.potentials])
