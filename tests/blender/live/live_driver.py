"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

import time

import bpy
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live


def drain_until(condition, seconds: float = 300.0) -> None:
    """Call the timer's function until the condition holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert live.current() is not None or job_queue.current() is not None, bpy.data.objects[0].sinew.live.message
        assert time.monotonic() < limit, "live mode did not get there in time"
        job_queue.tick()
        time.sleep(0.002)


def playing(body):
    """A session whose body is shown and moves."""
    session = live.begin(body)
    drain_until(lambda: session.state.frame >= 2)
    return session
