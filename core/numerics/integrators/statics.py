"""Statics: each step ends at the static equilibrium of its pins and loads, without inertia.

The step has the effective length ``LONG``, so that inertia is negligible: its force on a vertex is ``m d / LONG²`` for
a displacement d. Loads that depend on velocities, such as friction, see the velocities of the actual time step. So
friction sticks to the positions of the step before.

The predicted positions continue the displacement of the step before: Mixed FEM starts there, and takes one iteration
less for pins that move evenly.
"""

from __future__ import annotations

import numpy as np

from .time_step import History, TimeStep

NAME = "statics"
LABEL = "Statics"
DESCRIPTION = "Equilibrium at each frame, without inertia: poses, corrective shapes, slow motion. Needs pins"
NEEDS_HISTORY = True
OWN = ()

LONG = 1e4
"""Effective length of a step, s. A body of 1 m and 1e4 Pa is off its equilibrium by 1e-9 of its displacement."""


def begin(positions: np.ndarray, velocities: np.ndarray, history: History | None, time_step: float) -> TimeStep:
    """Return a step to the static equilibrium.

    ``positions`` (n,3), m: state at the start of the step. ``history``: the step before, or None. ``time_step``, s:
    time step for velocities. ``velocities`` are ignored.
    """
    predicted = positions if history is None else 2.0 * positions - history.positions
    return TimeStep(predicted, positions, LONG, rate_step=time_step)
