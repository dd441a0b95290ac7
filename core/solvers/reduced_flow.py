"""The motion of few unknowns u that are linear: ``M u'' = -S u + r + p`` from ``u = 0`` with velocities w, integrated
exactly over a step; times and stiffnesses are in units of the step.

r is constant; p are the forces of what changes within the step (contact, friction, drag), which are taken where they
are at the step's end, ``p = b - S_p u``, and for constant over it: what rests, rests, and p gives no energy back. By
the modes of S and M, with ``w_k = omega_k²`` (Hochbruck, Ostermann 2010, "Exponential integrators", Acta Numerica 19):

    u = w sin(omega)/omega + (r + p) (1 - cos omega)/omega²,      u' = w cos(omega) + (r + p) sin(omega)/omega

and the hyperbolic functions where an eigenvalue is negative.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

STILL = 1e-8
"""Square of an angle under which its functions are their series."""


def exponential_step(
    mass: np.ndarray,
    stiffness: np.ndarray,
    speeds: np.ndarray,
    forces: np.ndarray,
    others: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """u and u' (k,), per step, of M, S (k,k) and w, r (k,); ``others``: b (k,) and S_p (k,k)."""
    if not len(speeds):
        return speeds, speeds
    squares, modes = scipy.linalg.eigh(stiffness, mass)
    cosine, sine, versine = angles(squares)
    w = modes.T @ (mass @ speeds)
    r = modes.T @ forces
    b, S_p = modes.T @ others[0], modes.T @ others[1] @ modes
    p = np.linalg.solve(np.eye(len(r)) + S_p * versine, b - S_p @ (w * sine + r * versine))
    moved, after = w * sine + (r + p) * versine, w * cosine + (r + p) * sine
    return modes @ moved, modes @ after


def angles(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``cos w``, ``sin w / w`` and ``(1 - cos w) / w²`` of squares w² (k,) of any sign."""
    root = np.sqrt(np.abs(squares))
    turns, small = squares > 0.0, np.abs(squares) < STILL
    root = np.where(small, 1.0, root)
    square = np.where(small, 1.0, squares)
    with np.errstate(over="ignore"):
        cosine = np.where(turns, np.cos(root), np.cosh(root))
        sine = np.where(turns, np.sin(root), np.sinh(root)) / root
    versine = (1.0 - cosine) / square
    return (
        np.where(small, 1.0 - squares / 2.0, cosine),
        np.where(small, 1.0 - squares / 6.0, sine),
        np.where(small, 0.5 - squares / 24.0, versine),
    )
