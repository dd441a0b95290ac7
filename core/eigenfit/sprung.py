"""A match of a body that springs hold softly: they take part in its vibrations, and q knows nothing of them.

There ``Y = dq/dx`` is not ``M U``: ``K + Y C Y^T`` has other modes besides other eigenvalues, and no C can be written
down that makes them what they are to be. Near rest all of it lies in the span of the modes that were found and of
where the forces Y lead a body in the end, ``(K + s M)^-1 Y``. There C is found in rounds: with the modes U' by now

    G^T dC G = T - Lambda',    G = Y^T U'

changes the eigenvalues by what they are off, to first order (Wilkinson 1965, *The Algebraic Eigenvalue Problem*).
"""

from __future__ import annotations

import numpy as np

from ..subspaces.space import Space
from .near_modes import SHIFT, followed
from .vibrations import Springs, Vibrations, led_to

ROUNDS, EXACT = 30, 1e-11
"""At most, and what eigenvalues may be off, of the largest one."""

DEPENDENT = 1e-12
"""Of the largest square of a vector of the span, under which one is round-off."""


class SprungModes:
    """What the body is near rest.

    Parameters
    ----------
    space, springs : held
    found : modes of it; paired : (k,) numbers of those that are matched; gradients : (r,3,k) their dq/dx
    """

    def __init__(
        self, space: Space, springs: Springs | None, found: Vibrations, paired: np.ndarray, gradients: np.ndarray
    ) -> None:
        forces = gradients.transpose(2, 0, 1)
        k, shift = len(found.modes), SHIFT * found.eigenvalues[0]
        span = np.concatenate([found.modes, led_to(space, springs, forces, shift)])
        weighed = np.array([space.mass @ u for u in span])
        held = np.concatenate([found.eigenvalues[:, None, None] * weighed[:k], forces - shift * weighed[k:]])
        squares, vectors = np.linalg.eigh(_products(span, weighed))
        new = squares > DEPENDENT * squares[-1]
        turn = vectors[:, new] / np.sqrt(squares[new])
        self._K = turn.T @ _products(span, held) @ turn
        self._Y, self._modes = (turn.T @ _products(span, each) for each in (forces, weighed[paired]))

    def core(self, target: np.ndarray, near: np.ndarray) -> np.ndarray:
        """C (k,k), from one that is near, by which the stiffness of the matched modes is ``target`` (k,k), 1/s²; or as
        near to that as a round came.
        """
        core, others, mass = near, self._modes.T[:, :, None], np.eye(len(self._K))
        best, least = near, np.inf
        for _ in range(ROUNDS):
            values, vectors = np.linalg.eigh(self._K + self._Y @ core @ self._Y.T)
            now = followed(Vibrations(values, vectors.T[:, :, None]), others, mass)
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
