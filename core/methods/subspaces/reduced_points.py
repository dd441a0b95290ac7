"""Points of a body in a subspace, and the forces and stiffnesses that act there.

The positions are ``y = Y + E U`` with the unknowns U (r,3). Y (p,3) are the rest positions, and E (p,r) holds the rows
of the basis at the points. A force f at the points acts on the unknowns as ``E^T f``. A stiffness K (3 x 3) acts as
``E^T K E``, which is dense. Springs at more points than unknowns are therefore condensed to as many points as unknowns,
by the QR factors of ``sqrt(w) E`` with the weights w of the springs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...mechanics.forces.embedded_points import NO_SHARE

UNSEEN = 1e-3
"""Least singular value of the fit's matrix that is kept, relative to the largest.

Changes of the unknowns with a smaller singular value hardly move the points.
"""


class ReducedPoints:
    """Points of a body in a subspace, as functions ``y = Y + E U`` of the unknowns U (r,3).

    The interface is that of :class:`forces.embedded_points.EmbeddedPoints`.

    Parameters
    ----------
    rest : (p,3) m, rest positions Y of the p points
    shares : (p,r) E, displacement of each point per unknown; kept as an attribute
    """

    is_dense = True

    def __init__(self, rest: np.ndarray, shares: np.ndarray) -> None:
        self._rest, self.shares = rest, np.ascontiguousarray(shares)

    def __len__(self) -> int:
        return len(self._rest)

    def positions(self, U: np.ndarray) -> np.ndarray:
        """Return the positions (p,3) m of the points for unknowns U (r,3)."""
        return self._rest + self.shares @ U

    def moved(self, change: np.ndarray) -> np.ndarray:
        """Return the displacements (p,3) m of the points for a change (r,3) of the unknowns."""
        return self.shares @ change

    def unknowns_at(
        self, positions: np.ndarray, weights: np.ndarray, prescribed: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Return the unknowns (r,3) for which the points are nearest to given positions, by least squares.

        ``positions`` (p,3), m. ``weights`` (p,): non-negative weights of the points. ``prescribed`` (g,): indices of
        unknowns that are fixed at ``values`` (g,3).
        """
        unknowns = np.zeros((self.shares.shape[1], 3))
        unknowns[prescribed] = values
        free = np.setdiff1d(np.arange(len(unknowns)), prescribed)
        root = np.sqrt(weights / weights.sum())[:, None]
        away = root * (positions - self.positions(unknowns))
        unknowns[free] = np.linalg.lstsq(root * self.shares[:, free], away, rcond=UNSEEN)[0]
        return unknowns

    def held(self, unknowns: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the mask (p,) of the points that do not move if given unknowns are fixed.

        ``unknowns``: indices of the fixed unknowns.
        """
        size = np.abs(self.shares)
        moving = np.delete(size, np.asarray(unknowns, dtype=np.int64), axis=1).max(axis=1, initial=0.0)
        return moving <= NO_SHARE * size.max(initial=0.0)

    def condensing(self, weights: np.ndarray) -> tuple[ReducedPoints, np.ndarray, np.ndarray | None]:
        """Condense springs between the points and their targets to fewer springs with the same effect.

        At most r springs remain, and have the same effect on the r unknowns of the subspace. Return three items: the
        new points, the weights of the new springs, and the matrix (r,p) that maps the targets to the new targets. If
        the p points are at most r, nothing is condensed, and None is returned instead of the matrix.

        ``weights`` (p,): weights w_i of the springs, non-negative and proportional to the springs' stiffnesses.

        The points are ``y = Y + E U`` with the unknowns U. The springs' energy is proportional to ``sum_i w_i |y_i -
        t_i|²`` with the targets t. The factors Q and R of ``sqrt(w) E = Q R`` give the same energy up to a constant:
        ``|Q^T sqrt(w) Y + R U - Q^T sqrt(w) t|²``. The new points are ``Q^T sqrt(w) Y + R U``, the new targets are
        ``Q^T sqrt(w) t``, and the new weights are 1.
        """
        if len(self) <= self.shares.shape[1]:
            return self, weights, None
        root = np.sqrt(weights)[:, None]
        Q, R = np.linalg.qr(root * self.shares)
        matrix = (root * Q).T
        return ReducedPoints(matrix @ self._rest, R), np.ones(len(R)), matrix

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return the forces (r,3) on the unknowns due to ``forces`` (p,3) at the points.

        The result is ``E^T f`` for forces f. E (p,r) is the displacement of each point per unknown.
        """
        return self.shares.T @ forces

    def add_stiffness(self, K: np.ndarray, scale: float, matrix: np.ndarray) -> None:
        """Add the stiffness of each point, times ``scale``, to a subspace's ``matrix`` (3,r,3,r).

        ``K`` (p,3,3): symmetric stiffness per point; the points are not coupled. K acts on the unknowns as ``E^T K E``.
        E (p,r) is the displacement of each point per unknown. Only the blocks ``matrix[i,:,j,:]`` for axes i <= j are
        changed, since the matrix is symmetric.
        """
        # Most points of a body have no contact.
        active = np.flatnonzero(K.any(axis=(1, 2)))
        if len(active) == 0:
            return
        E, K = self.shares[active], scale * K[active]
        for i in range(3):
            for p in range(i, 3):
                matrix[i, :, p, :] += (E * K[:, i, p, None]).T @ E

    def add_coupling(self, K: sp.csr_matrix, scale: float, matrix: np.ndarray) -> None:
        """Add a stiffness that couples the points, times ``scale``, to a subspace's ``matrix`` (3,r,3,r).

        ``K`` (3p,3p): symmetric stiffness between the coordinates of the points. K acts on the unknowns as ``E^T K E``.
        E (p,r) is the displacement of each point per unknown. Only the blocks ``matrix[i,:,j,:]`` for axes i <= j are
        changed, since the matrix is symmetric.
        """
        K = K.tobsr((3, 3))
        active = np.unique(K.indices)
        if len(active) == 0:
            return
        # Rows between the active ones are empty.
        E, starts = self.shares[active], np.append(K.indptr[active], len(K.indices))
        columns = np.searchsorted(active, K.indices)
        for i in range(3):
            for p in range(i, 3):
                part = sp.csr_matrix((scale * K.data[:, i, p], columns, starts), shape=(len(active), len(active)))
                matrix[i, :, p, :] += E.T @ (part @ E)
