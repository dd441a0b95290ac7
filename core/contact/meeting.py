"""Bodies that meet one another, themselves and colliders, as a load: barrier and friction (:mod:`.ipc`) of surfaces
that a space's unknowns carry, so that none ever cross.

Pins and colliders are where they are told; how they get there without a crossing is :mod:`..solvers.arrival`. A step
that is extrapolated to its end meets there: barrier and friction are of the extrapolated surfaces, and push with the
forces that they have there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assembly.pairs import Pairs
from ..assembly.stencils import Stencils, joined_stencils, stencils_of
from ..forces.step_potential import Arriving, Motion
from .friction import LaggedFriction
from .ipc import Barrier, Rubbing

NOTICEABLE = 0.5
"""Part of the normal forces by which they differ from what friction was taken from, above which it is taken anew."""

RIGHT = 0.15
"""The same at a step's solution, of friction that was taken anew on the way there."""

AT_ONCE = 0.6
"""Part by which all that presses has to be another for that to count at once: how it is shared is known an iteration
later.
"""

NEAR = 4.0
"""Way by which things that rub pass each other in an iteration, of the distance from which surfaces push, up to which
that tells how hard they press: what goes farther meets other faces.
"""


class Meeting:
    """What acts between surfaces in steps one after the other.

    Parameters
    ----------
    barrier : of the surfaces, the bodies' vertices before the colliders'
    points : the bodies' vertices, b of them, as points of the space that is stepped (``Space.points``)
    places : (c,3) m, where the colliders' are at the beginning; ``targets`` (c,3): where they are to be after a step
    """

    def __init__(self, barrier: Barrier, points: Any, places: np.ndarray) -> None:
        self.barrier, self.points = barrier, points
        self.places = self.earlier = self.targets = places

    def surfaces(self, unknowns: np.ndarray) -> np.ndarray:
        """All vertices of the surfaces, (b + c,3) m, between two steps."""
        return np.concatenate([self.points.positions(unknowns), self.places])

    def begin(self, motion: Motion) -> MeetingPotential:
        """What acts in a step, whose bits are to be the same whatever steps came before it in this process."""
        self.barrier.forget()
        return MeetingPotential(self, motion)


class MeetingPotential(Arriving):
    """The same in a step; colliders at ``places`` (c,3) m. Friction is as the normal forces at the step's beginning
    have it and, once they have changed, as those do that iterations take.
    """

    def __init__(self, meeting: Meeting, motion: Motion) -> None:
        self._meeting, self._barrier, self._points = meeting, meeting.barrier, meeting.points
        self.places, self._step, self._theta = meeting.places, motion.whole.step, motion.theta
        self._start = self._points.positions(motion.start)
        came = motion.extrapolation * (self.places - meeting.earlier)
        self._base = np.concatenate([self._points.positions(motion.base), self.places + came])
        self._is_renewed = self._is_settled = False  # on the way to the step's solution, and there
        self._taken: np.ndarray | None = None  # normal forces that the last whole step of the solver took
        self.projected = True
        # Where the stiffness was last asked for, and what rubs there.
        self._model: tuple[np.ndarray, Rubbing] | None = None
        # As if all went on as it does.
        velocities = np.zeros_like(motion.start) if motion.velocities is None else motion.velocities
        gone = (self.places - meeting.earlier - came) / self._step
        rubbing = self._barrier.rubbing(self._at(motion.start))
        self._lag(rubbing, rubbing.on_vertices(), np.concatenate([self._points.moved(velocities), gone]))

    def _lag(self, rubbing: Rubbing, pressing: np.ndarray, velocities: np.ndarray | None = None) -> None:
        """Take friction from what rubs, which presses vertices (b + c,3) N, with the slips of velocities (b + c,3) m/s
        expected.
        """
        shares, forces, _, normals, bodies = rubbing
        self._rubbing, self._pressing = shares, pressing
        slips = None if velocities is None else shares @ velocities
        numbers = self._step, self._barrier.slip
        self._friction = LaggedFriction(forces, normals, shares @ self._base, *numbers, expected=slips, bodies=bodies)

    @property
    def way(self) -> np.ndarray:
        """What colliders have to go still, (c,3) m."""
        return self._meeting.targets - self.places

    def end(self) -> None:
        """The next step begins where colliders are."""
        self._meeting.earlier, self._meeting.places = self._meeting.places, self.places

    def _at(self, positions: np.ndarray) -> np.ndarray:
        """All surfaces at the end of the step, (b + c,3) m."""
        y = self._points.positions(positions)
        if self._theta < 1.0:
            y = self._start + (y - self._start) / self._theta
        return np.concatenate([y, self.places])

    def _along(self, dx: np.ndarray, way: np.ndarray) -> np.ndarray:
        return np.concatenate([self._points.moved(dx) / self._theta, way])

    def _spread(self, forces: np.ndarray) -> np.ndarray:
        return self._points.spread(forces[: len(self._start)])

    def longest(self, positions: np.ndarray, dx: np.ndarray, going: bool = False) -> float:
        """As :meth:`Arriving.longest`."""
        way = self.way if going else np.zeros_like(self.places)
        return self._barrier.longest(self._at(positions), self._along(dx, way))

    # The potential's force is to be the barrier's at the end of the step: so it is theta times the barrier.

    def value(self, positions: np.ndarray) -> float:
        """J."""
        y = self._at(positions)
        return self._theta * (self._barrier.value(y) + self._friction.value(self._rubbing @ y))

    def _forces(self, y: np.ndarray) -> np.ndarray:
        return self._barrier.gradient(y) + self._rubbing.T @ self._friction.gradient(self._rubbing @ y)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """(n,3), N."""
        return self._spread(self._forces(self._at(positions)))

    def _hessian(self, positions: np.ndarray) -> Stencils:
        """Of barrier and friction by the surfaces, N/m."""
        y = self._at(positions)
        if self._barrier.mu and not self._is_settled:
            self._model = y, self._barrier.rubbing(y)
        rubbing = stencils_of(self._rubbing, self._friction.stiffness(self._rubbing @ y))
        return joined_stencils([self._barrier.curvature(y, self.projected), rubbing])

    def pairs(self, positions: np.ndarray) -> Pairs:
        """As :meth:`Coupling.pairs`."""
        return self._points.pairs(self._hessian(positions)).scaled(1.0 / self._theta)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """What is not of pairs: in a subspace, all."""
        if self._points.is_dense:
            K = self._hessian(positions).matrix(len(self._start))
            self._points.add_coupling(K, scale / self._theta, blocks)

    def pull(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Its Hessian times a way (n,3) of vertices and all that colliders have to go, (n,3) N."""
        way = self._along(dx, self.way)
        return self._spread(self._hessian(positions).times(way))

    def work(self, positions: np.ndarray) -> float:
        """As :meth:`Arriving.work`."""
        forces = self._forces(self._at(positions))
        return self._theta * float(np.sum(forces[len(self._start) :] * self.way))

    def update(self, positions: np.ndarray) -> bool:
        """Friction, from the normal forces that the last whole step of the solver took, where these are others than
        those that it was taken from: what a blow presses with is known an iteration later, and what was pressed
        together is let go, without a convergence to friction that will not be.
        """
        if self._model is None or self._is_settled:
            return False
        (here, before), y = self._model, self._at(positions)
        rubbing = before.after(y - here)
        gone = np.linalg.norm(before.shares @ (y - here), axis=1)
        if gone @ rubbing.forces > NEAR * self._barrier.distance * rubbing.forces.sum():
            return False
        last, self._taken = self._taken, rubbing.on_vertices()
        less, more = sorted((_size(self._taken), _size(self._pressing)))
        if less > (1.0 - AT_ONCE) * more and (last is None or _apart(self._taken, last) > NOTICEABLE):
            return False
        anew = self._taken_anew(rubbing, self._taken, y, NOTICEABLE)
        self._is_renewed |= anew
        return anew

    def settle(self, positions: np.ndarray) -> bool:
        """Friction, from the normal forces at a solution, where they have changed, once. What was taken on the way
        there hangs on the way, and has to be nearer.
        """
        if self._model is None or self._is_settled:
            return False
        y = self._at(positions)
        beyond = RIGHT if self._is_renewed else NOTICEABLE
        rubbing = self._barrier.rubbing(y)
        self._is_settled = self._taken_anew(rubbing, rubbing.on_vertices(), y, beyond)
        return self._is_settled

    def _taken_anew(self, rubbing: Rubbing, pressing: np.ndarray, y: np.ndarray, beyond: float) -> bool:
        """Whether friction is that of what rubs now, since forces are apart by more than a part of themselves."""
        if _apart(pressing, self._pressing) <= beyond:
            return False
        self._lag(rubbing, pressing)
        self._friction.goes_on(self._rubbing @ y)
        return True

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """As :meth:`Arriving.is_unconverged`."""
        return self._friction.is_unconverged(self._rubbing @ self._at(positions))

    def gap(self, positions: np.ndarray) -> float:
        """As :meth:`Arriving.gap`."""
        return self._barrier.gap(self._at(positions))


def _size(forces: np.ndarray) -> float:
    """Of all forces (s,3), N."""
    return float(np.linalg.norm(forces, axis=1).sum())


def _apart(forces: np.ndarray, others: np.ndarray) -> float:
    """By what part of the larger ones two sets of forces (s,3) differ; 0 where there are none."""
    total = max(_size(forces), _size(others))
    return _size(forces - others) / total if total else 0.0
