"""Theta-midpoint rule: implicit Euler over the fraction ``theta`` of a step, extrapolated to the end of the step.

    x_m = x0 + theta h v_m,    M (v_m - v0) / (theta h) = f(x_m)
    x = x0 + (x_m - x0) / theta,    v = v0 + (v_m - v0) / theta

So ``x - x0 = h ((1 - theta) v0 + theta v)``. theta = 1 is implicit Euler. theta = 1/2 is the implicit midpoint rule of
[EigenFit19]. The midpoint rule has second order and conserves momentum, angular momentum and the energy of linear
systems.

A vibration q(t) of angular frequency omega is the complex number ``q - i dq/dt / omega``. Each step multiplies this
number by

    r = (1 + i (1 - theta) w) / (1 - i theta w),    w = h omega

For small w, each step removes about ``(theta - 1/2) w²`` of the amplitude; the midpoint rule never damps vibrations.
For large w, r tends to ``-rho`` with ``rho = (1 - theta) / theta``: each step multiplies vibrations with periods much
shorter than the step by -rho. The default is rho = 0.9, theta = 1 / (1 + rho) = 1/1.9. Slow vibrations then have 1/19
of implicit Euler's damping.

``methods/solvers/theta_extrapolation.py`` treats pins, contact and unconverged steps. Sources: Hairer, Wanner, "Solving
Ordinary Differential Equations II", Sec. IV.3; [EigenFit19] Chen et al., EigenFit, 2019, Sec. 4.
"""

from __future__ import annotations

import numpy as np

from . import backward_euler
from .time_step import History, TimeStep

NAME = "theta_midpoint"
LABEL = "Theta Midpoint"
DESCRIPTION = "Livelier than BDF2 where the body is soft, with less error at the same cost. Stiff parts ring for longer"
NEEDS_HISTORY = True
OWN = ("theta",)


def begin(
    positions: np.ndarray, velocities: np.ndarray, _history: History | None, time_step: float, theta: float
) -> TimeStep:
    """Return a step of the theta-midpoint rule.

    The solver computes positions after the fraction ``theta`` of the step. ``positions`` (n,3), m, and ``velocities``
    (n,3), m/s: state at the start of the step. ``time_step``, s: length of the step. The history is ignored.
    """
    return backward_euler.begin(positions, velocities, None, theta * time_step)._replace(theta=theta)
