"""Several bakes in one run, one after the other: there is one child at a time.

Objects are kept by ``session_uid``, as in ``job``. What one body is refused for is noted on it, and the next is begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ..core.errors import SinewError
from . import background, baking, reading
from . import job as child
from .linked import is_linked

PAUSE = 1.0
"""Seconds between two looks at whether Edit Mode or a running tool is left."""


Begin = Callable[[Any, str], None]
"""Begins what waits: of an object, and which of how many it is."""


@dataclass
class Queue:
    """What waits: bodies by ``session_uid`` and what begins there; and how many there were at first."""

    waiting: list[tuple[int, Begin]]
    total: int


_queue: Queue | None = None


def bodies_of(scene: Any) -> list[Any]:
    """The bodies of a scene, in the order in which they can be baked."""
    return in_order(own_bodies(scene))


def own_bodies(scene: Any) -> list[Any]:
    """The bodies of a scene but those of other files, which are baked there."""
    enabled = (obj for obj in scene.objects if obj.type == "MESH" and obj.sinew.enabled)
    return [obj for obj in enabled if not is_linked(obj)]


def in_order(bodies: Iterable[Any]) -> list[Any]:
    """Bodies that others run into, or hang on, come before those; else, and around a circle, the order stays."""
    left, ordered = list(bodies), []
    while left:
        free = (obj for obj in left if not any(other in left for other in _met_by(obj)))
        ordered.append(next(free, left[0]))
        left.remove(ordered[-1])
    return ordered


def _met_by(obj: Any) -> list[Any]:
    """The other objects whose shape a body goes by: its colliders, and the one that it is parented to a vertex of."""
    collection = obj.sinew.collisions.collection
    met = list(collection.all_objects) if collection is not None else []
    met += [obj.parent] if obj.parent_type in ("VERTEX", "VERTEX_3") else []
    return [other for other in met if other is not None and other != obj]


def unfinished(bodies: Iterable[Any]) -> list[Any]:
    """Bodies whose bake is not complete, or not what the result shows."""
    return [obj for obj in bodies if obj.sinew.bake.status != "DONE" or baking.astray_words(obj)]


def start(bodies: Sequence[Any]) -> None:
    """Bake the bodies in a child, one after the other; RuntimeError when one is at work already."""
    start_steps([(obj, begin_bake) for obj in bodies])


def start_steps(steps: Sequence[tuple[Any, Begin]]) -> None:
    """Begin what is to be done with each object when the step before has ended; RuntimeError as :func:`start`."""
    global _queue
    if child.current() is not None or _queue is not None:
        raise RuntimeError("A body is at work already.")
    _queue = Queue([(obj.session_uid, begin) for obj, begin in steps], len(steps))
    advance()
    if not bpy.app.timers.is_registered(advance):
        bpy.app.timers.register(advance, first_interval=child.INTERVAL)


def is_at_work() -> bool:
    """Whether bodies wait for their bake."""
    return _queue is not None


def place_of(obj: Any) -> int:
    """How many bakes come before that of ``obj``, which waits; 0: it does not wait."""
    uids = [uid for uid, _ in _queue.waiting] if _queue is not None else []
    return 1 + uids.index(obj.session_uid) if obj.session_uid in uids else 0


def clear() -> None:
    """Begin none of those that wait; the one at work goes on."""
    global _queue
    _queue = None


def advance() -> float | None:
    """A timer's function: begin the next bake when the last has ended; seconds until the next call, None at the end."""
    global _queue
    while _queue is not None and child.current() is None and reading.current() is None:
        if not _queue.waiting:
            _queue = None
            break
        uid, begin = _queue.waiting[0]
        obj = baking.object_of(uid)
        if obj is not None and background.in_the_way(obj):
            return PAUSE
        place = f"{_queue.total - len(_queue.waiting) + 1} of {_queue.total}"
        del _queue.waiting[0]
        if obj is not None:
            with baking.where_it_is_shown(obj):
                begin(obj, place)
    return child.INTERVAL if _queue is not None else None


def begin_bake(obj: Any, place: str, until: int | None = None) -> None:
    """Bake a body or go on with it, up to frame ``until``; what it is refused for is noted."""
    try:
        background.begin(obj, bpy.context, "", until, place)
    except (SinewError, RuntimeError) as error:
        baking.note_error(obj, error)


def run_here(bodies: Iterable[Any], context: Any) -> list[str]:
    """Bake the bodies in this process, for want of a window; what was refused, in words."""
    refused = []
    for obj in bodies:
        try:
            background.begin(obj, context, "")
        except SinewError as error:
            baking.note_error(obj, error)
            refused.append(f"“{obj.name}”: {error}")
    return refused
