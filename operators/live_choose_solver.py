"""Choose a solver that live mode can play with."""

import bpy

from ..blender_addon import sources
from . import polls

SOLVER = "subspace_mixed_fem"


class SINEW_OT_live_choose_solver(bpy.types.Operator):
    bl_idname = "sinew.live_choose_solver"
    bl_label = "Use Subspace Mixed FEM"
    bl_description = "Choose the solver Subspace Mixed FEM, which takes milliseconds a frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.idle_body(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        sources.body_of(context).sinew.solver = SOLVER
        return {"FINISHED"}


CLASSES = (SINEW_OT_live_choose_solver,)
