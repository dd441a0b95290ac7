"""Bounding boxes of moving triangles, for the broad phase of collision detection."""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import kernel


@kernel
def swept_boxes(faces, y, ahead, reach, low, high):
    """Write the lowest and highest coordinates of a box around each moving face to ``low`` and ``high`` (f,3). The
    vertices of ``faces`` (f,3) move from ``y`` to ``ahead`` (s,3); the boxes are enlarged by the length ``reach``.
    """
    for f in range(len(faces)):
        for j in range(3):
            low[f, j], high[f, j] = np.inf, -np.inf
            for k in faces[f]:
                low[f, j] = min(low[f, j], y[k, j] - reach, ahead[k, j] - reach)
                high[f, j] = max(high[f, j], y[k, j] + reach, ahead[k, j] + reach)


@kernel
def mark_faces(chosen, low, high, first, last, near):
    """Set ``near`` (f,) to True for the faces whose box, from ``low`` to ``high`` (f,3), overlaps the box from
    ``first`` to ``last`` (3,). Only the faces with the indices ``chosen`` are tested; other entries do not change.
    """
    for f in chosen:
        overlaps = True
        for j in range(3):
            overlaps = overlaps and low[f, j] <= last[j] and high[f, j] >= first[j]
        near[f] |= overlaps
