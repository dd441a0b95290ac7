"""The incremental potential of one step, which every solver here minimises over the free vertices ([MFEM22] Eq. 2):

    E(x) = 1/2 |x - x~|_M^2 + h² (W(x) - f . x + sum of the step's other potentials)

with x~ and the effective h of the time integration rule. Energies are in kg m² (J times s²), gradients in kg m.
"""

from __future__ import annotations

import copy

import numpy as np

from ..assembly.low_rank import LowRank, joined
from ..energies.kinematics import Deformation, Stretch
from ..energies.tangent import Tangent, project
from ..forces.body_forces import GravityPotential, InertiaPotential
from ..forces.elastic import ElasticPotential
from ..forces.step_potential import BarrierStepPotential, LowRankPotential, StepPotential, StrainPotential
from ..forces.unilateral_springs import UnilateralPotential, UnilateralSprings
from ..integrators.time_step import TimeStep
from .internal_friction import StretchDamping

MAX_LAGGING_ITERATIONS = 4
"""Rounds in which lagged potentials (friction, the law of pin springs) are updated at a step's solution. Each is a
Newton iteration of that law: a step of ten seconds in a subspace takes four, ordinary steps one or two.
"""

MAX_LAGGING_UPDATES = 30
"""Iterations in which they are renewed on the way there; where they do not converge by then, each round has its own."""


class IncrementalPotential:
    """Value and gradient of a step's incremental potential.

    Parameters
    ----------
    time : TimeStep
    potentials : what acts beside inertia, gravity and elasticity
    pinned : (p,) vertices whose gradient is left out
    given : (p,3) m, where they are
    friction : InternalFriction, if there is any

    ``element_weights`` (m,): h² times the elastic potential's, m³ s².
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
        friction: StretchDamping | None = None,
    ) -> None:
        self._inertia, self._gravity, self._elastic, self._pinned = inertia, gravity, elastic, pinned
        self.prescribed_positions = prescribed_positions
        self.meeting = next((each for each in potentials if isinstance(each, BarrierStepPotential)), None)
        self.potentials = tuple(each for each in potentials if not isinstance(each, StrainPotential))
        self.time, self.friction = time, friction
        self.strain = next((each for each in potentials if isinstance(each, StrainPotential)), None)
        self.h = time.step
        self.element_weights = self.h**2 * elastic.weights
        self.renewals_left = MAX_LAGGING_ITERATIONS
        self._following = MAX_LAGGING_UPDATES

    def rest_of_value(self, x: np.ndarray, s: np.ndarray | None, stretch: Stretch | None) -> tuple[float, float]:
        """All but the elastic energy, with the friction of stretches s (m,6) and what potentials of strain have of
        theirs, each None where there is none, and the sum of the parts' magnitudes.
        """
        parts = [self._inertia.value(x, self.time.predicted), self.h**2 * self._gravity.value(x)]
        parts += [self.h**2 * potential.value(x) for potential in self.potentials]
        if self.friction is not None:
            parts.append(self.h**2 * self.friction.value(s))
        if self.strain is not None:
            parts.append(self.h**2 * self.strain.value(stretch))
        return sum(parts), sum(abs(part) for part in parts)

    def value(self, x: np.ndarray, deformation: Deformation) -> tuple[float, float]:
        """The whole, and the sum of its parts' magnitudes."""
        s = None if self.friction is None else deformation.stretch()
        stretch = None if self.strain is None else self._elastic.strained(deformation)[1]
        rest, magnitude = self.rest_of_value(x, s, stretch)
        elastic = self.h**2 * self._elastic.value(deformation)
        return rest + elastic, magnitude + abs(elastic)

    def gradient_at(
        self, x: np.ndarray, deformation: Deformation, more: np.ndarray | float = 0.0, of_pins: bool = False
    ) -> np.ndarray:
        """The gradient, with ``more`` stresses (m,3,3)."""
        stress = self._elastic.stress(deformation) + more
        if self.friction is not None:
            stress += self.friction.stress(deformation)
        if self.strain is not None:
            stress += self.strain.forces(*self._elastic.strained(deformation))
        return self.gradient(x, stress, of_pins)

    def gradient(
        self, x: np.ndarray, stress: np.ndarray, of_pins: bool = False, of_potentials: bool = True
    ) -> np.ndarray:
        """Its gradient for stresses (m,3,3), (n,3), with zeros at pins unless it is to be ``of_pins``, too; with that
        of what acts beside inertia, gravity and elasticity, or without.
        """
        force = self._elastic.nodal_forces(stress) + self._gravity.gradient()
        for potential in self.potentials if of_potentials else ():
            force += potential.gradient(x)
        g = self._inertia.gradient(x, self.time.predicted) + self.h**2 * force
        if not of_pins:
            g[self._pinned] = 0.0
        return g

    def strain_gradient(self, deformation: Deformation) -> np.ndarray | float:
        """Of the potential of strain alone, N."""
        if self.strain is None:
            return 0.0
        return self._elastic.nodal_forces(self.strain.forces(*self._elastic.strained(deformation)))

    def tangent(self, deformation: Deformation, projected: bool = True) -> Tangent:
        """Second derivatives of the elastic energy by F, with what a strong potential of strain takes back of them."""
        if self.strain is None or not self.strain.is_strong:
            return self._elastic.tangent(deformation, projected)
        stretch = self._elastic.strained(deformation)[1]
        return self._softened(stretch, self._elastic.tangent(deformation, projected=False), projected)

    def stretch_tangent(self, stretch: Stretch) -> Tangent:
        """The same by independent stretches, projected."""
        if self.strain is None or not self.strain.is_strong:
            return self._elastic.stretch_tangent(stretch)
        return self._softened(stretch, self._elastic.stretch_tangent(stretch, projected=False), True)

    def _softened(self, stretch: Stretch, tangent: Tangent, projected: bool) -> Tangent:
        self.strain.soften(stretch, tangent)
        if projected:
            project(*tangent[2:])
        return tangent

    def low_rank(self, deformation: Deformation) -> LowRank | None:
        """What is added to the stiffness by no single element."""
        found = [each.low_rank for each in self.potentials if isinstance(each, LowRankPotential)]
        found += [] if self.strain is None else [self.strain.low_rank(deformation)]
        return joined(found) if found else None

    def max_step_size(self, x: np.ndarray, dx: np.ndarray, going: bool = False) -> float:
        """The part of a way (n,3) from x, at most 1, along which all may be asked where bodies meet, with obstacles
        that stand, or are ``going`` all their way.
        """
        if self.meeting is None:
            return 1.0
        return min(self.meeting.max_step_size(x, dx, going), self._elastic.inversion_free_step_size(x, dx))

    def without_contact(self) -> IncrementalPotential:
        """The same where bodies do not meet."""
        other = copy.copy(self)
        other.potentials, other.meeting = tuple(each for each in self.potentials if each is not self.meeting), None
        return other

    def is_path_collision_free(self, before: np.ndarray, x: np.ndarray) -> bool:
        """Whether nothing touches at x, nor, where bodies meet, on the way there; if so, obstacles have gone theirs."""
        meeting = self.meeting
        if meeting is None:
            return not self.has_active_contact(x)
        places = meeting.collider_positions
        if self.max_step_size(before, x - before, going=True) == 1.0:
            meeting.collider_positions = places + meeting.remaining_displacement
            if not self.has_active_contact(x):
                return True
        meeting.collider_positions = places
        return False

    def feasibility_margin(self, x: np.ndarray) -> float:
        """How far from what must not be, where bodies meet: the smallest gap, or what is left of a tet that stays
        upright, whichever is less.
        """
        return min(self.meeting.normalized_gap(x), self._elastic.min_det_F(x))

    def end_step(self) -> None:
        """The step is as it was solved: the next one begins where its obstacles are."""
        if self.meeting is not None:
            self.meeting.end_step()

    @property
    def has_contact(self) -> bool:
        """Whether a potential sets in or ends within the step, as contact does."""
        return any(isinstance(potential, UnilateralPotential) for potential in self.potentials)

    def has_active_contact(self, x: np.ndarray) -> bool:
        """Whether anything touches an obstacle, or another body, at x."""
        if self.meeting is not None and self.meeting.normalized_gap(x) < np.inf:
            return True
        return any(
            potential.is_active(x) for potential in self.potentials if isinstance(potential, UnilateralPotential)
        )

    def unilateral_springs(self, x: np.ndarray) -> list[UnilateralSprings]:
        """The springs that only push, in an iteration that begins at x, where the stiffness was last asked for."""
        return [potential.springs(x) for potential in self.potentials if isinstance(potential, UnilateralPotential)]

    def is_unconverged(self, x: np.ndarray) -> bool:
        """Whether the friction of a contact wants another iteration than the last one, which led to x."""
        each = [potential for potential in self.potentials if isinstance(potential, UnilateralPotential)]
        return any(one.is_unconverged(x) for one in [*each, *([self.meeting] if self.meeting else [])])

    def update_lagging_at_solution(self, x: np.ndarray) -> bool:
        """Renew at a solution what was lagged; True when it changed."""
        self.renewals_left -= 1
        settled = self.meeting is not None and self.meeting.update_at_solution(x)
        return self._update(x) or settled

    def update_lagging(self, x: np.ndarray) -> bool:
        """Renew on the way to a solution what was lagged; True when it changed."""
        self._following -= 1
        return self._following >= 0 and self._update(x)

    def _update(self, x: np.ndarray) -> bool:
        # Every potential is asked, also after one has said yes.
        return any([potential.update(x) for potential in self.potentials])
