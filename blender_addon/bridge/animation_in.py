"""The animation that drives a bake, sampled frame by frame.

Each sampler takes what it wants at every frame; the scene is gone through once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...core.errors import MeshError
from .mesh_in import check_matrix, mesh_at_place, object_to_world, transform, vertex_positions
from .stack import Place


@dataclass(frozen=True)
class Moment:
    """One frame of the simulated object: its number, the scene's context, the mesh at the simulated place, and the
    object's own coordinates to world space in metres (4,4). Animated properties are read from the object itself.
    """

    frame: int
    context: Any
    mesh: Any
    matrix: np.ndarray

    def world(self, vertices: np.ndarray) -> np.ndarray:
        """World positions of some vertices, (p,3), metres."""
        return transform(self.matrix, vertex_positions(self.mesh)[vertices])


class Sampler(Protocol):
    """Gathers one thing over the frames."""

    def take(self, moment: Moment) -> None:
        """One frame; they come in order."""


class MatrixSampler:
    """The object's matrices; MeshError where its scale is zero, or what is no number."""

    def __init__(self, name: str) -> None:
        self._name, self._matrices = name, []

    def take(self, moment: Moment) -> None:
        """One frame."""
        check_matrix(moment.matrix, f" at frame {moment.frame}")
        stretches = np.linalg.svd(moment.matrix[:3, :3], compute_uv=False)
        if stretches[-1] <= 1e-7 * stretches[0]:
            raise MeshError(
                f"“{self._name}” is flattened at frame {moment.frame}: its scale is zero along an axis.",
                "Give it a scale other than zero on every axis (Ctrl+A applies a scale).",
            )
        self._matrices.append(moment.matrix)

    def matrices(self) -> np.ndarray:
        """(frames,4,4)."""
        return np.array(self._matrices)


class PinSampler:
    """Where the object's pinned vertices are, and whether they are held still.

    Parameters
    ----------
    vertices : (p,)
    weights : (p,) in the pin group
    """

    def __init__(self, obj: Any, vertices: np.ndarray, weights: np.ndarray) -> None:
        self._object, self._vertices, self._weights = obj, vertices, weights
        self._positions, self._held = [], []

    def take(self, moment: Moment) -> None:
        """One frame."""
        self._positions.append(moment.world(self._vertices))
        self._held.append(self._weights >= hold_threshold(self._object))

    def positions(self) -> np.ndarray:
        """(frames,p,3), metres."""
        return np.array(self._positions)

    def held(self) -> np.ndarray:
        """(frames,p) bool."""
        return np.array(self._held)


def hold_threshold(obj: Any) -> float:
    """Weight from which vertices are held at the present frame.

    Neither it nor the weights are rounded: both have the same 32 bits, and a painted 0.7 meets a threshold of 0.7.
    """
    return obj.sinew.hold_from


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
    vertex_count: int,
    samplers: Sequence[Sampler],
    on_frame: Callable[[int], None] | None = None,
) -> None:
    """Lead the samplers through every frame of the range; the stack must be cut at the place already.

    MeshError when the mesh changes its number of vertices.
    """
    scene = context.scene
    with at_frame(scene, frames[0]):
        for frame in range(frames[0], frames[1] + 1):
            scene.frame_set(frame)
            with mesh_at_place(obj, place, context) as (mesh, evaluated):
                if len(mesh.vertices) != vertex_count:
                    raise MeshError(
                        f"The mesh has {vertex_count} vertices at frame {frames[0]}, and {len(mesh.vertices)} at frame "
                        f"{frame}.",
                        "Simulate a place in the modifier stack below the one that changes the mesh.",
                    )
                moment = Moment(frame, context, mesh, object_to_world(evaluated, scene))
                for sampler in samplers:
                    sampler.take(moment)
            if on_frame is not None:
                on_frame(frame - frames[0] + 1)
