"""Time integration rules in a common form: three quantities per step.

A step of each implicit rule minimizes ``1/2 |x - predicted|_M^2 + step² (potential energy at x)``, with the velocities
``(x - base) / step``. The minimizer is the end of the step, or a point before it from which the end is extrapolated
(:mod:`.theta_midpoint`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class History(NamedTuple):
    """Previous state of the body: positions (n,3) m and velocities (n,3) m/s one step ago, and the step's length, s."""

    positions: np.ndarray
    velocities: np.ndarray
    time_step: float


class TimeStep(NamedTuple):
    """One step of a rule: ``predicted`` (n,3) m, the inertial prediction; ``base`` (n,3) m; ``step``, the effective
    step, s.

    ``extrapolation``: ``base = x0 + extrapolation (x0 - x1)`` with the current positions x0 and those of a step ago,
    x1. So the rate of any quantity q of the positions is ``(q - base_of(q0, q1)) / step``, per second.

    ``theta``: the part of the time step at whose end the positions are solved.
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    extrapolation: float = 0.0
    theta: float = 1.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the ``base`` of another quantity, with its values now and a step ago."""
        return now + self.extrapolation * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Return the velocities (n,3) m/s at positions (n,3) m."""
        return (positions - self.base) / self.step

    def interpolated(self, before: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return a quantity after the part theta, on the straight line from ``before`` to ``end``."""
        return end if self.theta == 1.0 else before + self.theta * (end - before)

    def extrapolated(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Return a quantity at the end of the step, from its values ``before`` the step and ``now``, after the part
        theta.
        """
        return now if self.theta == 1.0 else before + (now - before) / self.theta
