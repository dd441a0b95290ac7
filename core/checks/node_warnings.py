"""Whether dynamic nodes make steps dearer than they have to be."""

from __future__ import annotations

from ..linear_solvers.registry import Choice
from ..model.nodes import Nodes

FEW = 4
"""Nodes that cost little with any linear solver."""


def node_warnings(nodes: Nodes | None, linear_solver: Choice) -> list[str]:
    """One sentence with a remedy where many nodes are solved for one after the other; else none."""
    if nodes is None or len(nodes.centres) <= FEW or linear_solver.solves_blocks:
        return []
    return [
        f"Each of {len(nodes.centres)} nodes costs six solutions of conjugate gradients a step, one after the other: "
        "pick fewer nodes, or lower Cells Across and choose a direct Linear Solver."
    ]
