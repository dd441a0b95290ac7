"""Conditions of operators, and the reasons that disabled buttons show."""

from collections.abc import Callable
from typing import Any

import bpy

from ..blender_addon.jobs import job_queue
from ..blender_addon.live import live, live_scene
from ..blender_addon.objects import duplicate_result, linked
from ..blender_addon.translations.translate import marked, translated
from ..blender_addon.window import restart

KEPT = marked("baked frames are stored beside the .blend")
IN_EDIT = marked("Leave Edit Mode first (Tab)")
NOT_IN_OBJECT = marked("Go to Object Mode first")
NOT_LIVE = marked("Press Play in the panel Live first")
RENDERING = marked("Blender renders: wait until it is done")


class PollFailure(Exception):
    """Reason why a button is disabled. The text is empty if the button's panel already shows the reason."""


def where(ask: Callable[[Any], Any]) -> classmethod:
    """Return an operator's ``poll``. ``poll`` returns False if ``ask(context)`` raises :class:`PollFailure`."""

    def poll(cls: Any, context: Any) -> bool:
        try:
            ask(context)
        except PollFailure as disabled:
            if words := str(disabled):
                cls.poll_message_set(translated(words))
            return False
        return True

    return classmethod(poll)


def unsaved(kept: str) -> str:
    """Return the reason to save the .blend first; ``kept`` names the files that are stored beside it."""
    return f"{translated('Save the .blend first')}: {translated(kept)}"


def refuse(words: str) -> None:
    """Raise :class:`PollFailure` with the reason ``words``, unless ``words`` is empty."""
    disable_if(words, words)


def disable_if(is_so: Any, words: str) -> None:
    """Raise :class:`PollFailure` with the reason ``words`` if ``is_so`` is true."""
    if is_so:
        raise PollFailure(words)


def in_object_mode(context: Any) -> None:
    """Raise PollFailure if Blender is not in Object Mode, or if an update of Sinew needs a restart."""
    refuse(restart.needed() or ("" if context.mode == "OBJECT" else NOT_IN_OBJECT))


def mesh_object(context: Any) -> Any:
    """Return the active mesh object.

    Raises PollFailure if the active object is linked or not a mesh, or if an update of Sinew needs a restart.
    """
    refuse(restart.needed())
    obj = context.object
    disable_if(obj is None or obj.type != "MESH", "Select a mesh object")
    refuse(linked.linked_words(obj))
    return obj


def body(context: Any) -> Any:
    """Return the active body, or the body whose bake the active object shows. Raises PollFailure without a body."""
    mesh_object(context)
    obj = duplicate_result.body_of(context)
    disable_if(obj is None, "Press Sinew in the Physics tab first")
    return obj


def active(context: Any, obj: Any) -> Any:
    """Return the body ``obj``. Raises PollFailure if the active object is another object or the mesh is linked.

    Another active object is the duplicate that shows the body's bake.
    """
    disable_if(
        obj != context.object,
        translated("This object shows the bake of “{name}”: press Edit Source first", name=obj.name),
    )
    return with_own_mesh(obj)


def with_own_mesh(obj: Any) -> Any:
    """Return the object. Raises PollFailure if the object's mesh is linked, since edits of that mesh are not saved."""
    disable_if(linked.has_linked_mesh(obj), linked.MESH_ELSEWHERE)
    return obj


def body_in_edit_mode(context: Any) -> Any:
    """Return the active body. Raises PollFailure unless the body is in Edit Mode."""
    obj = active(context, body(context))
    disable_if(obj.mode != "EDIT", "Go to Edit Mode first (Tab)")
    return obj


def chosen_bodies(context: Any) -> list[Any]:
    """Return the selected bodies, the active body first. A duplicate that shows a bake counts as the baked body."""
    objects = [context.object, *(context.selected_objects or ())]
    bodies = [duplicate_result.source_of(obj) or obj for obj in objects if obj is not None and obj.type == "MESH"]
    return list(dict.fromkeys(obj for obj in bodies if obj.sinew.enabled))


def idle_body(context: Any) -> Any:
    """Return the active body. Raises PollFailure if a task is running."""
    obj = body(context)
    idle()
    return obj


def idle() -> None:
    """Raise PollFailure if a task is running, waiting, or reading the scene."""
    if words := job_queue.running_words():
        raise PollFailure(words)


def idle_body_outside_edit(context: Any) -> Any:
    """Return the active body. Raises PollFailure if a task is running or Edit Mode is active."""
    obj = idle_body(context)
    disable_if("EDIT" in (obj.mode, context.object.mode), IN_EDIT)
    return obj


def with_material(obj: Any) -> Any:
    """Return the object. Raises PollFailure if the object has no physical material."""
    disable_if(not obj.sinew.materials, "Add a physical material first")
    return obj


def body_with_material(context: Any) -> Any:
    """Return the active body. Raises PollFailure if the body has no physical material."""
    return with_material(body(context))


def body_with_spring(context: Any) -> Any:
    """Return the active body. Raises PollFailure if the body has no spring."""
    obj = body(context)
    disable_if(not obj.sinew.springs, "Add a spring first")
    return obj


def body_with_pair(context: Any) -> Any:
    """Return the active body. Raises PollFailure if the body has no pair settings."""
    obj = body(context)
    disable_if(not obj.sinew.pairs, "Add a pair first")
    return obj


def body_with_tie(context: Any) -> Any:
    """Return the active body. Raises PollFailure if the body has no tie."""
    obj = body(context)
    disable_if(not obj.sinew.ties, "Add a tie first")
    return obj


def selected_vertices(obj: Any) -> list[int]:
    """Return the indices of the vertices selected in Edit Mode. The list is empty in other modes."""
    if obj.mode != "EDIT":
        return []
    obj.update_from_editmode()
    return [vertex.index for vertex in obj.data.vertices if vertex.select]


def with_bake(obj: Any) -> Any:
    """Return the object. Raises PollFailure if the object has no bake."""
    disable_if(obj.sinew.bake.status == "NONE", "There is no bake: press Bake first")
    return obj


def baked_body(context: Any) -> Any:
    """Return the active body. Raises PollFailure if the body has no bake."""
    return with_bake(body(context))


def not_simulated(obj: Any) -> Any:
    """Return the object. Raises PollFailure if the object is being simulated."""
    disable_if(job_queue.current(obj.session_uid) is not None, "The body is being simulated: stop it first")
    return obj


def body_with_duplicate(context: Any) -> Any:
    """Return the active body.

    Raises PollFailure if no duplicate shows the body's bake, if Blender is not in Object Mode, or if the body is in
    live mode.
    """
    obj = body(context)
    disable_if(context.mode != "OBJECT", NOT_IN_OBJECT)
    disable_if(live.session_of(obj) is not None, "The body is in live mode: press Stop first (Esc)")
    disable_if(not duplicate_result.has_duplicate(obj), "The bake is on the object itself, or there is none")
    return obj


def can_begin(context: Any, kept: str = "") -> Any:
    """Return the active body. Raises PollFailure if the body cannot be simulated now.

    ``kept``: reason why the .blend must be saved, such as :data:`KEPT`. If ``kept`` is not empty, a .blend that was
    never saved raises PollFailure with this reason.
    """
    obj = with_material(idle_body_outside_edit(context))
    disable_if(kept and not context.blend_data.filepath, unsaved(kept))
    return obj


def can_play(context: Any) -> None:
    """Raise PollFailure if live mode cannot begin on the active body."""
    obj = with_material(idle_body(context))
    disable_if(bpy.app.background, "Live mode needs a window, but Blender runs in the background")
    disable_if(obj.mode != "OBJECT", NOT_IN_OBJECT)
    not_rendering()
    disable_if(
        obj.sinew.bake.hides_original and not duplicate_result.is_edited(obj),
        "The object is hidden by its bake: press Edit Source first",
    )
    disable_if(not obj.visible_get(), "The object is hidden: show it first (Alt H)")


def is_live(_context: Any = None) -> Any:
    """Return the running live session. Raises PollFailure if no session is ready, or while Blender renders."""
    session = live.current()
    disable_if(
        session is None or not session.state.ready, NOT_LIVE if session is None else "Wait until live mode is ready"
    )
    not_rendering()
    return session


def not_rendering() -> None:
    """Raise PollFailure while Blender renders."""
    refuse(RENDERING if live_scene.is_rendering() else "")


def can_record(_context: Any = None) -> None:
    """Raise PollFailure if live mode cannot record now.

    Recording stores mouse grabs as springs, and frames as a bake.
    """
    session = is_live()
    obj = session.object
    disable_if(not bpy.data.filepath, unsaved(marked("recorded frames are stored beside it")))
    if obj is not None:
        with_own_mesh(obj)
    if obj is None or len(session.job.body.surface.positions) != len(obj.data.vertices):
        raise PollFailure(
            "Recording turns grabs into springs of mesh vertices, but a simulated modifier changes the number of "
            "vertices: set Simulate to Mesh under Resolution"
        )
