"""What a rule of time integration makes of a step: the same three things for every rule.

A step of any of our implicit rules minimises ``1/2 |x - predicted|_M^2 + step² (potential energy at x)`` and ends with
the velocities ``(x - base) / step``.
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

    ``lead``: ``base = x0 + lead (x0 - x1)`` with the positions now and a step ago. So whatever the body has of
    positions, q, changes by ``(q - base_of(q0, q1)) / step`` a second.
    """

    predicted: np.ndarray
    base: np.ndarray
    step: float
    lead: float = 0.0

    def base_of(self, now: np.ndarray, before: np.ndarray) -> np.ndarray:
        """What ``base`` is of positions, of another quantity with these values now and a step ago."""
        return now + self.lead * (now - before)

    def velocities(self, positions: np.ndarray) -> np.ndarray:
        """Velocities that the step ends with at these positions, (n,3), m/s."""
        return (positions - self.base) / self.step
