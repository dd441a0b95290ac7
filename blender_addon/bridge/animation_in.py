"""The animation that drives a bake, sampled frame by frame: where the pins are, and where the object is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import MeshError
from .mesh_in import mesh_at_place, object_to_world, transform, vertex_positions
from .stack import Place


@dataclass(frozen=True)
class Animation:
    """``pin_positions`` (frames, p, 3) in world metres; ``object_to_world`` (frames, 4, 4)."""

    pin_positions: np.ndarray
    object_to_world: np.ndarray


@contextmanager
def at_frame(scene: Any, frame: int) -> Iterator[None]:
    """Go to a frame, and back to the present one afterwards."""
    before, part = scene.frame_current, scene.frame_subframe
    try:
        scene.frame_set(frame)
        yield
    finally:
        scene.frame_set(before, subframe=part)


def sample_animation(
    obj: Any,
    place: Place,
    context: Any,
    frames: tuple[int, int],
    pinned: np.ndarray,
    vertex_count: int,
    on_frame: Callable[[int], None] | None = None,
) -> Animation:
    """Pins and object matrix at every frame of the range; the stack must be cut at the place already.

    MeshError when the mesh changes its number of vertices, or when the object's scale is zero somewhere.
    """
    scene = context.scene
    count = frames[1] - frames[0] + 1
    pins, matrices = np.empty((count, len(pinned), 3)), np.empty((count, 4, 4))
    with at_frame(scene, frames[0]):
        for k in range(count):
            scene.frame_set(frames[0] + k)
            with mesh_at_place(obj, place, context) as (mesh, evaluated):
                if len(mesh.vertices) != vertex_count:
                    raise MeshError(
                        f"The mesh has {vertex_count} vertices at frame {frames[0]}, and {len(mesh.vertices)} at frame "
                        f"{frames[0] + k}.",
                        "Simulate a place in the modifier stack below the one that changes the mesh.",
                    )
                matrices[k] = object_to_world(evaluated, scene)
                _check_scale(matrices[k], obj.name, frames[0] + k)
                if len(pinned):
                    pins[k] = transform(matrices[k], vertex_positions(mesh)[pinned])
            if on_frame is not None:
                on_frame(k + 1)
    return Animation(pins, matrices)


def _check_scale(matrix: np.ndarray, name: str, frame: int) -> None:
    stretches = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if not np.isfinite(matrix).all() or stretches[-1] <= 1e-7 * stretches[0]:
        raise MeshError(
            f"“{name}” is flattened at frame {frame}: its scale is zero along an axis.",
            "Give it a scale other than zero on every axis (Ctrl+A applies a scale).",
        )
