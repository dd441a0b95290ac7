"""Contact as a load: IPC barrier (:mod:`.barrier_potential`) and friction between the surfaces of bodies and colliders.

Self-contact is included. The surfaces are interpolated from a solver's unknowns and never intersect. Some time
integrators solve for positions at a time within the step. Contact then acts on surfaces that are extrapolated to the
end of the step. Pins and colliders reach their prescribed positions along paths that are free of collisions
(:mod:`...methods.solvers.kinematic_targets`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.stencils import Stencils, joined_stencils, stencils_of
from ...mechanics.forces.step_potential import BarrierStepPotential, Motion
from ..friction import LaggedFriction, TangentialCollisions
from .barrier_potential import Barrier

LAG_TOLERANCE = 0.5
"""Relative change of the lagged friction bounds above which friction is updated.

A friction bound is the friction coefficient times the normal force.
"""

LAG_TOLERANCE_AT_SOLUTION = 0.15
"""Relative change of the friction bounds above which friction is updated at the solution of a step.

A friction bound is the friction coefficient times the normal force. This tolerance applies if friction was already
updated in the step's iterations. Otherwise ``LAG_TOLERANCE`` applies.
"""

LAG_IMMEDIATE = 0.6
"""Relative change of the total friction bound above which friction is updated at once.

A friction bound is the friction coefficient times the normal force. After a smaller change, the update waits until the
friction bounds at the vertices differ little between two successive iterations, by a relative difference of at most
``LAG_TOLERANCE``.
"""

LAG_MAX_SLIP = 4.0
"""Largest slip of an iteration at which a linear model predicts normal forces, in activation distances dhat.

After a longer slip, points touch other faces than the faces in the model. The slip is a mean over the contact pairs.
Each pair is weighted by its friction bound (friction coefficient times normal force).
"""


class ContactLoad:
    """Contact load between the surfaces of bodies and colliders, over consecutive steps.

    Parameters
    ----------
    barrier : barrier over all surface vertices: first the b vertices of bodies, then the c vertices of colliders
    points : the b surface vertices of bodies, interpolated from the solver's unknowns (``Space.points``)
    collider_positions : (c,3) m, positions of the collider vertices at the beginning of the first step

    Attributes
    ----------
    targets : (c,3) m, prescribed positions of the collider vertices at the end of a step
    """

    def __init__(self, barrier: Barrier, points: Any, collider_positions: np.ndarray) -> None:
        self.barrier, self.points = barrier, points
        self.collider_positions = self.previous_collider_positions = self.targets = collider_positions

    def surface_positions(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the positions of all surface vertices between two steps, (b + c,3), m.

        The b vertices of bodies come first, then the c vertices of colliders.
        """
        return np.concatenate([self.points.positions(unknowns), self.collider_positions])

    def begin(self, motion: Motion) -> ContactStepPotential:
        """Return the contact potential of a step.

        Cached collision candidates are cleared. So the values of the potential do not depend on the steps that this
        process ran before.
        """
        self.barrier.clear_candidates()
        return ContactStepPotential(self, motion)


class ContactStepPotential(BarrierStepPotential):
    """Potential of barrier and friction during a step.

    Friction uses lagged normal forces: at first those at the step's beginning. If the normal forces change enough
    during the iterations, friction is updated.

    ``collider_positions`` (c,3), m: vertices of the colliders.
    """

    def __init__(self, contact: ContactLoad, motion: Motion) -> None:
        self._contact, self._barrier, self._points = contact, contact.barrier, contact.points
        self.collider_positions, self._step, self._theta = (
            contact.collider_positions,
            motion.at_end_of_step.step,
            motion.theta,
        )
        self._start = self._points.positions(motion.x_prev)
        extrapolated = motion.extrapolation * (self.collider_positions - contact.previous_collider_positions)
        self._base = np.concatenate([self._points.positions(motion.base), self.collider_positions + extrapolated])
        self._is_updated = self._is_settled = False  # friction updated in the iterations, at the solution
        self._friction_bounds: np.ndarray | None = None  # nodal friction bounds after the solver's last full step
        self.projected = True
        # Surface positions at the last Hessian, and the tangential collisions there.
        self._model: tuple[np.ndarray, TangentialCollisions] | None = None
        # The slip is predicted with the velocities at the step's beginning.
        velocities = np.zeros_like(motion.x_prev) if motion.velocities is None else motion.velocities
        collider_velocities = (
            self.collider_positions - contact.previous_collider_positions - extrapolated
        ) / self._step
        tangential = self._barrier.tangential_collisions(self._displaced_surface(motion.x_prev))
        self._update_lagging(
            tangential,
            tangential.nodal_friction_bounds(),
            np.concatenate([self._points.moved(velocities), collider_velocities]),
        )

    def _update_lagging(
        self, tangential: TangentialCollisions, nodal_bounds: np.ndarray, velocities: np.ndarray | None = None
    ) -> None:
        shares, forces, _, normals, bodies = tangential
        self._relative_displacement, self._lagged_bounds = shares, nodal_bounds
        slips = None if velocities is None else shares @ velocities
        base, eps_v = shares @ self._base, self._barrier.eps_v
        self._friction = LaggedFriction(
            forces, normals, base, self._step, eps_v, predicted_velocity=slips, bodies=bodies
        )

    @property
    def remaining_displacement(self) -> np.ndarray:
        """Displacement of the colliders from their current positions to their targets, (c,3), m."""
        return self._contact.targets - self.collider_positions

    def end_step(self) -> None:
        """End the step, so that the next one begins with the colliders at their current positions."""
        self._contact.previous_collider_positions, self._contact.collider_positions = (
            self._contact.collider_positions,
            self.collider_positions,
        )

    def _displaced_surface(self, positions: np.ndarray) -> np.ndarray:
        """Return the positions (b + c,3), m, of all surface vertices at the end of the step."""
        y = self._points.positions(positions)
        if self._theta < 1.0:
            y = self._start + (y - self._start) / self._theta
        return np.concatenate([y, self.collider_positions])

    def _surface_displacement(self, dx: np.ndarray, collider_displacement: np.ndarray) -> np.ndarray:
        return np.concatenate([self._points.moved(dx) / self._theta, collider_displacement])

    def _to_unknowns(self, forces: np.ndarray) -> np.ndarray:
        return self._points.spread(forces[: len(self._start)])

    def max_step_size(self, positions: np.ndarray, dx: np.ndarray, with_prescribed_motion: bool = False) -> float:
        """Return a collision-free step size along a direction, at most 1.

        ``positions`` (n,3), m: the solver's positions.
        ``dx`` (n,3), m: the direction.
        ``with_prescribed_motion``: True if colliders move by their remaining displacement. False if they stand still.
        """
        collider_displacement = (
            self.remaining_displacement if with_prescribed_motion else np.zeros_like(self.collider_positions)
        )
        return self._barrier.collision_free_step_size(
            self._displaced_surface(positions), self._surface_displacement(dx, collider_displacement)
        )

    # The potential is multiplied by theta, so that its gradient is the contact force at the end of the step.

    def value(self, positions: np.ndarray) -> float:
        """Return the potential of barrier and friction, J.

        ``positions`` (n,3), m: the solver's positions.
        """
        y = self._displaced_surface(positions)
        return self._theta * (self._barrier.value(y) + self._friction.value(self._relative_displacement @ y))

    def _surface_gradient(self, y: np.ndarray) -> np.ndarray:
        return self._barrier.gradient(y) + self._relative_displacement.T @ self._friction.gradient(
            self._relative_displacement @ y
        )

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of barrier and friction, (n,3), N.

        ``positions`` (n,3), m: the solver's positions.
        """
        return self._to_unknowns(self._surface_gradient(self._displaced_surface(positions)))

    def _hessian(self, positions: np.ndarray) -> Stencils:
        """Return the Hessian, N/m, of barrier and friction with respect to the surface vertices."""
        y = self._displaced_surface(positions)
        if self._barrier.mu and not self._is_settled:
            self._model = y, self._barrier.tangential_collisions(y)
        tangential = stencils_of(self._relative_displacement, self._friction.stiffness(self._relative_displacement @ y))
        return joined_stencils([self._barrier.hessian(y, self.projected), tangential])

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the Hessian of barrier and friction with respect to the tet vertices, N/m.

        The Hessian is given as 3 x 3 blocks per pair of vertices, which may be in different tets. It is for the full
        space only.

        ``positions`` (n,3), m: the solver's positions.
        """
        return self._points.pairs(self._hessian(positions)).scaled(1.0 / self._theta)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the Hessian to ``blocks`` in a subspace.

        In the full space this adds nothing, since :meth:`cross_element_hessian` contains the Hessian.
        """
        if self._points.is_dense:
            K = self._hessian(positions).matrix(len(self._start))
            self._points.add_coupling(K, scale / self._theta, blocks)

    def hessian_product(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return the product of the Hessian and a direction, (n,3), N.

        The direction consists of ``dx`` and of the remaining displacement of the colliders to their targets.

        ``positions`` (n,3), m: the solver's positions.
        ``dx`` (n,3), m: displacements of the unknowns.
        """
        direction = self._surface_displacement(dx, self.remaining_displacement)
        return self._to_unknowns(self._hessian(positions).times(direction))

    def prescribed_work(self, positions: np.ndarray) -> float:
        """Return the derivative of the potential along the colliders' remaining displacement, J."""
        forces = self._surface_gradient(self._displaced_surface(positions))
        return self._theta * float(np.sum(forces[len(self._start) :] * self.remaining_displacement))

    def update(self, positions: np.ndarray) -> bool:
        """Update friction after a full step of the solver. Return True if friction was updated.

        The linear model of the last Hessian predicts new normal forces. They replace the lagged normal forces if the
        difference is large enough. An impact therefore causes friction one iteration later, and a separating pair loses
        its friction before the iterations converge.

        ``positions`` (n,3), m: the solver's positions after the step.
        """
        if self._model is None or self._is_settled:
            return False
        (here, before), y = self._model, self._displaced_surface(positions)
        tangential = before.extrapolated(y - here)
        slips = np.linalg.norm(before.slip_matrix @ (y - here), axis=1)
        if slips @ tangential.friction_bounds > LAG_MAX_SLIP * self._barrier.dhat * tangential.friction_bounds.sum():
            return False
        last, self._friction_bounds = self._friction_bounds, tangential.nodal_friction_bounds()
        less, more = sorted((_force_norm(self._friction_bounds), _force_norm(self._lagged_bounds)))
        if less > (1.0 - LAG_IMMEDIATE) * more and (
            last is None or _relative_difference(self._friction_bounds, last) > LAG_TOLERANCE
        ):
            return False
        is_changed = self._update_friction(tangential, self._friction_bounds, y, LAG_TOLERANCE)
        self._is_updated |= is_changed
        return is_changed

    def update_at_solution(self, positions: np.ndarray) -> bool:
        """Update friction at the solution of a step. Return True if friction was updated.

        Friction is updated if the normal forces differ enough from the lagged normal forces, at most once per step. An
        update during the iterations uses predicted normal forces. After such an update the tolerance is smaller, which
        limits the error of the prediction.

        ``positions`` (n,3), m: the solver's positions.
        """
        if self._model is None or self._is_settled:
            return False
        y = self._displaced_surface(positions)
        tolerance = LAG_TOLERANCE_AT_SOLUTION if self._is_updated else LAG_TOLERANCE
        tangential = self._barrier.tangential_collisions(y)
        self._is_settled = self._update_friction(tangential, tangential.nodal_friction_bounds(), y, tolerance)
        return self._is_settled

    def _update_friction(
        self, tangential: TangentialCollisions, nodal_bounds: np.ndarray, y: np.ndarray, tolerance: float
    ) -> bool:
        """Update friction if the friction bounds changed by more than ``tolerance``. Return True if updated."""
        if _relative_difference(nodal_bounds, self._lagged_bounds) <= tolerance:
            return False
        self._update_lagging(tangential, nodal_bounds)
        self._friction.linearize_at(self._relative_displacement @ y)
        return True

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Return True if friction requires another iteration.

        ``positions`` (n,3), m: the solver's positions after the most recent iteration.
        """
        return self._friction.is_unconverged(self._relative_displacement @ self._displaced_surface(positions))

    def normalized_gap(self, positions: np.ndarray) -> float:
        """Return the smallest normalized gap of the active contact pairs, or inf without active pairs.

        The normalized gap is (distance - dmin) / dhat, with the minimum distance dmin and the activation distance dhat.

        ``positions`` (n,3), m: the solver's positions.
        """
        return self._barrier.normalized_gap(self._displaced_surface(positions))


def _force_norm(forces: np.ndarray) -> float:
    """Return the sum of the magnitudes of forces (s,3), N."""
    return float(np.linalg.norm(forces, axis=1).sum())


def _relative_difference(forces: np.ndarray, others: np.ndarray) -> float:
    """Return the norm of the difference of two sets of forces (s,3), relative to the larger norm."""
    total = max(_force_norm(forces), _force_norm(others))
    return _force_norm(forces - others) / total if total else 0.0
