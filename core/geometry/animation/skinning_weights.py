"""Skinning weights of vertices for given motions of bones: sparse, not negative, with the sum 1.

The weights w of a vertex minimize ``sum_t |sum_j w_j y_j(t) - x(t)|²``, where bone j alone would move the vertex to y_j
[Le and Deng 2012]. With the sum 1 this is ``w . M w`` with ``M_jk = sum_t (y_j - x) . (y_k - x)``, whose minimum is
proportional to ``M⁻¹ 1``. Bones are then removed one by one (backward elimination): first those with negative weights,
then those whose removal costs least, until few enough are left.
"""

from __future__ import annotations

import numpy as np

CANDIDATES = 8
"""Bones among which those of a vertex are chosen: its present ones, and those that alone move the vertex best."""
BLOCK = 4096
"""Vertices that are solved at once, to bound the memory."""
RIDGE = 1e-13
"""Addition to the diagonal of M, as a fraction of its trace, for bones that move alike."""


class BoneMoments:
    """Inner products over the frames of a mesh's positions and of the motions of its bones.

    Parameters
    ----------
    rest : (n,4), homogeneous coordinates of the rest pose
    positions : (n,3f), coordinates of each vertex over the frames
    motions : (4b,3f), transposed motions of the bones; bone j moves the vertices to ``rest @ motions[4 j : 4 j + 4]``
    """

    def __init__(self, rest: np.ndarray, positions: np.ndarray, motions: np.ndarray) -> None:
        n, b = len(rest), len(motions) // 4
        self._rest = rest
        self._gram = (motions @ motions.T).reshape(b, 4, b, 4).transpose(0, 2, 1, 3)
        self._mixed = np.einsum("nbd,nd->nb", (positions @ motions.T).reshape(n, b, 4), rest)
        self._square = np.einsum("nk,nk->n", positions, positions)
        own = self._gram[range(b), range(b)].reshape(b, 16) @ (rest[:, :, None] * rest[:, None, :]).reshape(n, 16).T
        self.alone = own.T - 2.0 * self._mixed + self._square[:, None]
        """(n,b) squared distance, summed over the frames, of each vertex if it moves with one bone alone."""

    def products(self, vertices: np.ndarray, bones: np.ndarray) -> np.ndarray:
        """Return M (v,c,c) of ``vertices`` (v,), each with its own ``bones`` (v,c)."""
        h = self._rest[vertices]
        between = self._gram[bones[:, :, None], bones[:, None, :]]
        both = np.einsum("vjkd,vd->vjk", np.einsum("vjkde,ve->vjkd", between, h), h)
        mixed = np.take_along_axis(self._mixed[vertices], bones, axis=1)
        return both - mixed[:, :, None] - mixed[:, None, :] + self._square[vertices, None, None]


def fitted_weights(moments: BoneMoments, before: np.ndarray, influences: int) -> np.ndarray:
    """Return the skinning weights (n,b) that fit the frames best. Weights that would fit worse are not changed.

    ``before`` (n,b): present weights. ``influences``: largest number of bones of a vertex.
    """
    n, b = before.shape
    after, count = np.zeros_like(before), min(CANDIDATES, b)
    near = np.where(before > 0.0, -np.inf, moments.alone)
    for begin in range(0, n, BLOCK):
        some = np.arange(begin, min(begin + BLOCK, n))
        bones = np.argpartition(near[some], count - 1, axis=1)[:, :count]
        M = moments.products(some, bones)
        old, new = np.take_along_axis(before[some], bones, axis=1), _eliminated(M, influences)
        is_better = _quadratic(M, new) <= np.where(old.sum(axis=1) > 0.0, _quadratic(M, old), np.inf)
        after[some[:, None], bones] = np.where(is_better[:, None], new, old)
    return after


def _quadratic(M: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.einsum("vj,vj->v", w, np.einsum("vjk,vk->vj", M, w))


def _eliminated(M: np.ndarray, influences: int) -> np.ndarray:
    """Return weights (v,c) that are not negative and have the sum 1, for M (v,c,c), by backward elimination."""
    v, c, _ = M.shape
    M = M + (RIDGE * np.trace(M, axis1=1, axis2=2) + np.finfo(float).tiny)[:, None, None] * np.eye(c)
    inverse, weights = np.linalg.inv(M), np.empty((v, c))
    active, waiting = np.ones((v, c), dtype=bool), np.arange(v)
    while len(waiting):
        on, near = active[waiting], inverse[waiting]
        raw = near.sum(axis=2)
        found = weights[waiting] = raw / raw.sum(axis=1, keepdims=True)
        cost = np.where(on, found**2 / np.where(on, np.einsum("vjj->vj", near), 1.0), np.inf)
        is_negative = (found < 0.0).any(axis=1)
        worst = np.where(is_negative, found.argmin(axis=1), cost.argmin(axis=1))
        again = is_negative | (on.sum(axis=1) > influences)
        waiting, worst, near = waiting[again], worst[again], near[again]
        active[waiting, worst] = False
        rows = np.arange(len(waiting))
        column = near[rows, :, worst]
        near -= column[:, :, None] * (column / column[rows, worst][:, None])[:, None, :]
        near[rows, worst], near[rows, :, worst] = 0.0, 0.0
        inverse[waiting] = near
    return np.where(active, weights, 0.0)
