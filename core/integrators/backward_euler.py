"""Implicit Euler: ``x~ = x + h v`` is where inertia alone would lead, ``v = (x_new - x) / h`` what the step ends
with.
"""

from __future__ import annotations

import numpy as np


def predicted_positions(positions: np.ndarray, velocities: np.ndarray, time_step: float) -> np.ndarray:
    """Positions after a step without any force, (n,3), m."""
    return positions + time_step * velocities


def new_velocities(new_positions: np.ndarray, positions: np.ndarray, time_step: float) -> np.ndarray:
    """Velocities that the step ends with, (n,3), m/s."""
    return (new_positions - positions) / time_step
