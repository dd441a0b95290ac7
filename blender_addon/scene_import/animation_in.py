"""The animation that drives a bake, sampled frame by frame, and between frames where time moves something.

What changes is a :class:`Track`, which asks what it is at a moment. The scene is gone through once for all of them, of
one body or several, and, with more than one step a frame, once more for what is at other places between frames. It has
to be in this order: caches of physics know what is between two frames only when they have both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import bpy
import numpy as np

from ...core.foundation.errors import MeshError, SinewError
from ...core.foundation.schema.tracks import interleave
from ..objects.modifier_stack import StackPosition
from ..objects.other_physics import restart_physics
from ..window.stepwise import Steps
from .mesh_in import check_matrix, mesh_at_place, object_to_world, transform, vertex_positions

Each = TypeVar("Each")


@dataclass(frozen=True)
class EvaluatedFrame:
    """The simulated object at a frame (whole or a part of the way on): its number, the scene's context, the mesh at the
    simulated place, and the object's own coordinates to world space in metres (4,4). Animated properties are read from
    the object itself.
    """

    obj: Any
    frame: float
    context: Any
    mesh: Any
    matrix: np.ndarray

    @property
    def is_between(self) -> bool:
        """Return True between two frames."""
        return self.frame != int(self.frame)

    def world(self, vertices: np.ndarray) -> np.ndarray:
        """World positions of some vertices, (p,3), metres."""
        return transform(self.matrix, vertex_positions(self.mesh)[vertices])


def stretch_of_time(scene: Any) -> float:
    """How far keys of neighbouring frames of the scene are apart: 1 but with time remapping."""
    return float(np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new))


def key_times(scene: Any, frames: Any) -> np.ndarray:
    """Return the times of keys for frames of the scene, (f,) float32: time remapping scales all animation."""
    return (np.asarray(frames, dtype=np.float64) * stretch_of_time(scene)).astype(np.float32)


@dataclass(frozen=True)
class MovedObjects:
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

    def carries(self, obj: Any, place: StackPosition) -> bool:
        """Return True if vertices of the simulated object move. One whose own mesh is read has a result for its
        shape.
        """
        return obj.session_uid in self.places or (not place.on_itself and obj.session_uid in self.shapes)


def _stays(_moved: MovedObjects) -> bool:
    return False


@dataclass
class Track:
    """One thing that changes over the frames.

    Attributes
    ----------
    ask : says what it is at a moment; they come in order, those between frames when all frames are taken
    moves : whether it is asked between frames, too; what time moves there is known then
    at_frames, between : what was gathered
    """

    ask: Callable[[EvaluatedFrame], Any]
    moves: Callable[[MovedObjects], bool] = _stays
    at_frames: list[Any] = field(default_factory=list)
    between: list[Any] = field(default_factory=list)

    def take(self, moment: EvaluatedFrame) -> None:
        """Gather one moment."""
        (self.between if moment.is_between else self.at_frames).append(self.ask(moment))

    def samples(self) -> np.ndarray:
        """Arrays, or numbers, that were gathered, (samples,...), as :mod:`core.foundation.schema.tracks` has them."""
        return interleave(np.array(self.at_frames), self.between)


def matrix_at(moment: EvaluatedFrame) -> np.ndarray:
    """The object's matrix; MeshError where it has what is no number, or at a frame a scale of zero."""
    check_matrix(moment.matrix, f" at frame {moment.frame:g}")
    stretches = np.linalg.svd(moment.matrix[:3, :3], compute_uv=False)
    if not moment.is_between and stretches[-1] <= 1e-7 * stretches[0]:
        raise MeshError(
            f"“{moment.obj.name}” is flattened at frame {moment.frame}: its scale is zero along an axis.",
            "Give it a scale other than zero on every axis (Ctrl+A applies a scale).",
        )
    return moment.matrix


@contextmanager
def at_frame(scene: Any, frame: int | None = None) -> Iterator[None]:
    """Go to a frame, if one is given, and back to the present one afterwards."""
    before, part = scene.frame_current, scene.frame_subframe
    try:
        if frame is not None:
            scene.frame_set(frame)
        yield
    finally:
        scene.frame_set(before, subframe=part)


def run_up(context: Any, first: int) -> Steps[None]:
    """Come to the ``first`` frame by way of all frames of the scene's physics before it: entered in the middle, rigid
    bodies and the like stand still.
    """
    scene = context.scene
    begin = restart_physics(scene, context.evaluated_depsgraph_get())
    if begin is not None:
        for frame in range(begin, first):
            scene.frame_set(frame)
            yield 0.0
    scene.frame_set(first)


@contextmanager
def noted() -> Iterator[MovedObjects]:
    """Collect the objects that frame changes move."""
    moved, handlers = MovedObjects(), bpy.app.handlers
    note, places = moved.note, (handlers.frame_change_post, handlers.depsgraph_update_post)
    for place in places:
        place.append(note)
    try:
        yield moved
    finally:
        for place in places:
            place.remove(note)


class FrameSampler:
    """An object that is taken through a range of frames, with what is gathered of it; its stack must be cut at the
    place already, where its mesh has ``vertex_count`` vertices.
    """

    place: StackPosition
    vertex_count: int
    tracks: Sequence[Track]

    def __init__(self, obj: Any, context: Any) -> None:
        self.obj, self.context = obj, context

    def stop(self, frame: float, first: int, taken: list[Track]) -> None:
        """Take its tracks at a moment, but those that another has ``taken``. MeshError when the mesh has another number
        of vertices than at the ``first`` frame.
        """
        if not self.tracks:
            return
        with mesh_at_place(self.obj, self.place, self.context) as (mesh, evaluated):
            if len(mesh.vertices) != self.vertex_count:
                raise MeshError(
                    f"The mesh has {self.vertex_count} vertices at frame {first}, and {len(mesh.vertices)} at "
                    f"frame {frame:g}.",
                    "Simulate a place in the modifier stack below the one that changes the mesh.",
                )
            moment = EvaluatedFrame(self.obj, frame, self.context, mesh, object_to_world(evaluated, self.context.scene))
            for track in self.tracks:
                if not any(track is other for other in taken):
                    track.take(moment)
                    taken.append(track)


def sample_frames(passengers: list[FrameSampler], scene: Any, frames: tuple[int, int], steps: int) -> Steps[None]:
    """Take passengers through a range of frames, both included: every frame, and then, for the tracks of what time
    moves, the moments between, ``steps`` from frame to frame. Errors are the first passenger's (:func:`for_each`).
    """
    first, last = frames
    total = (last - first) * steps + 1
    with at_frame(scene, first), noted() as moved:
        for frame in range(first, last + 1):
            _stop(passengers, scene, frame, first)
            yield (frame - first + 1) / total
    for passenger in passengers:
        passenger.tracks = [track for track in passenger.tracks if track.moves(moved)]
    if steps == 1 or not any(passenger.tracks for passenger in passengers):
        return
    with at_frame(scene, first):
        for frame in range(first, last):
            for k in range(1, steps):
                _stop(passengers, scene, frame, first, k / steps)
                yield (last + 1 - first + (frame - first) * (steps - 1) + k) / total


def _stop(passengers: list[FrameSampler], scene: Any, frame: int, first: int, part: float = 0.0) -> None:
    taken: list[Track] = []
    scene.frame_set(frame, subframe=part)
    for_each(passengers, lambda passenger: passenger.stop(frame + part if part else frame, first, taken))


def for_each(passengers: list[Each], do: Callable[[Each], None]) -> None:
    """Do something with each; all but the first, who are there by the way, drop out where they are refused."""
    for passenger in list(passengers):
        try:
            do(passenger)
        except (SinewError, ReferenceError):
            if passenger is passengers[0]:
                raise
            passengers.remove(passenger)
