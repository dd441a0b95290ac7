"""Memory of a direct solver's factor, estimated before the factorisation."""

from __future__ import annotations

from ...mechanics.assembly.sparsity import Pattern
from .body import Body
from .ordering import any_order, factor_entries, has_metis

FILL = 15.0
"""Number of 3 x 3 blocks of the factor, divided by ``n^(4/3)``, for a compact body of n vertices in nested-dissection
order. The exponent is that of nested dissection in 3D (George and Liu, 1981). The value is above all measured values:
10.7 on a ball of 9,900 vertices (9.4 without smoothed elements), 13.9 on a ball of 31,000. A bar eight times as long as
thick has half as many blocks, the gummy bear a third.
"""

FILL_BY_DEGREE = 1.3
"""Number of 3 x 3 blocks of the factor, divided by ``n^1.6``, for a compact body of n vertices in minimum-degree order.
This order is used without METIS. On balls of 10,000 to 53,000 vertices, the measured value was 1.26, and the factor had
1.8 to 2.4 times as many blocks as with nested dissection.
"""

PADDING = 1.3
"""Ratio of CHOLMOD's memory to that of the factor's non-zeros: supernodes store zeros too."""


def entries_of_compact(vertices: float) -> float:
    """Return an upper estimate of the factor's number of scalar non-zeros for a compact body.

    ``vertices``: number of free vertices.
    """
    return 9.0 * (FILL * vertices ** (4.0 / 3.0) if has_metis() else FILL_BY_DEGREE * vertices**1.6)


def entries_of(pattern: Pattern) -> int:
    """Return the exact number of scalar non-zeros of the factor of a matrix with this ``pattern``.

    Counting takes as long as the symbolic step.
    """
    return factor_entries(pattern, any_order(pattern))


def factor_bytes(entries: float) -> float:
    """Return the memory, in bytes, of a factor with ``entries`` non-zeros."""
    return 8.0 * PADDING * entries


def direct_bytes(body: Body, limit: float) -> float:
    """Return the memory of a direct solver's factor for a body, in bytes.

    The result is a cheap upper estimate if the estimate is at most ``limit`` bytes. Otherwise the non-zeros of the
    factor are counted exactly.
    """
    vertices = len(body.rest_positions)
    estimate = factor_bytes(entries_of_compact(vertices - len(body.pinned)))
    if estimate <= limit:
        return estimate
    return factor_bytes(entries_of(body.sparsity().pattern))
