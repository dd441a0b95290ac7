"""Readers of vertex group weights as arrays.

Blender does not provide the weights of a group as an array. One loop over the vertices therefore reads the weights of
several groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.foundation.errors import SettingsError
from ...core.mechanics.materials.weight_normalization import normalize_weights


def group_weights(obj: Any, mesh: Any, names: Sequence[str]) -> np.ndarray:
    """Return the weights of the vertices in several vertex groups, (n, len(names)) float64.

    The weight is 0 if the group or the weight is missing. Raises SettingsError if a weight is not a number.
    """
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
    bad = np.argwhere(~np.isfinite(weights))
    if len(bad):
        raise SettingsError(
            f"The weight of vertex {bad[0][0]} in the vertex group “{names[bad[0][1]]}” is not a number.",
            "Set the weight of this vertex again (sidebar, tab Item).",
        )
    return weights


def material_weights(obj: Any, mesh: Any) -> np.ndarray:
    """Return the weights of all materials per vertex, (n, materials) float64.

    The weights of a vertex are normalized to a sum of 1. Maps of material layers are read as 0.
    """
    names = ["" if m.is_layer else m.vertex_group for m in obj.sinew.materials]
    return normalize_weights(group_weights(obj, mesh, names))


def group_shares(obj: Any, mesh: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices with a positive weight in a group, and the weights.

    The results are vertex indices (p,) int32 and weights (p,).
    """
    weights = group_weights(obj, mesh, [name])[:, 0]
    vertices = np.flatnonzero(weights > 0.0).astype(np.int32)
    return vertices, weights[vertices]
