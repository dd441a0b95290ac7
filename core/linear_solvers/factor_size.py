"""How much memory a direct solver's factor takes, before it is made."""

from __future__ import annotations

import numpy as np

from ..assembly.sparsity import BlockSparsity, Pattern
from .body import Body
from .ordering import factor_entries, nested_dissection

FILL = 10.0
"""Blocks of the factor over ``n^(4/3)`` for n vertices of a compact body in nested-dissection order: measured 9.8 on a
ball of 31,000 vertices, 10.2 on one of 73,000; a bar eight times as long as thick has half as many, the gummy bear a
third. The exponent is that of nested dissection in three dimensions (George and Liu, 1981)."""

PADDING = 1.3
"""Bytes that CHOLMOD takes, over those of the factor's non-zeros: supernodes hold zeros too."""


def entries_of_compact(vertices: float) -> float:
    """Scalar non-zeros of the factor of a compact body, from its free vertices alone: an upper estimate."""
    return 9.0 * FILL * vertices ** (4.0 / 3.0)


def entries_of(pattern: Pattern) -> int:
    """Scalar non-zeros of the factor, counted; as long as the symbolic step."""
    order = nested_dissection(pattern)
    return factor_entries(pattern, np.arange(len(pattern.free)) if order is None else order)


def factor_bytes(entries: float) -> float:
    """Bytes of a factor with so many non-zeros."""
    return 8.0 * PADDING * entries


def direct_bytes(body: Body, limit: float) -> float:
    """Bytes of a direct solver's factor: the cheap estimate where that stays under ``limit`` bytes, else counted."""
    vertices = len(body.rest_positions)
    estimate = factor_bytes(entries_of_compact(vertices - len(body.pinned)))
    if estimate <= limit:
        return estimate
    return factor_bytes(entries_of(BlockSparsity(body.tets, vertices, body.pinned).pattern))
