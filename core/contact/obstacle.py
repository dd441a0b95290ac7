"""What a body runs into: an obstacle answers where its points stand to it at the beginning of a step and during it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Contacts(NamedTuple):
    """How p points stand to an obstacle.

    Attributes
    ----------
    gaps : (p,) m
        Signed distance less the thickness: negative where the obstacle pushes; inf where it is out of reach.
    normals : (p,3) unit
        The way it pushes: the gap's gradient.
    shifts : (p,3) m
        How far the obstacle's own point has moved during the step.
    """

    gaps: np.ndarray
    normals: np.ndarray
    obstacle_displacements: np.ndarray


class ObstacleStep(Protocol):
    """An obstacle during one step. ``first`` is how the points stood to it at the step's beginning."""

    initial_contacts: Contacts

    def contacts(self, points: np.ndarray) -> Contacts:
        """How points (p,3) stand to the obstacle as it is at the end of the step."""


class Obstacle(Protocol):
    """Made for a step, with the positions of that moment."""

    def begin_step(self, points: np.ndarray, outward: np.ndarray) -> ObstacleStep:
        """The step of points that start at (p,3), where ``outward`` (p,3), unit or 0, leaves the body."""


class GroundPlane:
    """All below a height (along z); it stands still.

    Parameters
    ----------
    height, thickness : m
    """

    def __init__(self, height: float, thickness: float = 0.0) -> None:
        self._level = height + thickness

    def begin_step(self, points: np.ndarray, _outward: np.ndarray) -> GroundStep:
        """The step of points that start at (p,3)."""
        return GroundStep(self._level, points)


class GroundStep:
    """The ground during one step."""

    def __init__(self, level: float, points: np.ndarray) -> None:
        self._level = level
        self._normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        self._shifts = np.zeros_like(points)
        self.initial_contacts = self.contacts(points)

    def contacts(self, points: np.ndarray) -> Contacts:
        """How points (p,3) stand to it."""
        return Contacts(points[:, 2] - self._level, self._normals, self._shifts)
