"""Memory of a direct solver's factor, estimated before factorisation."""

from __future__ import annotations

import importlib.util

import numpy as np

from ...mechanics.assembly.sparsity import BlockSparsity, Pattern
from .body import Body
from .ordering import factor_entries, has_metis, minimum_degree, nested_dissection

FILL = 10.0
"""Blocks of the factor over ``n^(4/3)`` for n vertices of a compact body in nested-dissection order: measured 9.8 on a
ball of 31,000 vertices, 10.2 on one of 73,000. A bar eight times as long as thick has half as many, the gummy bear a
third. The exponent is that of nested dissection in three dimensions (George and Liu, 1981).
"""

FILL_BY_DEGREE = 1.3
"""Blocks of the factor over ``n^1.6`` without METIS: measured 1.26 on balls of 10,000 to 53,000 vertices in the order
of minimum degree, whose factor is then 1.8 to 2.4 times as large.
"""

PADDING = 1.3
"""CHOLMOD's bytes over those of the factor's non-zeros: supernodes hold zeros too."""


def entries_of_compact(vertices: float) -> float:
    """Return an upper estimate of the factor's scalar non-zeros for a compact body, from its free vertices alone."""
    return 9.0 * (FILL * vertices ** (4.0 / 3.0) if has_metis() else FILL_BY_DEGREE * vertices**1.6)


def entries_of(pattern: Pattern) -> int:
    """Count the factor's scalar non-zeros; this takes as long as the symbolic step."""
    order = nested_dissection(pattern)
    if order is None:
        by_degree = importlib.util.find_spec("cvxopt") is not None
        order = minimum_degree(pattern) if by_degree else np.arange(len(pattern.free))
    return factor_entries(pattern, order)


def factor_bytes(entries: float) -> float:
    """Return the bytes of a factor with ``entries`` non-zeros."""
    return 8.0 * PADDING * entries


def direct_bytes(body: Body, limit: float) -> float:
    """Return the bytes of a direct solver's factor: the cheap estimate if it is under ``limit`` bytes, else counted."""
    vertices = len(body.rest_positions)
    estimate = factor_bytes(entries_of_compact(vertices - len(body.pinned)))
    if estimate <= limit:
        return estimate
    return factor_bytes(entries_of(BlockSparsity(body.tets, vertices, body.pinned).pattern))
