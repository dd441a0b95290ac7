"""Implicit Euler, of first order: ``x = x0 + h v``, ``v = v0 + h a``. Its numerical damping grows with the step h."""

from __future__ import annotations

import numpy as np

from .time_step import History, TimeStep

NAME = "backward_euler"
LABEL = "Implicit Euler"
DESCRIPTION = "Calm: it damps vibrations and rotation, more with longer steps and faster motion"
NEEDS_HISTORY = False
OWN = ()


def begin(positions: np.ndarray, velocities: np.ndarray, history: History | None, time_step: float) -> TimeStep:
    """Return a step of length ``time_step``, s, of implicit Euler that starts at positions (n,3) m and velocities (n,3)
    m/s. Implicit Euler ignores ``history``, the state one step earlier.
    """
    return TimeStep(positions + time_step * velocities, positions, time_step)
