"""Common form of all time integration rules: the predicted positions, the base and the effective length of a step.

A step of each implicit rule minimizes ``1/2 |x - predicted|_M^2 + step² (potential energy at x)``. The velocities are
``(x - base) / step``. The minimizer holds the positions at the end of the step. With :mod:`.theta_midpoint`, the
minimizer holds positions at an earlier time, and the end of the step is extrapolated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class History(NamedTuple):
    """State of a body one step ago, and the length of that step.

    ``positions`` (n,3), m; ``velocities`` (n,3), m/s; ``time_step``, s.
    """

    positions: np.ndarray
    velocities: np.ndarray
    time_step: float


class TimeStep(NamedTuple):
    """One step of a time integration rule. The step starts at positions x0; one step earlier the positions were x1.

    Attributes
    ----------
    predicted : (n,3) positions from inertia alone, m
    base : (n,3) ``x0 + extrapolation (x0 - x1)``, m; velocities at positions x are ``(x - base) / step``
    step : effective step length, s
    extrapolation : factor of the last displacement in ``base``; 0 for one-step rules
    theta : fraction of the time step at which positions are solved for
    rate_step : step length for the velocities that loads see, s; 0 for ``step``
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    extrapolation: float = 0.0
    theta: float = 1.0
    rate_step: float = 0.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the base of a quantity that depends on the positions.

        The time integration rule approximates the rate of a quantity q by ``(q - base) / step``. ``now``: q at the
        start of the step. ``before``: q one step earlier.
        """
        return now + self.extrapolation * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Return the velocities at new positions, ``(positions - base) / step``.

        ``positions`` (n,3), m. The result is (n,3), m/s.
        """
        return (positions - self.base) / self.step

    def interpolated(self, before: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Interpolate a quantity linearly at the fraction ``theta`` of the step.

        ``before``: value at the start of the step. ``end``: value at the end of the step.
        """
        return end if self.theta == 1.0 else before + self.theta * (end - before)

    def extrapolated(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Extrapolate a quantity linearly to the end of the step.

        ``before``: value at the start of the step. ``now``: value at the fraction ``theta`` of the step.
        """
        return now if self.theta == 1.0 else before + (now - before) / self.theta
