"""BDF2, the backward differentiation formula of second order: less damping than implicit Euler at the same step.

With ``w = h / h_before`` (Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", Sec. III.5)

    x = a x0 - b x1 + c v,    v = a v0 - b v1 + c dv/dt
    a = (1 + w)² / (1 + 2 w),    b = w² / (1 + 2 w),    c = h (1 + w) / (1 + 2 w)

x0, v0 are the positions and velocities at the start of the step, x1, v1 one step earlier, and x, v at the end of the
step. For equal steps a = 4/3, b = 1/3, c = 2h/3. The first step has no history and is implicit Euler; one such step
keeps the global second order.
"""

from __future__ import annotations

import numpy as np

from . import backward_euler
from .time_step import History, TimeStep

NAME = "bdf2"
LABEL = "BDF2"
DESCRIPTION = "Lively: of second order, so vibrations and rotations last longer"
NEEDS_HISTORY = True
OWN = ()


def begin(positions: np.ndarray, velocities: np.ndarray, history: History | None, time_step: float) -> TimeStep:
    """Return a step of BDF2.

    ``positions`` (n,3), m, and ``velocities`` (n,3), m/s: state at the start of the step. ``time_step``, s: length of
    the step. ``history``: state one step earlier. If ``history`` is None, the step is implicit Euler.
    """
    if history is None:
        return backward_euler.begin(positions, velocities, None, time_step)
    w = time_step / history.time_step
    b = w**2 / (1.0 + 2.0 * w)
    c = time_step * (1.0 + w) / (1.0 + 2.0 * w)
    # Differences (a - b = 1) avoid cancellation far from the origin.
    base = positions + b * (positions - history.positions)
    carried = velocities + b * (velocities - history.velocities)
    return TimeStep(base + c * carried, base, c, b)
