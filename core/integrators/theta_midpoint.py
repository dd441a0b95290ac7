"""The theta-midpoint rule: implicit Euler over the first part ``theta`` of a step, extrapolated to its end.

    x_m = x0 + theta h v_m,    M (v_m - v0) / (theta h) = f(x_m)
    x = x0 + (x_m - x0) / theta,    v = v0 + (v_m - v0) / theta

So ``x - x0 = h ((1 - theta) v0 + theta v)``. theta = 1/2 is the implicit midpoint rule, [EigenFit19]'s: of second
order, it keeps momentum, angular momentum and the energy of what is linear. theta = 1 is implicit Euler.

A vibration of angular frequency omega is multiplied in each step, as the complex number ``q - i dq/dt / omega``, by

    r = (1 + i (1 - theta) w) / (1 - i theta w),    w = h omega

which takes about ``(theta - 1/2) w²`` of its amplitude where w is small. Where w is large r goes to ``-rho``, ``rho =
(1 - theta) / theta``: what is too fast for the step is left a part rho of by each, with turns of its sign, and at theta
= 1/2 rings for ever. The default is rho = 0.9, theta = 1 / (1 + rho) = 1/1.9, which damps what is slow by a nineteenth
of what implicit Euler does. (Notes that speak of "theta 0.9, implicit Euler to h/1.9" mean rho.)

What becomes of pins, of contact and of steps that do not converge: ``solvers/extrapolated``. Sources: Hairer, Wanner,
"Solving Ordinary Differential Equations II", Sec. IV.3; [EigenFit19] Chen et al., EigenFit, 2019, Sec. 4.
"""

from __future__ import annotations

import numpy as np

from . import backward_euler
from .time_step import History, TimeStep

NAME = "theta_midpoint"
LABEL = "Theta Midpoint"
DESCRIPTION = (
    "Livelier still where the body is soft: less error than BDF2 at the same price. Stiff parts ring for longer"
)
NEEDS_HISTORY = True
OWN = ("theta",)


def begin(
    positions: np.ndarray, velocities: np.ndarray, _history: History | None, time_step: float, theta: float
) -> TimeStep:
    """A step of ``time_step`` seconds from positions (n,3) m with velocities (n,3) m/s; ignores the history."""
    return backward_euler.begin(positions, velocities, None, theta * time_step)._replace(theta=theta)
