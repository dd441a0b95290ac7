"""Stiffness correction for the match of a body that soft springs hold.

The springs take part in the body's vibrations, but not in the modal coordinates q of the potential ``V = 1/2 q . C q``
(:mod:`.stretch_potential`). Let K be the stiffness with the springs, M the mass matrix, U the modes, and C the
stiffness correction in modal coordinates. The potential adds ``Y C Y^T`` to K, with ``Y = dq/dx``. Without springs Y is
``M U``, and C has a closed form. With springs Y differs from ``M U``, so that the corrected modes leave the span of U,
and C is found by iterations.

Near rest all motion lies in the span of the modes U and of the displacements ``(K + s M)^-1 Y`` due to forces Y, with a
shift s that makes the matrix regular. The iterations use this span alone. Let U' and Lambda' be the modes and
eigenvalues in an iteration, and T the target stiffness. The change dC of C with

    G^T dC G = T - Lambda',    G = Y^T U'

corrects the eigenvalues to first order (Wilkinson 1965, *The Algebraic Eigenvalue Problem*).
"""

from __future__ import annotations

import numpy as np

from ..subspaces.space import Space
from .near_modes import SHIFT, track_modes
from .vibrations import Springs, Vibrations, modes_in_space

ROUNDS, EXACT = 30, 1e-11
"""ROUNDS: largest number of iterations. EXACT: tolerance of the modal stiffness, relative to the largest entry of the
target stiffness.
"""

DEPENDENT = 1e-12
"""Smallest squared singular value of the spanning vectors, relative to the largest; smaller values are round-off."""


class SpringSupportedModes:
    """Reduced model, near rest, of a body that soft springs hold.

    The basis consists of the body's modes, and of the static displacements due to the forces dq/dx. q are the modal
    coordinates of the matched vibrations.

    Parameters
    ----------
    space, springs : the body in its space, and the springs that hold it
    found : vibrations of the body on its springs
    paired : (k,) indices of the matched vibrations
    gradients : (r,3,k) derivatives dq/dx of the modal coordinates of the matched vibrations
    """

    def __init__(
        self, space: Space, springs: Springs | None, found: Vibrations, paired: np.ndarray, gradients: np.ndarray
    ) -> None:
        forces = gradients.transpose(2, 0, 1)
        k, shift = len(found.modes), SHIFT * found.eigenvalues[0]
        span = np.concatenate([found.modes, modes_in_space(space, springs, forces, shift)])
        weighed = np.array([space.mass @ u for u in span])
        held = np.concatenate([found.eigenvalues[:, None, None] * weighed[:k], forces - shift * weighed[k:]])
        squares, vectors = np.linalg.eigh(_products(span, weighed))
        new = squares > DEPENDENT * squares[-1]
        turn = vectors[:, new] / np.sqrt(squares[new])
        self._K = turn.T @ _products(span, held) @ turn
        self._Y, self._modes = (turn.T @ _products(span, each) for each in (forces, weighed[paired]))

    def core(self, target: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return the stiffness correction (k,k), 1/s², that gives the matched modes a target stiffness.

        The correction is in modal coordinates. ``target`` (k,k), 1/s²: stiffness of the k matched modes. ``near``
        (k,k): start of the iterations. If the iterations do not converge, the best iterate is returned.
        """
        core, others, mass = near, self._modes.T[:, :, None], np.eye(len(self._K))
        best, least = near, np.inf
        for _ in range(ROUNDS):
            values, vectors = np.linalg.eigh(self._K + self._Y @ core @ self._Y.T)
            now = track_modes(Vibrations(values, vectors.T[:, :, None]), others, mass)
            away = now.turn @ target @ now.turn.T - np.diag(now.eigenvalues)
            if (off := np.abs(away).max()) < least:
                best, least = core, off
            if off <= EXACT * np.abs(target).max():
                break
            inverse = np.linalg.inv(self._Y.T @ now.modes[:, :, 0].T)
            core = core + inverse.T @ away @ inverse
        return 0.5 * (best + best.T)


def _products(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    return some.reshape(len(some), -1) @ others.reshape(len(others), -1).T
