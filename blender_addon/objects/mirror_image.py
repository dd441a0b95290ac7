"""Mirror images of vertices across the local X axis."""

from __future__ import annotations

import numpy as np

SAME = 1e-3
"""Largest distance of a vertex from the mirror image of another one that it matches, in sizes of the mesh."""


def mirror_images(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each of the ``points`` (n,3) the index (n,) of the point nearest to its mirror image, and a mask (n,)
    of the points whose mirror image is a point.
    """
    from scipy.spatial import cKDTree  # slow to import

    distance, image = cKDTree(points).query(points * [-1.0, 1.0, 1.0])
    return image, distance <= SAME * float(np.ptp(points, axis=0).max())
