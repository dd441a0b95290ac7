"""How much memory a direct solver's factor takes, before it is made."""

from __future__ import annotations

import importlib.util

import numpy as np

from ..assembly.sparsity import BlockSparsity, Pattern
from .body import Body
from .ordering import factor_entries, has_metis, minimum_degree, nested_dissection

FILL = 10.0
"""Blocks of the factor over ``n^(4/3)`` for n vertices of a compact body in nested-dissection order: measured 9.8 on a
ball of 31,000 vertices, 10.2 on one of 73,000; a bar eight times as long as thick has half as many, the gummy bear a
third. The exponent is that of nested dissection in three dimensions (George and Liu, 1981)."""

FILL_BY_DEGREE = 1.3
"""The same over ``n^1.6`` where METIS is missing: measured 1.26 on balls of 10,000 to 53,000 vertices in the order of
minimum degree, whose factor is 1.8 to 2.4 times as large then."""

PADDING = 1.3
"""Bytes that CHOLMOD takes, over those of the factor's non-zeros: supernodes hold zeros too."""


def entries_of_compact(vertices: float) -> float:
    """Scalar non-zeros of the factor of a compact body, from its free vertices alone: an upper estimate."""
    return 9.0 * (FILL * vertices ** (4.0 / 3.0) if has_metis() else FILL_BY_DEGREE * vertices**1.6)


def entries_of(pattern: Pattern) -> int:
    """Scalar non-zeros of the factor, counted; as long as the symbolic step."""
    order = nested_dissection(pattern)
    if order is None:
        by_degree = importlib.util.find_spec("cvxopt") is not None
        order = minimum_degree(pattern) if by_degree else np.arange(len(pattern.free))
    return factor_entries(pattern, order)


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
