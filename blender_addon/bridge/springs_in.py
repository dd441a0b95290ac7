"""Springs of an object -> :class:`Spring`, sampled frame by frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import SpringError
from ...core.simulation.surroundings import Spring
from ..mirror import clean
from .animation_in import Moment, Moved, Samples, at_frame, key_times
from .fields_in import group_shares
from .list_animation import curves_at
from .mesh_in import mesh_at_place, object_to_world, scaled, transform
from .stack import Place, cut_after, place_of


def spring_targets(obj: Any) -> list[Any]:
    """The objects that springs pull to."""
    return [s.target for s in obj.sinew.springs if s.end == "OBJECT" and s.target is not None]


def spring_samplers(
    obj: Any, place: Place, mesh: Any, context: Any, without: Collection[str] = ()
) -> list[SpringSampler]:
    """One a spring of the object, but those of the names in ``without``; ``mesh`` is that at the simulated place.
    SpringError names a spring without end or vertices.
    """
    springs = obj.sinew.springs
    own = [k for k, spring in enumerate(springs) if spring.name not in without]
    return [SpringSampler(obj, place, mesh, context, k) for k in own]


class SpringSampler:
    """One spring: its strength at each frame, and where its vertices are pulled to."""

    def __init__(self, obj: Any, place: Place, mesh: Any, context: Any, index: int) -> None:
        settings = obj.sinew.springs[index]
        self._object, self._place, self._index = obj, place, index
        self._name = settings.name
        self._target = settings.target if settings.end == "OBJECT" else None
        if settings.end == "OBJECT":
            self._check_target(context)
        if settings.vertex_group not in obj.vertex_groups:
            gone = f"pulls the vertex group “{settings.vertex_group}”, which is not there any more"
            raise SpringError(
                f"The spring “{self._name}” {gone if settings.vertex_group else 'has no vertex group to pull'}.",
                "Choose its vertex group under Springs, or remove it.",
            )
        self._vertices, self._weights = group_shares(obj, mesh, settings.vertex_group)
        if len(self._vertices) == 0:
            raise SpringError(
                f"The vertex group “{settings.vertex_group}” of the spring “{self._name}” is empty.",
                "Assign vertices to it, or remove the spring.",
            )
        self._targets = Samples()
        self._stiffness: list[float] = []
        self._rest, self._from_rest = np.empty((0, 3)), np.eye(4)

    def _check_target(self, context: Any) -> None:
        target = self._target
        if target is None:
            raise SpringError(
                f"The spring “{self._name}” has no object to pull to.",
                "Choose one under Springs, or set Pull To to Own Animation.",
            )
        # A deleted object stays in the file as long as the spring names it.
        if target.name not in context.scene.objects:
            raise SpringError(
                f"The spring “{self._name}” pulls to “{target.name}”, which was deleted or is in no scene.",
                "Choose another object under Springs, or remove the spring.",
            )
        if target.name not in context.view_layer.objects:
            raise SpringError(
                f"The object “{target.name}” of the spring “{self._name}” is not part of the view layer.",
                "Enable its collection in the Outliner.",
            )

    def take(self, moment: Moment) -> None:
        """One frame."""
        self._stiffness.append(clean(self._strength(moment)))
        if self._target is not None and not self._targets.at_frames:
            self._rest = moment.world(self._vertices)
            self._from_rest = self._inverse(self._matrix(moment), moment.frame)
        self._targets.at_frames.append(self._pulled_to(moment))

    def follows(self, moved: Moved) -> bool:
        """Whether its target moves."""
        if self._target is None:
            return moved.carries(self._object, self._place)
        return self._target.session_uid in moved.places

    def take_between(self, moment: Moment) -> None:
        """One moment between frames."""
        self._targets.between.append(self._pulled_to(moment))

    def _pulled_to(self, moment: Moment) -> np.ndarray:
        if self._target is None:
            return moment.world(self._vertices)
        return transform(self._matrix(moment) @ self._from_rest, self._rest)

    def _strength(self, moment: Moment) -> float:
        return self._object.sinew.springs[self._index].strength

    def _matrix(self, moment: Moment) -> np.ndarray:
        target = self._target.evaluated_get(moment.context.evaluated_depsgraph_get())
        return object_to_world(target, moment.context.scene)

    def _inverse(self, matrix: np.ndarray, frame: float) -> np.ndarray:
        try:
            return np.linalg.inv(matrix)
        except np.linalg.LinAlgError as error:
            raise SpringError(
                f"The object “{self._target.name}” of the spring “{self._name}” has no size at frame {frame}.",
                "Give it a scale other than zero on every axis.",
            ) from error

    def spring(self) -> Spring:
        """What was gathered."""
        return Spring(self._name, self._vertices, self._weights, self._targets.track(), np.array(self._stiffness))


class KeyedSpringSampler(SpringSampler):
    """A spring of a take: nothing but keys of their own moves its target and its strength, so no scene has to come to a
    frame for them.
    """

    def __init__(self, obj: Any, place: Place, mesh: Any, context: Any, index: int) -> None:
        super().__init__(obj, place, mesh, context, index)
        self._strengths = curves_at(obj, f"sinew.springs[{index}].strength")[0]
        self._location = curves_at(self._target, "location")

    def _strength(self, moment: Moment) -> float:
        return self._strengths.evaluate(_time(moment))

    def _matrix(self, moment: Moment) -> np.ndarray:
        matrix = np.eye(4)
        for curve in self._location:
            matrix[curve.array_index, 3] = curve.evaluate(_time(moment))
        return scaled(matrix, moment.context.scene)


def _time(moment: Moment) -> float:
    return float(key_times(moment.context.scene, moment.frame))


def keyed_springs(obj: Any, context: Any, names: Collection[str], frames: tuple[int, int]) -> list[Spring]:
    """Springs of a take over a range of frames, both included, as the object's job has them: between frames their
    targets go straight. SpringError where one lacks something.
    """
    (first, last), place = frames, place_of(obj)
    own = [k for k, spring in enumerate(obj.sinew.springs) if spring.name in names]
    if not own:
        return []
    with cut_after(obj, place), at_frame(context.scene, first), mesh_at_place(obj, place, context) as (mesh, evaluated):
        begin = Moment(first, context, mesh, object_to_world(evaluated, context.scene))
        samplers = [KeyedSpringSampler(obj, place, mesh, context, k) for k in own]
        for sampler in samplers:
            sampler.take(begin)
    for frame in range(first + 1, last + 1):
        for sampler in samplers:
            sampler.take(replace(begin, frame=frame))
    return [sampler.spring() for sampler in samplers]
