"""The solver's report of a bake, for a spreadsheet."""

import bpy

from ..blender_addon import baking, sources
from ..core.errors import SinewError
from ..core.simulation.report import csv_of
from . import polls
from .refusals import refused


class SINEW_OT_copy_report(bpy.types.Operator):
    bl_idname = "sinew.copy_report"
    bl_label = "Copy as Table"
    bl_description = "Copy how each frame went to the clipboard, as comma-separated values"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_bake(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            report = baking.report_of(sources.body_of(context))
        except SinewError as error:
            return refused(self, error)
        context.window_manager.clipboard = csv_of({context.object.name: report})
        self.report({"INFO"}, f"Sinew: {len(report.frames)} frames copied")
        return {"FINISHED"}


CLASSES = (SINEW_OT_copy_report,)
