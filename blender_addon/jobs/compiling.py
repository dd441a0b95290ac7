"""Kernels are compiled beside Blender, from soon after the extension is on, so that the first bake finds them: by a
child of the lowest priority, while nothing else is at work. What it has compiled stays; it can be ended at any moment.
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
"""Seconds after Blender's start, or after a bake."""
LOOK = 0.5
"""Seconds between two looks at what the child has told."""

_child: Child | None = None
_state = State(Stage.RUNNING)
_is_done = False
_reached = 0.0
"""Share of all kernels that has been shown: what was being compiled when a bake began is not counted twice."""


def share(shown: State) -> float:
    """The part of what goes on that is done, 0 to 1; of compiling, never less than was shown before."""
    return max(shown.factor, _reached) if shown.phase.phase == "compile" else shown.factor


def state() -> State | None:
    """How far it is; None while nothing is being compiled so."""
    return _state if _child is not None and _state.phase.total else None


def begin() -> None:
    """Go on soon, in a window, if anything may be left."""
    if not bpy.app.background and not _is_done and not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=DELAY, persistent=True)


def _is_wanted() -> bool:
    addon = bpy.context.preferences.addons.get(PACKAGE)
    return addon is not None and addon.preferences is not None and addon.preferences.compile_ahead


def end() -> None:
    """At once: a bake begins, which compiles first what it needs itself, or the extension is switched off."""
    global _child, _state
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    if _child is not None:
        _child.leave(kill=True)
    _child, _state = None, State(Stage.RUNNING)


def look() -> float | None:
    """A timer's function."""
    global _child, _state, _is_done, _reached
    if _child is None:
        if not _is_wanted():
            return None
        try:
            _child = Child(Order(Path(bpy.app.tempdir), "compile"))
        except SinewError:  # a bake will tell
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
    """An ``update`` of the preference."""
    end()
    begin()
