"""Bodies that are split into pieces along the cells of a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sinew as sw

CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))


def split_box(
    piece_of: Callable[[np.ndarray], np.ndarray], size=(0.4, 0.1, 0.1), cells=(8, 2, 2), **at_seams: float
) -> tuple[sw.Surface, sw.Seams]:
    """A box from the origin, split into pieces.

    ``piece_of``: piece of each cell, from the cells' centres (c,3). ``at_seams``: ``cut_frames`` and ``tear_stress``.
    """
    index = np.argwhere(np.ones(cells, dtype=bool))
    piece = np.full(np.add(cells, 2), -1)
    piece[1:-1, 1:-1, 1:-1] = piece_of((index + 0.5) * np.divide(size, cells)).reshape(cells)
    quads, owners, others = [], [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            beside = index + 1
            beside[:, axis] += 2 * side - 1
            own, other = piece[tuple((index + 1).T)], piece[tuple(beside.T)]
            at = index[own != other].copy()
            at[:, axis] += side
            quad = np.repeat(at[:, None], 4, axis=1)
            for k, (du, dv) in enumerate(CORNERS):
                quad[:, k, u] += du
                quad[:, k, v] += dv
            # Both sides of a seam have the same diagonal.
            first, second = quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]
            quads.append(np.concatenate([first, second])[:, :: 2 * side - 1])
            owners.append(np.tile(own[own != other], 2))
            others.append(np.tile(other[own != other], 2))
    owner, is_seam = np.concatenate(owners), np.concatenate(others) >= 0
    corners = np.concatenate(quads)
    keys = np.column_stack([np.repeat(owner, 3), corners.reshape(-1, 3)])
    vertices, triangles = np.unique(keys, axis=0, return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    surface = sw.Surface(vertices[:, 1:] * np.divide(size, cells), triangles)
    on_seam = np.isin(np.arange(len(vertices)), triangles[is_seam])
    values = {name: np.where(on_seam, value, np.inf) for name, value in at_seams.items()}
    return surface, sw.Seams(vertices[:, 0], is_seam, **values)


def halves(at: float = 0.2) -> Callable[[np.ndarray], np.ndarray]:
    """Two pieces, beside each other along x, for :func:`split_box`."""
    return lambda centres: (centres[:, 0] > at).astype(np.int64)


def quarters(at=(0.2, 0.05)) -> Callable[[np.ndarray], np.ndarray]:
    """Four pieces, beside each other along x and y."""
    return lambda centres: (centres[:, 0] > at[0]) + 2 * (centres[:, 1] > at[1])
