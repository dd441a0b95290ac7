"""Interfaces of obstacles, and the ground. Obstacles return the contacts of a body's points."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Contacts(NamedTuple):
    """Contacts of p points with an obstacle.

    Attributes
    ----------
    gaps : (p,) m
        Signed distance minus the contact thickness: negative where the obstacle pushes; inf far from the obstacle.
    normals : (p,3) unit
        Direction in which the obstacle pushes: the gap's gradient.
    obstacle_displacements : (p,3) m
        Displacement, during the step, of the obstacle's surface point that is closest to each contact point.
    """

    gaps: np.ndarray
    normals: np.ndarray
    obstacle_displacements: np.ndarray


class ObstacleStep(Protocol):
    """Obstacle during one step.

    ``initial_contacts``: contacts of a body's points at the step's beginning.
    """

    initial_contacts: Contacts

    def contacts(self, points: np.ndarray) -> Contacts:
        """Return the contacts of points (p,3), m, with the obstacle at the end of the step."""


class Obstacle(Protocol):
    """Interface of an obstacle, such as a ground or a mesh, that moves during one time step."""

    def begin_step(self, points: np.ndarray, outward: np.ndarray) -> ObstacleStep:
        """Return the obstacle for the contact points of a body during one step.

        ``points`` (p,3), m: contact points at the step's beginning.
        ``outward`` (p,3): unit vectors that point out of the body at the points; 0 where undefined.
        """


class GroundPlane:
    """Static ground: the half-space below a height along z.

    Parameters
    ----------
    height : m, z coordinate of the ground
    thickness : m, distance above the ground at which it begins to push
    """

    def __init__(self, height: float, thickness: float = 0.0) -> None:
        self._level = height + thickness

    def begin_step(self, points: np.ndarray, _outward: np.ndarray) -> GroundStep:
        """Return the ground for the contact points of a body during one step.

        ``points`` (p,3), m: contact points at the step's beginning.
        """
        return GroundStep(self._level, points)


class GroundStep:
    """The ground during one step.

    It pushes points with a z coordinate below ``level``, m.
    """

    def __init__(self, level: float, points: np.ndarray) -> None:
        self._level = level
        self._normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        self._shifts = np.zeros_like(points)
        self.initial_contacts = self.contacts(points)

    def contacts(self, points: np.ndarray) -> Contacts:
        """Return the contacts of points (p,3), m, with the ground."""
        return Contacts(points[:, 2] - self._level, self._normals, self._shifts)
