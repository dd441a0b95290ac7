"""Sampling of a body's springs, frame by frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.foundation.errors import SpringError
from ...core.jobs.job.environment import Spring
from ..blend_data.list_animation import curves_at
from ..objects.linked import is_in, out_of_view
from ..objects.modifier_stack import StackPosition, cut_after, stack_position
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame, MovedObjects, Track, at_frame, key_times
from .mesh_in import mesh_at_position, object_to_world, scaled, transform
from .weights_in import group_shares, has_weights


def spring_targets(obj: Any) -> list[Any]:
    """Return the target objects of a body's springs."""
    return [s.target for s in obj.sinew.springs if s.end == "OBJECT" and s.target is not None]


def spring_samplers(
    obj: Any, position: StackPosition, mesh: Any, context: Any, without: Collection[str] = ()
) -> list[SpringSampler]:
    """Return one sampler per spring of a body.

    Springs named in ``without`` are left out. Raises SpringError if a spring has no target or no vertices.

    ``mesh``: the body's mesh after the modifiers that precede the simulation.
    """
    springs = obj.sinew.springs
    own = [k for k, spring in enumerate(springs) if spring.name not in without]
    return [SpringSampler(obj, position, mesh, context, k) for k in own]


class SpringSampler:
    """Sampler of the strength and the target positions of one spring."""

    def __init__(self, obj: Any, position: StackPosition, mesh: Any, context: Any, index: int) -> None:
        settings = obj.sinew.springs[index]
        self._object, self._position, self._index = obj, position, index
        self._name = settings.name
        self._target = settings.target if settings.end == "OBJECT" else None
        if settings.end == "OBJECT":
            self._check_target(context)
        if not has_weights(obj, mesh, settings.vertex_group):
            gone = f"pulls the vertex group “{settings.vertex_group}”, which does not exist any more"
            gone = gone if settings.vertex_group else "has no vertex group to pull"
            raise self._refusal(gone, "Choose its vertex group under Springs, or remove it.")
        self._vertices, self._weights = group_shares(obj, mesh, settings.vertex_group)
        if len(self._vertices) == 0:
            raise SpringError(
                f"The vertex group “{settings.vertex_group}” of the spring “{self._name}” is empty.",
                "Assign vertices to it, or remove the spring.",
            )
        self.tracks = Track(self._pulled_to, self._moves), Track(self._stiffness_at)
        self._rest = self._from_rest = None

    def _check_target(self, context: Any) -> None:
        target = self._target
        if target is None:
            raise self._refusal(
                "has no object to pull to", "Choose one under Springs, or set Pull To to Own Animation."
            )
        # A deleted object stays in the file while the spring refers to it.
        if target.name not in context.scene.objects:
            gone = f"pulls to “{target.name}”, which was deleted or is not in the scene"
            raise self._refusal(gone, "Choose another object under Springs, or remove the spring.")
        if not is_in(context.view_layer, target):
            raise out_of_view(f"The object “{target.name}” of the spring “{self._name}”", SpringError)

    def _refusal(self, problem: str, remedy: str) -> SpringError:
        return SpringError(f"The spring “{self._name}” {problem}.", remedy)

    def _moves(self, moved: MovedObjects) -> bool:
        if self._target is None:
            return moved.carries(self._object, self._position)
        return self._target.session_uid in moved.transforms

    def _pulled_to(self, moment: EvaluatedFrame) -> np.ndarray:
        if self._target is None:
            return moment.world(self._vertices)
        if self._from_rest is None:
            self._rest, self._from_rest = moment.world(self._vertices), self._inverse(moment)
        return transform(self._matrix(moment) @ self._from_rest, self._rest)

    def _stiffness_at(self, moment: EvaluatedFrame) -> float:
        return clean(self._strength(moment))

    def _strength(self, moment: EvaluatedFrame) -> float:
        return moment.obj.sinew.springs[self._index].strength

    def _matrix(self, moment: EvaluatedFrame) -> np.ndarray:
        target = self._target.evaluated_get(moment.context.evaluated_depsgraph_get())
        return object_to_world(target, moment.context.scene)

    def _inverse(self, moment: EvaluatedFrame) -> np.ndarray:
        try:
            return np.linalg.inv(self._matrix(moment))
        except np.linalg.LinAlgError as error:
            flat = f"pulls to “{self._target.name}”, which has a scale of zero at frame {moment.frame}"
            raise self._refusal(flat, "Give it a scale other than zero on every axis.") from error

    def spring(self) -> Spring:
        """Return the spring as sampled."""
        return Spring(self._name, self._vertices, self._weights, *(track.samples() for track in self.tracks))


class KeyedSpringSampler(SpringSampler):
    """Sampler of a spring from a take (a recorded live session).

    Only F-curves animate the spring's target and strength, so the sampler does not change the scene's frame.
    """

    def __init__(self, obj: Any, position: StackPosition, mesh: Any, context: Any, index: int) -> None:
        super().__init__(obj, position, mesh, context, index)
        self._strengths = curves_at(obj, f"sinew.springs[{index}].strength")[0]
        self._location = curves_at(self._target, "location")

    def _strength(self, moment: EvaluatedFrame) -> float:
        return self._strengths.evaluate(_time(moment))

    def _matrix(self, moment: EvaluatedFrame) -> np.ndarray:
        matrix = np.eye(4)
        for curve in self._location:
            matrix[curve.array_index, 3] = curve.evaluate(_time(moment))
        return scaled(matrix, moment.context.scene)


def _time(moment: EvaluatedFrame) -> float:
    return float(key_times(moment.context.scene, moment.frame))


def keyed_springs(obj: Any, context: Any, names: Collection[str], frames: tuple[int, int]) -> list[Spring]:
    """Return springs of takes (recorded live sessions), sampled at frames.

    The samples equal the samples in a job of the object, except at subframes: targets move linearly between frames.
    Raises SpringError if a spring is incomplete.

    ``names``: names of the springs. Takes must have made these springs.
    ``frames``: first and last frame, both included.
    """
    (first, last), position = frames, stack_position(obj)
    own = [k for k, spring in enumerate(obj.sinew.springs) if spring.name in names]
    if not own:
        return []
    with (
        cut_after(obj, position),
        at_frame(context.scene, first),
        mesh_at_position(obj, position, context) as (mesh, evaluated),
    ):
        begin = EvaluatedFrame(obj, first, context, mesh, object_to_world(evaluated, context.scene))
        samplers = [KeyedSpringSampler(obj, position, mesh, context, k) for k in own]
        tracks = [track for sampler in samplers for track in sampler.tracks]
        for track in tracks:
            track.take(begin)
    for frame in range(first + 1, last + 1):
        for track in tracks:
            track.take(replace(begin, frame=frame))
    return [sampler.spring() for sampler in samplers]
