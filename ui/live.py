"""Live: playing with a body in the viewport, and what the status bar says meanwhile."""

from typing import Any

from ..blender_addon import choices, live, reading, sources
from .bake import draw_reading
from .places import Subject, draw_reasons, panels, properties_layout, wrapped
from .solver import draw_points


class Live(Subject):
    bl_label = "Live"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and _can_be_played_with(sources.body_of(context))

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        settings = obj.sinew.live
        session = live.session_of(obj)
        read = None if session is None else reading.reading_of(obj.session_uid)
        if read is not None:
            draw_reading(self.layout, read)
        elif session is not None and not session.state.ready:
            _draw_preparing(self.layout, session, context)
        else:
            _draw_buttons(self.layout, session, context)
        layout = properties_layout(self)
        column = layout.column()
        column.prop(settings, "rate")
        column.prop(settings, "strength")
        column = layout.column()
        column.prop(settings, "preview")
        column = column.column()
        column.active = settings.preview == "CARD"
        column.prop(settings, "show")
        if settings.show == "WEIGHTS":
            column.prop(settings, "mode")
        if names := live.not_drawn(obj):
            wrapped(self.layout, f"Not drawn while live: {', '.join(names)}", context, "MODIFIER")
        if settings.message:
            wrapped(self.layout, settings.message, context, "INFO")
        draw_points(self.layout, obj.sinew.bake, context)
        if session is not None and session.state.ready:
            _draw_state(self.layout, session, context)


class Unplayable(Subject):
    """In the place of the other, with another solver; closed, since that is the usual case."""

    bl_label = "Live"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and not _can_be_played_with(sources.body_of(context))

    def draw(self, context: Any) -> None:
        wrapped(self.layout, "Playing in the viewport needs a subspace solver.", context, "INFO")
        self.layout.operator("sinew.live_choose_solver")
        draw_reasons(self.layout, context, "sinew.live_choose_solver")


def _can_be_played_with(obj: Any) -> bool:
    return choices.in_subspace(obj.sinew.solver) or live.session_of(obj) is not None


def _draw_preparing(layout, session, context):
    layout.progress(factor=session.run.factor, text=session.run.label)
    layout.operator("sinew.live_stop", text="Cancel (Esc)", icon="CANCEL")


def _draw_buttons(layout, session, context):
    playing = session is not None and session.state.playing
    row = layout.row(align=True)
    row.scale_y = 1.3
    words = ("Pause", "PAUSE") if playing else ("Play", "PLAY")
    row.operator("sinew.live_play", text=words[0], icon=words[1])
    if session is None:
        draw_reasons(layout, context, "sinew.live_play")
        return
    row.operator("sinew.live_step", text="", icon="FRAME_NEXT")
    row.operator("sinew.live_reset", text="", icon="REW")
    recording = session.state.recording
    row.operator("sinew.live_record", text="", icon="REC", depress=recording)
    row.operator("sinew.live_stop", text="", icon="SNAP_FACE")
    draw_reasons(layout, context, *(f"sinew.live_{verb}" for verb in ("play", "step", "reset", "record", "stop")))


def _draw_state(layout, session, context):
    state = session.state
    box = layout.box().column(align=True)
    box.label(text=f"{state.doing}: Frame {state.frame}" + (f" of {state.last}" if state.recording else ""))
    if state.playing:
        box.label(text=f"{state.rate:.0f} frames/s, {state.effort}, {1e3 * state.seconds:.1f} ms")
    if session.message:
        wrapped(layout, session.message, context, "INFO")
    if session.run.waits_for:
        wrapped(layout, session.run.waits_for, context, "INFO")
    if session.words_of_edits:
        wrapped(layout, session.words_of_edits, context, "ERROR" if state.stale else "INFO")
        layout.operator("sinew.live_reset", icon="REW")


def status_hints(header: Any, context: Any) -> None:
    """At the left of the status bar, while a body is played with."""
    session = live.current()
    if session is None or reading.current() is not None:  # then Esc cancels that, as is told beside
        return
    layout = header.layout
    for text, icon in hints(session.state):
        layout.label(text=text, icon=icon)
    layout.separator()


def hints(state: Any) -> list[tuple[str, str]]:
    """Words and icons of what mouse and keys do now."""
    if not state.ready:
        return [("Cancel", "EVENT_ESC")]
    pause, end = "Pause" if state.playing else "Play", "End Take" if state.recording else "Stop"
    mouse = [("Grab", "MOUSE_LMB_DRAG"), ("Pin", "EVENT_CTRL")]
    return [*mouse, (pause, "EVENT_P"), ("Step", "EVENT_RIGHT_ARROW"), (end, "EVENT_ESC")]


CLASSES = panels(Live, "live") + panels(Unplayable, "unplayable", bl_options={"DEFAULT_CLOSED"})
