"""Compilation of the Numba kernels in the background, so that the first bake does not wait for the kernels.

A child process of the lowest priority compiles while no task runs, soon after the extension is enabled. The child
process can be ended at any time. Kernels compiled until then are kept.
"""

from __future__ import annotations

import time
from pathlib import Path

import bpy

from ...core.foundation.errors import SinewError
from ..blend_data.names import PACKAGE
from ..window import redraw
from .process import Child, Order
from .state_machine import Stage, State, transition

DELAY = 3.0
"""Seconds from Blender's start, or from the end of a bake, to the start of the compiling child process."""
LOOK = 0.5
"""Seconds between two polls of the child process's events."""

_child: Child | None = None
_state = State(Stage.RUNNING)
_is_done = False
_reached = 0.0
"""Largest fraction of compiled kernels that background compilation has reported so far, 0 to 1. The displayed progress
is never below this fraction.
"""


def share(shown: State) -> float:
    """Return the completed fraction of the current phase of a task, 0 to 1.

    While kernels are compiled, the result is at least the fraction that compilation in the background has reached. So
    the progress bar never moves back.

    ``shown``: state of the task.
    """
    return max(shown.factor, _reached) if shown.phase.phase == "compile" else shown.factor


def state() -> State | None:
    """Return the progress of the compilation in the background, or None."""
    return _state if _child is not None and _state.phase.total else None


def begin() -> None:
    """Start the compilation after ``DELAY`` seconds, if Blender has a window and kernels are left to compile."""
    if not bpy.app.background and not _is_done and not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=DELAY, persistent=True)


def _is_wanted() -> bool:
    addon = bpy.context.preferences.addons.get(PACKAGE)
    return addon is not None and addon.preferences is not None and addon.preferences.compile_ahead


def end() -> None:
    """Kill the compiling child process.

    When a task starts, the task's own child process compiles the kernels that the task needs.
    """
    global _child, _state
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    if _child is not None:
        _child.leave(kill=True)
    _child, _state = None, State(Stage.RUNNING)


def look() -> float | None:
    """Start the compiling child process or, if running, process its events (a timer function).

    Returns the seconds until the next call, or None for no further call.
    """
    global _child, _state, _is_done, _reached
    if _child is None:
        if not _is_wanted():
            return None
        try:
            _child = Child(Order(Path(bpy.app.tempdir), "compile"))
        except SinewError:  # reported by the next bake
            return None
        return LOOK
    before = _state.phase
    for event in _child.events():
        if event is None:
            _child.leave()
            _child, _is_done = None, True
            redraw.redraw(views=False)
            return None
        _state = transition(_state, event, time.monotonic())
    _reached = max(_reached, _state.factor)
    if _state.phase != before:
        redraw.redraw(views=False)
    return LOOK


def toggled(preferences: object, context: object) -> None:
    """Start or end the compilation after a change of the preference Compile in Background.

    The function is the ``update`` function of the preference.
    """
    end()
    begin()
