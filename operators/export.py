"""Export of baked bodies to an Alembic or USD file, by Blender's own exporters."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty

from ..blender_addon.bake import baking
from ..blender_addon.translations.translate import translated
from . import polls
from .operator_class import choose_file, file_parts, operator

FORMATS = (
    ("ALEMBIC", "Alembic", "One .abc file with the positions of every frame"),
    ("USD", "USD", "One .usdc file with the positions of every frame"),
)
ENDINGS = {"ALEMBIC": (".abc",), "USD": (".usdc", ".usda", ".usd", ".usdz")}


def formats_here(operator: object = None, context: object = None) -> tuple[tuple[str, str, str], ...]:
    """Return the enum items of the file formats that this build of Blender can write."""
    has = {"ALEMBIC": bpy.app.alembic.supported, "USD": bpy.app.usd.supported}
    return tuple(item for item in FORMATS if has[item[0]])


def _can_export(context: Any) -> None:
    polls.disable_if(not formats_here(), "This build of Blender has neither Alembic nor USD: use one from blender.org")
    polls.disable_if(not _baked(context), "No selected body is baked: press Bake first")
    polls.disable_if(context.mode != "OBJECT", polls.NOT_IN_OBJECT)


def _baked(context: Any) -> list[Any]:
    return [obj for obj in polls.chosen_bodies(context) if baking.is_baked(obj)]


def _ask_where(self: Any, context: Any, event: Any) -> set[str]:
    stem = bpy.path.clean_name(polls.chosen_bodies(context)[0].name)
    return choose_file(self, context, str(Path(bpy.path.abspath("//")) / stem) + ENDINGS[self.file_format][0])


def _chosen_path(self: Any) -> str:
    """Return the chosen path with a suffix of the file format."""
    path = Path(bpy.path.abspath(self.filepath))
    endings = ENDINGS[self.file_format]
    known = path.suffix.lower() in (ending for group in ENDINGS.values() for ending in group)
    if path.suffix.lower() in endings:
        return str(path)
    return str(path.with_suffix(endings[0]) if known else path.with_name(path.name + endings[0]))


@operator(
    "Export Alembic/USD",
    _can_export,
    invoke=_ask_where,
    **file_parts("Path of the exported file", "*.abc;*.usd;*.usdc;*.usda;*.usdz", _chosen_path),
    file_format=EnumProperty(
        name="Format", description="Alembic or USD, if this build of Blender can write it", items=formats_here
    ),
)
def export_bake(self: Any, context: Any, obj: Any) -> None:
    """Export all baked frames of the selected bodies to one file for other programs. Modifiers after
    the bake in the modifier stack are applied as in a render.
    """
    bodies = _baked(context)
    if not self.properties.is_property_set("file_format"):
        _guess_format(self)
    path = Path(_chosen_path(self))
    first, last = baking.export(bodies, context, path, self.file_format)
    self.report(
        {"INFO"},
        translated(
            "Sinew: frames {first}-{last} of {count} bodies are in {path}",
            first=first,
            last=last,
            count=len(bodies),
            path=path,
        ),
    )


def _guess_format(self: Any) -> None:
    """Set the format from the suffix of the file path."""
    suffix = Path(self.filepath).suffix.lower()
    for name, _, _ in formats_here():
        if suffix in ENDINGS[name]:
            self.file_format = name
