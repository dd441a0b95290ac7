"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

import time

import bpy
from sinew.blender_addon.child import running
from sinew.blender_addon.live import live


def drain_until(condition, seconds: float = 300.0) -> None:
    """Call the timer's function until the condition holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert live.current() is not None or running.current() is not None, bpy.data.objects[0].sinew.live.message
        assert time.monotonic() < limit, "live mode did not get there in time"
        running.tick()
        time.sleep(0.002)


def playing(body):
    """A session whose body is shown and moves."""
    session = live.begin(body)
    drain_until(lambda: session.state.frame >= 2)
    return session
