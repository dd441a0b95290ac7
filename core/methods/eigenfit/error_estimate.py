"""Estimate of the dynamic error of a body, unmatched and matched, and of the number of vibrations to match, from its
spectra alone.

A body at rest under a suddenly applied acceleration a moves in its modes, in the linear regime, by

    u(t) = sum_k p_k (1 - cos omega_k t) / lambda_k v_k,     p_k = v_k . M a

(Duhamel's integral of a step load: Clough and Penzien, Dynamics of Structures, Ch. 6). Both the fine body and the
coarse one, unmatched or with the matched stiffness, move like this. Let a, b be the factors of their modes v_k, whose
overlap is B. The distance of the bodies in the mass norm is ``|u_f - u_c|² = a.a + b.b - 2 b . B a``. The estimate is
the root of the largest distance over the largest movement in two periods, each summed over the accelerations of
:func:`.vibrations.modal_loads`. It includes the error that the coarse modes cannot represent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .matching import Pairs, Spectra, pair, target_modal_stiffness, truncate_at_cluster

SWINGS, SAMPLES = 2, 100
"""Number of periods of the slowest vibration, and of time samples in them."""

LEFT = 0.07
"""Fraction of the unmatched error that remains after a match, in vibrations with a fifth of the body's size as
amplitude, where stretches are not small: the median of the measurements (docs/benchmarks/eigenfit.md).
"""

WORTH = 0.01
"""Smallest reduction of the error, relative to the movement, that justifies matching further vibrations."""


class Estimate(NamedTuple):
    """Expected errors relative to the fine body's movement: ``plain`` without a match, ``matched`` with it."""

    plain: float
    matched: float


def estimate(spectra: Spectra, pairs: Pairs) -> Estimate:
    """Return the expected errors of a body without a match and with these pairs of modes matched."""
    plain, matched = _apart(spectra, np.diag(spectra.coarse)), _apart(spectra, _matched(spectra, pairs))
    return Estimate(plain, float(np.hypot(matched, LEFT * plain)))


def sufficient_mode_count(spectra: Spectra) -> int:
    """Return the smallest number of lowest coarse vibrations whose matched error is within WORTH of the least; 0 if
    none can be matched. The last vibration of the spectra is not counted: it only shows if the previous one belongs to
    a cluster.
    """
    counts = [m for m in range(1, len(spectra.coarse)) if truncate_at_cluster(spectra.coarse, m) == m]
    paired = [(m, pairs) for m in counts if len((pairs := pair(spectra, m)).coarse)]
    off = {m: _apart(spectra, _matched(spectra, pairs)) for m, pairs in paired}
    return next((m for m in off if off[m] <= min(off.values()) + WORTH), 0)


def _matched(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """Return the stiffness matrix of the coarse modes, (c,c), 1/s², with the target stiffness for the paired modes."""
    K = np.diag(spectra.coarse)
    K[np.ix_(pairs.coarse, pairs.coarse)] = target_modal_stiffness(spectra, pairs)
    return K


def _apart(spectra: Spectra, K: np.ndarray) -> float:
    """Return the estimated error, over the movement, of a body whose coarse modes have the stiffness K (c,c), 1/s²."""
    times = np.linspace(0.0, SWINGS * 2.0 * np.pi / np.sqrt(spectra.fine[0]), SAMPLES)
    eigenvalues, turn = np.linalg.eigh(K)
    a = _factors(times, spectra.fine, spectra.fine_pulls)
    b = _factors(times, eigenvalues, turn.T @ spectra.coarse_pulls)
    across = np.einsum("tkl,kf,tfl->t", b, turn.T @ spectra.overlap, a, optimize=True)
    moved = (a**2).sum(axis=(1, 2))
    apart = moved + (b**2).sum(axis=(1, 2)) - 2.0 * across
    return float(np.sqrt(max(apart.max(), 0.0) / moved.max()))


def _factors(times: np.ndarray, eigenvalues: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Return the factors (t,k,l) of k modes at times (t,) s, for modal loads ``pulls`` (k,l)."""
    swing = (1.0 - np.cos(np.outer(times, np.sqrt(eigenvalues)))) / eigenvalues
    return swing[:, :, None] * pulls
