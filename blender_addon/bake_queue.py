"""Several bodies in one run, one after the other: there is one child at a time.

Objects are kept by ``session_uid``, as in ``job``. What one body is refused for is noted on it, and the next is begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ..core.errors import SinewError
from . import background, baking
from . import job as child

PAUSE = 1.0
"""Seconds between two looks at whether Edit Mode or a running tool is left."""


@dataclass
class Queue:
    """Bodies that wait for their bake, by ``session_uid``, and how many there were at first."""

    waiting: list[int]
    total: int


_queue: Queue | None = None


def bodies_of(scene: Any) -> list[Any]:
    """The bodies of a scene, in the order in which they can be baked."""
    return in_order([obj for obj in scene.objects if obj.type == "MESH" and obj.sinew.enabled])


def in_order(bodies: Iterable[Any]) -> list[Any]:
    """Bodies that others run into come before those; else, and around a circle, the order stays."""
    left, ordered = list(bodies), []
    while left:
        free = (obj for obj in left if not any(other in left for other in _met_by(obj)))
        ordered.append(next(free, left[0]))
        left.remove(ordered[-1])
    return ordered


def _met_by(obj: Any) -> list[Any]:
    """The other objects that are colliders of a body."""
    collection = obj.sinew.collisions.collection
    return [other for other in collection.all_objects if other != obj] if collection is not None else []


def unfinished(bodies: Iterable[Any]) -> list[Any]:
    """Bodies whose bake is not complete, or has lost its result."""
    return [obj for obj in bodies if obj.sinew.bake.status != "DONE" or baking.lost_words(obj)]


def start(bodies: Sequence[Any], context: Any) -> None:
    """Bake the bodies in a child, one after the other; RuntimeError when one is at work already."""
    global _queue
    if child.current() is not None or _queue is not None:
        raise RuntimeError("A body is at work already.")
    _queue = Queue([obj.session_uid for obj in bodies], len(bodies))
    advance()
    if not bpy.app.timers.is_registered(advance):
        bpy.app.timers.register(advance, first_interval=child.INTERVAL)


def is_at_work() -> bool:
    """Whether bodies wait for their bake."""
    return _queue is not None


def place_of(obj: Any) -> int:
    """How many bakes come before that of ``obj``, which waits; 0: it does not wait."""
    uids = _queue.waiting if _queue is not None else []
    return 1 + uids.index(obj.session_uid) if obj.session_uid in uids else 0


def clear() -> None:
    """Begin none of those that wait; the one at work goes on."""
    global _queue
    _queue = None


def advance() -> float | None:
    """A timer's function: begin the next bake when the last has ended; seconds until the next call, None at the end."""
    global _queue
    while _queue is not None and child.current() is None:
        if not _queue.waiting:
            _queue = None
            break
        obj = baking.object_of(_queue.waiting[0])
        if obj is not None and background.in_the_way(obj):
            return PAUSE
        place = f"{_queue.total - len(_queue.waiting) + 1} of {_queue.total}"
        del _queue.waiting[0]
        if obj is not None:
            _begin(obj, place)
    return child.INTERVAL if _queue is not None else None


def _begin(obj: Any, place: str) -> None:
    with baking.where_it_is_shown(obj):
        try:
            background.begin(obj, bpy.context, baking.mode_for(obj, bpy.context), place=place)
        except (SinewError, RuntimeError) as error:
            baking.note_error(obj, error)


def run_here(bodies: Iterable[Any], context: Any) -> list[str]:
    """Bake the bodies in this process, for want of a window; what was refused, in words."""
    refused = []
    for obj in bodies:
        try:
            background.begin(obj, context, baking.mode_for(obj, context))
        except SinewError as error:
            baking.note_error(obj, error)
            refused.append(f"“{obj.name}”: {error}")
    return refused
