"""Operators that find the vibrations a body is matched by, and play them in the viewport."""

from typing import Any

import bpy

from ..blender_addon.bake import background
from ..blender_addon.draw_handlers import mode_playback
from ..blender_addon.live import live
from ..blender_addon.properties import choices
from . import polls
from .operator_class import BY_ESC, operator


def _can_find(context: Any) -> None:
    obj = polls.can_begin(context)
    polls.disable_if(not choices.has_vibrations(obj.sinew), "Switch on a match, or Control Vibrations, first (Solver)")


@operator("Find Vibrations", _can_find)
def find_vibrations(self: Any, context: Any, obj: Any) -> None:
    """Prepare the body as a bake does, but do not bake, in the background. A bake, or live mode, continues with the
    result.
    """
    background.begin(obj, "vibrations")


def _can_play(context: Any) -> None:
    obj = polls.body(context)
    polls.disable_if(bpy.app.background, "Vibrations are shown in a window: Blender runs without one")
    polls.disable_if(not obj.sinew.bake.vibrations, "Press Find Vibrations first")
    polls.disable_if(obj.mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.disable_if(live.current() is not None, "A body is being played with: stop it first (Esc)")


@operator("Play Vibration", _can_play)
def play_vibration(self: Any, context: Any, obj: Any) -> None:
    """Show in the 3D Views how the chosen vibration moves the body: white is still, red moves most. Fast ones are
    slowed down. The scene stays as it is. Esc ends it.
    """
    mode_playback.begin(obj)


def _is_playing(_context: Any) -> None:
    polls.disable_if(mode_playback.current() is None, "No vibration is played")


@operator("Stop", _is_playing, **BY_ESC)
def stop_vibration(self: Any, context: Any, obj: Any) -> None:
    """Stop showing the vibration."""
    mode_playback.stop()
