"""Values of a surface carried into its inside: harmonic interpolation on a grid of points.

Grid points outside the surface have the value of the nearest surface point. Inside, the discrete Laplace equation
holds, with seven-point stencils. So a value varies smoothly between the walls of the body, and its extremes are on the
surface. The values at other points are interpolated trilinearly.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import cg

from ..mesh.nearest_point import NearestPointSearch
from ..mesh.winding_number import WindingNumber

CELLS = 32
"""Grid cells along the longest side of the surface."""
TOLERANCE = 1e-8


class InwardExtension:
    """Values at the vertices of a closed surface, carried to all points inside.

    ``positions`` (n,3), ``triangles`` (t,3): the surface. ``values`` (n,k): at its vertices.
    """

    def __init__(self, positions: np.ndarray, triangles: np.ndarray, values: np.ndarray) -> None:
        low, high = positions[triangles].min(axis=(0, 1)), positions[triangles].max(axis=(0, 1))
        self._step = float((high - low).max()) / CELLS
        counts = np.ceil((high - low) / self._step).astype(np.int64) + 3
        self._low = low - self._step
        grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
        points = self._low + self._step * grid
        near = NearestPointSearch(positions, triangles).nearest(points)
        field = np.einsum("pc,pck->pk", near.weights, values[triangles[near.triangles]])
        inside = WindingNumber(positions, triangles).contains(points)
        self._field = _harmonic(field, inside, counts).reshape(*counts, -1)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the values at ``points`` (p,3), (p,k)."""
        counts = np.array(self._field.shape[:3])
        place = np.clip((points - self._low) / self._step, 0.0, counts - 1.000001)
        cell, out = place.astype(np.int64), 0.0
        part = place - cell
        for corner in np.ndindex(2, 2, 2):
            weight = np.where(np.array(corner) == 1, part, 1.0 - part).prod(axis=1)
            out = out + weight[:, None] * self._field[tuple((cell + corner).T)]
        return out


def _harmonic(field: np.ndarray, free: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the values (p,k) of grid points that are harmonic where ``free`` (p,), and those of ``field`` elsewhere.

    ``counts`` (3,): grid points along each axis. No free point lies on the border of the grid.
    """
    ends = np.flatnonzero(free)
    if not len(ends):
        return field
    steps = np.array([counts[1] * counts[2], counts[2], 1])
    beside = ends[:, None] + np.concatenate([steps, -steps])
    ones = np.ones(beside.size)
    around = scipy.sparse.csr_matrix(
        (ones, (np.repeat(np.arange(len(ends)), 6), beside.ravel())), (len(ends), len(free))
    )
    A = 6.0 * scipy.sparse.eye(len(ends), format="csr") - around[:, ends]
    out = field.copy()
    for column in range(field.shape[1]):
        b = around[:, ~free] @ field[~free, column]
        out[ends, column] = cg(A, b, x0=field[ends, column], rtol=TOLERANCE, atol=0.0)[0]
    return out
