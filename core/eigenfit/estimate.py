"""How far off a body will swing, plain and matched, and how many vibrations are worth matching: from its spectra alone.

A body at rest that an acceleration a begins to pull moves by its vibrations, as far as it is linear, by

    u(t) = sum_k p_k (1 - cos omega_k t) / lambda_k v_k,     p_k = v_k . M a

(Duhamel's integral of a load that is switched on: Clough and Penzien, Dynamics of Structures, Ch. 6). So do the fine
body and the coarse one, plain or with the stiffness that it is matched to, and by the mass these are apart by
``|u_f - u_c|² = a.a + b.b - 2 b . B a`` with the factors a, b of modes whose overlap is B. The estimate is the largest
root of this over the largest movement in two swings, each summed over the pulls of :func:`.vibrations.pulls`. What the
coarse modes cannot follow is in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .matching import Pairs, Spectra, pair, right_stiffness, whole

SWINGS, SAMPLES = 2, 100
"""Of the slowest vibration, and moments of them."""

LEFT = 0.07
"""Of the plain error, what the match leaves of it in swings of a fifth of the size, where stretches are not small: the
median of what was measured (docs/benchmarks/eigenfit.md).
"""

WORTH = 0.01
"""Of the movement: nearer by less, no further vibration is worth its iterations."""


class Estimate(NamedTuple):
    """Parts of the movement by which a body is expected to be off the fine one: ``plain``, and ``matched``."""

    plain: float
    matched: float


def estimate(spectra: Spectra, pairs: Pairs) -> Estimate:
    """Of a body that is matched by those pairs."""
    plain, matched = _apart(spectra, np.diag(spectra.coarse)), _apart(spectra, _matched(spectra, pairs))
    return Estimate(plain, float(np.hypot(matched, LEFT * plain)))


def enough(spectra: Spectra) -> int:
    """The fewest of the lowest coarse vibrations that bring a body as near to the fine one as all that were found do,
    by WORTH; 0 where none can be matched. The last that was found only tells whether the one before is of a cluster.
    """
    counts = [m for m in range(1, len(spectra.coarse)) if whole(spectra.coarse, m) == m]
    paired = [(m, pairs) for m in counts if len((pairs := pair(spectra, m)).coarse)]
    off = {m: _apart(spectra, _matched(spectra, pairs)) for m, pairs in paired}
    return next((m for m in off if off[m] <= min(off.values()) + WORTH), 0)


def _matched(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """The stiffness of coarse modes where the paired ones have the right one, (c,c)."""
    K = np.diag(spectra.coarse)
    K[np.ix_(pairs.coarse, pairs.coarse)] = right_stiffness(spectra, pairs)
    return K


def _apart(spectra: Spectra, K: np.ndarray) -> float:
    """The estimate of a body whose coarse modes have the stiffness K (c,c), as far as it is linear."""
    times = np.linspace(0.0, SWINGS * 2.0 * np.pi / np.sqrt(spectra.fine[0]), SAMPLES)
    eigenvalues, turn = np.linalg.eigh(K)
    a = _factors(times, spectra.fine, spectra.fine_pulls)
    b = _factors(times, eigenvalues, turn.T @ spectra.coarse_pulls)
    across = np.einsum("tkl,kf,tfl->t", b, turn.T @ spectra.overlap, a, optimize=True)
    moved = (a**2).sum(axis=(1, 2))
    apart = moved + (b**2).sum(axis=(1, 2)) - 2.0 * across
    return float(np.sqrt(max(apart.max(), 0.0) / moved.max()))


def _factors(times: np.ndarray, eigenvalues: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Of modes at moments (t,), for each of the pulls (k,l), (t,k,l)."""
    swing = (1.0 - np.cos(np.outer(times, np.sqrt(eigenvalues)))) / eigenvalues
    return swing[:, :, None] * pulls
