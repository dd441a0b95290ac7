"""Bake: the frames, the buttons, and how it goes."""

from typing import Any

from ..blender_addon import bake_queue, baking, choices, forecasts, job, reading, sources
from .places import Subject, draw_reasons, panels, properties_layout, wrapped


class Bake(Subject):
    bl_label = "Bake"

    def draw(self, context: Any) -> None:
        obj = sources.body_of(context)
        layout = properties_layout(self)
        run = job.run_of(obj.session_uid)
        if run is not None and run.mode != "live":
            draw_progress(layout, run, context)
        elif (read := reading.reading_of(obj.session_uid)) is not None:
            draw_reading(layout, read)
        elif before := bake_queue.place_of(obj):
            _draw_waiting(layout, before)
        else:
            _draw_range(layout, obj.sinew, context.scene)
            _draw_result(layout, obj, context)
            _draw_buttons(layout, obj, context)
            _draw_record(layout, obj, context)


def draw_reading(layout: Any, read: reading.Reading) -> None:
    """How far the animation is read."""
    layout.progress(factor=read.part, text=read.label)
    layout.label(text="Esc cancels", icon="EVENT_ESC")


def _draw_range(layout, settings, scene):
    layout.prop(settings, "use_scene_range")
    column = layout.column(align=True)
    if settings.use_scene_range:
        column.prop(scene, "frame_start", text="Frame Start")
        column.prop(scene, "frame_end", text="End")
    else:
        column.prop(settings, "frame_start", text="Frame Start")
        column.prop(settings, "frame_end", text="End")
    column.prop(settings, "pre_roll")


def _draw_result(layout, obj, context):
    settings = obj.sinew
    layout.prop(settings, "result")
    if settings.result == "NODES" and not choices.in_subspace(settings.solver):
        layout.prop(settings, "result_modes")
    if baking.kept_otherwise(obj):
        layout.operator("sinew.convert_result", icon="FILE_REFRESH")
        draw_reasons(layout, context, "sinew.convert_result")


def _draw_buttons(layout, obj, context):
    """Each button where it can be wanted, and below why those that are grey are so."""
    status, bake = obj.sinew.bake.status, _bake_operator(context)
    shown = [bake]
    if status == "NONE" and baking.has_frames(obj):
        wrapped(layout, "Frames of an earlier bake are on disk.", context, "INFO")
        shown.append(_draw_large(layout, "sinew.resume_bake"))
        layout.operator(bake, icon="FILE_REFRESH")
    elif status == "NONE":
        _draw_large(layout, bake)
    elif status != "DONE" or baking.astray_words(obj):
        shown.append(_draw_large(layout, "sinew.resume_bake"))
    if status != "DONE":
        layout.operator("sinew.bake_to_current")
        shown.append("sinew.bake_to_current")
    if len(bake_queue.own_bodies(context.scene)) > 1:
        shown.append(_draw_several(layout))
    if status != "NONE":
        shown += _draw_baked(layout, bake)
    draw_reasons(layout, context, *shown)


def _bake_operator(context):
    """A file that has no name yet gets one first."""
    return "sinew.bake" if context.blend_data.filepath else "sinew.save_and_bake"


def _draw_baked(layout, bake):
    """What can be done with a bake."""
    row = layout.row(align=True)
    row.operator("sinew.delete_bake", icon="TRASH")
    row.operator("sinew.check_bake", icon="VIEWZOOM")
    row = layout.row(align=True)
    again = {"text": "Bake Again"} if bake == "sinew.bake" else {}
    row.operator(bake, icon="FILE_REFRESH", **again)
    row.operator("sinew.export_bake", text="Export", icon="EXPORT")
    return ["sinew.delete_bake", "sinew.check_bake", "sinew.export_bake"]


def _draw_several(layout):
    """The buttons for several bodies."""
    row = layout.row(align=True)
    row.operator("sinew.bake_all")
    row.operator("sinew.bake_all", text="Bake Selected").selected = True
    return "sinew.bake_all"


def _draw_large(layout, operator):
    row = layout.row()
    row.scale_y = 1.3
    row.operator(operator, icon="PLAY")
    return operator


def _draw_record(layout, obj, context):
    record, astray = obj.sinew.bake, baking.astray_words(obj)
    if record.status != "NONE":
        words = {"STOPPED": "stopped, ", "FAILED": "failed, "}.get(record.status, "")
        layout.label(text=f"Bake: {words}{record.frames} frames", icon="CHECKMARK" if not words else "PAUSE")
        if astray:
            wrapped(layout, f"{astray} Resume takes what is on disk.", context, "ERROR")
        elif record.result is not None:
            wrapped(layout, f"On “{record.result.name}”; this object is hidden.", context, "DUPLICATE")
            if record.left_behind:
                wrapped(layout, record.left_behind, context, "ERROR")
        if record.error:
            wrapped(layout, record.error, context, "INFO")
    if record.stale:
        wrapped(layout, f"Out of date. Changed since the bake: {record.stale}.", context, "ERROR")
    if record.message:
        wrapped(layout, record.message, context, "ERROR")
    for warning in filter(None, (record.material_warning, record.pin_warning)):
        wrapped(layout, warning, context, "ERROR")
    if record.status != "NONE":
        size = f" ({record.size})" if record.size else ""
        wrapped(layout, f"Disk Cache: {record.folder}{size}", context, "DISK_DRIVE")
        if baking.is_elsewhere(obj):
            wrapped(layout, "The frames are not beside this .blend.", context, "INFO")
            layout.operator("sinew.bring_frames", icon="IMPORT")
            draw_reasons(layout, context, "sinew.bring_frames")
    elif not baking.has_frames(obj):
        words = f"Will take about {forecasts.disk_words(obj, context)} on disk"
        layout.label(text=words, icon="DISK_DRIVE")


def _draw_waiting(layout, before):
    layout.label(text=f"Waits for {before} {'bake' if before == 1 else 'bakes'} before it", icon="TIME")
    layout.operator("sinew.stop_bake", text="Stop All (Esc)", icon="CANCEL")


def draw_progress(layout: Any, run: job.Run, context: Any) -> None:
    """The bar, the times and the button that stops; or what the result of an ended child waits for."""
    if run.waits_for:
        wrapped(layout, run.label, context, "INFO")
        return
    layout.progress(factor=run.factor, text=run.label)
    row = layout.row()
    row.label(text=f"Elapsed {clock(run.elapsed)}", icon="TIME")
    if run.remaining is not None:
        row.label(text=f"Remaining {clock(run.remaining)}")
    layout.operator(
        "sinew.stop_bake", text="Stop All (Esc)" if bake_queue.is_at_work() else "Stop (Esc)", icon="CANCEL"
    )
    draw_reasons(layout, context, "sinew.stop_bake")


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours too: ``1:05``, ``2:03:00``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Report(Subject):
    bl_label = "Solver Report"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Where a bake has told how it went."""
        return super().poll(context) and bool(sources.body_of(context).sinew.bake.report)

    def draw(self, context: Any) -> None:
        layout = self.layout
        for line in sources.body_of(context).sinew.bake.report.splitlines():
            wrapped(layout, line, context)
        row = layout.row(align=True)
        row.operator("sinew.open_report", icon="TEXT")
        row.operator("sinew.copy_report", icon="COPYDOWN")
        draw_reasons(layout, context, "sinew.open_report", "sinew.copy_report")


CLASSES = (*panels(Bake, "bake"), *panels(Report, "report", under="bake", bl_options={"DEFAULT_CLOSED"}))
