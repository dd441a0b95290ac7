"""Queries of node trees."""

from __future__ import annotations

from typing import Any


def has_node(tree: Any, kind: str) -> bool:
    """Return True if a node tree has a node of type ``kind``, such as ``SIMULATION_OUTPUT``.

    Node groups within the tree are searched, too.
    """
    groups = (node.node_tree for node in tree.nodes if node.type == "GROUP" and node.node_tree is not None)
    return any(node.type == kind for node in tree.nodes) or any(has_node(group, kind) for group in groups)
