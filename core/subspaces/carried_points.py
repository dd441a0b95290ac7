"""Points of a body in a subspace: where they are, and how forces and stiffnesses at them act on the unknowns.

``y = Y + E U`` with E (p, r) the rows of the basis at the points: a force f acts as ``E^T f``, a stiffness K (3 x 3)
at each as ``E^T K E``, which is dense however few the points are. Springs at more points than there are unknowns are
therefore condensed to as many as there are unknowns, by the QR factors of ``sqrt(w) E``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..forces.embedded_points import NO_SHARE

UNSEEN = 1e-3
"""Singular value of the points' shares, beside the largest, under which a movement leaves them where they are."""


class CarriedPoints:
    """p points ``y = Y + E U``, with the interface of :class:`forces.embedded_points.EmbeddedPoints`.

    Parameters
    ----------
    rest : (p,3) Y, m
    shares : (p,r) E, kept as an attribute
    """

    is_dense = True

    def __init__(self, rest: np.ndarray, shares: np.ndarray) -> None:
        self._rest, self.shares = rest, np.ascontiguousarray(shares)

    def __len__(self) -> int:
        return len(self._rest)

    def positions(self, U: np.ndarray) -> np.ndarray:
        """Positions (p,3) for unknowns (r,3)."""
        return self._rest + self.shares @ U

    def moved(self, change: np.ndarray) -> np.ndarray:
        """How far (p,3) m a change (r,3) of the unknowns moves them."""
        return self.shares @ change

    def unknowns_at(
        self, positions: np.ndarray, weights: np.ndarray, given: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """The unknowns (r,3) that bring the points nearest to positions (p,3): least squares, by weights (p,) that are
        not negative. Those of ``given`` (g,) are ``values`` (g,3).
        """
        unknowns = np.zeros((self.shares.shape[1], 3))
        unknowns[given] = values
        free = np.setdiff1d(np.arange(len(unknowns)), given)
        root = np.sqrt(weights / weights.sum())[:, None]
        away = root * (positions - self.positions(unknowns))
        unknowns[free] = np.linalg.lstsq(root * self.shares[:, free], away, rcond=UNSEEN)[0]
        return unknowns

    def held(self, unknowns: Sequence[int] | np.ndarray) -> np.ndarray:
        """Whether a point stays where it is while these unknowns do, (p,) bool."""
        size = np.abs(self.shares)
        moving = np.delete(size, np.asarray(unknowns, dtype=np.int64), axis=1).max(axis=1, initial=0.0)
        return moving <= NO_SHARE * size.max(initial=0.0)

    def condensing(self, weights: np.ndarray) -> tuple[CarriedPoints, np.ndarray, np.ndarray | None]:
        """Points and weights, as few as the unknowns, that pull in the same way as these do with weights (p,) that are
        not negative, and the matrix (r,p) that makes their targets; None: they are these.

        ``sum_p w_p |y_p - t_p|²`` is the same but for a constant: with ``sqrt(w) E = Q R`` it is ``|Q^T sqrt(w) Y + R U
        - Q^T sqrt(w) t|²``, and what is orthogonal to Q.
        """
        if len(self) <= self.shares.shape[1]:
            return self, weights, None
        root = np.sqrt(weights)[:, None]
        Q, R = np.linalg.qr(root * self.shares)
        matrix = (root * Q).T
        return CarriedPoints(matrix @ self._rest, R), np.ones(len(R)), matrix

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Forces (p,3) at the points as forces at the unknowns, (r,3)."""
        return self.shares.T @ forces

    def add_stiffness(self, K: np.ndarray, scale: float, matrix: np.ndarray) -> None:
        """Add ``scale`` times symmetric stiffnesses K (p,3,3) at the points to the upper blocks of a matrix
        (3,r,3,r).
        """
        # Most points of a body touch nothing.
        active = np.flatnonzero(K.any(axis=(1, 2)))
        if len(active) == 0:
            return
        E, K = self.shares[active], scale * K[active]
        for i in range(3):
            for p in range(i, 3):
                matrix[i, :, p, :] += (E * K[:, i, p, None]).T @ E

    def add_coupling(self, K: sp.csr_matrix, scale: float, matrix: np.ndarray) -> None:
        """The same of a symmetric stiffness (3p,3p) between the points."""
        K = K.tobsr((3, 3))
        active = np.unique(K.indices)
        if len(active) == 0:
            return
        # Rows between are empty.
        E, starts = self.shares[active], np.append(K.indptr[active], len(K.indices))
        columns = np.searchsorted(active, K.indices)
        for i in range(3):
            for p in range(i, 3):
                part = sp.csr_matrix((scale * K.data[:, i, p], columns, starts), shape=(len(active), len(active)))
                matrix[i, :, p, :] += E.T @ (part @ E)
