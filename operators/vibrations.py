"""Operators that compute a body's slowest vibrations, and play them in the viewport."""

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
    polls.disable_if(
        not choices.has_vibrations(obj.sinew), "Enable a Match setting or Control Vibrations first (Solver)"
    )


@operator("Find Vibrations", _can_find)
def find_vibrations(self: Any, context: Any, obj: Any) -> None:
    """Compute the slowest vibrations of the body in the background, without baking. Later bakes and live mode reuse the
    result.
    """
    background.begin(obj, "vibrations")


def _can_play(context: Any) -> None:
    obj = polls.body(context)
    polls.disable_if(bpy.app.background, "Vibrations need a window, but Blender runs in the background")
    polls.disable_if(not obj.sinew.bake.vibrations, "Press Find Vibrations first")
    polls.disable_if(obj.mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.disable_if(live.current() is not None, "Live mode is running: stop it first (Esc)")


@operator("Play Vibration", _can_play)
def play_vibration(self: Any, context: Any, obj: Any) -> None:
    """Play the chosen vibration of the body in the 3D Views: white areas are still, red areas move most. Fast
    vibrations are slowed down. The scene is not changed. Esc ends the playback.
    """
    mode_playback.begin(obj)


def _is_playing(_context: Any) -> None:
    polls.disable_if(mode_playback.current() is None, "No vibration is playing")


@operator("Stop", _is_playing, **BY_ESC)
def stop_vibration(self: Any, context: Any, obj: Any) -> None:
    """End the playback of the vibration."""
    mode_playback.stop()
