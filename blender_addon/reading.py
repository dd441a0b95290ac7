"""Reading the animation of a scene before something is begun with it: a part at a time, so that Esc is heard.

What takes long goes on in a modal operator, which keeps all other input away meanwhile. The scene is then at the frame
that is read; it is put back at the end, and before anything that would keep or replace it: a file, an undo.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..core.errors import MeshError, SinewError
from . import baking, redrawing
from .stepwise import Steps

AT_ONCE = 0.5
"""Seconds of the processor that are read before Blender draws and listens again; most scenes take less."""
SLICE, LONGEST = 0.2, 2.0
"""Seconds of the clock between two looks for events after that, and the most where drawing takes long."""
READING = 2.0
"""How much longer than it draws Blender reads."""


@dataclass
class Reading:
    """``steps`` read what ``begin`` takes; ``refuse(obj, message)`` keeps why it came to nothing. ``place`` says which
    of several in a row it is.
    """

    object_uid: int
    object_name: str
    steps: Steps[Any]
    begin: Callable[[Any], None]
    refuse: Callable[[Any, str], None]
    place: str = ""
    part: float = 0.0
    is_read: bool = False
    result: Any = None
    left_at: float = field(default_factory=time.monotonic)

    @property
    def label(self) -> str:
        """What is going on, in words."""
        doing = f"Reading Animation {100.0 * self.part:.0f} %"
        return f"{self.place}: {doing}" if self.place else doing


_current: Reading | None = None


def current() -> Reading | None:
    """The one at work, if there is one."""
    return _current


def reading_of(object_uid: int) -> Reading | None:
    """The one at work for that object, if there is one."""
    return _current if _current is not None and _current.object_uid == object_uid else None


def start(reading: Reading) -> None:
    """Read what takes no time, and begin; else a modal operator goes on. Errors until then are raised; RuntimeError
    when another is at work.
    """
    global _current
    if _current is not None:
        raise RuntimeError(f"The animation is read for “{_current.object_name}” already.")
    began = time.thread_time()  # not of the clock: nothing becomes modal since the machine was busy
    has_events = not bpy.app.background and bpy.context.window is not None
    if _read(reading, lambda: has_events and time.thread_time() - began > AT_ONCE):
        _begin(reading)
        return
    _current, reading.left_at = reading, time.monotonic()
    bpy.ops.sinew.read_animation("INVOKE_DEFAULT")


def go_on() -> None:
    """Read for a moment, or begin when all is read; what it came to nothing for is raised when it was told.

    Between both Blender listens once more: an Esc that was pressed during the last moment is for the reading, and not
    for what it is read for.
    """
    global _current
    reading, began, is_left = _current, time.monotonic(), False
    lasts = min(LONGEST, max(SLICE, READING * (began - reading.left_at)))
    try:
        if reading.is_read:
            _begin(reading)
        else:
            _read(reading, lambda: time.monotonic() - began > lasts)
            is_left = True
    except (SinewError, RuntimeError) as error:
        _refuse(reading, str(error))
        raise
    finally:
        reading.left_at = time.monotonic()
        if not is_left:
            _current = None
    redrawing.redraw()


def _read(reading: Reading, is_enough: Callable[[], bool]) -> bool:
    """Take steps until it is enough, or all: whether it was all."""
    try:
        while True:
            reading.part = next(reading.steps)
            if is_enough():
                return False
    except StopIteration as end:
        reading.is_read, reading.result = True, end.value
    except ReferenceError as error:
        raise _deleted() from error
    return True


def _begin(reading: Reading) -> None:
    try:
        reading.begin(reading.result)
    except ReferenceError as error:
        raise _deleted() from error


def _deleted() -> MeshError:
    return MeshError("Something was deleted while the animation was read.", "Begin again.")


def stop(message: str = "") -> None:
    """Read no more: the scene is as it was before. ``message`` says why, where the artist did not ask for it."""
    global _current
    reading, _current = _current, None
    if reading is not None:
        reading.steps.close()
        if message:
            _refuse(reading, message)
        redrawing.redraw()


def _refuse(reading: Reading, message: str) -> None:
    obj = baking.object_of(reading.object_uid)
    if obj is not None:
        reading.refuse(obj, message)


@bpy.app.handlers.persistent
def stop_before(*_: Any) -> None:
    """What keeps or replaces the scene is about to happen, in another window or by a script."""
    stop("The animation was not read to its end, since the file was saved or something was undone. Begin again.")


HANDLERS = ("save_pre", "load_pre", "undo_pre", "redo_pre")


def register() -> None:
    """Called once, with the extension."""
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).append(stop_before)


def unregister() -> None:
    """The reverse; nothing is read any more."""
    stop()
    for name in HANDLERS:
        getattr(bpy.app.handlers, name).remove(stop_before)
