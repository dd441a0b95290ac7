"""Sinew's top-level panels, and its button among Blender's physics types."""

from typing import Any

import bpy

from ..blender_addon.draw_handlers import open_panel
from ..blender_addon.jobs import job_queue
from ..blender_addon.objects import duplicate_result, linked
from ..blender_addon.setup import physics_import
from ..blender_addon.translations.translate import marked, translated
from ..blender_addon.window import restart
from .bake import draw_first, draw_progress
from .bones import draw_armature
from .panel_base import ROOTS, Physics, Sidebar, draw_button, draw_reasons, wrapped

IMPORT = {"SOFT_BODY": marked("Import from Soft Body"), "CLOTH": marked("Import from Cloth")}
"""Labels of the buttons that import a modifier, by its type."""


def _draw_other_run(layout, context):
    """Draw the bake or live mode that runs on another object."""
    work, obj = job_queue.current(), context.object
    if work is None or (obj is not None and obj.session_uid in work.uids and obj.sinew.enabled):
        return
    column = layout.box().column()
    if work.order.mode == "live":
        column.label(text=translated("Live mode of “{name}”", name=work.object_name), icon="PHYSICS")
        column.operator("sinew.live_stop", text="Stop (Esc)", icon="CANCEL")
    else:
        column.label(text=translated("Baking “{name}”", name=work.object_name), icon="PHYSICS")
        draw_progress(column, work, context)


def _draw_root(layout, context):
    open_panel.PINS.parent_drawn(context)
    if words := restart.needed():
        wrapped(layout.box(), words, context, "ERROR")
    _draw_other_run(layout, context)
    body = duplicate_result.body_of(context)
    if body is not None:
        if words := linked.linked_words(body):
            wrapped(layout, words, context, "LIBRARY_DATA_DIRECT")
        _draw_carrier(layout, body, context)
        _draw_imports(layout, body)
        draw_first(layout, context, body)
    elif context.object is not None and context.object.type == "ARMATURE":
        draw_armature(layout, context, context.object)
    elif context.object is None or context.object.type != "MESH":
        wrapped(layout, "Select a mesh object to make it an elastic body.", context, "INFO")
    else:
        draw_button(layout, context, "sinew.enable", text="Enable Sinew", icon="PHYSICS")
        layout.operator("sinew.load_setup", text="Load Setup...", icon="IMPORT")
        _draw_imports(layout, context.object)


def _draw_imports(layout, obj):
    """Draw a button for each modifier of Blender's physics that the object can be set up from."""
    for kind in physics_import.importable(obj):
        layout.operator("sinew.import_physics", text=IMPORT[kind], icon="IMPORT").kind = kind


def _draw_carrier(layout, body, context):
    """Draw the buttons of a body whose bake a duplicate shows."""
    if body != context.object:
        wrapped(
            layout,
            translated("This object shows the bake of “{name}”, whose settings are shown here.", name=body.name),
            context,
            "INFO",
        )
        other, icon = "sinew.edit_source", "EDITMODE_HLT"
    elif duplicate_result.is_edited(body):
        other, icon = "sinew.show_bake", "LOOP_BACK"
    else:
        return
    row = layout.row(align=True)
    row.operator(other, icon=icon)
    row.operator("sinew.bake", text="Bake Again", icon="FILE_REFRESH")
    draw_reasons(layout, context, other, "sinew.bake")


class VIEW3D_PT_sinew(Sidebar, bpy.types.Panel):
    bl_idname = ROOTS["VIEW3D"]
    bl_label = "Sinew"

    def draw(self, context: Any) -> None:
        _draw_root(self.layout, context)


class PHYSICS_PT_sinew(Physics, bpy.types.Panel):
    bl_idname = ROOTS["PHYSICS"]
    bl_label = "Sinew"

    @classmethod
    def poll(cls, context: Any) -> bool:
        is_armature = context.object is not None and context.object.type == "ARMATURE"
        return is_armature or duplicate_result.body_of(context) is not None or job_queue.current() is not None

    def draw(self, context: Any) -> None:
        _draw_root(self.layout, context)


def physics_button(self: Any, context: Any) -> None:
    """Draw Sinew's button among Blender's physics types."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    column = self.layout.column()
    if obj.sinew.enabled:
        column.operator("sinew.disable", text="Remove Sinew", icon="X")
    else:
        column.operator("sinew.enable", text="Sinew", icon="PHYSICS")
        _draw_imports(column, obj)
