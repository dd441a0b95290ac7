"""What a rule of time integration makes of a step: the same three things for every rule.

A step of any of our implicit rules minimises ``1/2 |x - predicted|_M^2 + step² (potential energy at x)``; there the
velocities are ``(x - base) / step``. That is the end of the step, or a part of the way there, from which the end is
extrapolated (:mod:`.theta_midpoint`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class History(NamedTuple):
    """Where the body was a step ago: positions (n,3) m, velocities (n,3) m/s, and how long that step was, s."""

    positions: np.ndarray
    velocities: np.ndarray
    time_step: float


class TimeStep(NamedTuple):
    """``predicted`` (n,3) m: where inertia alone would lead; ``base`` (n,3) m; ``step`` s, the effective step.

    ``extrapolation``: ``base = x0 + extrapolation (x0 - x1)`` with the positions now and a step ago. So whatever the
    body has of positions, q, changes by ``(q - base_of(q0, q1)) / step`` a second.

    ``theta``: the part of the time step at whose end this is.
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    extrapolation: float = 0.0
    theta: float = 1.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """What ``base`` is of positions, of another quantity with these values now and a step ago."""
        return now + self.extrapolation * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Velocities at these positions, (n,3), m/s."""
        return (positions - self.base) / self.step

    def interpolated(self, before: np.ndarray, end: np.ndarray) -> np.ndarray:
        """What it is after the part theta, of what goes straight from one to the other."""
        return end if self.theta == 1.0 else before + self.theta * (end - before)

    def extrapolated(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """What it is at the end of the step, of what it was before and is after the part theta."""
        return now if self.theta == 1.0 else before + (now - before) / self.theta
