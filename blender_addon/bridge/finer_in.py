"""Vertex group -> how fine the lattice is at each vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import SettingsError
from .fields_in import group_weights


def fineness(obj: Any, mesh: Any) -> np.ndarray | None:
    """(n,) 0 to 1, or None where nothing is painted finer, or the method does not ask for it; SettingsError when the
    group is gone.
    """
    settings = obj.sinew
    if settings.method != "lattice" or not settings.finer_group or settings.finest <= 1.0:
        return None
    if settings.finer_group not in obj.vertex_groups:
        raise SettingsError(
            f"The vertex group “{settings.finer_group}” that says where cells are finer is not there any more.",
            "Choose a vertex group for Finer under Resolution, or none.",
        )
    weights = group_weights(obj, mesh, [settings.finer_group])[:, 0]
    return weights if weights.any() else None
