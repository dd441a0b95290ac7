"""Decorator that makes a Blender operator from a function.

The function's name becomes the identifier, its docstring the tooltip, and a SinewError an error report.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import isfunction
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender_addon.bake import baking
from ..blender_addon.blend_data import item_lists
from ..blender_addon.objects import duplicate_result
from ..blender_addon.translations.translate import CONTEXT, translated
from ..blender_addon.window import esc_after_playback
from ..core.foundation.errors import SinewError
from . import polls

EDITS = {"REGISTER", "UNDO"}
"""Options of operators that change the scene. ``REGISTER`` lets Adjust Last Operation (F9) repeat an operator."""


def operator(
    label: str,
    ask: Callable[[Any], Any] | None = None,
    options: set[str] = frozenset(),
    keep: bool = False,
    **parts: Any,
) -> Callable[[Callable[[Any, Any, Any], set[str] | None]], type]:
    """Return a decorator that makes operator ``sinew.NAME`` from a function ``NAME(self, context, obj)``.

    ``obj`` is the active body, or None. A return value of None counts as ``{"FINISHED"}``.

    Parameters
    ----------
    label : label of the button
    ask : function of a context that raises :class:`polls.PollFailure` if the button is disabled
    options : ``bl_options``
    keep : also store a SinewError in the body's record, for display in the panel
    parts : properties of the operator by name, and the functions ``invoke``, ``check``, ``draw`` that Blender calls;
    ``description(context, properties)`` returns a tooltip that depends on the properties
    """

    def make(run: Callable[[Any, Any, Any], set[str] | None]) -> type:
        calls = {name: part for name, part in parts.items() if isfunction(part)}
        if ask is not None:
            calls["poll"] = polls.where(ask)
        if describe := parts.get("description"):
            calls["description"] = classmethod(lambda cls, context, properties: describe(context, properties))
        about = {
            "__module__": run.__module__,
            "__annotations__": {name: _in_context(part) for name, part in parts.items() if name not in calls},
            "bl_idname": f"sinew.{run.__name__}",
            "bl_label": label,
            "bl_description": " ".join((run.__doc__ or "").split()).removesuffix("."),  # Blender adds the full stop
            "bl_options": set(options),
            "bl_translation_context": CONTEXT,
            "execute": executed(run, keep),
        }
        return type(f"SINEW_OT_{run.__name__}", (bpy.types.Operator,), about | calls)

    return make


def _in_context(prop: Any) -> Any:
    """Return a property whose labels have Sinew's translation context."""
    return prop.function(**{"translation_context": CONTEXT, **prop.keywords}) if hasattr(prop, "keywords") else prop


def executed(run: Callable[[Any, Any, Any], set[str] | None], keep: bool) -> Callable[[Any, Any], set[str]]:
    """Return an operator's ``execute`` method, which calls ``run``.

    ``execute`` reports a SinewError. If ``keep`` is True, the body's record stores the error, too.
    """

    @wraps(run)
    def execute(self: Any, context: Any) -> set[str]:
        obj = duplicate_result.body_of(context)
        try:
            return run(self, context, obj) or {"FINISHED"}
        except SinewError as error:
            if keep and (noted := obj or getattr(context, "object", None)):
                baking.note_error(noted, error)
            return refused(self, error)

    return execute


def refused(operator: Any, error: Exception | str) -> set[str]:
    """Report an error and return ``{"CANCELLED"}``, the result of ``execute``."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


# -- shared parts ------------------------------------------------------------------------------------------------------


def _invoke_by_key(self: Any, context: Any, event: Any) -> set[str]:
    return {"PASS_THROUGH"} if self.by_key and esc_after_playback.takes_esc(context) else self.execute(context)


BY_ESC = {
    "by_key": BoolProperty(
        name="By Key",
        description="The key Esc was pressed. While an animation plays, Esc ends the playback, not the task",
        options={"HIDDEN", "SKIP_SAVE"},
    ),
    "invoke": _invoke_by_key,
}
"""Class members of an operator that ends a task by Esc. While an animation plays, Esc ends the playback, not the task.
"""


def ask_before_loss(self: Any, context: Any, event: Any, bodies: Iterable[Any], button: str) -> set[str]:
    """Execute the operator, after a confirmation if baked frames of ``bodies`` would be deleted.

    ``button`` is the label of the confirmation. Returns the result of ``invoke``.
    """
    lost, label = " ".join(filter(None, map(baking.replaced_words, bodies))), translated(button)
    if not lost:
        return self.execute(context)
    return context.window_manager.invoke_confirm(
        self, event, title=f"{label}?", message=lost, confirm_text=label, icon="WARNING"
    )


def file_parts(about: str, endings: str, path_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return the class members of an operator that writes a file.

    ``about``: tooltip of the file path. ``endings``: filter of the file browser, such as "*.blend". ``path_of(self)``
    returns the chosen path with its suffix.
    """

    def check(self: Any, context: Any) -> bool:
        before, self.filepath = self.filepath, path_of(self)
        return self.filepath != before

    return {
        "filepath": StringProperty(name="File Path", description=about, subtype="FILE_PATH", options={"SKIP_SAVE"}),
        "filter_glob": StringProperty(
            name="Filter", description="Files shown in the file browser", default=endings, options={"HIDDEN"}
        ),
        "check_existing": BoolProperty(
            name="Check Existing",
            description="Warn before an existing file is overwritten",
            default=True,
            options={"HIDDEN"},
        ),
        "check": check,
    }


def choose_file(operator: Any, context: Any, first: str) -> set[str]:
    """Open the file browser at the proposed path ``first``. Returns the result of ``invoke``."""
    operator.filepath = first
    context.window_manager.fileselect_add(operator)
    return {"RUNNING_MODAL"}


def list_operators(
    noun: str, label: str, ask: Callable[[Any], Any], order: str, stays: str = "; its vertex group stays"
) -> tuple[type, type]:
    """Return the operators that remove and move the active item of a body's list.

    Removing an item also removes the item's animation. ``noun``: name of one item in the code, such as "material"; the
    list's property is ``noun`` + "s". ``label``: name of one item in the interface. ``ask`` raises
    :class:`polls.PollFailure` if the operators are disabled. ``order``: end of the move operator's tooltip. ``stays``:
    end of the remove operator's tooltip.
    """

    def remove(self: Any, context: Any, obj: Any) -> None:
        item_lists.remove_active(obj, noun)

    def move(self: Any, context: Any, obj: Any) -> set[str] | None:
        moved = item_lists.move_active(obj, noun, -1 if self.direction == "UP" else 1)
        return None if moved else {"CANCELLED"}

    remove.__name__, remove.__doc__ = f"remove_{noun}", f"Remove the active {label.lower()}{stays}"
    move.__name__, move.__doc__ = f"move_{noun}", f"Move the active {label.lower()}{order}"
    direction = EnumProperty(
        name="Direction",
        description=f"Direction in which the active {noun} moves in the list",
        items=[("UP", "Up", "One position up"), ("DOWN", "Down", "One position down")],
    )
    return (
        operator(f"Remove {label}", ask, EDITS)(remove),
        operator(f"Move {label}", ask, EDITS, direction=direction)(move),
    )
