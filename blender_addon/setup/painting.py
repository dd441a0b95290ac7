"""Normalization of material maps during weight painting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..scene_import.weights_in import group_weights

TOLERANCE = 1e-5


def map_names(obj: Any) -> list[str]:
    """Return the names of the material maps of an object, each once, in the materials' order.

    A map is the vertex group of a painted material. Materials with a region or a depth are excluded: their maps are
    coverages and are not normalized.
    """
    painted = (m for m in obj.sinew.materials if not m.is_layer)
    names = (m.vertex_group for m in painted if m.vertex_group in obj.vertex_groups)
    return list(dict.fromkeys(names))


def paints_a_map(obj: Any) -> bool:
    """Return True if the object is in Weight Paint mode with a material map active."""
    if obj is None or obj.type != "MESH" or obj.mode != "WEIGHT_PAINT" or not obj.sinew.enabled:
        return False
    active = obj.vertex_groups.active
    return active is not None and active.name in map_names(obj)


def normalize_maps(obj: Any) -> None:
    """Change the inactive material maps so that all maps sum to one at each painted vertex (:func:`balanced`).

    The active map is kept. Its mirrored map, such as Bone.R for Bone.L, is kept, too, since a mirrored stroke paints
    both.
    """
    names = map_names(obj)
    active = obj.vertex_groups.active.name
    locked = [column for column, name in enumerate(names) if obj.vertex_groups[name].lock_weight]
    kept, mirrored = [names.index(active)], _mirrored_name(obj, active)
    if mirrored in names and names.index(mirrored) not in locked:
        kept.append(names.index(mirrored))
    weights = group_weights(obj, obj.data, names)
    wanted = balanced(weights, kept, _fill_column(obj, names), locked)
    for row, column in np.argwhere(np.abs(wanted - weights) > TOLERANCE):
        obj.vertex_groups[names[column]].add([int(row)], float(wanted[row, column]), "REPLACE")


def _mirrored_name(obj: Any, name: str) -> str | None:
    """Return the name of the mirrored vertex group that Blender's brush paints too, or None."""
    mesh, other = obj.data, bpy.utils.flip_name(name)
    return other if mesh.use_mirror_x and mesh.use_mirror_vertex_groups and other != name else None


def _fill_column(obj: Any, names: list[str]) -> int | None:
    """Return the column of the first material's map in ``names``, or None."""
    first = obj.sinew.materials[0]
    return names.index(first.vertex_group) if first.vertex_group in names else None


def balanced(weights: np.ndarray, kept: Sequence[int], fill: int | None, locked: Sequence[int] = ()) -> np.ndarray:
    """Return the weights (n,k) of k maps at n vertices, changed so that each row sums to at most one.

    A column is free if it is neither in ``kept`` nor in ``locked``. In rows that sum to more than one, the free columns
    are scaled down. In rows that sum to less than one, the column ``fill`` is increased or, if ``fill`` is in ``kept``,
    the free columns are scaled up. Rows of zeros stay unchanged.

    Parameters
    ----------
    kept : columns that change only in rows where kept and locked columns alone sum to more than one; there they are
        reduced
    fill : column of the first material; None: rows that sum to less than one stay unchanged
    locked : columns that never change, even if they exceed one
    """
    result = weights.copy()
    fixed = [column for column in locked if column not in kept]
    others = np.delete(np.arange(weights.shape[1]), [*kept, *fixed])
    painted = weights.sum(axis=1) > 0.0
    rest = np.maximum(0.0, 1.0 - weights[:, fixed].sum(axis=1))
    for column in kept:
        result[:, column] = np.minimum(weights[:, column], rest)
        rest = rest - result[:, column]
    total = weights[:, others].sum(axis=1)
    scaled = painted & (total > (0.0 if fill in kept else rest))
    result[np.ix_(scaled, others)] *= (rest[scaled] / total[scaled])[:, None]
    if fill is not None and fill not in (*kept, *fixed):
        short = painted & ~scaled
        result[short, fill] += rest[short] - total[short]
    return result
