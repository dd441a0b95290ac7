"""Set what suits the body better."""

import bpy
from bpy.props import EnumProperty

from ..blender_addon import advising, sources
from . import polls


class SINEW_OT_take_advice(bpy.types.Operator):
    bl_idname = "sinew.take_advice"
    bl_label = "Take Advice"
    bl_description = "Set this as it suits the body by the tetrahedra that it was filled with last"
    bl_options = {"REGISTER", "UNDO"}

    setting: EnumProperty(
        name="Setting",
        description="Which advice is taken",
        items=[(name, label, f"Set {label} as advised") for name, label in advising.LABELS.items()],
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body(cls, context)
        if obj is not None and not advising.advice_of(obj, context.scene):
            known = advising.is_known(obj)
            cls.poll_message_set("All suits the body" if known else "Press Tetrahedralize first (Resolution)")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = sources.body_of(context).sinew
        for each in advising.advice_of(sources.body_of(context), context.scene):
            if each.setting == self.setting:
                setattr(settings, each.setting, each.value)
                return {"FINISHED"}
        self.report({"INFO"}, f"{advising.LABELS[self.setting]} suits the body already")
        return {"CANCELLED"}


CLASSES = (SINEW_OT_take_advice,)
