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
    """One step of a time integration rule. The step starts at positions x0; one step earlier the positions were x1.

    Attributes
    ----------
    predicted : (n,3) positions from inertia alone, m
    base : (n,3) ``x0 + extrapolation (x0 - x1)``, m; velocities at positions x are ``(x - base) / step``
    step : effective step length, s
    extrapolation : factor of the last displacement in ``base``; 0 for one-step rules
    theta : fraction of the time step at which positions are solved for
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    extrapolation: float = 0.0
    theta: float = 1.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the base b of a quantity q that depends on the positions. The time integration rule approximates the
        rate dq/dt by ``(q - b) / step``. ``now`` is q at the start of the step, ``before`` is q one step earlier.
        """
        return now + self.extrapolation * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Return the velocities (n,3) m/s of the time integration rule at new ``positions`` (n,3) m:
        ``(positions - base) / step``.
        """
        return (positions - self.base) / self.step

    def interpolated(self, before: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return a quantity at the fraction ``theta`` of the step, linear between its values ``before`` the step and at
        its ``end``.
        """
        return end if self.theta == 1.0 else before + self.theta * (end - before)

    def extrapolated(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Return a quantity at the end of the step by linear extrapolation from its value ``before`` the step and its
        value ``now`` at the fraction ``theta`` of the step.
        """
        return now if self.theta == 1.0 else before + (now - before) / self.theta
