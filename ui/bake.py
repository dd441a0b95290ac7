"""Bake: the frames, the buttons, and how it goes."""

from typing import Any

from ..blender_addon import job
from .places import Subject, panels, properties_layout, wrapped


class Bake(Subject):
    bl_label = "Bake"

    def draw(self, context: Any) -> None:
        obj = context.object
        layout = properties_layout(self)
        run = job.run_of(obj.session_uid)
        if run is None:
            _draw_range(layout, obj.sinew, context.scene)
            _draw_buttons(layout, obj.sinew.bake)
            _draw_record(layout, obj.sinew.bake, context)
        else:
            draw_progress(layout, run, context)


def _draw_range(layout, settings, scene):
    layout.prop(settings, "use_scene_range")
    column = layout.column(align=True)
    if settings.use_scene_range:
        column.prop(scene, "frame_start", text="Frame Start")
        column.prop(scene, "frame_end", text="End")
    else:
        column.prop(settings, "frame_start", text="Frame Start")
        column.prop(settings, "frame_end", text="End")


def _draw_buttons(layout, record):
    if record.status == "NONE":
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("sinew.bake", icon="PLAY")
        layout.operator("sinew.resume_bake", icon="FILE_REFRESH")
        return
    if record.status != "DONE":
        row = layout.row()
        row.scale_y = 1.3
        row.operator("sinew.resume_bake", icon="PLAY")
    row = layout.row(align=True)
    row.operator("sinew.delete_bake", icon="TRASH")
    row.operator("sinew.check_bake", icon="VIEWZOOM")


def _draw_record(layout, record, context):
    if record.status != "NONE":
        words = {"STOPPED": "stopped, ", "FAILED": "failed, "}.get(record.status, "")
        layout.label(text=f"Bake: {words}{record.frames} frames", icon="CHECKMARK" if not words else "PAUSE")
        if record.result is not None:
            wrapped(layout, f"On “{record.result.name}”; this object is hidden.", context, "DUPLICATE")
    if record.stale:
        wrapped(layout, f"Out of date. Changed since the bake: {record.stale}.", context, "ERROR")
    if record.message:
        wrapped(layout, record.message, context, "ERROR")
    if record.material_warning:
        wrapped(layout, record.material_warning, context, "ERROR")
    if record.status != "NONE":
        wrapped(layout, f"Disk Cache: {record.folder}", context, "DISK_DRIVE")


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
    layout.operator("sinew.stop_bake", text="Stop (Esc)", icon="CANCEL")


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours too: ``1:05``, ``2:03:00``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


CLASSES = panels(Bake, "bake")
