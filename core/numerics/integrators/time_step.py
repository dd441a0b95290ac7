"""Common form of all time integration rules: the predicted positions, the base and the effective length of a step.

A step of each implicit rule minimizes ``1/2 |x - predicted|_M^2 + step² (potential energy at x)``; the velocities are
``(x - base) / step``. The minimizer holds the positions at the end of the step or, with :mod:`.theta_midpoint`, at an
earlier time from which the end is extrapolated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class History(NamedTuple):
    """Positions (n,3) m and velocities (n,3) m/s of a body one step ago, and the length of that step, s."""

    positions: np.ndarray
    velocities: np.ndarray
    time_step: float


class TimeStep(NamedTuple):
    """One step of a rule: ``predicted`` (n,3) m, the positions from inertia alone; ``base`` (n,3) m; ``step`` s, the
    effective step length.

    ``extrapolation`` defines ``base = x0 + extrapolation (x0 - x1)`` by the current positions x0 and those of a step
    ago, x1. The rate of any quantity q of the positions is ``(q - base_of(q0, q1)) / step``, per second.

    ``theta`` is the fraction of the time step after which the positions are solved for.
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    extrapolation: float = 0.0
    theta: float = 1.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the ``base`` of another quantity from its values ``now`` and one step ``before``."""
        return now + self.extrapolation * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Return the velocities (n,3) m/s at positions (n,3) m."""
        return (positions - self.base) / self.step

    def interpolated(self, before: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return a quantity at the fraction theta of the straight line from ``before`` to ``end``."""
        return end if self.theta == 1.0 else before + self.theta * (end - before)

    def extrapolated(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Return a quantity at the end of the step from its values ``before`` the step and, ``now``, after theta."""
        return now if self.theta == 1.0 else before + (now - before) / self.theta
