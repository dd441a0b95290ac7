"""Bodies and the duplicates that display their bakes."""

from __future__ import annotations

from typing import Any

import bpy

from .linked import out_of_view


def source_of(result: Any) -> Any | None:
    """Return the body whose bake the object ``result`` displays, or None."""
    name = result.sinew.bake_of
    if not name:
        return None
    named = bpy.data.objects.get(name)
    if named is not None and named.sinew.bake.result == result:
        return named
    return next((obj for obj in bpy.data.objects if obj.sinew.bake.result == result), None)  # renamed


def body_of(context: Any) -> Any | None:
    """Return the body that panels and buttons act on, or None.

    This is the active object if it is a body, else the body whose bake the active object displays.
    """
    return resolve_body(getattr(context, "object", None))  # a timer's context has none


def resolve_body(obj: Any | None) -> Any | None:
    """Return ``obj`` if it is a body, or the body whose bake ``obj`` displays. Otherwise, returns None."""
    if obj is None or obj.type != "MESH":
        return None
    return obj if obj.sinew.enabled else source_of(obj)


def is_edited(obj: Any) -> bool:
    """Return True if viewports show a body for edits, instead of the duplicate that displays its bake."""
    return has_duplicate(obj) and not obj.hide_viewport


def has_duplicate(obj: Any) -> bool:
    """Return True if a duplicate in a scene displays the bake of a body."""
    record = obj.sinew.bake
    return record.hides_original and record.result is not None and bool(record.result.users_scene)


def show_source(obj: Any, context: Any) -> None:
    """Show a body in viewports instead of the duplicate with its bake. Renders still show the bake.

    Raises MeshError if the body is not in the view layer.
    """
    _swap(obj, obj.sinew.bake.result, context)


def show_bake(obj: Any, context: Any) -> None:
    """Show the duplicate with a body's bake in viewports, instead of the body.

    Raises MeshError if the duplicate is not in the view layer.
    """
    _swap(obj.sinew.bake.result, obj, context)


def _swap(shown: Any, hidden: Any, context: Any) -> None:
    layer = context.view_layer
    if layer.objects.get(shown.name) != shown:
        raise out_of_view(f"“{shown.name}”")
    show_in_local_views(shown, local_views_of(hidden))
    hidden.hide_viewport, shown.hide_viewport = True, False
    shown.hide_set(False, view_layer=layer)
    make_active(shown, layer)


def local_views_of(obj: Any) -> list[tuple[Any, Any]]:
    """Return the local views that show an object, as pairs of view layer and 3D View space."""
    found = []
    for window in bpy.context.window_manager.windows:
        layer = window.view_layer
        spaces = [area.spaces.active for area in window.screen.areas if area.type == "VIEW_3D"]
        local = [space for space in spaces if space.local_view is not None]
        if local and layer.objects.get(obj.name) == obj:
            seen = obj.evaluated_get(layer.depsgraph)
            found += [(layer, space) for space in local if seen.local_view_get(space)]
    return found


def show_in_local_views(obj: Any, views: list[tuple[Any, Any]]) -> None:
    """Add an object to local views, given as pairs of view layer and 3D View space."""
    for layer, space in views:
        if layer.objects.get(obj.name) == obj:
            obj.local_view_set(space, True)


def make_active(obj: Any, layer: Any) -> None:
    """Make an object the active and only selected one of a view layer."""
    for other in layer.objects:
        if other.select_get(view_layer=layer) and other != obj:
            other.select_set(False, view_layer=layer)
    layer.objects.active = obj
    obj.select_set(True, view_layer=layer)
