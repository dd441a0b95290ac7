"""Bodies that meet one another, themselves and colliders, as a load: barrier and friction (:mod:`.ipc`) of surfaces
that a model's vertices carry, so that none ever cross.

Pins and colliders are where they are told; how they get there without a crossing is :mod:`..solvers.arrival`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..assembly.pairs import Pairs, pairs_of
from ..forces.step_potential import Arriving, Motion
from .ipc import Barrier


class Meeting:
    """What acts between surfaces in steps one after the other.

    Parameters
    ----------
    barrier : of the surfaces, the bodies' vertices before the colliders'
    carried : (b,n) the bodies' by a model's vertices
    places : (c,3) m, where the colliders' are at the beginning; ``targets`` (c,3): where they are to be after a step
    """

    def __init__(self, barrier: Barrier, carried: sp.csr_matrix, places: np.ndarray) -> None:
        self.barrier, self.carried = barrier, carried
        self.places = self.earlier = self.targets = places

    def begin(self, motion: Motion) -> MeetingPotential:
        """What acts in a step."""
        return MeetingPotential(self, motion)


class MeetingPotential(Arriving):
    """The same in a step, with friction as the forces at its beginning have it; colliders at ``places`` (c,3) m."""

    def __init__(self, meeting: Meeting, motion: Motion) -> None:
        self._meeting, self._barrier, self._W = meeting, meeting.barrier, meeting.carried
        self.places, self._step = meeting.places, motion.step
        self._earlier = meeting.earlier
        self._base = np.concatenate(
            [self._W @ motion.base, self.places + motion.extrapolation * (self.places - self._earlier)]
        )
        self._barrier.lag(self._at(motion.start))

    @property
    def way(self) -> np.ndarray:
        """What colliders have to go still, (c,3) m."""
        return self._meeting.targets - self.places

    def end(self) -> None:
        """The next step begins where colliders are."""
        self._meeting.earlier, self._meeting.places = self._meeting.places, self.places

    def _at(self, positions: np.ndarray) -> np.ndarray:
        return np.concatenate([self._W @ positions, self.places])

    def longest(self, positions: np.ndarray, dx: np.ndarray, going: bool = False) -> float:
        """As :meth:`Bounded.longest`; where colliders are ``going`` all their way."""
        way = self.way if going else np.zeros_like(self.places)
        return self._barrier.longest(self._at(positions), np.concatenate([self._W @ dx, way]))

    def value(self, positions: np.ndarray) -> float:
        """J."""
        y = self._at(positions)
        return self._barrier.value(y) + self._step * self._barrier.friction((y - self._base) / self._step)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """(n,3), N."""
        y = self._at(positions)
        force = self._barrier.gradient(y) + self._barrier.friction_gradient((y - self._base) / self._step)
        return self._W.T @ force[: self._W.shape[0]]

    def _hessian(self, positions: np.ndarray) -> sp.csr_matrix:
        y = self._at(positions)
        rubbing = self._barrier.friction_hessian((y - self._base) / self._step) / self._step
        return (self._barrier.hessian(y) + rubbing).tocsr()

    def pairs(self, positions: np.ndarray) -> Pairs:
        """As :meth:`Coupling.pairs`."""
        size = 3 * self._W.shape[0]
        W = sp.kron(self._W, sp.eye(3), format="csr")
        return pairs_of(W.T @ self._hessian(positions)[:size, :size] @ W)

    def pull(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Its Hessian times a way (n,3) of vertices and all that colliders have to go, (n,3) N."""
        way = np.concatenate([self._W @ dx, self.way]).ravel()
        size = self._W.shape[0]
        return self._W.T @ (self._hessian(positions) @ way).reshape(-1, 3)[:size]

    def work(self, positions: np.ndarray) -> float:
        """As :meth:`Arriving.work`."""
        y, first = self._at(positions), self._W.shape[0]
        force = self._barrier.gradient(y) + self._barrier.friction_gradient((y - self._base) / self._step)
        return float(np.sum(force[first:] * self.way))

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Nothing: all is of pairs."""

    def update(self, positions: np.ndarray) -> bool:
        """Nothing: friction keeps the forces of the step's beginning."""
        return False

    def gap(self, positions: np.ndarray) -> float:
        """As :meth:`Arriving.gap`."""
        return self._barrier.smallest_distance(self._at(positions)) / self._barrier.distance
