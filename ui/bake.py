"""Bake and Play buttons, progress and state of a bake, and the panel *Frames and Result*."""

import time
from typing import Any

import bpy

from ..blender_addon.bake import bake_queue, baking, outdated
from ..blender_addon.jobs import compiling, job_queue
from ..blender_addon.live.live_hints import draw_hints
from ..blender_addon.objects import duplicate_result
from ..blender_addon.properties import choices
from ..blender_addon.setup import forecasts
from ..blender_addon.translations.translate import CONTEXT, marked, translated
from .panel_base import CLOSED, MARGINS, draw_button, draw_large, draw_reasons, fitting, panel, region_width, wrapped

BAR, UNIT = 10, 20
"""Width of the progress bar in the header of 3D Views, UI units; and size of a UI unit, pixels at a UI scale of 1."""


def draw_first(layout: Any, context: Any, obj: Any) -> None:
    """Draw the progress of the body's task. Without a task, draw the buttons for the next step and the state of the
    bake.
    """
    work = job_queue.current(obj.session_uid)
    if work is not None and work.order.mode == "live":
        draw_large(layout, "sinew.live_stop", "SNAP_FACE", text="Stop Playing (Esc)")
        draw_reasons(layout, context, "sinew.live_stop")
    elif work is not None:
        draw_progress(layout, work, context)
    elif (read := job_queue.reading(obj.session_uid)) is not None:
        draw_reading(layout, read, context)
    elif before := job_queue.place_of(obj):
        _draw_waiting(layout, before)
    else:
        _draw_buttons(layout, obj, context)
        _draw_compiling(layout, context)
        _draw_record(layout, obj, context)


def _draw_compiling(layout, context):
    if (state := compiling.state()) is not None:
        _draw_bar(layout, state, state.remaining(time.monotonic()), context)


def _draw_bar(layout, state, remaining, context):
    """Draw a progress bar as wide as the panel."""
    width = region_width(context) - MARGINS * context.preferences.system.ui_scale
    layout.progress(factor=compiling.share(state), text=fitting(_how_far(state, remaining), width, context))


def _how_far(state, remaining, name=""):
    """Return texts on a task's progress, from the longest to the shortest. ``remaining`` is in s."""
    per_cent = f"{100.0 * compiling.share(state):.0f} %"
    share = f" {per_cent}" if state.phase.phase == "compile" else ""
    left = "" if remaining is None else translated(", {time} left", time=clock(remaining))
    full = f"{state.label}{share}{left}"
    of_body = [f"“{name}”: {full}"] * bool(name)
    return [*of_body, full, f"{state.activity}{share}{left}", f"{state.activity}{share}", per_cent]


def status_words(header: Any, context: Any) -> None:
    """Draw the name and progress of the baked body at the left of the status bar."""
    work = job_queue.current()
    if work is None or work.order.mode == "live":
        return
    layout = header.layout
    layout.label(text=_how_far(work.state, work.remaining, work.object_name)[0], icon="PHYSICS")
    layout.separator()


def draw_reading(layout: Any, read: job_queue.Task, context: Any) -> None:
    """Draw the progress of reading the animation."""
    _draw_bar(layout, read.state, None, context)
    draw_hints(layout, [(marked("Cancel"), "EVENT_ESC")])


def _bake_of(context: Any) -> str:
    """Return the identifier of the operator Bake, or Save and Bake if the .blend was never saved."""
    return "sinew.bake" if context.blend_data.filepath else "sinew.save_and_bake"


def _draw_buttons(layout, obj, context):
    """Draw the Bake, Resume and Play buttons, the recommended next step first."""
    record, bake, row = obj.sinew.bake, _bake_of(context), layout.row(align=True)
    row.scale_y = 1.3
    again = {"text": marked("Bake Again")} if bake == "sinew.bake" else {}
    if record.status == "NONE" and not baking.has_frames(obj):
        shown = [bake]
        row.operator(bake, icon="PHYSICS")
    elif record.status != "DONE" or baking.astray_words(obj):
        shown = ["sinew.resume_bake", bake]
        if outdated.words(obj, context.scene) or not baking.has_store(obj):  # edited, or not on disk: cannot be resumed
            row.operator(bake, icon="FILE_REFRESH", **again)
            row.operator("sinew.resume_bake", icon="PHYSICS", text="")
        else:
            row.operator("sinew.resume_bake", icon="PHYSICS")
            row.operator(bake, icon="FILE_REFRESH", text="")
        _draw_play(row, context, record)
    elif outdated.words(obj, context.scene):
        shown = [bake]
        row.operator(bake, icon="FILE_REFRESH", **again)
        _draw_play(row, context, record)
    else:
        shown = [bake]
        _draw_play(row, context, record, is_wide=True)
        row.operator(bake, icon="FILE_REFRESH", text="")
    row.menu("SINEW_MT_bake", text="", icon="DOWNARROW_HLT")
    draw_reasons(layout, context, *shown)


def _draw_play(row, context, record, is_wide=False):
    """Draw Blender's playback button for a baked body."""
    if record.status != "NONE":
        words, icon = (marked("Pause"), "PAUSE") if context.screen.is_animation_playing else (marked("Play"), "PLAY")
        row.operator("screen.animation_play", text=words if is_wide else "", icon=icon)


class SINEW_MT_bake(bpy.types.Menu):
    bl_label = "Bake"
    bl_translation_context = CONTEXT
    bl_description = "More operations on the body and its bake"

    def draw(self, context: Any) -> None:
        layout, obj = self.layout, duplicate_result.body_of(context)
        layout.operator("sinew.bake_to_current", icon="PREVIEW_RANGE")
        if len(bake_queue.own_bodies(context.scene)) > 1:
            layout.operator("sinew.bake_all")
            layout.operator("sinew.bake_all", text="Bake Selected").selected = True
        if obj.sinew.bake.status != "NONE":
            layout.separator()
            layout.operator("sinew.check_bake", icon="VIEWZOOM")
            layout.operator("sinew.export_bake", text="Export...", icon="EXPORT")
            layout.operator("sinew.send_to_engine", text="Send to Engine...", icon="EXPORT")
            layout.operator("sinew.corrective_key", icon="SHAPEKEY_DATA")
            layout.operator("sinew.set_as_rest_shape", icon="SHAPEKEY_DATA")
            layout.operator("sinew.delete_bake", icon="TRASH")
        layout.separator()
        layout.operator("sinew.settle", icon="CON_FLOOR")
        layout.operator("sinew.mirror_corrective_key", icon="MOD_MIRROR")
        layout.separator()
        layout.operator("sinew.copy_settings", icon="PASTEDOWN")
        layout.operator("sinew.transfer_setup", icon="MOD_DATA_TRANSFER")
        layout.operator("sinew.save_setup", text="Save Setup...", icon="EXPORT")
        layout.operator("sinew.load_setup", text="Load Setup...", icon="IMPORT")
        layout.operator("sinew.disable", icon="X")


def _draw_record(layout, obj, context):
    record, is_baked = obj.sinew.bake, obj.sinew.bake.status != "NONE"
    if is_baked:
        words = {"STOPPED": marked("Bake: stopped, {frames} frames"), "FAILED": marked("Bake: failed, {frames} frames")}
        words = translated(words.get(record.status, marked("Bake: {frames} frames")), frames=record.frames)
        icon = "PAUSE" if record.status in ("STOPPED", "FAILED") else "CHECKMARK"
        layout.label(text=words, icon=icon)
        if astray := baking.astray_words(obj):
            wrapped(layout, f"{astray} {translated('Resume uses the frames on disk.')}", context, "ERROR")
        elif record.result is not None and obj == context.object and obj.hide_viewport:
            wrapped(
                layout,
                translated("“{name}” shows the bake; this object is hidden.", name=record.result.name),
                context,
                "DUPLICATE",
            )
        wrapped(layout, record.left_behind, context, "ERROR")
    elif baking.has_frames(obj):
        wrapped(layout, "Baked frames of this body are on disk.", context, "INFO")
    if changed := outdated.words(obj, context.scene):
        wrapped(
            layout,
            translated("Out of date. Changed since the bake: {changed}.", changed=outdated.labels(changed)),
            context,
            "ERROR",
        )
    for warning in (record.message, obj.sinew.stack_warning, record.material_warning, record.pin_warning):
        wrapped(layout, warning, context, "ERROR")
    if record.separation_object is not None:
        if not record.message:  # baked despite the overlap
            wrapped(layout, record.contact_warning, context, "ERROR")
        draw_button(
            layout,
            context,
            "sinew.move_out",
            text=translated("Separate “{name}”", name=record.separation_object.name),
            icon="CON_LOCLIKE",
        )
        if record.status in ("NONE", "FAILED"):  # after a finished bake, the overlap is with a collider
            draw_button(layout, context, "sinew.untangle", icon="FULLSCREEN_ENTER")
    if is_baked and baking.is_elsewhere(obj):
        wrapped(layout, "The baked frames are not beside this .blend.", context, "INFO")
        draw_button(layout, context, "sinew.bring_frames", icon="IMPORT")


def _draw_waiting(layout, before):
    layout.label(
        text=translated(
            "Waiting for {count} other bake" if before == 1 else "Waiting for {count} other bakes", count=before
        ),
        icon="TIME",
    )
    layout.operator("sinew.stop_bake", text="Stop All", icon="CANCEL")


def draw_progress(layout: Any, work: job_queue.Task, context: Any) -> None:
    """Draw a task's progress bar, times and stop button. If the result waits, draw only the reason."""
    if work.state.waits_for:
        wrapped(layout, work.state.label, context, "INFO")
        return
    _draw_bar(layout, work.state, None, context)
    remaining = "" if work.remaining is None else translated(", {time} left", time=clock(work.remaining))
    wrapped(layout, translated("{time} elapsed", time=clock(work.elapsed)) + remaining, context, "TIME")
    wrapped(layout, work.state.of_step[:1].upper() + work.state.of_step[1:], context)
    if work.state.newest is not None:
        layout.operator("sinew.go_to_newest", icon="FRAME_NEXT")
    stop = marked("Stop All") if job_queue.waiting() else marked("Stop")
    draw_button(layout, context, "sinew.stop_bake", text=stop, icon="CANCEL")


def clock(seconds: float) -> str:
    """Format a duration in s, such as ``1:05`` (1 min 5 s) or ``2:03:00`` (2 h 3 min)."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def header_progress(self: Any, context: Any) -> None:
    """Draw the progress of the running task, and a stop button, in the header of 3D Views."""
    work = job_queue.current() or job_queue.reading()
    if work is None or (work.order is not None and work.order.mode == "live") or work.state.waits_for:
        return
    row = self.layout.row(align=True)
    bar = row.row()
    bar.ui_units_x = BAR
    words = _how_far(work.state, None, work.object_name)
    width = (BAR - 1) * UNIT * context.preferences.system.ui_scale
    bar.progress(factor=compiling.share(work.state), text=fitting(words, width, context))
    row.operator("sinew.stop_bake", text="", icon="CANCEL")


@panel("Frames and Result", is_often=True, bl_options=CLOSED)
def draw_bake(layout: Any, context: Any, obj: Any) -> None:
    """Draw the frame range, the form of the result, and the folder of the frames."""
    settings, scene = obj.sinew, context.scene
    layout.prop(settings, "use_scene_range")
    column, owner = layout.column(align=True), scene if settings.use_scene_range else settings
    column.prop(owner, "frame_start", text="Frame Start")
    column.prop(owner, "frame_end", text="End")
    column.prop(settings, "pre_roll")
    layout.prop(settings, "result")
    if settings.result == "NODES" and not choices.solver_kind(settings.solver).takes_modes:
        layout.prop(settings, "result_modes")
    if baking.kept_otherwise(obj):
        draw_button(layout, context, "sinew.convert_result", icon="FILE_REFRESH")
    record = settings.bake
    wrapped(layout, record.error, context, "INFO")
    if record.status != "NONE":
        size = f" ({record.size})" if record.size else ""
        wrapped(layout, f"{translated('Disk Cache')}: {record.folder}{size}", context, "DISK_DRIVE")
    elif not baking.has_frames(obj):
        words = translated("The bake will need about {size} on disk", size=forecasts.disk_words(obj, context))
        layout.label(text=words, icon="DISK_DRIVE")


@panel("Attributes", "bake", is_often=True, bl_options=CLOSED)
def draw_attributes(layout: Any, context: Any, obj: Any) -> None:
    """Draw the results that nodes read by name, and the button of a material that shows some."""
    layout.use_property_split = False
    attributes = obj.sinew.attributes
    column = layout.column(align=True)  # side by side, their names would be cut off
    for name in attributes.bl_rna.properties.keys():
        if name not in ("rna_type", "name"):
            column.prop(attributes, name)
    if words := forecasts.attribute_words(obj, context):
        wrapped(layout, words, context, "INFO")
    draw_button(layout, context, "sinew.add_demo_material", icon="MATERIAL")
