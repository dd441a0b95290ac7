"""Advice: what solver, resolution and step suit the body, with the reason and a button to take it."""

from typing import Any

from ..blender_addon import advising, sources
from .places import Subject, draw_reasons, panels, wrapped


class Advice(Subject):
    bl_label = "Advice"

    def draw(self, context: Any) -> None:
        obj, layout = sources.body_of(context), self.layout
        if not advising.is_known(obj):
            wrapped(layout, "What suits this body is known once it has tetrahedra.", context, "INFO")
            layout.operator("sinew.tetrahedralize", icon="MESH_ICOSPHERE")
            draw_reasons(layout, context, "sinew.tetrahedralize")
            return
        found = advising.advice_of(obj, context.scene)
        if advising.is_outdated(obj):
            words = "Physical materials were edited since the body was filled: fill it anew to know what suits it now."
            wrapped(layout, words, context, "ERROR")
            if obj.sinew.bake.status == "NONE":
                layout.operator("sinew.tetrahedralize", icon="MESH_ICOSPHERE")
                draw_reasons(layout, context, "sinew.tetrahedralize")
        elif not found:
            what = "Solver, resolution and step suit" if advising.is_step_known(obj) else "Solver and resolution suit"
            wrapped(layout, f"{what} this body.", context, "CHECKMARK")
        for each in found:
            column = layout.column(align=True)
            wrapped(column, each.reason, context, "INFO")
            column.operator("sinew.take_advice", text=advising.button_words(each)).setting = each.setting
        if found:
            draw_reasons(layout, context, "sinew.take_advice")
        if not advising.is_step_known(obj):
            words = "Substeps go by how pins and colliders move, which is known after a bake of two frames or more."
            wrapped(layout, words, context, "INFO")


CLASSES = panels(Advice, "advice", under="solver")
