"""Search for objects that depend on the shape of a baked object.

The bake of an object can be shown by a duplicate of the object. Objects that depend on the shape of the original object
then do not follow the bake.

Blender's dependency graph contains all such dependencies: modifiers, nested node inputs, hair on a surface, vertex
parents, constraints to vertex groups. After the shape is tagged as changed, the graph reports all objects that Blender
recomputes. The graph skips hidden objects and objects shown only as instances. Such objects are found as users of the
baked object.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blend_data.list_animation import animated_paths
from ..scene_import.animation_in import noted


def followers_of(obj: Any, carrier: Any, context: Any) -> list[str]:
    """Return the names of the objects that follow the original shape of ``obj`` instead of its bake.

    If ``obj`` is a collision object, the carrier is one, too. Objects that depend on both, such as cloth that collides
    with both, react to the bake and are omitted. Objects that depend only on the transform of ``obj`` are omitted as
    well, since the carrier has the same transform.

    ``carrier``: duplicate of ``obj`` that shows the bake.
    """
    layer = context.view_layer
    layer.update()
    led = _recomputed(obj, layer)
    if obj.collision is not None:
        led -= _recomputed(carrier, layer)
    users = _users_of(obj)
    on_faces = obj.children if obj.instance_type in ("VERTS", "FACES") else ()
    depsgraph = context.evaluated_depsgraph_get()
    bakes = {other.sinew.bake.result for other in bpy.data.objects}

    def follows(other: Any) -> bool:
        """Return True if ``other`` depends on the shape of the original object."""
        is_hidden = not other.evaluated_get(depsgraph).is_evaluated
        return (
            other.session_uid in led
            or other in on_faces
            or any(system.settings in users for system in other.particle_systems)
            or (is_hidden and other in users and (len(other.modifiers) > 0 or other.parent_type.startswith("VERTEX")))
        )

    own = {obj, carrier, *bakes}
    return [o.name for o in bpy.data.objects if o not in own and o.users_scene and o.data != obj.data and follows(o)]


def _recomputed(obj: Any, layer: Any) -> set[int]:
    """Return the ``session_uid`` of all objects that Blender recomputes when the shape of ``obj`` changes."""
    with noted() as changed:
        obj.update_tag(refresh={"DATA"})
        layer.update()
    return changed.transforms | changed.shapes


def _users_of(obj: Any) -> set[Any]:
    """Return the data-blocks that use an object, directly or through data-blocks other than objects and scenes."""
    users, found, ahead = bpy.data.user_map(), set(), [obj]
    while ahead:
        new = users.get(ahead.pop(), set()) - found - {obj}
        found |= new
        ahead += [block for block in new if not isinstance(block, bpy.types.Object | bpy.types.Scene)]
    return found


def left_behind_words(obj: Any, carrier: Any, kind: str, context: Any) -> str:
    """Return a warning if other objects follow the original shape of ``obj`` instead of its bake.

    A keyed visibility of ``obj`` is also reported. The text is empty without a problem.

    ``carrier``: object that shows the bake, a duplicate of ``obj`` or ``obj`` itself.
    ``kind``: type of the result, "KEYS" (shape keys), "NODES" (Geometry Nodes) or "CACHE" (Mesh Cache).
    """
    if carrier == obj:
        return ""
    words, names = [], followers_of(obj, carrier, context)
    if names:
        named = ", ".join(f"“{name}”" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        verb = "follows" if len(names) == 1 else "follow"
        words.append(f"{named} {verb} the hidden original, not its bake: use “{carrier.name}” as the target instead.")
    if animated_paths(obj) & {"hide_viewport", "hide_render"}:
        words.append(f"The visibility of “{obj.name}” is keyed, so the original is visible beside its bake.")
    if words and kind != "CACHE":
        words.append("With Result set to Mesh Cache, the object itself carries the bake.")
    return " ".join(words)
