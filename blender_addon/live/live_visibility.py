"""Visibility of the body of live mode in a 3D View.

Live mode hides the body's mesh and draws a preview instead. The preview appears only in the 3D Views that would show
the mesh if it were not hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .live_scene import Stage


def is_seen(obj: Any, stage: Stage, context: Any) -> bool:
    """Return True if a 3D View would show the object without live mode.

    Live mode hides the object. Scene, view layer, local view, collections and the filter for meshes are checked. Local
    Collections are not checked, since Blender does not expose their content.
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
    """Return True if the object is in the local view of a context.

    The context must have a local view, else Blender raises an error. Only the evaluated object stores this flag.
    """
    return obj.evaluated_get(context.view_layer.depsgraph).local_view_get(context.space_data)


def _is_in_a_shown_collection(name: str, layer: Any) -> bool:
    if layer.is_visible and name in layer.collection.objects:
        return True
    return any(_is_in_a_shown_collection(name, child) for child in layer.children)
