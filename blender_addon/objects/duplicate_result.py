"""A body and the duplicate that carries its bake: which of them is meant, and which is shown."""

from __future__ import annotations

from typing import Any

import bpy

from .linked import out_of_view


def source_of(result: Any) -> Any | None:
    """The object whose bake ``result`` carries, or None (cheap for what is no bake: every panel asks)."""
    name = result.sinew.bake_of
    if not name:
        return None
    named = bpy.data.objects.get(name)
    if named is not None and named.sinew.bake.result == result:
        return named
    return next((obj for obj in bpy.data.objects if obj.sinew.bake.result == result), None)  # it was renamed


def body_of(context: Any) -> Any | None:
    """The body that panels and buttons are about: the active mesh where Sinew is on for it, or the source of the bake
    that it carries; else None.
    """
    return resolve_body(getattr(context, "object", None))  # a timer's context has none


def resolve_body(obj: Any | None) -> Any | None:
    """:func:`body_of` where this object is active."""
    if obj is None or obj.type != "MESH":
        return None
    return obj if obj.sinew.enabled else source_of(obj)


def is_edited(obj: Any) -> bool:
    """Return True if a body is shown in the place of the duplicate that carries its bake."""
    return has_duplicate(obj) and not obj.hide_viewport


def has_duplicate(obj: Any) -> bool:
    """Return True if a duplicate carries the bake of a body, and hides it."""
    record = obj.sinew.bake
    return record.hides_original and record.result is not None and bool(record.result.users_scene)


def show_source(obj: Any, context: Any) -> None:
    """Show a body in the place of its bake, for edits; renders go on showing the bake. MeshError where it cannot be
    seen.
    """
    _swap(obj, obj.sinew.bake.result, context)


def show_bake(obj: Any, context: Any) -> None:
    """The reverse of :func:`show_source`."""
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
    """The local views in which an object is seen, as the view layer and the space. Only the evaluated copy knows."""
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
    """Have an object seen in local views, as :func:`local_views_of` gives them."""
    for layer, space in views:
        if layer.objects.get(obj.name) == obj:
            obj.local_view_set(space, True)


def make_active(obj: Any, layer: Any) -> None:
    """Have an object of a view layer active, and it alone selected."""
    for other in layer.objects:
        if other.select_get(view_layer=layer) and other != obj:
            other.select_set(False, view_layer=layer)
    layer.objects.active = obj
    obj.select_set(True, view_layer=layer)
