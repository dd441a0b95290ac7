"""Sampling of the animation that drives a bake, at frames and subframes.

A :class:`Track` samples one quantity. The scene's frames are evaluated once for all tracks of one or several bodies.
With several substeps, subframes are then evaluated for tracks whose quantity moves. Frames come first, since a physics
cache interpolates between two frames only when the cache contains both frames.
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
from .mesh_in import check_matrix, mesh_at_position, object_to_world, transform, vertex_positions

Each = TypeVar("Each")


@dataclass(frozen=True)
class EvaluatedFrame:
    """Simulated object at a frame or subframe.

    ``obj``: the object. Its animated properties have the values at the frame.
    ``frame``: number of the frame, with a fraction at a subframe.
    ``mesh``: the object's mesh after the modifiers that precede the simulation.
    ``matrix`` (4,4): matrix from object coordinates to world space in metres.
    """

    obj: Any
    frame: float
    context: Any
    mesh: Any
    matrix: np.ndarray

    @property
    def is_between(self) -> bool:
        """True at a subframe, False at a whole frame."""
        return self.frame != int(self.frame)

    def world(self, vertices: np.ndarray) -> np.ndarray:
        """Return the world positions of some vertices, (p,3) m.

        ``vertices`` (p,): indices of the vertices.
        """
        return transform(self.matrix, vertex_positions(self.mesh)[vertices])


def stretch_of_time(scene: Any) -> float:
    """Return the distance of two consecutive frames on the time axis of F-curves.

    The distance is 1 without time remapping.
    """
    return float(np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new))


def key_times(scene: Any, frames: Any) -> np.ndarray:
    """Return the times of ``frames`` on the time axis of F-curves, (f,) float32.

    The scene's time remapping scales the times.
    """
    return (np.asarray(frames, dtype=np.float64) * stretch_of_time(scene)).astype(np.float32)


@dataclass(frozen=True)
class MovedObjects:
    """Objects whose transform or geometry changes with the current frame, by ``session_uid``."""

    transforms: set[int] = field(default_factory=set)
    shapes: set[int] = field(default_factory=set)

    def note(self, _scene: Any, depsgraph: Any) -> None:
        """Record the objects that a depsgraph update has changed.

        The method is a handler of Blender. When the scene goes to another frame, the updates of the ``depsgraph`` list
        every object that depends on time. So the recorded objects include all animated objects.
        """
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object):
                uid = update.id.original.session_uid
                self.transforms.update({uid} if update.is_updated_transform else ())
                self.shapes.update({uid} if update.is_updated_geometry else ())

    def carries(self, obj: Any, position: StackPosition) -> bool:
        """Return True if the animation of ``obj`` moves the object's vertices in world space.

        If the object displays its own bake, only the object's transform counts, since the bake changes the shape.
        """
        return obj.session_uid in self.transforms or (not position.on_itself and obj.session_uid in self.shapes)


def _stays(_moved: MovedObjects) -> bool:
    return False


@dataclass
class Track:
    """Samples of one quantity at frames and, if the quantity moves, at subframes.

    Attributes
    ----------
    ask : function that returns the value at an evaluated frame; called for all frames in order, then for subframes
    moves : function that returns True if the value must be sampled at subframes too; called after all frames
    at_frames, between : samples at frames and at subframes
    """

    ask: Callable[[EvaluatedFrame], Any]
    moves: Callable[[MovedObjects], bool] = _stays
    at_frames: list[Any] = field(default_factory=list)
    between: list[Any] = field(default_factory=list)

    def take(self, moment: EvaluatedFrame) -> None:
        """Add the sample of a frame or subframe."""
        (self.between if moment.is_between else self.at_frames).append(self.ask(moment))

    def samples(self) -> np.ndarray:
        """Return the samples of all frames and subframes, (samples,...).

        The format is that of :mod:`core.foundation.schema.tracks`.
        """
        return interleave(np.array(self.at_frames), self.between)


def matrix_at(moment: EvaluatedFrame) -> np.ndarray:
    """Return the object's matrix at a frame, (4,4).

    Raises MeshError if the matrix is not finite. Raises MeshError if the scale along an axis is zero at a whole frame.
    """
    check_matrix(moment.matrix, f" at frame {moment.frame:g}")
    stretches = np.linalg.svd(moment.matrix[:3, :3], compute_uv=False)
    if not moment.is_between and stretches[-1] <= 1e-7 * stretches[0]:
        raise MeshError(
            f"“{moment.obj.name}” is flattened at frame {moment.frame}: its scale is zero along an axis.",
            "Give it a scale other than zero on every axis.",
        )
    return moment.matrix


@contextmanager
def at_frame(scene: Any, frame: int | None = None) -> Iterator[None]:
    """Go to a frame, and restore the current frame on exit.

    If ``frame`` is None, the current frame is only restored.
    """
    before, part = scene.frame_current, scene.frame_subframe
    try:
        if frame is not None:
            scene.frame_set(frame)
        yield
    finally:
        scene.frame_set(before, subframe=part)


def run_up(context: Any, first: int) -> Steps[None]:
    """Play the scene's physics up to the ``first`` frame, one frame per step of the generator.

    Rigid bodies and other physics move only if no frame is skipped.
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
    """Record the objects that Blender updates within the context."""
    moved, handlers = MovedObjects(), bpy.app.handlers
    note, lists = moved.note, (handlers.frame_change_post, handlers.depsgraph_update_post)
    for handler_list in lists:
        handler_list.append(note)
    try:
        yield moved
    finally:
        for handler_list in lists:
            handler_list.remove(note)


class FrameSampler:
    """Sampler of an object's ``tracks`` over a range of frames.

    The modifiers after ``position`` in the object's modifier stack must already be disabled. The mesh has
    ``vertex_count`` vertices at ``position``.
    """

    position: StackPosition
    vertex_count: int
    tracks: Sequence[Track]

    def __init__(self, obj: Any, context: Any) -> None:
        self.obj, self.context = obj, context

    def stop(self, frame: float, first: int, taken: list[Track]) -> None:
        """Sample the object's tracks at the current frame or subframe ``frame``.

        Tracks in ``taken`` were already sampled for another object and are skipped. Newly sampled tracks are added to
        ``taken``. Raises MeshError if the number of vertices differs from the number at the ``first`` frame.
        """
        if not self.tracks:
            return
        with mesh_at_position(self.obj, self.position, self.context) as (mesh, evaluated):
            if len(mesh.vertices) != self.vertex_count:
                raise MeshError(
                    f"The mesh has {self.vertex_count} vertices at frame {first}, and {len(mesh.vertices)} at "
                    f"frame {frame:g}.",
                    "Set Simulate, under Resolution, to a modifier before the one that changes the mesh.",
                )
            moment = EvaluatedFrame(self.obj, frame, self.context, mesh, object_to_world(evaluated, self.context.scene))
            for track in self.tracks:
                if not any(track is other for other in taken):
                    track.take(moment)
                    taken.append(track)


def sample_frames(passengers: list[FrameSampler], scene: Any, frames: tuple[int, int], steps: int) -> Steps[None]:
    """Sample the tracks of several objects in one pass over a range of frames.

    The range ``frames`` includes both ends. Moving tracks are then sampled at subframes: ``steps`` intervals per frame.
    An error of the first object is raised. Any other object with an error is removed from ``passengers``
    (:func:`for_each`).
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
    """Call ``do`` with each item of ``passengers``, and remove items that fail.

    An error of the first item is raised. Other items are removed after a SinewError or a ReferenceError.
    """
    for passenger in list(passengers):
        try:
            do(passenger)
        except (SinewError, ReferenceError):
            if passenger is passengers[0]:
                raise
            passengers.remove(passenger)
