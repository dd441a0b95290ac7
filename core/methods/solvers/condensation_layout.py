"""Offsets of the quantities in the workspace of two kernels of Mixed FEM.

One kernel eliminates the independent stretches of the elements (condensation). The other kernel computes the changes of
these stretches (local update). The workspace holds LANES elements side by side.
"""

from __future__ import annotations

from ...foundation.kernels.simd_math import LANES

U, V, Q, CURVATURE, SIGMA, STRESS, FLIP, APART = (LANES * row for row in (0, 9, 18, 27, 36, 39, 42, 45))
WEIGHT, P, DISAGREEMENT, BLOCKS, TENSION, CONDENSED = (LANES * row for row in (51, 52, 61, 62, 116, 122))
DF, DS, MULTIPLIER, BEND, WORK, UPDATED = (LANES * row for row in (51, 60, 66, 72, 73, 74))
A_BLOCK = 9 * LANES
