"""Springs that push and never pull, as one iteration of a solver sees them: ``1/2 k max(d - n.u, 0)²`` at points that
are moved by u, with depths d and normals n that are taken where a point first touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from .step_potential import StepPotential


class Points(Protocol):
    """Points that a solver's unknowns carry."""

    def positions(self, unknowns: np.ndarray) -> np.ndarray:
        """(p,3) m."""

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Forces (p,3) at the points as forces at the unknowns."""

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times stiffnesses K (p,3,3) at the points to a system's blocks."""


class Penetration(NamedTuple):
    """Depths (p,) m, negative or -inf where nothing touches, and the ways out (p,3), unit."""

    depths: np.ndarray
    normals: np.ndarray


class UnilateralSprings:
    """The springs of one obstacle during one iteration.

    Parameters
    ----------
    points : Points
    unknowns : where the iteration begins
    stiffness : (p,) N/m; 0 where nothing may push
    touch : Touch there
    look : unknowns -> Touch there
    """

    def __init__(
        self,
        points: Points,
        unknowns: np.ndarray,
        stiffness: np.ndarray,
        touch: Penetration,
        look: Callable[[np.ndarray], Penetration],
    ) -> None:
        self._points, self._unknowns, self._stiffness, self._look = points, unknowns, stiffness, look
        self._places = points.positions(unknowns)
        self.pushing = (touch.depths > 0.0) & (stiffness > 0.0)
        self._known = self.pushing.copy()  # which points have touched anywhere in this iteration
        self._depths = np.where(self._known, touch.depths, 0.0)
        self._normals = touch.normals

    def point_displacements(self, change: np.ndarray) -> np.ndarray:
        """How far a change of the unknowns moves the points, (p,3) m."""
        return self._points.positions(self._unknowns + change) - self._places

    def extend_candidates(self, change: np.ndarray) -> None:
        """Get to know the springs of points that touch after a change of the unknowns."""
        there = self._look(self._unknowns + change)
        new = (there.depths > 0.0) & (self._stiffness > 0.0) & ~self._known
        if new.any():
            u = self.point_displacements(change)
            self._normals = np.where(new[:, None], there.normals, self._normals)
            depths = there.depths[new] + np.sum(there.normals[new] * u[new], axis=1)
            self._depths[new] = depths
            self._known |= new

    def depths(self, u: np.ndarray) -> np.ndarray:
        """Of the springs that are known, (p,) m, negative where they do not push; 0 elsewhere."""
        return np.where(self._known, self._depths - np.sum(self._normals * u, axis=1), 0.0)

    def force(self, pressing: np.ndarray) -> np.ndarray:
        """At the unknowns, of depths (p,) m."""
        return self._points.spread((self._stiffness * pressing)[:, None] * self._normals)

    def update_active_set(self, u: np.ndarray, scale: float, blocks: np.ndarray) -> bool:
        """Let those springs push that do when the points are moved by u; True when others do than before, whose
        stiffness times ``scale`` is then added to a system's blocks, and that of the others taken away.
        """
        pushing = self.depths(u) > 0.0
        changed = pushing != self.pushing
        if not changed.any():
            return False
        k = np.where(changed, np.where(pushing, self._stiffness, -self._stiffness), 0.0)
        n = self._normals
        self._points.add_stiffness(k[:, None, None] * (n[:, :, None] * n[:, None, :]), scale, blocks)
        self.pushing = pushing
        return True

    def work_along(self, u: np.ndarray, along: np.ndarray) -> Callable[[float], float]:
        """Of the springs when the points go on by ``along`` from u: a function of the part of the way, per part."""
        k, depth, rate = (
            array[self._known] for array in (self._stiffness, self.depths(u), np.sum(self._normals * along, axis=1))
        )
        return lambda t: float(np.sum(k * rate * np.maximum(depth - t * rate, 0.0)))


@runtime_checkable
class UnilateralPotential(StepPotential, Protocol):
    """A potential of springs that only push, among other things."""

    def springs(self, unknowns: np.ndarray) -> UnilateralSprings:
        """Those of an iteration that begins where the stiffness was last asked for."""

    def is_active(self, unknowns: np.ndarray) -> bool:
        """Whether any of them pushes."""

    def is_unconverged(self, unknowns: np.ndarray) -> bool:
        """Whether what else there is wants another iteration than the last one, which led here."""
