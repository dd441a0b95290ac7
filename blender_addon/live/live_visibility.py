"""Visibility of the live body in a viewport, apart from its hidden mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .live_scene import Stage


def is_seen(obj: Any, stage: Stage, context: Any) -> bool:
    """Return True if the 3D View of a context shows the object: its scene and view layer, a collection that is not
    hidden, meshes not switched off, and in a local view only what belongs to it. Local collections tell nobody what is
    in them.
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
    Only the evaluated copy knows.
    """
    return obj.evaluated_get(context.view_layer.depsgraph).local_view_get(context.space_data)


def _is_in_a_shown_collection(name: str, layer: Any) -> bool:
    if layer.is_visible and name in layer.collection.objects:
        return True
    return any(_is_in_a_shown_collection(name, child) for child in layer.children)
