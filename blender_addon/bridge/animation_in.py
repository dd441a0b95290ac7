"""The animation that drives a bake, sampled frame by frame, and between frames where time moves something.

Each sampler takes what it wants at every frame; the scene is gone through once for all of them, and, with more than one
step a frame, once more for what is at other places between frames. It has to be in this order: caches of physics know
what is between two frames only when they have both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import bpy
import numpy as np

from ...core.errors import MeshError
from ...core.tracks import joined
from ..stepwise import Steps
from .mesh_in import check_matrix, mesh_at_place, object_to_world, transform, vertex_positions
from .stack import Place


@dataclass(frozen=True)
class Moment:
    """The simulated object at a frame (whole or a part of the way on): its number, the scene's context, the mesh at the
    simulated place, and the object's own coordinates to world space in metres (4,4). Animated properties are read from
    the object itself.
    """

    frame: float
    context: Any
    mesh: Any
    matrix: np.ndarray

    def world(self, vertices: np.ndarray) -> np.ndarray:
        """World positions of some vertices, (p,3), metres."""
        return transform(self.matrix, vertex_positions(self.mesh)[vertices])


def stretch_of_time(scene: Any) -> float:
    """How far keys of neighbouring frames of the scene are apart: 1 but with time remapping."""
    return float(np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new))


def key_times(scene: Any, frames: Any) -> np.ndarray:
    """Where keys for frames of the scene lie, (f,) float32: time remapping stretches everything that is animated."""
    return (np.asarray(frames, dtype=np.float64) * stretch_of_time(scene)).astype(np.float32)


class Sampler(Protocol):
    """Gathers one thing over the frames."""

    def take(self, moment: Moment) -> None:
        """One frame; they come in order."""


@dataclass(frozen=True)
class Moved:
    """Objects, by their ``session_uid``, that change their place or their shape when nothing but the frame changes."""

    places: set[int] = field(default_factory=set)
    shapes: set[int] = field(default_factory=set)

    def note(self, _scene: Any, depsgraph: Any) -> None:
        """A handler: Blender says of an object that it is updated whenever it depends on time."""
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object):
                uid = update.id.original.session_uid
                self.places.update({uid} if update.is_updated_transform else ())
                self.shapes.update({uid} if update.is_updated_geometry else ())

    def carries(self, obj: Any, place: Place) -> bool:
        """Whether vertices of the simulated object move. One whose own mesh is read has a result for its shape."""
        return obj.session_uid in self.places or (not place.on_itself and obj.session_uid in self.shapes)


class BetweenSampler(Sampler, Protocol):
    """One that may be asked between frames, too."""

    def follows(self, moved: Moved) -> bool:
        """Whether what it gathers is at other places between frames."""

    def take_between(self, moment: Moment) -> None:
        """One moment between frames; they come in order when all frames are taken."""


@dataclass(frozen=True)
class Samples:
    """Points (...,c) gathered at the frames, and between them."""

    at_frames: list[np.ndarray] = field(default_factory=list)
    between: list[np.ndarray] = field(default_factory=list)

    def track(self) -> np.ndarray:
        """(samples,...,c), as :mod:`core.tracks` has them."""
        return joined(np.array(self.at_frames), self.between)


class MatrixSampler:
    """The object's matrices; MeshError where its scale is zero, or what is no number. Between frames they are asked for
    by the pins that it may carry.
    """

    def __init__(self, obj: Any, carries_pins: bool) -> None:
        self._object, self._name, self._carries_pins = obj, obj.name, carries_pins
        self._matrices = Samples()

    def take(self, moment: Moment) -> None:
        """One frame."""
        check_matrix(moment.matrix, f" at frame {moment.frame}")
        stretches = np.linalg.svd(moment.matrix[:3, :3], compute_uv=False)
        if stretches[-1] <= 1e-7 * stretches[0]:
            raise MeshError(
                f"“{self._name}” is flattened at frame {moment.frame}: its scale is zero along an axis.",
                "Give it a scale other than zero on every axis (Ctrl+A applies a scale).",
            )
        self._matrices.at_frames.append(moment.matrix)

    def follows(self, moved: Moved) -> bool:
        """Whether the object moves and has pins."""
        return self._carries_pins and self._object.session_uid in moved.places

    def take_between(self, moment: Moment) -> None:
        """One moment between frames."""
        check_matrix(moment.matrix, f" at frame {moment.frame:g}")
        self._matrices.between.append(moment.matrix)

    def matrices(self) -> np.ndarray:
        """(samples,4,4)."""
        return self._matrices.track()


class PinSampler:
    """Where the object's pinned vertices are, and whether they are held still.

    Parameters
    ----------
    place : that is simulated
    vertices : (p,)
    weights : (p,) in the pin group
    """

    def __init__(self, obj: Any, place: Place, vertices: np.ndarray, weights: np.ndarray) -> None:
        self._object, self._place, self._vertices, self._weights = obj, place, vertices, weights
        self._positions, self._held = Samples(), []

    def take(self, moment: Moment) -> None:
        """One frame."""
        self._positions.at_frames.append(moment.world(self._vertices))
        self._held.append(self._weights >= hold_threshold(self._object))

    def follows(self, moved: Moved) -> bool:
        """Whether there are pins that move."""
        return len(self._vertices) > 0 and moved.carries(self._object, self._place)

    def take_between(self, moment: Moment) -> None:
        """One moment between frames."""
        self._positions.between.append(moment.world(self._vertices))

    def positions(self) -> np.ndarray:
        """(samples,p,3), metres."""
        return self._positions.track()

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


@contextmanager
def noted() -> Iterator[Moved]:
    """What changes of the frame move within it."""
    moved, handlers = Moved(), bpy.app.handlers
    note, places = moved.note, (handlers.frame_change_post, handlers.depsgraph_update_post)
    for place in places:
        place.append(note)
    try:
        yield moved
    finally:
        for place in places:
            place.remove(note)


@dataclass(frozen=True)
class Passage:
    """The way through a range of frames, both included; the stack must be cut at the place already."""

    obj: Any
    place: Place
    context: Any
    frames: tuple[int, int]
    vertex_count: int

    def lead(self, places: Sequence[BetweenSampler], others: Sequence[Sampler], steps: int) -> Steps[None]:
        """Lead samplers through every frame, and then those of places that time moves through the moments between,
        ``steps`` from frame to frame. MeshError when the mesh has another number of vertices.
        """
        first, last = self.frames
        total = (last - first) * steps + 1
        with at_frame(self.context.scene, first), noted() as moved:
            for frame in range(first, last + 1):
                self._stop_at([sampler.take for sampler in (*places, *others)], frame)
                yield (frame - first + 1) / total
        moving = [sampler.take_between for sampler in places if sampler.follows(moved)]
        if not moving or steps == 1:
            return
        with at_frame(self.context.scene, first):
            for frame in range(first, last):
                for k in range(1, steps):
                    self._stop_at(moving, frame, k / steps)
                    yield (last + 1 - first + (frame - first) * (steps - 1) + k) / total

    def _stop_at(self, takes: Sequence[Callable[[Moment], None]], frame: int, part: float = 0.0) -> None:
        scene = self.context.scene
        scene.frame_set(frame, subframe=part)
        with mesh_at_place(self.obj, self.place, self.context) as (mesh, evaluated):
            when = frame + part if part else frame
            if len(mesh.vertices) != self.vertex_count:
                raise MeshError(
                    f"The mesh has {self.vertex_count} vertices at frame {self.frames[0]}, and {len(mesh.vertices)} at "
                    f"frame {when:g}.",
                    "Simulate a place in the modifier stack below the one that changes the mesh.",
                )
            moment = Moment(when, self.context, mesh, object_to_world(evaluated, scene))
            for take in takes:
                take(moment)
