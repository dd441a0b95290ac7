"""Vertex groups -> weights a vertex; no Blender call gives them as an array, so they are gathered in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

PIN_THRESHOLD = 0.5


def group_weights(obj: Any, mesh: Any, names: Sequence[str]) -> np.ndarray:
    """(n, len(names)) float64: weight of each vertex in each named group; 0 where the name or the weight is missing."""
    weights = np.zeros((len(mesh.vertices), len(names)))
    columns: dict[int, list[int]] = {}
    for column, name in enumerate(names):
        group = obj.vertex_groups.get(name) if name else None
        if group is not None:
            columns.setdefault(group.index, []).append(column)
    if columns:
        for vertex in mesh.vertices:
            for element in vertex.groups:
                for column in columns.get(element.group, ()):
                    weights[vertex.index, column] = element.weight
    return weights


def normalized(weights: np.ndarray) -> np.ndarray:
    """Rows with a sum of one; a row without any weight becomes the first material."""
    total = weights.sum(axis=1, keepdims=True)
    result = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
    result[total[:, 0] <= 0.0, 0] = 1.0
    return result


def material_weights(obj: Any, mesh: Any) -> np.ndarray:
    """(n, materials) float64, rows with a sum of one."""
    return normalized(group_weights(obj, mesh, [m.vertex_group for m in obj.sinew.materials]))


def pinned_vertices(obj: Any, mesh: Any) -> np.ndarray:
    """(p,) int32: vertices whose weight in the pin group is 0.5 or more."""
    return np.flatnonzero(group_weights(obj, mesh, [obj.sinew.pin_group])[:, 0] >= PIN_THRESHOLD).astype(np.int32)
