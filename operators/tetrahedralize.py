"""Fill the body with tetrahedra and say how good they are, without simulating."""

import bpy

from . import polls
from .refusals import begin_work


class SINEW_OT_tetrahedralize(bpy.types.Operator):
    bl_idname = "sinew.tetrahedralize"
    bl_label = "Tetrahedralize"
    bl_description = "Fill the body with tetrahedra and show their number and quality, in the background; Esc "
    bl_description += "stops. They are kept until the mesh or the resolution changes, and a bake makes them by itself"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        kept = "the tetrahedra are kept beside it"
        baked = "The bake has its tetrahedra: press Delete Bake first"
        return polls.can_begin(cls, context, kept, baked)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return begin_work(self, context, "mesh")


CLASSES = (SINEW_OT_tetrahedralize,)
