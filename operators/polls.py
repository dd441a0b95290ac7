"""When a button may be pressed, and what a grey one says."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender_addon import bake_queue, choices, job, linked, live, live_scene, reading, restart, sources


def in_object_mode(operator: Any, context: Any) -> bool:
    """Whether objects can be added; not before a restart that an update asks for."""
    words = restart.needed() or ("" if context.mode == "OBJECT" else "Go to Object Mode first")
    if words:
        operator.poll_message_set(words)
    return not words


def mesh_object(operator: Any, context: Any) -> Any | None:
    """The active mesh object, or None with a reason: not one of another file, nor before a restart that an update asks
    for.
    """
    if words := restart.needed():
        operator.poll_message_set(words)
        return None
    obj = context.object
    if obj is None or obj.type != "MESH":
        operator.poll_message_set("Select a mesh object")
        return None
    if words := linked.linked_words(obj):
        operator.poll_message_set(f"{words} {linked.REMEDY}")
        return None
    return obj


def body(operator: Any, context: Any) -> Any | None:
    """The active object if Sinew is on for it, or the body whose bake it carries; or None with a reason."""
    if mesh_object(operator, context) is None:
        return None
    obj = sources.body_of(context)
    if obj is None:
        operator.poll_message_set("Press Sinew in the Physics tab first")
    return obj


def is_active(operator: Any, context: Any, obj: Any | None) -> bool:
    """Whether the body itself is active, to be edited: not the object that carries its bake."""
    if obj is not None and obj != context.object:
        operator.poll_message_set(f"This is the bake of “{obj.name}”: press Edit Source first")
    return obj is not None and obj == context.object


def body_in_edit_mode(operator: Any, context: Any) -> Any | None:
    """Like :func:`body`, and it is in Edit Mode."""
    obj = body(operator, context)
    if not is_active(operator, context, obj):
        return None
    if obj.mode != "EDIT":
        operator.poll_message_set("Go to Edit Mode first (Tab)")
        return None
    return obj


def chosen_bodies(context: Any) -> list[Any]:
    """The selected objects that Sinew is on for, and the active one, which comes first; a bake stands for its body."""
    objects = [context.object, *(context.selected_objects or ())]
    bodies = [sources.source_of(obj) or obj for obj in objects if obj is not None and obj.type == "MESH"]
    return list(dict.fromkeys(obj for obj in bodies if obj.sinew.enabled))


def idle_body(operator: Any, context: Any) -> Any | None:
    """Like :func:`body`, and no simulation is at work."""
    obj = body(operator, context)
    run = job.current()
    if obj is not None and run is not None:
        operator.poll_message_set(f"“{run.object_name}” is at work: stop it first (Esc)")
        return None
    if obj is not None and (read := reading.current()) is not None:
        operator.poll_message_set(f"The animation is read for “{read.object_name}”: wait, or stop it (Esc)")
        return None
    if obj is not None and bake_queue.is_at_work():
        operator.poll_message_set("Other bodies wait for their bake: stop it first (Esc)")
        return None
    return obj


def idle_body_outside_edit(operator: Any, context: Any) -> Any | None:
    """Like :func:`idle_body`, and the object is not in Edit Mode."""
    obj = idle_body(operator, context)
    if obj is not None and "EDIT" in (obj.mode, context.object.mode):
        operator.poll_message_set("Leave Edit Mode first (Tab)")
        return None
    return obj


def has_material(operator: Any, obj: Any | None) -> bool:
    """Whether the object has a physical material to act on."""
    return obj is not None and _has_some(operator, obj.sinew.materials, "Add a physical material first")


def has_spring(operator: Any, obj: Any | None) -> bool:
    """Whether the object has a spring to act on."""
    return obj is not None and _has_some(operator, obj.sinew.springs, "Add a spring first")


def _has_some(operator: Any, items: Any, words: str) -> bool:
    if not items:
        operator.poll_message_set(words)
    return len(items) > 0


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


def body_with_duplicate(operator: Any, context: Any) -> Any | None:
    """Like :func:`body`, in Object Mode, and a duplicate carries its bake and hides it."""
    obj = body(operator, context)
    if obj is not None and context.mode != "OBJECT":
        operator.poll_message_set("Go to Object Mode first")
        return None
    if obj is not None and live.session_of(obj) is not None:
        operator.poll_message_set("The body is being played with: stop it first (Esc)")
        return None
    if obj is not None and not sources.has_duplicate(obj):
        operator.poll_message_set("The bake is on the object itself, or there is none")
        return None
    return obj


def can_begin(operator: Any, context: Any, kept: str = "", baked: str = "") -> bool:
    """Whether the active object can be handed to a simulation.

    ``kept`` says why the .blend must be saved, ``baked`` why there must not be a bake, if so.
    """
    obj = idle_body_outside_edit(operator, context)
    if not has_material(operator, obj):
        return False
    if kept and not context.blend_data.filepath:
        operator.poll_message_set(f"{UNSAVED}: {kept}")
        return False
    if baked and obj.sinew.bake.status != "NONE":
        operator.poll_message_set(baked)
        return False
    return True


UNSAVED, KEPT = "Save the .blend first", "the baked frames are kept beside it"
NOT_LIVE = "Press Play in the panel Live first"
RENDERING = "Blender renders: wait until it is done"


def can_play(operator: Any, context: Any) -> bool:
    """Whether live mode can begin on the active object."""
    obj = idle_body(operator, context)
    if not has_material(operator, obj):
        return False
    reason = ""
    if bpy.app.background:
        reason = "Live mode needs a window: Blender runs without one"
    elif obj.mode != "OBJECT":
        reason = "Go to Object Mode first"
    elif not choices.in_subspace(obj.sinew.solver):
        reason = "Choose a subspace solver first (Solver)"
    elif live_scene.is_rendering():
        reason = RENDERING
    elif obj.sinew.bake.hides_original and not sources.is_edited(obj):
        reason = "The object is hidden by its bake: press Edit Source first"
    elif not obj.visible_get():
        reason = "The object is hidden: show it first (Alt H)"
    if reason:
        operator.poll_message_set(reason)
    return not reason


def is_live(operator: Any) -> bool:
    """Whether a body is being played with."""
    session = live.current()
    if session is None or not session.state.ready:
        operator.poll_message_set(NOT_LIVE if session is None else "The body is being prepared")
        return False
    return not is_rendering(operator)


def is_rendering(operator: Any) -> bool:
    """Whether live mode has to leave the scene to a render."""
    if live_scene.is_rendering():
        operator.poll_message_set(RENDERING)
        return True
    return False


def can_record(operator: Any) -> bool:
    """Whether what is played can become springs of the object's own vertices, and frames in a cache."""
    session = live.current()
    obj = session.object
    if not bpy.data.filepath:
        operator.poll_message_set(f"{UNSAVED}: what is recorded is kept beside it")
        return False
    if obj is None or len(session.job.surface.positions) != len(obj.data.vertices):
        operator.poll_message_set(
            "A modifier that is simulated changes the vertices, so grabs cannot become springs of the mesh: set "
            "Simulate to Mesh under Resolution"
        )
        return False
    return True
