"""Detection of an Esc event that has just ended a playback. Blender also passes the event to Sinew's key bindings."""

from __future__ import annotations

import math
import time
from typing import Any

import bpy

SAME_EVENT = 0.2
"""Time after the end of a playback, s, in which an Esc event counts as the event that ended the playback."""
_ended_at = -math.inf


def takes_esc(context: Any) -> bool:
    """Return True if the present Esc event ends, or has just ended, a playback."""
    return any(window.screen.is_animation_playing for window in context.window_manager.windows) or has_just_ended()


def has_just_ended() -> bool:
    """Return True if a playback ended less than ``SAME_EVENT`` s ago, probably by the present Esc event."""
    return time.monotonic() - _ended_at < SAME_EVENT


@bpy.app.handlers.persistent
def note_end(*_: Any) -> None:
    """Record the time at which a playback ended (handler)."""
    global _ended_at
    _ended_at = time.monotonic()


HANDLERS = (("animation_playback_post", note_end),)
