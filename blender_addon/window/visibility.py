"""Functions that find an object by ``session_uid``, find a window that shows an object, and state why the scene cannot
be changed now. Timers need these functions: a timer has no window, and objects may be deleted between two calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import bpy

from ..blend_data.names import CATEGORY


def object_of(uid: int, name: str = "") -> Any | None:
    """Return the object with the ``session_uid`` ``uid``, or None if it was deleted. The object with this ``name`` is
    checked first, which is faster.
    """
    named = bpy.data.objects.get(name)
    if named is not None and named.session_uid == uid:
        return named
    return next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)


def where_it_is_shown(obj: Any) -> AbstractContextManager[Any]:
    """Return a context manager in which Blender's context has a window that shows the object, if there is one. Timers
    have no window, and windows may show other scenes.
    """
    context = bpy.context
    if context.window is not None and obj.name in context.view_layer.objects:
        return nullcontext()
    window = window_with(obj, context.window_manager.windows)
    return nullcontext() if window is None else context.temp_override(window=window)


def window_with(obj: Any, windows: Iterable[Any]) -> Any | None:
    """Return the first window whose view layer contains the object. Otherwise return the first window, or None if there
    is no window.
    """
    windows = list(windows)
    return next((w for w in windows if w.view_layer.objects.get(obj.name) == obj), windows[0] if windows else None)


def is_panel_under_pointer(context: Any) -> bool:
    """Return True if the pointer is in a region with Sinew's panels, which show the progress of a bake."""
    area, region = context.area, context.region
    if area is None or region is None:
        return False
    if area.type == "VIEW_3D":
        return region.type == "UI" and region.active_panel_category == CATEGORY
    return area.type == "PROPERTIES" and region.type == "WINDOW" and area.spaces.active.context == "PHYSICS"


def in_the_way(obj: Any) -> str:
    """Return the step that the user has to take before a result can be applied to the scene; "" if none."""
    if obj.mode == "EDIT":
        return "Leave Edit Mode (Tab) to apply the result"
    if any(len(window.modal_operators) for window in bpy.context.window_manager.windows):
        return "Finish the running tool to apply the result"
    return ""
