"""Writing of vertex groups."""

from __future__ import annotations

from typing import Any

import numpy as np


def set_weights(obj: Any, name: str, weights: np.ndarray) -> None:
    """Set the weights (n,) of the vertex group ``name`` of a mesh object, which is made if it is missing."""
    if name in obj.vertex_groups:
        obj.vertex_groups[name].remove(range(len(weights)))
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    for weight in np.unique(weights[weights > 0.0]):
        group.add(np.flatnonzero(weights == weight).tolist(), float(weight), "REPLACE")
