"""Search for objects and for windows that show them.

Timers need this search: a timer has no window, and objects may be deleted between two calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import bpy

from ..blend_data.names import CATEGORY
from ..translations.translate import translated


def object_of(uid: int, name: str = "") -> Any | None:
    """Return the object with the ``session_uid`` ``uid``, or None if it was deleted. A correct ``name`` saves time."""
    named = bpy.data.objects.get(name)
    if named is not None and named.session_uid == uid:
        return named
    return next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)


def where_it_is_shown(obj: Any) -> AbstractContextManager[Any]:
    """Return a context in which Blender's context has a window that shows the object, if there is one."""
    context = bpy.context
    if context.window is not None and obj.name in context.view_layer.objects:
        return nullcontext()
    window = window_with(obj, context.window_manager.windows)
    return nullcontext() if window is None else context.temp_override(window=window)


def window_with(obj: Any, windows: Iterable[Any]) -> Any | None:
    """Return the first window whose view layer contains the object.

    Without such a window, returns the first window, or None if there is no window.
    """
    windows = list(windows)
    return next((w for w in windows if w.view_layer.objects.get(obj.name) == obj), windows[0] if windows else None)


def is_panel_under_pointer(context: Any) -> bool:
    """Return True if the pointer is in a region with Sinew's panels."""
    area, region = context.area, context.region
    if area is None or region is None:
        return False
    if area.type == "VIEW_3D":
        return region.type == "UI" and region.active_panel_category == CATEGORY
    return area.type == "PROPERTIES" and region.type == "WINDOW" and area.spaces.active.context == "PHYSICS"


def in_the_way(obj: Any) -> str:
    """Return the step that the user must take before a result can be applied. The text is empty if none is needed."""
    if obj.mode == "EDIT":
        return translated("Leave Edit Mode (Tab) to apply the result")
    if any(len(window.modal_operators) for window in bpy.context.window_manager.windows):
        return translated("Finish the running tool to apply the result")
    return ""
