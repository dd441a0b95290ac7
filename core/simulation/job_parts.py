"""Parts of a job as numbers and arrays for its file, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from ..materials.layer import Layer
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import DepthSettings

Part = TypeVar("Part")


def layer_numbers(layer: Layer) -> dict[str, Any]:
    """What of a layer is no array."""
    depth = None if layer.depth is None else asdict(layer.depth)
    return {"material": layer.material, "surfaces": len(layer.surfaces), "depth": depth}


def layer_of(numbers: dict[str, Any], arrays: dict[str, np.ndarray]) -> Layer:
    """The layer of which :func:`layer_numbers` and ``Layer.arrays`` tell."""
    surfaces = [SurfaceMesh(arrays[f"positions_{k}"], arrays[f"triangles_{k}"]) for k in range(numbers["surfaces"])]
    depth = None if numbers["depth"] is None else DepthSettings(**numbers["depth"])
    return Layer(numbers["material"], tuple(surfaces), depth, arrays.get("map"))


def part(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The arrays of one layer, spring, collider or force field."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def parts_of(
    cls: type[Part], kind: str, about: list[dict[str, Any]], arrays: dict[str, np.ndarray]
) -> tuple[Part, ...]:
    """All parts of a kind from what of each is no array, and the arrays of all."""
    return tuple(cls(**numbers, **part(arrays, f"{kind}_{k}_")) for k, numbers in enumerate(about))
