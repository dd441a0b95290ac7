"""Estimates, from spectra alone, of the error of a coarse body and of the number of vibrations to match.

For small movements, a body at rest under a suddenly applied acceleration field g has the displacement

    u(t) = sum_k p_k (1 - cos omega_k t) / lambda_k v_k,     p_k = v_k . M g

(Duhamel's integral of a step load: Clough and Penzien, Dynamics of Structures, Ch. 6). M is the mass matrix. v_k are
mass-orthonormal modes with the eigenvalues ``lambda_k = omega_k²``. The equation holds for the fine body and for the
coarse one, unmatched or matched. The modal amplitudes are the factors of v_k: a for the fine body, and b for the coarse
body. B is the overlap of coarse with fine modes.

u_f and u_c are the displacements of the fine and of the coarse body. In the mass norm, the squared distance of the
bodies is ``|u_f - u_c|² = a.a + b.b - 2 b . B a``, and the squared movement is ``|u_f|² = a.a``. Both are summed over
the accelerations of :func:`.vibrations.modal_loads`. The estimate is ``sqrt(max |u_f - u_c|² / max |u_f|²)``. Each
maximum is taken over two periods of the slowest vibration of the fine body. The estimate includes the error of motions
that the coarse modes cannot represent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .matching import Pairs, Spectra, pair, target_modal_stiffness, truncate_at_cluster

SWINGS, SAMPLES = 2, 100
"""SWINGS: number of periods of the slowest vibration over which the error is estimated. SAMPLES: number of time samples
in all periods together.
"""

LEFT = 0.07
"""Error that a match leaves in large movements, as a fraction of the body's error without a match.

The number is the median of measurements at an amplitude of a fifth of the body's size (docs/benchmarks/eigenfit.md).
"""

WORTH = 0.01
"""Smallest reduction of the expected error that justifies matching further vibrations.

The error is the distance of the coarse from the fine body, relative to the movement of the fine body.
"""


class Estimate(NamedTuple):
    """Expected or measured errors of the coarse body's displacements, relative to the fine body's movement.

    ``plain``: error without a match of vibrations. ``matched``: error with a match.
    """

    plain: float
    matched: float


def estimate(spectra: Spectra, pairs: Pairs) -> Estimate:
    """Return the expected errors of the coarse body, without a match and with the modes in ``pairs`` matched."""
    plain, matched = _apart(spectra, np.diag(spectra.coarse)), _apart(spectra, _matched(spectra, pairs))
    return Estimate(plain, float(np.hypot(matched, LEFT * plain)))


def sufficient_mode_count(spectra: Spectra) -> int:
    """Return the number of lowest coarse vibrations to match.

    The result is the smallest number whose expected error is at most WORTH above the least expected error of all
    numbers. The result is 0 if no vibration can be matched. The highest coarse mode in the spectra is never matched:
    this mode only shows whether a cluster of near-equal eigenvalues continues.
    """
    counts = [m for m in range(1, len(spectra.coarse)) if truncate_at_cluster(spectra.coarse, m) == m]
    paired = [(m, pairs) for m in counts if len((pairs := pair(spectra, m)).coarse)]
    off = {m: _apart(spectra, _matched(spectra, pairs)) for m, pairs in paired}
    return next((m for m in off if off[m] <= min(off.values()) + WORTH), 0)


def _matched(spectra: Spectra, pairs: Pairs) -> np.ndarray:
    """Return the stiffness matrix of the matched coarse body in the basis of its c modes, (c,c), 1/s²."""
    K = np.diag(spectra.coarse)
    K[np.ix_(pairs.coarse, pairs.coarse)] = target_modal_stiffness(spectra, pairs)
    return K


def _apart(spectra: Spectra, K: np.ndarray) -> float:
    """Return the expected relative error of a coarse body with the modal stiffness K (c,c), 1/s²."""
    times = np.linspace(0.0, SWINGS * 2.0 * np.pi / np.sqrt(spectra.fine[0]), SAMPLES)
    eigenvalues, turn = np.linalg.eigh(K)
    a = _factors(times, spectra.fine, spectra.fine_loads)
    b = _factors(times, eigenvalues, turn.T @ spectra.coarse_loads)
    across = np.einsum("tkl,kf,tfl->t", b, turn.T @ spectra.overlap, a, optimize=True)
    moved = (a**2).sum(axis=(1, 2))
    apart = moved + (b**2).sum(axis=(1, 2)) - 2.0 * across
    return float(np.sqrt(max(apart.max(), 0.0) / moved.max()))


def _factors(times: np.ndarray, eigenvalues: np.ndarray, modal_loads: np.ndarray) -> np.ndarray:
    """Return the modal amplitudes (t,k,l) of k modes at t times under l suddenly applied accelerations."""
    swing = (1.0 - np.cos(np.outer(times, np.sqrt(eigenvalues)))) / eigenvalues
    return swing[:, :, None] * modal_loads
