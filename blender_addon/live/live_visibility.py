"""Visibility of the live body in a viewport, regardless of its hidden mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .live_scene import Stage


def is_seen(obj: Any, stage: Stage, context: Any) -> bool:
    """Return True if the 3D View of a context shows the object: its scene, view layer and local view, with a visible
    collection and meshes switched on. Local Collections are ignored, since Blender does not expose their content.
    """
    space = context.space_data
    return (
        stage.is_shown_in(context)
        and context.region_data is not None
        and space.show_object_viewport_mesh
        and (space.local_view is None or _is_in_local_view(obj, context))
        and _is_in_a_shown_collection(obj.name, context.view_layer.layer_collection)
    )


def _is_in_local_view(obj: Any, context: Any) -> bool:
    """Return True if the object belongs to the local view of a context, which must have one: Blender raises otherwise.
    Only the evaluated copy has this state.
    """
    return obj.evaluated_get(context.view_layer.depsgraph).local_view_get(context.space_data)


def _is_in_a_shown_collection(name: str, layer: Any) -> bool:
    if layer.is_visible and name in layer.collection.objects:
        return True
    return any(_is_in_a_shown_collection(name, child) for child in layer.children)
