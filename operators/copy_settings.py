"""Give the selected bodies the settings of the active one."""

from typing import Any

import bpy

from ..blender_addon import copying, linked, sources
from . import polls


class SINEW_OT_copy_settings(bpy.types.Operator):
    bl_idname = "sinew.copy_settings"
    bl_label = "Copy Settings to Selected"
    bl_description = (
        "Give all selected meshes the Sinew settings of the active one: materials and springs by name, resolution, "
        "collisions, fields, solver, result. Vertex groups that they lack are left as they were; bakes stay"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = polls.idle_body(cls, context)
        if obj is not None and not _others(context):
            cls.poll_message_set("Select other meshes too: they get the settings of the active one")
            return False
        return obj is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        body, copied, left = sources.body_of(context), 0, []
        for obj in _others(context):
            if linked.is_linked(obj) or sources.source_of(obj) is not None:
                left.append(f"{obj.name} (linked, or a bake)")
                continue
            copied += 1
            if missing := copying.copy_settings(body, obj):
                left.append(f"{obj.name}: {', '.join(missing)}")
        words = f"Copied to {copied} {'body' if copied == 1 else 'bodies'}"
        if left:
            self.report({"WARNING"}, f"{words}. Left out: {'; '.join(left)}")
        else:
            self.report({"INFO"}, words)
        return {"FINISHED"} if copied else {"CANCELLED"}


def _others(context: Any) -> list[Any]:
    own = context.object, sources.body_of(context)
    return [obj for obj in context.selected_objects or () if obj.type == "MESH" and obj not in own]


CLASSES = (SINEW_OT_copy_settings,)
