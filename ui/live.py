"""Live panel: controls of live mode, and its mouse and key hints in the status bar."""

from typing import Any

from ..blender_addon.jobs import job_queue
from ..blender_addon.live import live
from ..blender_addon.live.live_hints import draw_hints
from ..blender_addon.objects import contact_groups
from ..blender_addon.properties import choices, live_properties
from ..blender_addon.translations.translate import marked, translated
from .bake import draw_reading
from .panel_base import CLOSED, draw_large, draw_properties, draw_reasons, panel, wrapped
from .solver import draw_points


@panel("Live", is_often=True, bl_options=CLOSED)
def draw_live(layout: Any, context: Any, obj: Any) -> None:
    """Draw the buttons, settings and state of live mode."""
    settings, session = obj.sinew.live, live.session_of(obj)
    read = None if session is None else job_queue.reading(obj.session_uid)
    if read is not None:
        draw_reading(layout, read, context)
    elif session is not None and not session.state.ready:
        _draw_preparing(layout, session)
    else:
        _draw_buttons(layout, session, context)
    draw_properties(layout, settings, "solver", "rate", "strength")
    if muscles := [material for material in obj.sinew.materials if material.muscle.enabled]:
        column = layout.column(align=True)
        for material in muscles:
            column.prop(material.muscle, "activation", text=material.name, translate=False, slider=True)
    column = layout.column()
    column.prop(settings, "preview")
    column = column.column()
    column.active = settings.preview == "CARD"
    column.prop(settings, "show")
    kind = choices.solver_kind(choices.live_solver_name(obj.sinew))
    if not kind.takes_modes and settings.show in live_properties.OF_SUBSPACE:
        wrapped(layout, "Modes, clusters and cubature points need a subspace solver.", context, "INFO")
    elif settings.show == "WEIGHTS":
        column.prop(settings, "mode")
    if names := live.not_drawn(obj):
        wrapped(
            layout, translated("Modifiers not shown in live mode: {names}", names=", ".join(names)), context, "MODIFIER"
        )
    if _meets_more_exactly(obj, context):
        wrapped(layout, "In live mode the body can penetrate colliders slightly; in a bake it cannot.", context, "INFO")
    if obj.sinew.ties:
        wrapped(layout, "Ties act in bakes, not in live mode.", context, "INFO")
    wrapped(layout, settings.message, context, "INFO")
    draw_points(layout, obj.sinew.bake, context)
    if session is not None and session.state.ready:
        _draw_state(layout, session, context)


def _meets_more_exactly(obj: Any, context: Any) -> bool:
    """Return True if bakes handle the body's contact more exactly than live mode does."""
    own = obj.sinew.collisions
    has_contact = (
        own.use_ground
        or own.collection is not None
        or own.self_contact
        or len(contact_groups.group_of(obj, context)) > 1
    )
    return has_contact and choices.solver_kind(obj.sinew.solver).supports_contact


def _draw_preparing(layout, session):
    layout.progress(factor=session.state.factor, text=session.state.label)
    layout.operator("sinew.live_stop", text="Cancel (Esc)", icon="CANCEL")


def _draw_buttons(layout, session, context):
    playing = session is not None and session.state.playing
    words, icon = (marked("Pause"), "PAUSE") if playing else (marked("Play"), "PLAY")
    row = draw_large(layout, "sinew.live_play", icon, text=words)
    if session is None:
        draw_reasons(layout, context, "sinew.live_play")
        return
    row.operator("sinew.live_step", text="", icon="FRAME_NEXT")
    row.operator("sinew.live_reset", text="", icon="REW")
    row.operator("sinew.live_record", text="", icon="REC", depress=session.state.recording)
    row.operator("sinew.live_stop", text="", icon="SNAP_FACE")
    draw_reasons(layout, context, *(f"sinew.live_{verb}" for verb in ("play", "step", "reset", "record", "stop")))


def _draw_state(layout, session, context):
    state = session.state
    box = layout.box().column(align=True)
    box.label(text=state.frame_words)
    if state.playing:
        box.label(
            text=translated(
                "{rate:.0f} frames/s, {effort}, {milliseconds:.1f} ms per frame",
                rate=state.rate,
                effort=state.effort,
                milliseconds=1000.0 * state.shown.seconds,
            )
        )
    wrapped(layout, state.message, context, "INFO")
    wrapped(layout, state.waits_for, context, "INFO")
    wrapped(layout, session.words_of_edits, context, "ERROR" if state.stale else "INFO")
    if session.words_of_edits:
        layout.operator("sinew.live_reset", icon="REW")


def status_hints(header: Any, context: Any) -> None:
    """Draw the hints of live mode at the left of the status bar."""
    session = live.current()
    if (
        session is None or job_queue.reading() is not None
    ):  # while the scene is read, Esc cancels that, as another hint shows
        return
    layout = header.layout
    draw_hints(layout, hints(session.state))
    layout.separator()


def hints(state: Any) -> list[tuple[str, str]]:
    """Return (text, icon) for each mouse and key action of live mode in ``state``."""
    if not state.ready:
        return [(marked("Cancel"), "EVENT_ESC")]
    pause, end = (
        marked("Pause") if state.playing else marked("Play"),
        marked("End Take") if state.recording else marked("Stop"),
    )
    mouse = [(marked("Grab"), "MOUSE_LMB_DRAG"), (marked("Pin"), "EVENT_CTRL")]
    return [*mouse, (pause, "EVENT_P"), (marked("Step"), "EVENT_RIGHT_ARROW"), (end, "EVENT_ESC")]
