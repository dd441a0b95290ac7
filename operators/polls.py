"""When a button may be pressed, and what a grey one says."""

from __future__ import annotations

from typing import Any

from ..blender_addon import job


def mesh_object(operator: Any, context: Any) -> Any | None:
    """The active mesh object, or None with a reason."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        operator.poll_message_set("Select a mesh object")
        return None
    return obj


def body(operator: Any, context: Any) -> Any | None:
    """The active object if Sinew is on for it, or None with a reason."""
    obj = mesh_object(operator, context)
    if obj is not None and not obj.sinew.enabled:
        operator.poll_message_set("Press Sinew in the Physics tab first")
        return None
    return obj


def idle_body(operator: Any, context: Any) -> Any | None:
    """Like :func:`body`, and no simulation is at work."""
    obj = body(operator, context)
    run = job.current()
    if obj is not None and run is not None:
        operator.poll_message_set(f"“{run.object_name}” is at work: stop it first (Esc)")
        return None
    return obj


def idle_body_outside_edit(operator: Any, context: Any) -> Any | None:
    """Like :func:`idle_body`, and the object is not in Edit Mode."""
    obj = idle_body(operator, context)
    if obj is not None and obj.mode == "EDIT":
        operator.poll_message_set("Leave Edit Mode first (Tab)")
        return None
    return obj


def has_material(operator: Any, obj: Any | None) -> bool:
    """Whether the object has a physical material to act on."""
    if obj is None:
        return False
    if not obj.sinew.materials:
        operator.poll_message_set("Add a physical material first")
        return False
    return True


def has_spring(operator: Any, obj: Any | None) -> bool:
    """Whether the object has a spring to act on."""
    if obj is None:
        return False
    if not obj.sinew.springs:
        operator.poll_message_set("Add a spring first")
        return False
    return True


def selected_vertices(obj: Any) -> list[int]:
    """Indices of the vertices that are selected in Edit Mode; none in other modes."""
    if obj.mode != "EDIT":
        return []
    obj.update_from_editmode()
    return [vertex.index for vertex in obj.data.vertices if vertex.select]


def has_bake(operator: Any, context: Any) -> bool:
    """Whether the active object is a body with a bake."""
    obj = body(operator, context)
    if obj is not None and obj.sinew.bake.status == "NONE":
        operator.poll_message_set("There is no bake")
        return False
    return obj is not None


def active_material(obj: Any) -> Any:
    """The physical material that the list shows as active."""
    return obj.sinew.materials[min(obj.sinew.active_material, len(obj.sinew.materials) - 1)]


def can_begin(operator: Any, context: Any, kept: str, baked: str) -> bool:
    """Whether the active object can be handed to a simulation.

    ``kept`` says why the .blend must be saved, ``baked`` why there must not be a bake.
    """
    obj = idle_body_outside_edit(operator, context)
    if not has_material(operator, obj):
        return False
    if not context.blend_data.filepath:
        operator.poll_message_set(f"Save the .blend first: {kept}")
        return False
    if obj.sinew.bake.status != "NONE":
        operator.poll_message_set(baked)
        return False
    return True
