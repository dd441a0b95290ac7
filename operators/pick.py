"""Operators that pick vertices for pins, a spring or dynamic nodes by click or box.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty

from ..blender_addon.objects import duplicate_result
from ..blender_addon.picking import picking_view
from ..blender_addon.scene_import import picks
from ..blender_addon.setup import defaults
from ..blender_addon.translations.translate import CONTEXT
from ..core.foundation.errors import SinewError
from . import polls
from .operator_class import operator, refused
from .pins import changed_words


def _can_start(context: bpy.types.Context) -> None:
    polls.active(context, polls.body(context))
    polls.disable_if(context.area is None or context.area.type != "VIEW_3D", "Pick vertices in a 3D View")


@operator("Pick Vertices", _can_start)
def start_picking(self: Any, context: bpy.types.Context, obj: Any) -> None:
    """Activate the pick tool in Object Mode. A click adds or removes a vertex; dragging a box adds vertices."""
    if obj.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.tool_set_by_id(name=picking_view.TOOL)


class SINEW_OT_pick(bpy.types.Operator):
    bl_idname = "sinew.pick"
    bl_translation_context = CONTEXT
    bl_label = "Pick Vertices"
    bl_description = (
        "Click to add the vertex under the cursor, or remove it; drag a box to add the vertices in it, with Ctrl to "
        "remove them. Only X-Ray picks hidden vertices. A click beside the body selects objects"
    )
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    target: EnumProperty(
        name="Pick For",
        description="Vertex group that picking changes",
        items=picks.TARGETS,
        translation_context=CONTEXT,
    )

    @polls.where
    def poll(context: bpy.types.Context) -> None:
        obj = polls.body(context)
        polls.disable_if(context.mode != "OBJECT" or context.region_data is None, "Pick in a 3D View, in Object Mode")
        polls.disable_if(
            not picking_view.can_be_picked(obj, context.space_data),
            "The object is hidden in this view, or linked from another file",
        )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._start = self._end = (event.mouse_region_x, event.mouse_region_y)
        self._box = picking_view.Box(context.region, self._start)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "MOUSEMOVE":
            self._end = (event.mouse_region_x, event.mouse_region_y)
            self._box.move(self._end)
        elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self._box.remove()
            return {"CANCELLED"}
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._box.remove()
            return self._pick(context, event.ctrl)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        self._box.remove()

    def _pick(self, context, take_out):
        obj = duplicate_result.body_of(context)
        try:
            surface = picking_view.Picked(obj, context)
            found = surface.in_box(self._start, self._end) if self._box.is_open else surface.at(self._end)
            if not len(found):
                return self._missed()
            # Repair the group first: an edit of the mesh may have left the vertex under the cursor a partial weight.
            said = picks.mend(obj)
            group = picks.group_of(obj, self.target)
            add = not take_out if self._box.is_open else not picks.holds(obj, group, int(found[0]))
            group = picks.group_of(obj, self.target, make=add)
            if group is None:
                return {"CANCELLED"}
            picks.change(obj, group, np.unique(found).tolist(), add)
            defaults.refit_stiffness(obj, context)
        except SinewError as error:
            return refused(self, error)
        count = len(np.unique(found))
        self.report({"INFO"}, changed_words(count, add, group.name))
        if said:
            obj.sinew.pick_warning = said
            self.report({"WARNING"}, said)
        return {"FINISHED"}

    def _missed(self):
        """Select the object under the pointer, after a click beside the body."""
        if self._box.is_open:
            return {"CANCELLED"}
        return bpy.ops.view3d.select(location=self._end)
