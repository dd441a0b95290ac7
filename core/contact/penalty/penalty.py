"""Contact by penalty springs between points and obstacles, and friction.

The energy is ``1/2 k A d²`` at every contact point with a negative gap to an obstacle. A is the area of the point, k a
pressure per depth, d the depth. The closest point of the obstacle is recomputed at every evaluation. The Hessian keeps
only ``k A n n^T``, which is semi-definite and exact on flat obstacles. A point that begins a step deep inside an
obstacle is pushed out slowly, at the push-out speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...foundation.schema.settings import EARTH
from ...mechanics.forces.step_potential import Motion
from ...mechanics.forces.unilateral_springs import Penetration, UnilateralPotential, UnilateralSprings
from ..friction import STICTION_TOLERANCE, LaggedFriction
from .contact_points import ContactPoints
from .extrapolated_points import ExtrapolatedPoints
from .obstacle import Contacts, Obstacle
from .sheet_thickness import sheet_thickness

RELATIVE_PENETRATION = 3e-4
"""Penetration depth, in body sizes, for which the contact stiffness is computed."""

FIRMNESS = 300.0
"""Least contact stiffness (pressure per depth), as a multiple of Young's modulus divided by body size."""

DROP_HEIGHT = 10.0
"""Height of a free fall, in body sizes. The contact stiffness is computed for the impact."""

PUSH_OUT = 0.5
"""Speed at which an obstacle pushes out points, in body sizes per second.

The points begin a step inside the obstacle.
"""


@dataclass(frozen=True)
class PenaltyParameters:
    """Parameters of penalty contact, computed from the body.

    Attributes
    ----------
    stiffness : Pa/m
        Pressure per penetration depth, chosen to stop a fall within one step.
    stiffening : 1/m
        Lower bound of the stiffness, as a multiple of Young's modulus. Below it, pins would press a body into an
        obstacle instead of squeezing it.
    depth : m
        Penetration depth for which the stiffness is computed.
    sheet_thickness : m
        Least distance at which sheets begin to push.
    push_out_speed : m/s
        Speed at which obstacles push out points that begin a step inside.
    stiction_tolerance : m/s
        Slip velocity from which friction has its full magnitude, mu times the normal force.
    """

    stiffness: float
    stiffening: float
    depth: float
    sheet_thickness: float
    push_out_speed: float
    stiction_tolerance: float

    @classmethod
    def for_body(cls, density: float, size: float, gravity: float, time_step: float) -> PenaltyParameters:
        """Return the parameters for a body.

        The stiffness k is computed for a column of the body's height that falls on an obstacle at speed v. Within one
        step, k stops the column at the penetration ``depth``: ``k depth h = rho size v``. ``depth`` is
        ``RELATIVE_PENETRATION`` times the size, v the speed after a fall from ``DROP_HEIGHT`` times the size. At rest
        the column penetrates much less: ``rho g size / k = depth g h / v``. A body pressed down by pins should be
        squeezed rather than sink in. Therefore ``stiffening`` times Young's modulus is a lower bound of k.

        ``density``, kg/m³: mean density rho.
        ``size``, m.
        ``gravity``, m/s²: magnitude g.
        ``time_step``, s: h.
        """
        depth = RELATIVE_PENETRATION * size
        arrival = math.sqrt(2.0 * max(gravity, EARTH) * DROP_HEIGHT * size)
        return cls(
            stiffness=density * size * arrival / (time_step * depth),
            stiffening=FIRMNESS / size,
            depth=depth,
            sheet_thickness=sheet_thickness(size),
            push_out_speed=PUSH_OUT * size,
            stiction_tolerance=STICTION_TOLERANCE * size,
        )


class PenaltyContact:
    """Load of penalty contact between a body and an obstacle during one step.

    Parameters
    ----------
    points : ContactPoints of the body
    obstacle : Obstacle
    friction : Coulomb's coefficient
    numbers : PenaltyParameters
    time_step : s
        Duration of the obstacle's motion.
    held : (p,) bool or None
        Contact points fixed by pins, on which contact exerts no force. None if no point is fixed.
    """

    def __init__(
        self,
        points: ContactPoints,
        obstacle: Obstacle,
        friction: float,
        numbers: PenaltyParameters,
        time_step: float,
        held: np.ndarray | None = None,
    ) -> None:
        self.points, self.obstacle, self.friction = points, obstacle, friction
        self.numbers, self.time_step = numbers, time_step
        self.held = np.zeros(len(points.areas), dtype=bool) if held is None else held

    def begin(self, motion: Motion) -> PenaltyContactPotential:
        """Return the contact potential of a step."""
        return PenaltyContactPotential(self, motion)


class PenaltyContactPotential(UnilateralPotential):
    """Potential of penalty contact between a body and an obstacle during one step."""

    def __init__(self, contact: PenaltyContact, motion: Motion) -> None:
        self._contact, self._motion, self._points = contact, motion.at_end_of_step, contact.points.points
        if motion.theta != 1.0:
            self._points = ExtrapolatedPoints(self._points, motion)
        numbers, points = contact.numbers, contact.points
        pressure = np.maximum(numbers.stiffness, numbers.stiffening * points.moduli)
        # Points held by pins cannot yield: their normal force is meaningless, and friction only costs iterations.
        self._stiffness = np.where(contact.held, 0.0, pressure * points.areas)
        self._base = self._points.positions(motion.base)
        self._approach = contact.obstacle.begin_step(
            self._points.positions(motion.x_prev), contact.points.outward(motion.x_prev)
        )
        first = self._approach.initial_contacts
        self._allowed = np.maximum(-first.gaps - contact.numbers.push_out_speed * contact.time_step, 0.0)
        self._felt: np.ndarray | None = None  # mask of points in contact at the last stiffness
        self._springs: UnilateralSprings | None = None  # springs of the same iteration, if requested
        self._at: tuple[np.ndarray, np.ndarray, Contacts] | None = None
        # Deeper points are being pushed out: their depth does not predict the normal force.
        usual = -(self._allowed + contact.numbers.depth)
        self._pressing = self._normal_forces(first._replace(gaps=np.maximum(first.gaps, usual)))  # lagged forces, N
        self._friction = self._lagged(first, self._pressing)

    def value(self, positions: np.ndarray) -> float:
        """Return the potential of contact and friction, J.

        ``positions`` (n,3), m: tet vertices.
        """
        y, contacts = self._contacts_at(positions)
        depth = self._depth(contacts)
        return 0.5 * float(np.sum(self._stiffness * depth * depth)) + self._friction.value(y)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of contact and friction, (n,3), N.

        ``positions`` (n,3), m: tet vertices.
        """
        y, contacts = self._contacts_at(positions)
        normal_forces = self._normal_forces(contacts)
        return self._points.spread(self._friction.gradient(y) - normal_forces[:, None] * contacts.normals)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the Hessian, N/m, to the element blocks.

        The Hessian is the stiffness of friction, and ``k A n n^T`` per point in contact. Here k is the contact
        stiffness (pressure per depth), Pa/m, A the area of the point, m², and n the contact normal.
        """
        y, contacts = self._contacts_at(positions)
        self._felt, self._springs = self._depth(contacts) > 0.0, None
        k = np.where(self._felt, self._stiffness, 0.0)
        n = contacts.normals
        K = self._friction.stiffness(y) + k[:, None, None] * (n[:, :, None] * n[:, None, :])
        self._points.add_stiffness(K, scale, blocks)

    def springs(self, positions: np.ndarray) -> UnilateralSprings:
        """Return the contacts as springs that push and never pull.

        The springs are for the solver iteration that begins at ``positions``. The last call of :meth:`add_stiffness`
        must have been at the same positions.

        ``positions`` (n,3), m: tet vertices.
        """
        touch = self._touch(positions)
        self._springs = UnilateralSprings(self._points, positions, self._stiffness, touch, self._touch)
        return self._springs

    def is_active(self, positions: np.ndarray) -> bool:
        """Return True if the obstacle pushes any contact point that is not pinned.

        ``positions`` (n,3), m: tet vertices.
        """
        return bool((self._normal_forces(self._contacts_at(positions)[1]) > 0.0).any())

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Return True if friction needs another iteration.

        ``positions`` (n,3), m: tet vertices after the last iteration.
        """
        return self._contact.friction > 0.0 and self._friction.is_unconverged(self._contacts_at(positions)[0])

    def update(self, positions: np.ndarray) -> bool:
        """Update the lagged normal forces and tangent planes of friction. Return True if updated.

        If the lagged forces would change by less than a tolerance, the previous forces and planes are kept.

        ``positions`` (n,3), m: tet vertices.
        """
        if self._contact.friction == 0.0:
            return False
        _y, contacts = self._contacts_at(positions)
        forces = self._normal_forces(contacts)
        felt = self._felt if self._springs is None else self._springs.pushing
        if felt is not None:
            # The last iteration did not include new contacts: their depth is too large to predict the normal force.
            forces = np.where(felt, forces, np.minimum(forces, self._pressing))
        renewed = self._lagged(contacts, forces, self._friction)
        if not renewed.changed_from(self._friction):
            return False
        self._friction, self._pressing = renewed, forces
        return True

    def _lagged(self, contacts: Contacts, forces: np.ndarray, before: LaggedFriction | None = None) -> LaggedFriction:
        contact, step = self._contact, self._motion.step
        carried = contacts.obstacle_displacements * (step / contact.time_step)
        eps = contact.numbers.stiction_tolerance
        return LaggedFriction(contact.friction * forces, contacts.normals, self._base + carried, step, eps, before)

    def _normal_forces(self, contacts: Contacts) -> np.ndarray:
        return self._stiffness * self._depth(contacts)

    def _depth(self, contacts: Contacts) -> np.ndarray:
        return np.maximum(-contacts.gaps - self._allowed, 0.0)

    def _touch(self, positions: np.ndarray) -> Penetration:
        _y, contacts = self._contacts_at(positions)
        return Penetration(-contacts.gaps - self._allowed, contacts.normals)

    def _contacts_at(self, positions: np.ndarray) -> tuple[np.ndarray, Contacts]:
        """Return the contact points (p,3), m, and their contacts. The last result is cached."""
        if self._at is None or not np.array_equal(self._at[0], positions):
            y = self._points.positions(positions)
            self._at = positions.copy(), y, self._approach.contacts(y)
        return self._at[1], self._at[2]
