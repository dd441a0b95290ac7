"""Detection of Blender materials that the user drops onto a mesh object.

Blender has no callback for drops, but lists the operator of a drop when it updates the dependency graph afterwards. No
other assignment of a material is taken for a drop. By then, Blender has pushed the undo step of the drop. So an
operator applies the physical values in a second step, and undo and redo do not stop between the two.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import bpy

from ...core.foundation.errors import SinewError
from ..scene_import.settings_in import material_settings, shader_settings
from ..window import visibility

DROPS = frozenset({"OBJECT_OT_drop_named_material", "UI_OT_drop_material", "OUTLINER_OT_material_drop"})
"""Type names of Blender's operators that assign a dropped material."""
ABSENT, SHOWN, APPLIED = range(3)
"""States of a drop: the object does not show the material, it shows the material only, it also has the values."""


class Drop(NamedTuple):
    """Drop of a Blender material onto an object. Both are identified by their ``session_uid``."""

    object_uid: int
    shader_uid: int

    def pair(self) -> tuple[Any, Any] | None:
        """Return the object and the material, or None if the object does not show the material."""
        obj = visibility.object_of(self.object_uid)
        slots = [] if obj is None else [slot.material for slot in obj.material_slots if slot.material is not None]
        return next(((obj, shader) for shader in slots if shader.session_uid == self.shader_uid), None)

    def state(self) -> int:
        """Return ABSENT, SHOWN or APPLIED."""
        if (pair := self.pair()) is None:
            return ABSENT
        return APPLIED if _has_values(*pair) else SHOWN


_seen = 0
"""Address of the last drop's operator."""
_applied: set[Drop] = set()
_before: dict[Drop, int] = {}
"""States before the running undo or redo."""


def _has_values(obj: Any, shader: Any) -> bool:
    if not obj.sinew.enabled:
        return False
    try:
        wanted = replace(shader_settings(shader), name="")
        return any(replace(material_settings(m), name="") == wanted for m in obj.sinew.materials)
    except SinewError:
        return False


@bpy.app.handlers.persistent
def notice(scene: Any, depsgraph: Any) -> None:
    """Apply the values of a Blender material that was just dropped, in the next cycle of events (handler)."""
    global _seen
    operators = bpy.context.window_manager.operators
    last = operators[-1] if len(operators) else None
    if last is None or last.bl_idname not in DROPS:
        _seen = 0  # a later operator may have the address of a deleted one
    elif last.as_pointer() != _seen:
        _seen = last.as_pointer()
        drop = _drop_of(getattr(last.properties, "session_uid", 0), depsgraph)
        if drop is not None and drop.state() == SHOWN:
            bpy.app.timers.register(partial(apply, drop), first_interval=0.0)


def _drop_of(shader_uid: int, depsgraph: Any) -> Drop | None:
    """Return the drop of a physical Blender material onto an updated mesh object, or None.

    ``shader_uid`` is 0 if the operator does not name the material, as in the Outliner, where a drop adds a slot to the
    end. An object that shares its mesh with the target is updated, too, but its transform is not.
    """
    found = []
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and update.id.type == "MESH":
            slots = list(update.id.original.material_slots)
            for slot in slots if shader_uid else slots[-1:]:
                shader = slot.material
                if shader is not None and shader.sinew.is_physical and shader_uid in (0, shader.session_uid):
                    found.append((not update.is_updated_transform, update.id.original, shader))
    if not found:
        return None
    _, obj, shader = min(found, key=lambda each: (each[0], each[1] != bpy.context.object))
    return Drop(obj.session_uid, shader.session_uid)


def apply(drop: Drop) -> None:
    """Give an object the values of the Blender material that was dropped onto it, as one undo step. A refusal is shown
    as a popup.
    """
    if (pair := drop.pair()) is None:
        return
    obj, shader = pair
    with visibility.where_it_is_shown(obj):
        try:
            bpy.ops.sinew.apply_shader("EXEC_DEFAULT", True, object_name=obj.name, shader_name=shader.name_full)
        except RuntimeError as error:
            words = str(error).strip()
            _show(words.partition(": ")[2] or words)  # after "Error", in the language of the user
        else:
            _applied.add(drop)


def _show(words: str) -> None:
    if not bpy.app.background and bpy.context.window is not None:
        bpy.context.window_manager.popup_menu(
            lambda menu, context: menu.layout.label(text=words, translate=False), title="Sinew", icon="ERROR"
        )


@bpy.app.handlers.persistent
def note_states(*_: Any) -> None:
    """Record the states of the drops before an undo or redo (handler)."""
    _before.clear()
    _before.update((drop, drop.state()) for drop in _applied)


def _passing(before: int, step: str) -> Any:
    @bpy.app.handlers.persistent
    def pass_through(*_: Any) -> None:
        if any(state == before and drop.state() == SHOWN for drop, state in _before.items()):
            bpy.app.timers.register(partial(_repeat, step), first_interval=0.0)
        _before.clear()

    return pass_through


def _repeat(step: str) -> None:
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[0] if len(windows) else None):
        operator = getattr(bpy.ops.ed, step)
        if operator.poll():
            operator()


@bpy.app.handlers.persistent
def forget(*_: Any) -> None:
    """Forget the drops of the file that was open (handler)."""
    _applied.clear()


HANDLERS = (
    ("depsgraph_update_post", notice),
    ("undo_pre", note_states),
    ("undo_post", _passing(APPLIED, "undo")),
    ("redo_pre", note_states),
    ("redo_post", _passing(ABSENT, "redo")),
    ("load_pre", forget),
)
