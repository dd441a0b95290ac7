"""Batch reading: the scene is evaluated only once for several bodies that wait for their bakes.

A body that depends on another body's result is read after that body's bake. Blender's user map gives the dependencies.
A job that was read early is kept until its bake begins, and discarded if one of its data-blocks is edited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakSet

import bpy

from ...core.foundation.errors import SinewError
from ...core.jobs.job.job import Job
from ..properties.field_weights import has_field
from ..scene_import import job_in
from ..window import visibility
from ..window.stepwise import Steps

FAR_REACHING = {"COLLISION", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM"}
"""Types of modifiers by which an object acts on objects that have no reference to it."""

_all: WeakSet[BatchRead] = WeakSet()


class _Kept(NamedTuple):
    """Job of a waiting body, read together with another body.

    ``sources``: ``session_uid`` of the data-blocks from which the job was read.
    ``settings``: values of :func:`_settings` at the reading.
    """

    job: Job
    sources: set[int]
    settings: tuple[Any, ...]

    def is_of(self, obj: Any, scene: Any) -> bool:
        """Return True if the job is still valid for ``obj``.

        The body must depend on the same data-blocks and have the same settings. :meth:`BatchRead.forget` handles edits
        of the data-blocks.
        """
        uses_the_same = self.sources == sources_of([obj], scene)[obj.session_uid]
        return uses_the_same and self.settings == _settings(obj, scene)


class Dependencies(NamedTuple):
    """Dependencies between the data-blocks of a file.

    Attributes
    ----------
    used : data-blocks that each data-block refers to
    far : objects that act on others without a reference: force fields, rigid bodies, and :data:`FAR_REACHING` modifiers
    """

    used: dict[Any, set[Any]]
    far: set[Any]


class BatchRead:
    """Reader of several bodies that reads each body once.

    ``frames`` (first, last), ``solver``: values that replace the settings of all bodies, unless None.
    """

    def __init__(self, bodies: Sequence[Any], frames: tuple[int, int] | None = None, solver: str | None = None) -> None:
        self._waiting = [obj.session_uid for obj in bodies]
        self._asked = frames, solver
        self._kept: dict[int, _Kept] = {}
        _all.add(self)

    def job_steps(self, obj: Any, context: Any) -> Steps[Job]:
        """Read the job of a body, by a generator.

        The generator yields the fraction done, 0 to 1. A valid job that was read together with an earlier body is
        returned at once. Otherwise the scene is read for this body and other waiting bodies together.
        """
        if obj.session_uid in self._waiting:
            self._waiting.remove(obj.session_uid)
        kept = self._kept.pop(obj.session_uid, None)
        if kept is not None and kept.is_of(obj, context.scene):
            return kept.job
        sources, beside = self._beside(obj, context)
        job = yield from job_in.job_steps(obj, context, *self._asked, beside=beside)
        context.view_layer.update()  # reports the reading's temporary overrides now: they are not edits
        names = [body.name for body in job.bodies]
        for other in (each for each in beside if each.name in names):
            alone, uid = job.alone(names.index(other.name)), other.session_uid
            self._kept[uid] = _Kept(alone, sources[uid], _settings(other, context.scene))
        return job.alone(0)

    def _beside(self, obj: Any, context: Any) -> tuple[dict[int, set[int]], list[Any]]:
        """Return the data-blocks of each body, and the waiting bodies that can be read together with ``obj``."""
        waiting = [each for each in map(visibility.object_of, self._waiting) if each is not None]
        sources, to_come = sources_of((obj, *waiting), context.scene), {obj.session_uid, *self._waiting}
        hangs = {uid for uid, found in sources.items() if found & to_come != {uid}}
        free = [o for o in waiting if o.session_uid not in hangs | sources[obj.session_uid] | self._kept.keys()]
        return sources, [each for each in free if _fit(obj, each, context, self._asked[0])]

    def forget(self, edited: set[int]) -> None:
        """Discard the jobs of waiting bodies that depend on an edited data-block.

        ``edited``: ``session_uid`` of the edited data-blocks.
        """
        self._kept = {uid: kept for uid, kept in self._kept.items() if not kept.sources & edited}


def sources_of(bodies: Iterable[Any], scene: Any) -> dict[int, set[int]]:
    """Return the data-blocks that each body depends on, as sets of ``session_uid`` by the body's ``session_uid``.

    Indirect dependencies, the scene, and objects that act without a reference, such as force fields, are included.
    """
    used, far = uses()
    return {obj.session_uid: {b.session_uid for b in (scene, *_reached({obj, *far}, used))} for obj in bodies}


def used_by(obj: Any, present: Dependencies) -> set[Any]:
    """Return the data-blocks that a body depends on, directly or indirectly, including the body.

    The reference ``bake.separation_object`` is ignored: the last bake has stored which object to move out of an
    overlap.

    ``present``: dependencies in the file.
    """
    used, far = present
    own = {obj: used[obj] - {obj.sinew.bake.separation_object}} if obj in used else {}
    return _reached({obj, *far}, {**used, **own})


def uses(without: Collection[Any] = frozenset()) -> Dependencies:
    """Return the dependencies between the data-blocks of the file. Can be slow in a large file.

    ``without``: data-blocks whose dependencies are left out.
    """
    used: dict[Any, set[Any]] = defaultdict(set)
    for block, users in bpy.data.user_map().items():
        for user in users if block not in without else ():
            used[user].add(block)
    return Dependencies(used, {obj for obj in bpy.data.objects if _acts_from_afar(obj) and obj not in without})


def _reached(blocks: set[Any], used: dict[Any, set[Any]]) -> set[Any]:
    found, new = set(blocks), blocks
    while new:
        new = set().union(*(used[block] for block in new if block in used)) - found
        found |= new
    return found


def _acts_from_afar(obj: Any) -> bool:
    return has_field(obj) or obj.rigid_body is not None or any(m.type in FAR_REACHING for m in obj.modifiers)


def _fit(obj: Any, other: Any, context: Any, frames: tuple[int, int] | None) -> bool:
    try:
        return job_in.terms(obj, context, frames) == job_in.terms(other, context, frames)
    except SinewError:  # reported when that body itself is read
        return False


def _settings(obj: Any, scene: Any) -> tuple[Any, ...]:
    """Return settings whose edits Blender does not report in depsgraph updates."""
    render, units = scene.render, scene.unit_settings
    clock = scene.frame_start, scene.frame_end, render.fps, render.fps_base, render.frame_map_old, render.frame_map_new
    world = *scene.gravity, scene.use_gravity, units.system, units.scale_length, scene.sinew.length_factor
    return *clock, *world, _values(obj.sinew)


def _values(group: Any) -> tuple[Any, ...]:
    properties = (prop for prop in group.bl_rna.properties if prop.identifier != "rna_type")
    return tuple(_value(getattr(group, prop.identifier), prop) for prop in properties)


def _value(value: Any, prop: Any) -> Any:
    if prop.type == "COLLECTION":
        return tuple(map(_values, value))
    if isinstance(value, bpy.types.PropertyGroup):
        return _values(value)
    if isinstance(value, bpy.types.ID):
        return value.session_uid
    return tuple(value) if getattr(prop, "is_array", False) else value


@bpy.app.handlers.persistent
def after_update(_scene: Any, depsgraph: Any) -> None:
    """Handle ``depsgraph_update_post``: discard the jobs of waiting bodies that depend on an edited data-block."""
    if depsgraph.mode == "VIEWPORT" and len(_all):
        edited = {update.id.original.session_uid for update in depsgraph.updates if _is_edit(update)}
        for together in _all:
            together.forget(edited)


def _is_edit(update: Any) -> bool:
    """Return True if a depsgraph update is an edit.

    When objects are added or removed, Blender also reports objects, collections and the scene that were not edited.
    """
    if isinstance(update.id, (bpy.types.Object, bpy.types.Scene)):
        return update.is_updated_transform or update.is_updated_geometry
    return not isinstance(update.id, bpy.types.Collection)


HANDLERS = (("depsgraph_update_post", after_update),)
