"""Operators of live mode, except the operator that drags the body (``live_grab.py``)."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blender_addon.bake import baking
from ..blender_addon.live import live, live_recording
from ..blender_addon.live.live_state import Stepped
from ..blender_addon.objects import duplicate_result
from ..blender_addon.scene_export.take_to_springs import names_of_take
from ..blender_addon.setup import defaults
from ..blender_addon.translations.translate import translated
from ..core.foundation.errors import SinewError
from ..core.foundation.events import StopRecording
from . import polls
from .operator_class import BY_ESC, operator


def _can_play(context: Any) -> None:
    session = live.session_of(duplicate_result.body_of(context))
    if session is None or not session.state.ready:
        polls.can_play(context)


def _play_by_key(self: Any, context: Any, event: Any) -> set[str]:
    is_playing = live.session_of(duplicate_result.body_of(context)) is not None
    return self.execute(context) if is_playing or not self.by_key else {"PASS_THROUGH"}


@operator(
    "Play",
    _can_play,
    invoke=_play_by_key,
    by_key=BoolProperty(
        name="By Key",
        description="The key P was pressed; it pauses and continues live mode, but does not start live mode",
        options={"HIDDEN", "SKIP_SAVE"},
    ),
)
def live_play(self: Any, context: Any, obj: Any) -> None:
    """Simulate the body live in the viewport: drag it with the mouse; with Ctrl the dragged vertex stays pinned. Esc
    ends live mode and restores the scene.
    """
    if live.session_of(obj) is not None:
        live.toggle()
    else:
        defaults.refit_stiffness(obj, context)
        live.begin(obj)


@operator("Record", polls.can_record)
def live_record(self: Any, context: Any, obj: Any) -> None:
    """Restart at the first frame and record up to the last frame, or until you press Record again. Then mouse grabs
    become springs of the object, and the recorded frames become its bake. Springs of an earlier recording are replaced,
    unless you have renamed them.
    """
    session = live.current()
    if session.state.recording:
        session.work.note(StopRecording())
    else:
        live.record()


def _can_reset(context: Any) -> None:
    polls.disable_if(polls.is_live(context).state.recording, "Live mode is recording: stop the recording first (Esc)")


@operator("Reset", _can_reset)
def live_reset(self: Any, context: Any, obj: Any) -> None:
    """Restart live mode at the first frame without velocity and without grabs. Edits take effect, and modes are
    recomputed if necessary.
    """
    live.reset()


@operator("Step", polls.is_live)
def live_step(self: Any, context: Any, obj: Any) -> None:
    """Simulate one frame, and pause."""
    live.current().work.note(Stepped())


def _can_stop(context: Any) -> None:
    polls.disable_if(live.current() is None, polls.NOT_LIVE)
    polls.not_rendering()


@operator("Stop", _can_stop, **BY_ESC)
def live_stop(self: Any, context: Any, obj: Any) -> None:
    """End live mode and restore the scene. Frames recorded so far are kept."""
    live.leave_off()


# Failures are reported as warnings: an error report raises in the timer that calls this, and is never seen.
@operator(
    "Record Live",
    options={"UNDO", "INTERNAL"},
    object_name=StringProperty(
        name="Object", description="Name of the body that was recorded", options={"HIDDEN", "SKIP_SAVE"}
    ),
)
def apply_take(self: Any, context: Any, obj: Any) -> None:
    """Apply a live recording to the scene, as springs and a bake. One undo reverts it."""
    obj = bpy.data.objects[self.object_name]
    try:
        count = live_recording.put(obj, context, live_recording.waiting())
    except SinewError as error:
        obj.sinew.live.message = str(error)
        baking.note_error(obj, error)
        self.report({"WARNING"}, str(error))
        return
    grabs = translated("its mouse grabs are springs now") if names_of_take(obj) else translated("nothing was grabbed")
    self.report(
        {"INFO"},
        translated(
            "Sinew: {count} recorded frames of “{name}” are baked; {grabs}", count=count, name=obj.name, grabs=grabs
        ),
    )
