"""Implicit Euler, of first order: ``x = x0 + h v``, ``v = v0 + h a``. The numerical damping grows with the step h."""

from __future__ import annotations

import numpy as np

from .time_step import History, TimeStep

NAME = "backward_euler"
LABEL = "Implicit Euler"
DESCRIPTION = "Calm: it damps vibrations and rotation, more with longer steps and faster motion"
NEEDS_HISTORY = False
OWN = ()


def begin(positions: np.ndarray, velocities: np.ndarray, history: History | None, time_step: float) -> TimeStep:
    """Return a step of implicit Euler.

    ``positions`` (n,3), m, and ``velocities`` (n,3), m/s: state at the start of the step. ``time_step``, s: length of
    the step. ``history`` is ignored.
    """
    return TimeStep(positions + time_step * velocities, positions, time_step)
