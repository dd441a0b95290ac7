"""Springs that push and never pull, in one iteration of a solver: ``1/2 k max(d - n.u, 0)²`` at points displaced by u.

The depths d and normals n are those of each point's first contact in the iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from .step_potential import StepPotential


class Points(Protocol):
    """Points that depend on a solver's unknowns."""

    def positions(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the positions (p,3) m."""

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return forces (p,3) N at the points as forces at the unknowns."""

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times stiffnesses K (p,3,3) at the points to a system's blocks."""


class Penetration(NamedTuple):
    """Penetration depths of points, (p,) m, negative or -inf without contact, and outward unit normals (p,3)."""

    depths: np.ndarray
    normals: np.ndarray


class UnilateralSprings:
    """Springs between points and one obstacle during one iteration.

    Parameters
    ----------
    points : Points
    unknowns : values at the beginning of the iteration
    stiffness : (p,) N/m; 0 disables a point
    touch : Penetration at these unknowns
    look : function that returns the Penetration at given unknowns
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
        self._positions = points.positions(unknowns)
        self.pushing = (touch.depths > 0.0) & (stiffness > 0.0)
        self._known = self.pushing.copy()  # points that were in contact at any time in this iteration
        self._depths = np.where(self._known, touch.depths, 0.0)
        self._normals = touch.normals

    def point_displacements(self, change: np.ndarray) -> np.ndarray:
        """Return the displacements (p,3) m of the points for a change of the unknowns."""
        return self._points.positions(self._unknowns + change) - self._positions

    def extend_candidates(self, change: np.ndarray) -> None:
        """Add springs (candidates) at all points that are in contact after a change of the unknowns."""
        there = self._look(self._unknowns + change)
        new = (there.depths > 0.0) & (self._stiffness > 0.0) & ~self._known
        if new.any():
            u = self.point_displacements(change)
            self._normals = np.where(new[:, None], there.normals, self._normals)
            depths = there.depths[new] + np.sum(there.normals[new] * u[new], axis=1)
            self._depths[new] = depths
            self._known |= new

    def depths(self, u: np.ndarray) -> np.ndarray:
        """Return the depths (p,) m of the candidate springs for displacements u (p,3) m, negative without contact; 0 at
        other points.
        """
        return np.where(self._known, self._depths - np.sum(self._normals * u, axis=1), 0.0)

    def force(self, pressing: np.ndarray) -> np.ndarray:
        """Return the force at the unknowns for penetration depths ``pressing`` (p,) m."""
        return self._points.spread((self._stiffness * pressing)[:, None] * self._normals)

    def update_active_set(self, u: np.ndarray, scale: float, blocks: np.ndarray) -> bool:
        """Activate the springs that push when the points are displaced by u (p,3) m. Return True if the active set
        changed; ``scale`` times the stiffness of added springs is then added to a system's blocks, and that of removed
        springs subtracted.
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
        """Return a function of the step size t: the work of the springs per unit of t, J, when the points move from
        displacements u (p,3) m along ``along`` (p,3) m.
        """
        k, depth, rate = (
            array[self._known] for array in (self._stiffness, self.depths(u), np.sum(self._normals * along, axis=1))
        )
        return lambda t: float(np.sum(k * rate * np.maximum(depth - t * rate, 0.0)))


@runtime_checkable
class UnilateralPotential(StepPotential, Protocol):
    """A potential that contains springs which only push."""

    def springs(self, unknowns: np.ndarray) -> UnilateralSprings:
        """Return the springs of an iteration that begins at ``unknowns``, where the stiffness was last assembled."""

    def is_active(self, unknowns: np.ndarray) -> bool:
        """Return True if any spring pushes."""

    def is_unconverged(self, unknowns: np.ndarray) -> bool:
        """Return True if terms besides the springs require another iteration after the one that led to ``unknowns``."""
