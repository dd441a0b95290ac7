"""The root panels, and the button in the Physics tab."""

from typing import Any

import bpy

from ..blender_addon import job, linked, restart, sources
from .bake import draw_progress
from .places import PHYSICS, ROOTS, SIDEBAR, draw_reasons, wrapped


def _draw_other_run(layout, context):
    """A bake at work on another object than the active one can be seen and stopped from here."""
    run, obj = job.current(), context.object
    if run is None or (obj is not None and obj.session_uid == run.object_uid and obj.sinew.enabled):
        return
    column = layout.box().column()
    if run.mode == "live":
        column.label(text=f"Playing with “{run.object_name}”", icon="PHYSICS")
        column.operator("sinew.live_stop", text="Stop (Esc)", icon="CANCEL")
    else:
        column.label(text=f"Baking “{run.object_name}”", icon="PHYSICS")
        draw_progress(column, run, context)


def _draw_restart(layout, context):
    if words := restart.needed():
        wrapped(layout.box(), words, context, "ERROR")


def _draw_sidebar(layout, context):
    obj = context.object
    if obj is None or obj.type != "MESH":
        wrapped(layout, "Select a mesh object to make it an elastic body.", context, "INFO")
        return
    body = sources.body_of(context)
    if body is None:
        layout.operator("sinew.enable", text="Enable Sinew", icon="PHYSICS")
        draw_reasons(layout, context, "sinew.enable")
        return
    row = layout.row()
    row.label(text=body.name, icon="OBJECT_DATA")
    row.operator("sinew.copy_settings", text="", icon="PASTEDOWN")
    row.operator("sinew.disable", text="", icon="X")
    if words := linked.linked_words(body):
        wrapped(layout, f"{words} {linked.REMEDY}", context, "LIBRARY_DATA_DIRECT")
    _draw_carrier(layout, body, context)


def _draw_carrier(layout, body, context):
    """The way from a bake on a duplicate to its source, and back."""
    if body != context.object:
        wrapped(layout, f"This is the bake of “{body.name}”, whose settings these are.", context, "INFO")
        other, icon = "sinew.edit_source", "EDITMODE_HLT"
    elif sources.is_edited(body):
        other, icon = "sinew.show_bake", "LOOP_BACK"
    else:
        return
    row = layout.row(align=True)
    row.operator(other, icon=icon)
    row.operator("sinew.bake", text="Bake Again", icon="FILE_REFRESH")
    draw_reasons(layout, context, other, "sinew.bake")


class VIEW3D_PT_sinew(bpy.types.Panel):
    bl_idname = ROOTS["VIEW3D"]
    bl_label = "Sinew"
    bl_space_type = SIDEBAR["bl_space_type"]
    bl_region_type = SIDEBAR["bl_region_type"]
    bl_category = SIDEBAR["bl_category"]

    def draw(self, context: Any) -> None:
        _draw_restart(self.layout, context)
        _draw_other_run(self.layout, context)
        _draw_sidebar(self.layout, context)


class PHYSICS_PT_sinew(bpy.types.Panel):
    bl_idname = ROOTS["PHYSICS"]
    bl_label = "Sinew"
    bl_space_type = PHYSICS["bl_space_type"]
    bl_region_type = PHYSICS["bl_region_type"]
    bl_context = PHYSICS["bl_context"]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return sources.body_of(context) is not None or job.current() is not None

    def draw_header_preset(self, context: Any) -> None:
        if sources.body_of(context) is not None:
            self.layout.operator("sinew.copy_settings", text="", icon="PASTEDOWN", emboss=False)

    def draw(self, context: Any) -> None:
        _draw_restart(self.layout, context)
        _draw_other_run(self.layout, context)
        if (body := sources.body_of(context)) is None:
            _draw_sidebar(self.layout, context)
        else:
            _draw_carrier(self.layout, body, context)


def physics_button(self: Any, context: Any) -> None:
    """The button among those of Blender's own physics types."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    column = self.layout.column()
    if obj.sinew.enabled:
        column.operator("sinew.disable", text="Sinew", icon="X")
    else:
        column.operator("sinew.enable", text="Sinew", icon="PHYSICS")


CLASSES = (VIEW3D_PT_sinew, PHYSICS_PT_sinew)
