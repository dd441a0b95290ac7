"""Check of the dynamic nodes of a body, which ConJac integrates in time."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import PinError, SettingsError

MOST_NODES = 200
"""Largest number of dynamic nodes, the vertices that ConJac integrates in time. Each costs three right-hand sides per
step.
"""


def check_nodes(nodes: np.ndarray, pinned: np.ndarray) -> None:
    """Raise an error for too many ``nodes`` (k,), and for one that is ``pinned`` at the first frame; both indices."""
    if len(nodes) > MOST_NODES:
        raise SettingsError(
            f"The body has {len(nodes)} dynamic nodes, more than {MOST_NODES}.",
            "Choose fewer (Propose Nodes): 4 to 32 nodes suffice.",
        )
    both = np.intersect1d(nodes, pinned)
    if len(both):
        raise PinError(f"Vertex {both[0]} is pinned and a dynamic node.", "Remove it from the nodes or the pins.")
