"""Bake: the frames, the buttons, and how it goes."""

import time
from typing import Any

from ..blender_addon.bake import bake_queue, baking
from ..blender_addon.child import compiling, running
from ..blender_addon.properties import choices
from ..blender_addon.setup import forecasts
from .places import CLOSED, draw_button, draw_large, draw_reasons, panel, wrapped


@panel("Bake")
def draw_bake(layout: Any, context: Any, obj: Any) -> None:
    """How it goes, or what can be baked, and what is."""
    work = running.current(obj.session_uid)
    if work is not None and work.order.mode != "live":
        draw_progress(layout, work, context)
    elif (read := running.reading(obj.session_uid)) is not None:
        draw_reading(layout, read)
    elif before := running.place_of(obj):
        _draw_waiting(layout, before)
    else:
        _draw_compiling(layout)
        _draw_range(layout, obj.sinew, context.scene)
        _draw_result(layout, obj, context)
        _draw_buttons(layout, obj, context)
        _draw_record(layout, obj, context)


def _draw_compiling(layout):
    if (state := compiling.state()) is not None:
        layout.progress(factor=state.factor, text=_how_far(state, state.remaining(time.monotonic())))


def _how_far(state, remaining):
    share = f" {100.0 * state.factor:.0f} %" if state.phase.phase == "compile" else ""
    return f"{state.label}{share}" + ("" if remaining is None else f", {clock(remaining)} left")


def status_words(header: Any, context: Any) -> None:
    """At the left of the status bar, in every window: what is baked, and how far it is."""
    work = running.current()
    if work is None or work.order.mode == "live":
        return
    layout = header.layout
    layout.label(text=f"“{work.object_name}”: {_how_far(work.state, work.remaining)}", icon="PHYSICS")
    layout.separator()


def draw_reading(layout: Any, read: running.Work) -> None:
    """How far the animation is read."""
    layout.progress(factor=read.state.factor, text=read.state.label)
    layout.label(text="Esc cancels", icon="EVENT_ESC")


def _draw_range(layout, settings, scene):
    layout.prop(settings, "use_scene_range")
    column, owner = layout.column(align=True), scene if settings.use_scene_range else settings
    column.prop(owner, "frame_start", text="Frame Start")
    column.prop(owner, "frame_end", text="End")
    column.prop(settings, "pre_roll")


def _draw_result(layout, obj, context):
    settings = obj.sinew
    layout.prop(settings, "result")
    if settings.result == "NODES" and not choices.solver_kind(settings.solver).takes_modes:
        layout.prop(settings, "result_modes")
    if baking.kept_otherwise(obj):
        draw_button(layout, context, "sinew.convert_result", icon="FILE_REFRESH")


def _draw_buttons(layout, obj, context):
    """Each button where it can be wanted, and below why those that are grey are so."""
    # A file that has no name yet gets one first.
    status, bake = obj.sinew.bake.status, "sinew.bake" if context.blend_data.filepath else "sinew.save_and_bake"
    shown = [bake]
    if status == "NONE" and not baking.has_frames(obj):
        draw_large(layout, bake, "PLAY")
    elif status != "DONE" or baking.astray_words(obj):
        if status == "NONE":
            wrapped(layout, "Frames of an earlier bake are on disk.", context, "INFO")
        draw_large(layout, "sinew.resume_bake", "PLAY")
        shown.append("sinew.resume_bake")
        if status == "NONE":
            layout.operator(bake, icon="FILE_REFRESH")
    if status != "DONE":
        layout.operator("sinew.bake_to_current")
        shown.append("sinew.bake_to_current")
    if len(bake_queue.own_bodies(context.scene)) > 1:
        row = layout.row(align=True)
        row.operator("sinew.bake_all")
        row.operator("sinew.bake_all", text="Bake Selected").selected = True
        shown.append("sinew.bake_all")
    if status != "NONE":
        _draw_baked(layout, bake)
        shown += ["sinew.delete_bake", "sinew.check_bake", "sinew.export_bake"]
    draw_reasons(layout, context, *shown)


def _draw_baked(layout, bake):
    """What can be done with a bake."""
    row = layout.row(align=True)
    row.operator("sinew.delete_bake", icon="TRASH")
    row.operator("sinew.check_bake", icon="VIEWZOOM")
    row = layout.row(align=True)
    again = {"text": "Bake Again"} if bake == "sinew.bake" else {}
    row.operator(bake, icon="FILE_REFRESH", **again)
    row.operator("sinew.export_bake", text="Export", icon="EXPORT")


def _draw_record(layout, obj, context):
    record, is_baked = obj.sinew.bake, obj.sinew.bake.status != "NONE"
    if is_baked:
        words = {"STOPPED": "stopped, ", "FAILED": "failed, "}.get(record.status, "")
        layout.label(text=f"Bake: {words}{record.frames} frames", icon="CHECKMARK" if not words else "PAUSE")
        if astray := baking.astray_words(obj):
            wrapped(layout, f"{astray} Resume takes what is on disk.", context, "ERROR")
        elif record.result is not None:
            wrapped(layout, f"On “{record.result.name}”; this object is hidden.", context, "DUPLICATE")
            wrapped(layout, record.left_behind, context, "ERROR")
        wrapped(layout, record.error, context, "INFO")
    if record.stale:
        wrapped(layout, f"Out of date. Changed since the bake: {record.stale}.", context, "ERROR")
    for warning in (record.message, record.material_warning, record.pin_warning):
        wrapped(layout, warning, context, "ERROR")
    if record.way_out_of is not None:
        if not record.message:  # it was baked all the same
            wrapped(layout, record.meets_warning, context, "ERROR")
        draw_button(layout, context, "sinew.move_out", text=f"Move “{record.way_out_of.name}” Out", icon="CON_LOCLIKE")
    if is_baked:
        size = f" ({record.size})" if record.size else ""
        wrapped(layout, f"Disk Cache: {record.folder}{size}", context, "DISK_DRIVE")
        if baking.is_elsewhere(obj):
            wrapped(layout, "The frames are not beside this .blend.", context, "INFO")
            draw_button(layout, context, "sinew.bring_frames", icon="IMPORT")
    elif not baking.has_frames(obj):
        words = f"Will take about {forecasts.disk_words(obj, context)} on disk"
        layout.label(text=words, icon="DISK_DRIVE")


def _draw_waiting(layout, before):
    layout.label(text=f"Waits for {before} {'bake' if before == 1 else 'bakes'} before it", icon="TIME")
    layout.operator("sinew.stop_bake", text="Stop All", icon="CANCEL")


def draw_progress(layout: Any, work: running.Work, context: Any) -> None:
    """The bar, the times and the button that stops; or what the result of an ended child waits for."""
    if work.state.waits_for:
        wrapped(layout, work.state.label, context, "INFO")
        return
    layout.progress(factor=work.state.factor, text=_how_far(work.state, None))
    row = layout.row()
    row.label(text=f"Elapsed {clock(work.elapsed)}", icon="TIME")
    if work.remaining is not None:
        row.label(text=f"Remaining {clock(work.remaining)}")
    if work.state.of_step:
        layout.label(text=work.state.of_step[0].upper() + work.state.of_step[1:])
    if work.state.newest is not None:
        layout.operator("sinew.go_to_newest", icon="FRAME_NEXT")
    stop = "Stop All" if running.waiting() else "Stop"
    draw_button(layout, context, "sinew.stop_bake", text=stop, icon="CANCEL")


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours too: ``1:05``, ``2:03:00``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _is_told_of(obj: Any) -> bool:
    return bool(obj.sinew.bake.report)


@panel("Solver Report", under="bake", where=_is_told_of, bl_options=CLOSED)
def draw_report(layout: Any, context: Any, obj: Any) -> None:
    """How a bake went, in short, and where to read more."""
    for line in obj.sinew.bake.report.splitlines():
        wrapped(layout, line, context)
    row = layout.row(align=True)
    row.operator("sinew.open_report", icon="TEXT")
    row.operator("sinew.copy_report", icon="COPYDOWN")
    draw_reasons(layout, context, "sinew.open_report", "sinew.copy_report")
