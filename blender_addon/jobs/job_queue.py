"""Queue of background tasks on bodies: read the scene, run a child process, apply the result.

Bake, Tetrahedralize, Convert Result, Compare and live mode are such tasks. ``state_machine`` defines the states of a
task. One timer, :func:`tick`, polls the child process and begins waiting tasks. If reading the scene takes long, a
modal operator continues the reading. The operator handles Esc and blocks all other input, since the scene is then set
to the frame being read. Objects are identified by ``session_uid``, since an undo or a file load invalidates references
to objects.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from ...core.foundation.errors import MeshError, SinewError
from ..translations.translate import marked, translated
from ..window import redraw, visibility
from ..window.stepwise import at_once
from . import compiling
from .state_machine import HAS_CHILD, READS, AllRead, Begun, Over, Read, Stage, State, Waits
from .task import INTERVAL, Task

PAUSE = 1.0
"""Seconds between two checks whether the user has left Edit Mode or ended a running tool."""
AT_ONCE = 0.5
"""CPU time, s, for which Blender waits while the scene is read. A modal operator continues a longer reading, so that
the user can work meanwhile. Most scenes are read within this time.
"""
SLICE, LONGEST = 0.2, 2.0
"""Minimum and maximum wall time, s, of a slice: a period in which the modal operator reads the scene without pause.
Between two slices, Blender draws and handles events. Slices are longer if Blender draws slowly.
"""
READING = 2.0
"""Duration of a slice, as a multiple of the pause before the slice. In a slice, the scene is read without pause. In the
pause, Blender draws and handles events. The duration is clamped to the range from ``SLICE`` to ``LONGEST``.
"""


_works: list[Task] = []
"""Running and waiting tasks. Two tasks can run in live mode: one simulates in its child process, and the scene is read
for the other.
"""


def current(object_uid: int | None = None) -> Task | None:
    """Return the task whose child process runs or whose result is not applied yet, or None.

    With ``object_uid`` (``session_uid``), only a task on that object is returned.
    """
    return _first(HAS_CHILD, object_uid)


def reading(object_uid: int | None = None) -> Task | None:
    """Return the task for which the scene is being read, or None.

    With ``object_uid`` (``session_uid``), only a task on that object is returned.
    """
    return _first(READS, object_uid)


def _first(stages: set[Stage], object_uid: int | None) -> Task | None:
    work = next((work for work in _works if work.state.stage in stages), None)
    return work if work is not None and object_uid in (None, *work.uids) else None


def waiting() -> list[Task]:
    """Return the tasks that wait for the running task, in starting order."""
    return [work for work in _works if work.state.stage is Stage.WAITING]


def place_of(obj: Any) -> int:
    """Return the position of an object's task in the queue of waiting tasks, from 1.

    The position is 0 if the task does not wait.
    """
    return next((k for k, work in enumerate(waiting(), start=1) if obj.session_uid in work.uids), 0)


def is_idle() -> bool:
    """Return True if no task waits, reads the scene or runs."""
    return not _works


def running_words() -> str:
    """Return the reason why no other task can begin now, or ""."""
    if (work := current()) is not None:
        live, baking = (
            marked("“{name}” is playing live: stop Live first"),
            marked("“{name}” is baking: stop the bake first"),
        )
        return translated(live if work.order.mode == "live" else baking, name=work.object_name)
    if (work := reading()) is not None:
        return translated("The animation of “{name}” is being read: wait, or stop it (Esc)", name=work.object_name)
    return translated("Other bodies wait for their bake: stop it first") if _works else ""


# -- begin -------------------------------------------------------------------------------------------------------------


def begin(*works: Task, beside: bool = False) -> None:
    """Begin tasks that run one after the other.

    In background mode, all tasks are complete when the function returns, if each task has a function ``here``. This
    function runs the task in Blender's own process, since timers never run in background mode.

    Raises SinewError if the scene is being read for another task, or if another task runs or waits. With ``beside``,
    used by live mode, another task may run. Raises SinewError if a single task is refused at once. The function
    ``refuse`` of the task then stores the reason for the panel.
    """
    if (read := reading()) is not None:
        raise SinewError(f"The animation of “{read.object_name}” is being read already.")
    if _works and not beside:
        raise SinewError(f"{running_words()}.")
    if bpy.app.background and all(work.here for work in works):
        _do_here(works)
        return
    for k, work in enumerate(works, start=1):
        parts = [work.title, translated("{number} of {count}", number=k, count=len(works)) if len(works) > 1 else ""]
        work.state = State(title=", ".join(filter(None, parts)))
    _works.extend(works)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=INTERVAL)
    if len(works) == 1:
        _begin(works[0])
    else:
        _advance()


def _do_here(works: Sequence[Task]) -> None:
    """Run all tasks in Blender's own process, and raise one SinewError for the refused tasks."""
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
    """Begin the next waiting task, unless Edit Mode or a running tool prevents reading the scene."""
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
    """Read the scene for a task, then launch the task or continue in a modal operator."""
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
    """Continue to read the scene for one time slice, or launch the task.

    The task is launched one call after the scene was read completely, so that an Esc during the last time slice cancels
    the task before its child process starts. Errors are stored for the panel and raised.
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
    """Begin a task with the result of the reading."""
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
    """Cancel the task for which the scene is being read, and restore the scene.

    ``message``: reason for the panel, or "" if the artist cancelled the task.
    """
    if (work := reading()) is not None:
        _refuse(work, message)


def stop() -> None:
    """Cancel tasks, as Esc does: all waiting tasks, and the task for which the scene is being read.

    If the scene is not being read, the running task is cancelled too. The task's child process stops after the current
    time step, or is killed in a phase that cannot be stopped. :func:`tick` handles the end of the child process.
    """
    was_read = [work for work in _works if work.state.stage in READS]
    for work in [*was_read, *waiting()]:
        _over(work)
    if not was_read and (work := current()) is not None:
        work.stop()


def abandon(keep: Task | None = None) -> None:
    """Kill the child process and remove all tasks except ``keep``.

    Frames on disk remain valid.
    """
    for work in [work for work in _works if work is not keep]:
        work.leave(kill=True)
        _forget(work)


# -- the timer ---------------------------------------------------------------------------------------------------------


def tick() -> float | None:
    """Process the events of the child process and begin waiting tasks (a timer function).

    Returns the seconds until the next call, or None if no task is left.
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
    """Apply the result of a task whose child has ended, and remove the task.

    The task stays if the user must act first.
    """
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
    """Handle ``save_pre``, ``undo_pre`` and ``redo_pre``: cancel the reading of the scene.

    Another window or a script causes these events.
    """
    because = "since the file was saved or something was undone"
    stop_reading(f"The animation was not read completely, {because}. Start again.")


@bpy.app.handlers.persistent
def abandon_before(*_: Any) -> None:
    """Handle ``load_pre``: abandon all tasks. Their frames on disk are kept."""
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
