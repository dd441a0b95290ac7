"""Texts of the interface: labels and tooltips of registered classes and properties, and literal texts in the source.

The functions need the ``bpy`` module and the registered add-on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .project import ROOT

FOLDERS = ("blender_addon", "operators", "ui")
NOT_SHOWN = ("blender_addon/command/", "blender_addon/package/", "blender_addon/translations/")
"""Folders of files without texts of the interface."""
INTERNAL = {"SinewBake", "SinewVibration", "SinewPickedVertex", "SinewPicks", "SinewSkeleton"}
"""Property groups that no panel shows."""
NOT_DRAWN = ("rna_type", "bl_idname", "active_")
"""Beginnings of the names of properties that no panel draws by their label."""
KEPT = {"X", "Y", "Z", "Pa", "kPa", "MPa", "GPa", "Sinew"}
"""Texts that are the same in all languages."""
ARGUMENTS = {"translated": 0, "marked": 0, "wrapped": 1, "disable_if": 1, "refuse": 0, "PollFailure": 0, "refused": 1,
             "report": 1, "ask_before_loss": 4}  # fmt: skip
"""Functions that show or translate a text, and the position of the text among their arguments."""
KEYWORDS = {"text", "heading", "title", "confirm_text"}
"""Keyword arguments of Blender's layouts that are texts."""


def texts() -> dict[str, str]:
    """Return all texts to translate, each with one class or file that shows it, sorted by these."""
    found: dict[str, str] = {}
    for source, text in [*_registered(), *_literals()]:
        if text not in KEPT and len(re.findall(r"[^\W\d_]", re.sub(r"\{[^{}]*\}", "", text))) > 1:
            found.setdefault(text, source)
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))


def untranslatable() -> list[str]:
    """Return file, line and code of f-strings that are shown, and that no catalogue can contain."""
    return [
        f"{source}:{value.lineno}: {ast.unparse(value)}"
        for source, call in _calls()
        for value in _shown(call)
        if isinstance(value, ast.JoinedStr)
        and any(isinstance(part, ast.Constant) and re.search(r"[^\W\d_]{2}", part.value) for part in value.values)
    ]


# -- registered classes ------------------------------------------------------------------------------------------------


def _registered() -> Iterator[tuple[str, str]]:
    import bpy
    from sinew import operators, ui
    from sinew.blender_addon.properties import overlay_properties, preferences, properties
    from sinew.ui.pick_tool import PickTool

    for group in (*properties.CLASSES, overlay_properties.SinewOverlays, preferences.SinewPreferences):
        if group.__name__ not in INTERNAL:
            yield from _of_properties(group.__name__, group.bl_rna)
    for cls in operators.CLASSES:
        yield from _of_class(cls)
        if not issubclass(cls, bpy.types.Macro):
            yield from _of_properties(cls.__name__, getattr(bpy.ops.sinew, cls.bl_idname[6:]).get_rna_type())
    for cls in (*ui.CLASSES, PickTool):
        yield from _of_class(cls)
    yield from _of_menus()


def _of_class(cls: type) -> Iterator[tuple[str, str]]:
    for name in ("bl_label", "bl_description"):
        yield cls.__name__, getattr(cls, name, "")


def _of_properties(owner: str, rna: Any) -> Iterator[tuple[str, str]]:
    import bpy

    inherited = bpy.types.PropertyGroup.bl_rna.properties["name"].description
    for prop in rna.properties:
        if prop.is_hidden or prop.identifier.startswith(NOT_DRAWN) or prop.description == inherited:
            continue
        if prop.type == "COLLECTION" or (
            prop.type == "POINTER" and issubclass(type(prop.fixed_type), bpy.types.PropertyGroup)
        ):
            continue
        source = f"{owner}.{prop.identifier}"
        yield source, prop.name
        yield source, prop.description
        for item in prop.enum_items if prop.type == "ENUM" else ():
            yield source, item.name
            yield source, item.description


def _of_menus() -> Iterator[tuple[str, str]]:
    """Yield the texts of menus that are made when they open. Blender lists none of them."""
    from sinew.blender_addon.properties import choices
    from sinew.blender_addon.properties.field_weights import KINDS
    from sinew.core.mechanics.fibres.presets import PRESETS as MUSCLES
    from sinew.core.mechanics.materials.presets import PRESETS as MATERIALS
    from sinew.core.numerics.linear_solvers.registry import LINEAR_SOLVERS

    menus = (choices.energy_items, choices.fibre_law_items, choices.integrator_items, choices.match_method_items,
             choices.solver_items, choices.compared_solver_items)  # fmt: skip
    for menu in menus:
        for _name, label, description, _number in menu():
            yield f"choices.{menu.__name__}", label
            if label != "Automatic":  # a template
                yield f"choices.{menu.__name__}", description
    for label, description in LINEAR_SOLVERS.values():
        yield from (("choices.linear_solver_items", label), ("choices.linear_solver_items", description))
    for preset in MUSCLES:
        yield from (("choices.muscle_preset_items", preset.name), ("choices.muscle_preset_items", preset.words))
    for preset in MATERIALS:
        yield "choices.preset_items", preset.name
    for kind in KINDS.values():
        yield "field_weights.KINDS", kind.reason


# -- literal texts -----------------------------------------------------------------------------------------------------


def _literals() -> Iterator[tuple[str, str]]:
    for source, call in _calls():
        for value in _shown(call):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield source, value.value


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in _sources():
        source = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield source, node


def _sources() -> list[Path]:
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return [path for path in paths if not path.relative_to(ROOT).as_posix().startswith(NOT_SHOWN)]


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the texts among the arguments of a call, from each branch of a conditional expression."""
    if any(keyword.arg == "translate" and getattr(keyword.value, "value", 1) is False for keyword in call.keywords):
        return
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    position = ARGUMENTS.get(name, len(call.args))
    values = [*call.args[position : position + 1], *(each.value for each in call.keywords if each.arg in KEYWORDS)]
    while values:
        value = values.pop()
        if isinstance(value, ast.IfExp):
            values += [value.body, value.orelse]
        else:
            yield value
