"""Backtracking line search with Armijo's condition and an allowance for round-off."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from ...foundation.kernels.jit import kernel

Trial = TypeVar("Trial")

SUFFICIENT = 1e-4
ROUND_OFF = 1e-13
"""Round-off error of the merit, relative to the magnitude of the merit.

The merit is the function that the line search decreases. The magnitude is the sum of the absolute values of the merit's
terms.
"""

LARGEST_ROUND_OFF = 1e-11
"""Round-off error of the merit if terms cancel, relative to the magnitude of the merit.

The merit is the function that the line search decreases. The magnitude is the sum of the absolute values of the merit's
terms. Terms cancel, for example, in the energies of nearly unstrained tets. The error is tolerated only if the
predicted decrease of the merit is below ``ROUND_OFF`` times the magnitude, since computed values cannot show such a
small decrease.
"""

SHORTEST = 2.0**-30
BLOCK = 1024


def backtrack(
    merit: Callable[[float], tuple[float, float, Trial]],
    start: float,
    magnitude: float,
    slope: float,
    longest: float = 1.0,
) -> tuple[float, Trial | None]:
    """Halve the step length, from ``longest``, until the merit satisfies Armijo's condition.

    Parameters
    ----------
    merit : function of the step length that returns (value, magnitude, trial)
        ``magnitude`` is the sum of the absolute values of the terms of ``value``, which bounds the round-off.
        ``trial`` is any result for the step length. Values inf and NaN are rejected.
    start, magnitude : value and magnitude of the merit at step length 0
    slope : derivative of the merit at step length 0; negative for a descent direction
    longest : initial step length

    Returns
    -------
    accepted step length and its trial : 0 and None if no step is accepted
    """
    relative = LARGEST_ROUND_OFF if 0.0 < -slope <= ROUND_OFF * magnitude else ROUND_OFF
    alpha = longest
    while alpha >= SHORTEST:
        value, size, trial = merit(alpha)
        allowance = relative * (magnitude + size)
        if math.isfinite(value) and value <= start + SUFFICIENT * alpha * slope + allowance:
            return alpha, trial
        alpha *= 0.5
    return 0.0, None


def expand(
    merit: Callable[[float], tuple[float, float, Trial]], alpha: float, trial: Trial, longest: float
) -> tuple[float, Trial]:
    """Double an accepted step length while the merit decreases.

    Return the last step length and the merit's trial for that length. ``merit``: function as in :func:`backtrack`.
    ``alpha``, ``trial``: accepted step length and the trial for that length. ``longest``: limit of the step length.
    """
    value = merit(alpha)[0]
    while 2.0 * alpha <= longest:
        lower, _, farther = merit(2.0 * alpha)
        if not lower < value:
            break
        alpha, trial, value = 2.0 * alpha, farther, lower
    return alpha, trial


@kernel
def sums(parts):
    """Return the sum of ``parts`` (m,), and the sum of the absolute values. Summation in blocks reduces round-off."""
    total, magnitude = 0.0, 0.0
    for first in range(0, len(parts), BLOCK):
        a, b = 0.0, 0.0
        for k in range(first, min(first + BLOCK, len(parts))):
            a += parts[k]
            b += abs(parts[k])
        total += a
        magnitude += b
    return total, magnitude
