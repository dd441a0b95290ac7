"""Obstacles of a body: they report the contacts of its points at the beginning of a step and during it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Contacts(NamedTuple):
    """Contacts of p points with an obstacle.

    Attributes
    ----------
    gaps : (p,) m
        Signed distance less the thickness: negative where the obstacle pushes; inf if it is out of reach.
    normals : (p,3) unit
        Direction of the push: the gap's gradient.
    obstacle_displacements : (p,3) m
        Displacement of the obstacle's closest point during the step.
    """

    gaps: np.ndarray
    normals: np.ndarray
    obstacle_displacements: np.ndarray


class ObstacleStep(Protocol):
    """An obstacle during one step. ``initial_contacts`` are the points' contacts at the step's beginning."""

    initial_contacts: Contacts

    def contacts(self, points: np.ndarray) -> Contacts:
        """Return the contacts of points (p,3) m with the obstacle at the end of the step."""


class Obstacle(Protocol):
    """An obstacle for one step, at its positions of that step."""

    def begin_step(self, points: np.ndarray, outward: np.ndarray) -> ObstacleStep:
        """Begin a step of points at (p,3) m, with the body's ``outward`` directions (p,3), unit or 0."""


class GroundPlane:
    """Static ground: the half-space below a height along z.

    Parameters
    ----------
    height, thickness : m
    """

    def __init__(self, height: float, thickness: float = 0.0) -> None:
        self._level = height + thickness

    def begin_step(self, points: np.ndarray, _outward: np.ndarray) -> GroundStep:
        """Begin a step of points at (p,3) m."""
        return GroundStep(self._level, points)


class GroundStep:
    """The ground during one step."""

    def __init__(self, level: float, points: np.ndarray) -> None:
        self._level = level
        self._normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        self._shifts = np.zeros_like(points)
        self.initial_contacts = self.contacts(points)

    def contacts(self, points: np.ndarray) -> Contacts:
        """Return the contacts of points (p,3) m with the ground."""
        return Contacts(points[:, 2] - self._level, self._normals, self._shifts)
