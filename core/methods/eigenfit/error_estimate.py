"""Estimate of the dynamic error of a body, unmatched and matched, and of the number of vibrations to match, from its
spectra alone.

A body at rest under a suddenly applied acceleration a moves in its modes, in the linear regime, by

    u(t) = sum_k p_k (1 - cos omega_k t) / lambda_k v_k,     p_k = v_k . M a

(Duhamel's integral of a step load: Clough and Penzien, Dynamics of Structures, Ch. 6). The fine body and the coarse
one, unmatched or with the matched stiffness, both follow it. Their distance in the mass norm is ``|u_f - u_c|² = a.a +
b.b - 2 b . B a`` with the factors a, b of modes whose overlap is B. The estimate is the root of the largest distance
over the largest movement in two periods, each summed over the fields of :func:`.vibrations.pulls`. It includes the
error that the coarse modes cannot represent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .matching import Pairs, Spectra, pair, target_modal_stiffness, truncate_at_cluster

SWINGS, SAMPLES = 2, 100
"""Periods of the slowest vibration, and time samples in them."""

LEFT = 0.07
"""Share of the unmatched error that remains after a match, in vibrations with a fifth of the body's size as amplitude,
where stretches are not small. It is the median of the measurements (docs/benchmarks/eigenfit.md).
"""

WORTH = 0.01
"""Smallest gain, relative to the movement, that justifies the iterations of a further vibration."""


class Estimate(NamedTuple):
    """Expected errors relative to the fine body's movement: ``plain``, unmatched, and ``matched``."""

    plain: float
    matched: float


def estimate(spectra: Spectra, pairs: Pairs) -> Estimate:
    """Return the estimate of a body that is matched by these pairs."""
    plain, matched = _apart(spectra, np.diag(spectra.coarse)), _apart(spectra, _matched(spectra, pairs))
    return Estimate(plain, float(np.hypot(matched, LEFT * plain)))


def sufficient_mode_count(spectra: Spectra) -> int:
    """Return the fewest of the lowest coarse vibrations whose matched error is within WORTH of the best; 0 if none can
    be matched. The last found vibration only shows if the one before belongs to a cluster.
    """
    counts = [m for m in range(1, len(spectra.coarse)) if truncate_at_cluster(spectra.coarse, m) == m]
    paired = [(m, pairs) for m in counts if len((pairs := pair(spectra, m)).coarse)]
    off = {m: _apart(spectra, _matched(spectra, pairs)) for m, pairs in paired}
    return next((m for m in off if off[m] <= min(off.values()) + WORTH), 0)


def _matched(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """Return the stiffness of the coarse modes, (c,c), 1/s², with the right one for the paired modes."""
    K = np.diag(spectra.coarse)
    K[np.ix_(pairs.coarse, pairs.coarse)] = target_modal_stiffness(spectra, pairs)
    return K


def _apart(spectra: Spectra, K: np.ndarray) -> float:
    """Return the linear error estimate of a body whose coarse modes have the stiffness K (c,c), 1/s²."""
    times = np.linspace(0.0, SWINGS * 2.0 * np.pi / np.sqrt(spectra.fine[0]), SAMPLES)
    eigenvalues, turn = np.linalg.eigh(K)
    a = _factors(times, spectra.fine, spectra.fine_pulls)
    b = _factors(times, eigenvalues, turn.T @ spectra.coarse_pulls)
    across = np.einsum("tkl,kf,tfl->t", b, turn.T @ spectra.overlap, a, optimize=True)
    moved = (a**2).sum(axis=(1, 2))
    apart = moved + (b**2).sum(axis=(1, 2)) - 2.0 * across
    return float(np.sqrt(max(apart.max(), 0.0) / moved.max()))


def _factors(times: np.ndarray, eigenvalues: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Return the factors of modes at times (t,) s, for each of the pulls (k,l), (t,k,l)."""
    swing = (1.0 - np.cos(np.outer(times, np.sqrt(eigenvalues)))) / eigenvalues
    return swing[:, :, None] * pulls
