"""Operators made of functions: the name becomes the identifier, the docstring the tooltip, a SinewError a report."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import isfunction
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..blender_addon.bake import baking
from ..blender_addon.blend_data import item_lists
from ..blender_addon.objects import duplicate_result
from ..blender_addon.window import esc_after_playback
from ..core.foundation.errors import SinewError
from . import polls

EDITS = {"REGISTER", "UNDO"}
"""Options of operators that change the scene; with ``UNDO`` alone, Adjust Last Operation (F9) does not run them."""


def operator(
    label: str,
    ask: Callable[[Any], Any] | None = None,
    options: set[str] = frozenset(),
    keep: bool = False,
    **parts: Any,
) -> Callable[[Callable[[Any, Any, Any], set[str] | None]], type]:
    """Return a decorator that makes operator ``sinew.NAME`` from a function ``NAME(self, context, obj)``.

    ``obj`` is the body, or None; a function that returns None has finished.

    Parameters
    ----------
    label : label of the button
    ask : of a context, raises :class:`polls.PollFailure` if the button is disabled
    options : ``bl_options``
    keep : also store a SinewError for the body's panel
    parts : properties, and other callbacks of Blender: ``invoke``, ``check``, ``draw``; for tooltips that depend on
    properties ``description(context, properties)``
    """

    def make(run: Callable[[Any, Any, Any], set[str] | None]) -> type:
        calls = {name: part for name, part in parts.items() if isfunction(part)}
        if ask is not None:
            calls["poll"] = polls.where(ask)
        if describe := parts.get("description"):
            calls["description"] = classmethod(lambda cls, context, properties: describe(context, properties))
        about = {
            "__module__": run.__module__,
            "__annotations__": {name: part for name, part in parts.items() if name not in calls},
            "bl_idname": f"sinew.{run.__name__}",
            "bl_label": label,
            "bl_description": " ".join((run.__doc__ or "").split()).removesuffix("."),  # Blender adds the full stop
            "bl_options": set(options),
            "execute": executed(run, keep),
        }
        return type(f"SINEW_OT_{run.__name__}", (bpy.types.Operator,), about | calls)

    return make


def executed(run: Callable[[Any, Any, Any], set[str] | None], keep: bool) -> Callable[[Any, Any], set[str]]:
    """Return ``execute`` of an operator: a SinewError is reported and, with ``keep``, stored for the body's panel."""

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
    """Report why nothing was done; return the result of ``execute``."""
    operator.report({"ERROR"}, str(error))
    return {"CANCELLED"}


# -- shared parts ------------------------------------------------------------------------------------------------------


def _invoke_by_key(self: Any, context: Any, event: Any) -> set[str]:
    return {"PASS_THROUGH"} if self.by_key and esc_after_playback.takes_esc(context) else self.execute(context)


BY_ESC = {
    "by_key": BoolProperty(
        name="By Key", description="Called by Esc, which other tools may use", options={"HIDDEN", "SKIP_SAVE"}
    ),
    "invoke": _invoke_by_key,
}
"""Class members of operators that end something, run by a button or by a key that ends a playback first."""


def ask_before_loss(self: Any, context: Any, event: Any, bodies: Iterable[Any], button: str) -> set[str]:
    """Ask before baked frames of bodies are deleted, if there are any, and execute; return the result of ``invoke``."""
    lost = " ".join(filter(None, map(baking.replaced_words, bodies)))
    if not lost:
        return self.execute(context)
    return context.window_manager.invoke_confirm(
        self, event, title=f"{button}?", message=lost, confirm_text=button, icon="WARNING"
    )


def file_parts(about: str, endings: str, path_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return the class members of an operator that writes a file: ``path_of(self)`` is the chosen path with its
    suffix.
    """

    def check(self: Any, context: Any) -> bool:
        before, self.filepath = self.filepath, path_of(self)
        return self.filepath != before

    return {
        "filepath": StringProperty(name="File Path", description=about, subtype="FILE_PATH", options={"SKIP_SAVE"}),
        "filter_glob": StringProperty(
            name="Filter", description="Files that the browser shows", default=endings, options={"HIDDEN"}
        ),
        "check_existing": BoolProperty(
            name="Check Existing",
            description="Ask before another file is overwritten",
            default=True,
            options={"HIDDEN"},
        ),
        "check": check,
    }


def choose_file(operator: Any, context: Any, first: str) -> set[str]:
    """Open the file browser at a path; return the result of ``invoke``."""
    operator.filepath = first
    context.window_manager.fileselect_add(operator)
    return {"RUNNING_MODAL"}


def list_operators(
    noun: str, label: str, ask: Callable[[Any], Any], order: str, stays: str = "; its vertex group stays"
) -> tuple[type, type]:
    """Return the operators that remove and move the active ``noun`` of a body's list, with its animation; ``order``
    ends the tooltip of moving, ``stays`` that of removing.
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
