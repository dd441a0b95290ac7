"""The solver's report of a bake as a text."""

import bpy

from ..blender_addon import baking, sources
from ..core.errors import SinewError
from . import polls
from .refusals import refused


class SINEW_OT_open_report(bpy.types.Operator):
    bl_idname = "sinew.open_report"
    bl_label = "Open Report"
    bl_description = "Write how each frame went into a text, and show it in the Text Editor"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_bake(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = sources.body_of(context)
        try:
            words = baking.report_of(obj).table()
        except SinewError as error:
            return refused(self, error)
        name = f"Sinew Report {obj.name}"
        text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
        text.from_string(f"{obj.name}\n\n{words}")
        text.cursor_set(0)
        if not bpy.app.background:
            _show(context, text)
        self.report({"INFO"}, f"Sinew: the report is the text “{name}”")
        return {"FINISHED"}


def _show(context, text):
    """In a Text Editor that is open, else in a window of its own."""
    areas = [area for window in context.window_manager.windows for area in window.screen.areas]
    editor = next((area for area in areas if area.type == "TEXT_EDITOR"), None)
    if editor is None:
        bpy.ops.wm.window_new()
        editor = context.window_manager.windows[-1].screen.areas[0]
        editor.type = "TEXT_EDITOR"
    space = editor.spaces.active
    space.text = text
    space.show_word_wrap = space.show_syntax_highlight = False


CLASSES = (SINEW_OT_open_report,)
