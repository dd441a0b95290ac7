"""Bounding boxes of moving triangles, for the broad phase of collision detection."""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import kernel


@kernel
def swept_boxes(faces, y, ahead, reach, low, high):
    """Write the bounding box of each moving face to ``low`` and ``high`` (f,3).

    ``faces`` (f,3): vertex indices.
    ``y``, ``ahead`` (s,3): positions of the vertices before and after the motion.
    ``reach``: length by which the boxes are enlarged.
    """
    for f in range(len(faces)):
        for j in range(3):
            low[f, j], high[f, j] = np.inf, -np.inf
            for k in faces[f]:
                low[f, j] = min(low[f, j], y[k, j] - reach, ahead[k, j] - reach)
                high[f, j] = max(high[f, j], y[k, j] + reach, ahead[k, j] + reach)


@kernel
def mark_faces(chosen, low, high, first, last, near):
    """Set ``near`` to True for the faces whose box overlaps a given box.

    Other entries of ``near`` do not change.

    ``chosen``: indices of the faces to test.
    ``low``, ``high`` (f,3): boxes of the faces.
    ``first``, ``last`` (3,): lowest and highest corner of the given box.
    ``near`` (f,) bool.
    """
    for f in chosen:
        overlaps = True
        for j in range(3):
            overlaps = overlaps and low[f, j] <= last[j] and high[f, j] >= first[j]
        near[f] |= overlaps
