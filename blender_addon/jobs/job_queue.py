"""Queue of background tasks on bodies: read the scene, run a child process, apply its result. Bake, Tetrahedralize,
Convert Result, Compare and live mode are such tasks.

``state_machine`` defines the states of a task. One timer, :func:`tick`, polls the child and begins waiting tasks. A
long reading continues in a modal operator, which handles Esc and blocks all other input, since the scene is at the
frame being read. Objects are kept by ``session_uid``: an undo or a file load invalidates references to them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from ...core.foundation.errors import MeshError, SinewError
from ..window import redraw, visibility
from ..window.stepwise import at_once
from . import compiling
from .state_machine import HAS_CHILD, READS, AllRead, Begun, Over, Read, Stage, State, Waits
from .task import INTERVAL, Task

PAUSE = 1.0
"""Seconds between two checks whether the user has left Edit Mode or ended a running tool."""
AT_ONCE = 0.5
"""Seconds of CPU time that are read before Blender draws and handles events; enough for most scenes."""
SLICE, LONGEST = 0.2, 2.0
"""Seconds of wall time after which a longer reading lets Blender handle events, and the maximum if drawing is slow."""
READING = 2.0
"""Ratio of reading time to drawing time during a longer reading."""


_works: list[Task] = []
"""Running and waiting tasks. In live mode the scene can be read again while the child runs."""


def current(object_uid: int | None = None) -> Task | None:
    """Return the task whose child runs or whose result is to be applied, if any, and if it includes a given object."""
    return _first(HAS_CHILD, object_uid)


def reading(object_uid: int | None = None) -> Task | None:
    """Return the task that the scene is being read for, or None; ``object_uid`` as in :func:`current`."""
    return _first(READS, object_uid)


def _first(stages: set[Stage], object_uid: int | None) -> Task | None:
    work = next((work for work in _works if work.state.stage in stages), None)
    return work if work is not None and object_uid in (None, *work.uids) else None


def waiting() -> list[Task]:
    """Return the tasks that start when the running one has ended."""
    return [work for work in _works if work.state.stage is Stage.WAITING]


def place_of(obj: Any) -> int:
    """Return the position of an object's task among the waiting ones, from 1; 0 if it does not wait."""
    return next((k for k, work in enumerate(waiting(), start=1) if obj.session_uid in work.uids), 0)


def is_idle() -> bool:
    """Return True if no task is read, runs or waits."""
    return not _works


def running_words() -> str:
    """Return why no other task can begin; "" if one can."""
    if (work := current()) is not None:
        does, noun = ("is playing live", "Live") if work.order.mode == "live" else ("is baking", "the bake")
        return f"“{work.object_name}” {does}: stop {noun} first"
    if (work := reading()) is not None:
        return f"The animation of “{work.object_name}” is being read: wait, or stop it (Esc)"
    return "Other bodies wait for their bake: stop it first" if _works else ""


# -- begin -------------------------------------------------------------------------------------------------------------


def begin(*works: Task, beside: bool = False) -> None:
    """Begin tasks, which run one after the other. Raise SinewError if another task runs, or if a single task is refused
    at once; errors are also stored by ``Task.refuse``. With ``beside``, the scene may be read while a child runs.

    Timers never run in background mode: there, tasks with ``here`` are complete when this returns.
    """
    if (read := reading()) is not None:
        raise SinewError(f"The animation of “{read.object_name}” is being read already.")
    if _works and not beside:
        raise SinewError(f"{running_words()}.")
    if bpy.app.background and all(work.here for work in works):
        _do_here(works)
        return
    for k, work in enumerate(works, start=1):
        parts = [work.title, f"{k} of {len(works)}" if len(works) > 1 else ""]
        work.state = State(title=", ".join(filter(None, parts)))
    _works.extend(works)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=INTERVAL)
    if len(works) == 1:
        _begin(works[0])
    else:
        _advance()


def _do_here(works: Sequence[Task]) -> None:
    """Run tasks in this process, since background mode has no timers. Raise one SinewError for all refused tasks."""
    refused = []
    for work in works:
        obj = visibility.object_of(work.object_uid)
        try:
            if follows := work.here(work, obj, at_once(work.read(obj))):
                begin(*follows)
        except SinewError as error:
            work.refuse(obj, str(error))
            if len(works) == 1:
                raise
            refused.append(f"“{obj.name}”: {error}")
    if refused:
        raise SinewError(" ".join(refused))


def _advance() -> None:
    """Begin the next waiting task if the scene can be read."""
    while _works and _works[0].state.stage is Stage.WAITING:
        work = _works[0]
        bodies = [visibility.object_of(uid) for uid in work.uids]
        if bodies[0] is None:
            _refuse(work, "A body that was to be baked with this one was deleted. Start again.")
        elif any(visibility.in_the_way(obj) for obj in bodies if obj is not None):
            return
        else:
            with suppress(SinewError):  # already reported
                _begin(work)


def _begin(work: Task) -> None:
    """Read the scene for a short time, and launch the task if all is read; else continue in a modal operator."""
    obj = visibility.object_of(work.object_uid)
    work.note(Begun())
    with _ending_when_refused(work), visibility.where_it_is_shown(obj):
        work.steps = work.read(obj)
        began = time.thread_time()  # CPU time, so that a busy machine makes no reading modal
        has_events = not bpy.app.background and bpy.context.window is not None
        _read_on(work, lambda: has_events and time.thread_time() - began > AT_ONCE)
        if work.state.stage is Stage.READ:
            _launch(work)
            return
        work.left_at = time.monotonic()
        bpy.ops.sinew.read_animation("INVOKE_DEFAULT")


def go_on() -> None:
    """Continue to read the scene for a moment or, if all is read, launch the task; errors are stored, then raised.

    The launch waits for the next call, so that an Esc pressed during the last reading cancels the reading, and does not
    stop the launched task.
    """
    work, began = reading(), time.monotonic()
    lasts = min(LONGEST, max(SLICE, READING * (began - work.left_at)))
    with _ending_when_refused(work):
        if work.state.stage is Stage.READ:
            _launch(work)
        else:
            _read_on(work, lambda: time.monotonic() - began > lasts)
            work.left_at = time.monotonic()
    redraw.redraw()


def _read_on(work: Task, is_enough: Callable[[], bool]) -> None:
    """Read the scene in steps until ``is_enough`` returns True, or all is read."""
    try:
        while True:
            work.note(Read(next(work.steps)))
            if is_enough():
                return
    except StopIteration as end:
        work.found = end.value
        work.note(AllRead())


def _launch(work: Task) -> None:
    """Begin the task that the scene was read for; ReferenceError if its object was deleted."""
    obj = visibility.object_of(work.object_uid)
    if obj is None:
        raise ReferenceError
    with visibility.where_it_is_shown(obj):
        follows = work.begin(work, obj, work.found)
    if work.child is None:
        _over(work)
        if follows:
            begin(*follows)


@contextmanager
def _ending_when_refused(work: Task) -> Iterator[None]:
    try:
        yield
    except ReferenceError as error:
        deleted = MeshError("An object was deleted while the animation was read.", "Start again.")
        _refuse(work, str(deleted))
        raise deleted from error
    except SinewError as error:
        _refuse(work, str(error))
        raise
    except Exception:
        _over(work)
        raise


def _refuse(work: Task, message: str) -> None:
    _over(work)
    for obj in map(visibility.object_of, work.uids):
        if obj is not None and message:
            work.refuse(obj, message)


# -- end ---------------------------------------------------------------------------------------------------------------


def _over(work: Task) -> None:
    """Remove a task that is complete or cancelled, and redraw."""
    _forget(work)
    redraw.redraw()
    redraw.redraw_status()


def _forget(work: Task) -> None:
    if work.steps is not None:
        work.steps.close()
    work.note(Over())
    if work in _works:
        _works.remove(work)
    if not _works:
        compiling.begin()


def stop_reading(message: str = "") -> None:
    """Cancel the reading and restore the scene. ``message`` is the reason, unless the artist asked for it."""
    if (work := reading()) is not None:
        _refuse(work, message)


def stop() -> None:
    """Cancel tasks, as Esc does: waiting tasks and a reading end at once. Unless the scene was being read, the child
    also stops after its step, or is killed if it cannot respond; :func:`tick` handles its end.
    """
    was_read = [work for work in _works if work.state.stage in READS]
    for work in [*was_read, *waiting()]:
        _over(work)
    if not was_read and (work := current()) is not None:
        work.stop()


def abandon(keep: Task | None = None) -> None:
    """Kill the child and drop all tasks except ``keep``, before quitting or loading another file; frames on disk stay
    valid.
    """
    for work in [work for work in _works if work is not keep]:
        work.leave(kill=True)
        _forget(work)


# -- the timer ---------------------------------------------------------------------------------------------------------


def tick() -> float | None:
    """Process the child's events and begin waiting tasks (a timer function); return the seconds until the next call,
    None if no task is left.
    """
    try:
        if (work := current()) is not None:
            _attend(work)
        _advance()
    except Exception:  # Blender removes a timer that raises, but tasks are left
        if _works:
            bpy.app.timers.register(tick, first_interval=INTERVAL)
        raise
    if not _works:
        return None
    return PAUSE if _works[0].state.stage in (Stage.WAITING, Stage.ENDED) else _works[0].interval


def _attend(work: Task) -> None:
    if work.child is not None:
        work.listen()
    if work.on_tick is None:
        is_new, is_more_than_time = work.news()
        if is_new:
            redraw.redraw(views=is_more_than_time)
            redraw.redraw_status()
    elif work.child is not None:
        work.on_tick()
    if work.state.stage is Stage.ENDED:
        _take(work)


def _take(work: Task) -> None:
    """Apply the child's result to the scene, if possible."""
    try:
        waits_for = work.take(work)
    except Exception:
        _over(work)
        raise
    work.note(Waits(waits_for))
    if not waits_for:
        _over(work)


# -- handlers ----------------------------------------------------------------------------------------------------------


@bpy.app.handlers.persistent
def stop_before(*_: Any) -> None:
    """Cancel the reading before a save, undo or redo by another window or a script (a handler)."""
    because = "since the file was saved or something was undone"
    stop_reading(f"The animation was not read completely, {because}. Start again.")


@bpy.app.handlers.persistent
def abandon_before(*_: Any) -> None:
    """Abandon all tasks before another file is loaded; frames on disk stay (a handler)."""
    abandon()


HANDLERS = (
    ("save_pre", stop_before),
    ("undo_pre", stop_before),
    ("redo_pre", stop_before),
    ("load_pre", abandon_before),
)


def unregister() -> None:
    """Abandon all tasks and remove the timer."""
    abandon()
    while bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
