"""Modal operator that drags the body in live mode while the mouse button is down."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from ..blender_addon.live import live, live_pick, live_visibility
from ..blender_addon.live.live_hints import draw_hints
from ..blender_addon.translations.translate import CONTEXT, marked

HINTS = (
    (marked("Pull"), "MOUSE_LMB_DRAG"),
    (marked("Leave It Pinned"), "EVENT_CTRL"),
    ("", "EVENT_ESC"),
    (marked("Let Go"), "MOUSE_RMB"),
)
"""Texts and icons of the hints in the status bar while the mouse button is down."""


def draw_status(header: Any, context: Any) -> None:
    """Draw the hints for dragging in the status bar."""
    draw_hints(header.layout, HINTS)


class SINEW_OT_live_grab(bpy.types.Operator):
    bl_idname = "sinew.live_grab"
    bl_translation_context = CONTEXT
    bl_label = "Grab"
    bl_description = "Drag the body; with Ctrl the dragged vertex stays pinned. Ctrl-click on a pin releases it"
    bl_options = {"INTERNAL"}

    pin: BoolProperty(
        name="Pin", description="Leave the dragged vertex pinned", options={"SKIP_SAVE"}, translation_context=CONTEXT
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        session = live.current()
        obj = None if session is None or session.view is None else session.object
        return obj is not None and context.mode == "OBJECT" and live_visibility.is_seen(obj, session.stage, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        where = (event.mouse_region_x, event.mouse_region_y)
        self._session, self._start, self._moved = live.current(), where, False
        held = live_pick.pin_at(self._session, context, where)
        self._on_pin = held is not None
        self._drag = held or live_pick.surface_at(self._session, context, where)
        obj = self._session.object
        if self._drag is None or obj is None:
            return {"PASS_THROUGH"}
        self._strength = live.strength_of(obj, context.scene)
        self._pull(context, where)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(draw_status)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if live.current() is not self._session:
            return self._end(context)
        where = (event.mouse_region_x, event.mouse_region_y)
        if event.type == "MOUSEMOVE":
            self._moved = self._moved or max(abs(where[k] - self._start[k]) for k in range(2)) > live_pick.CLICK
            self._pull(context, where)
        elif event.type in {"LEFT_CTRL", "RIGHT_CTRL"} and event.value == "PRESS":
            self.pin = True
        elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            live.let_go(self._drag.vertex)
            return self._end(context)
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            stays = self.pin and not (self._on_pin and not self._moved)
            if stays:
                live.pin(self._drag.vertex)
            else:
                live.let_go(self._drag.vertex)
            return self._end(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        live.let_go(self._drag.vertex)
        self._end(context)

    def _pull(self, context: bpy.types.Context, where: tuple[int, int]) -> None:
        live.grab(self._drag.vertex, self._drag.target(context, where), self._strength)

    def _end(self, context: bpy.types.Context) -> set[str]:
        # A closing window may have no workspace; the status bar is shared by all.
        (context.workspace or bpy.data.workspaces[0]).status_text_set(None)
        return {"FINISHED"}
