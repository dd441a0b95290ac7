"""Export of baked bodies by Blender's own exporters: to Alembic and USD, and to glTF and FBX for game engines."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..blender_addon.bake import baking, engine_export
from ..blender_addon.scene_export.engine.engine_copies import EngineForm
from ..blender_addon.scene_export.engine.engine_file import FORMATS as ENGINE_FORMATS
from ..blender_addon.scene_export.engine.engine_file import has_exporter
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
    polls.disable_if(not baked_bodies(context), "No selected body is baked: press Bake first")
    polls.disable_if(context.mode != "OBJECT", polls.NOT_IN_OBJECT)


def baked_bodies(context: Any) -> list[Any]:
    """Return the selected bodies that show a bake."""
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
    bodies = baked_bodies(context)
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


# -- Send to Engine ----------------------------------------------------------------------------------------------------

FORMS = (
    ("TARGETS", "Morph Targets", "As few morph targets as the tolerance needs, with keyed weights from 0 to 1"),
    ("FRAMES", "One Target a Frame", "A morph target for each frame: exact at the frames, and a large file"),
    ("SKELETON", "Skeleton", "Rigid bones, four for each vertex at most, fitted to the frames"),
)
ABOUT = {
    "GLB": "One .glb file",
    "GLTF": "A .gltf file, a .bin file and the textures beside it",
    "FBX": "One .fbx file",
}


def engine_formats_here(operator: object = None, context: object = None) -> tuple[tuple[str, str, str], ...]:
    """Return the enum items of the file formats whose exporters are enabled."""
    return tuple((kind, ENGINE_FORMATS[kind].label, ABOUT[kind]) for kind in ENGINE_FORMATS if has_exporter(kind))


def _can_send(context: Any) -> None:
    polls.disable_if(
        not engine_formats_here(), "Enable the add-on glTF 2.0 format or FBX format in Preferences > Add-ons"
    )
    polls.disable_if(not baked_bodies(context), "No selected body is baked: press Bake first")
    polls.disable_if(context.mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.idle()


def _ask_where_to_send(self: Any, context: Any, event: Any) -> set[str]:
    stem = bpy.path.clean_name(polls.chosen_bodies(context)[0].name)
    return choose_file(
        self, context, str(Path(bpy.path.abspath("//")) / stem) + ENGINE_FORMATS[self.file_format].ending
    )


def _chosen_engine_path(self: Any) -> str:
    """Return the chosen path with the suffix of the file format."""
    path, ending = Path(bpy.path.abspath(self.filepath)), ENGINE_FORMATS[self.file_format].ending
    known = path.suffix.lower() in {each.ending for each in ENGINE_FORMATS.values()}
    return str(path.with_suffix(ending) if known else path.with_name(path.name + ending))


def _draw_engine(self: Any, context: Any) -> None:
    layout = self.layout
    layout.use_property_split = True
    layout.prop(self, "file_format")
    layout.prop(self, "form")
    column = layout.column(align=True)
    column.enabled = self.form != "FRAMES"
    column.prop(self, "count")
    row = column.row()
    row.enabled = self.count == 0
    row.prop(self, "tolerance")
    layout.prop(self, "root_motion")


@operator(
    "Send to Engine",
    _can_send,
    invoke=_ask_where_to_send,
    draw=_draw_engine,
    **file_parts("Path of the exported file", "*.glb;*.gltf;*.fbx", _chosen_engine_path),
    file_format=EnumProperty(
        name="Format", description="glTF or FBX, if Blender's add-on for it is enabled", items=engine_formats_here
    ),
    form=EnumProperty(name="Form", description="Form in which the engine plays the motion", items=FORMS),
    count=IntProperty(
        name="Count",
        description="Number of morph targets or bones, such as 16. 0 finds the number from the tolerance",
        min=0,
        max=1000,
        soft_max=128,
    ),
    tolerance=FloatProperty(
        name="Tolerance",
        description="Largest distance of a vertex from its baked position, as a share of the body's size, such as 1 %",
        subtype="PERCENTAGE",
        default=1.0,
        min=0.001,
        max=100.0,
        soft_max=10.0,
        precision=3,
    ),
    root_motion=BoolProperty(
        name="Root Motion",
        description="The exported object follows the body as a whole, such as a falling one, and targets or bones "
        "only deform it. Otherwise it keeps the animation of the object",
    ),
)
def send_to_engine(self: Any, context: Any, obj: Any) -> None:
    """Export all baked frames of the selected bodies to glTF or FBX, as morph targets or a skinned skeleton that
    game engines play. Modifiers after the bake are applied as in the viewport.
    """
    bodies = baked_bodies(context)
    if not self.properties.is_property_set("file_format"):
        _guess_engine_format(self)
    path = Path(_chosen_engine_path(self))
    form = EngineForm(self.form, self.tolerance / 100.0, self.count, self.root_motion)
    sent = engine_export.send(bodies, context, path, self.file_format, form)
    self.report({"INFO"}, sent.words(path, form))
    for words in engine_export.warnings(bodies, context.scene, sent, form):
        self.report({"WARNING"}, words)


def _guess_engine_format(self: Any) -> None:
    """Set the format from the suffix of the file path."""
    suffix = Path(self.filepath).suffix.lower()
    for kind, _, _ in engine_formats_here():
        if suffix == ENGINE_FORMATS[kind].ending:
            self.file_format = kind
