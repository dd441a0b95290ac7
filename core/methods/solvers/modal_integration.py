"""Exponential integrator for a small linear system, exact over a step: ``M u'' = -S u + r + p`` from ``u = 0``.

Times and stiffnesses are in units of the step. M is the mass, and S the stiffness. w are the initial velocities. The
forces r are constant. The forces ``p = b - S_p u`` (contact, friction, drag) depend on u, with their stiffness S_p and
a constant b. The integrator evaluates p with the displacements u at the end of the step, and keeps p constant during
the step. Bodies at rest thereby stay at rest. The work of p is at most the decrease of the potential of p, so p adds no
energy. In the modes of S and M, with eigenvalues omega² (Hochbruck, Ostermann 2010, "Exponential integrators", Acta
Numerica 19):

    u = w sin(omega)/omega + (r + p) (1 - cos omega)/omega²,      u' = w cos(omega) + (r + p) sin(omega)/omega

Negative eigenvalues use the hyperbolic functions.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

STILL = 1e-8
"""Squared angle below which :func:`angles` uses a Taylor series."""


def exponential_step(
    mass: np.ndarray,
    stiffness: np.ndarray,
    speeds: np.ndarray,
    forces: np.ndarray,
    others: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact solution of ``M u'' = -S u + r + p`` after a step of unit length, from u = 0.

    The result is u and u', (k,) each. ``mass`` M and ``stiffness`` S are (k,k). ``speeds`` (k,): the initial u'.
    ``forces`` r (k,): constant forces. ``others``: b (k,) and S_p (k,k) of the forces ``p = b - S_p u``, with u at the
    end of the step.
    """
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
    """Return ``cos w``, ``sin w / w`` and ``(1 - cos w) / w²``, (k,) each.

    ``squares`` (k,): the squared angles w², of any sign.
    """
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
