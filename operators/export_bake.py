"""Write baked bodies to an Alembic or USD file, by Blender's own exporters."""

from pathlib import Path

import bpy
from bpy.props import EnumProperty, StringProperty

from ..blender_addon import baking
from . import polls

FORMATS = (
    ("ALEMBIC", "Alembic", "One .abc file with the positions of every frame"),
    ("USD", "USD", "One .usdc file with the positions of every frame"),
)
ENDINGS = {"ALEMBIC": (".abc",), "USD": (".usdc", ".usda", ".usd", ".usdz")}


def formats_here(operator: object = None, context: object = None) -> tuple[tuple[str, str, str], ...]:
    """Items callback: the formats that this build of Blender writes."""
    has = {"ALEMBIC": bpy.app.alembic.supported, "USD": bpy.app.usd.supported}
    return tuple(item for item in FORMATS if has[item[0]])


class SINEW_OT_export_bake(bpy.types.Operator):
    bl_idname = "sinew.export_bake"
    bl_label = "Export Alembic/USD"
    bl_description = (
        "Write the selected baked bodies, frame by frame, to a file for other programs. Modifiers after the "
    )
    bl_description += "bake are applied as in a render"
    bl_options = set()

    filepath: StringProperty(
        name="File Path", description="The file that is written", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(
        name="Filter",
        description="Files that the browser shows",
        default="*.abc;*.usd;*.usdc;*.usda;*.usdz",
        options={"HIDDEN"},
    )
    check_existing: bpy.props.BoolProperty(
        name="Check Existing", description="Ask before another file is overwritten", default=True, options={"HIDDEN"}
    )
    file_format: EnumProperty(
        name="Format", description="Alembic or USD, where this Blender can write it", items=formats_here
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not formats_here():
            cls.poll_message_set("This build of Blender has neither Alembic nor USD: use one from blender.org")
            return False
        if not any(baking.is_baked(obj) for obj in polls.chosen_bodies(context)):
            cls.poll_message_set("No selected body is baked")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        stem = bpy.path.clean_name(polls.chosen_bodies(context)[0].name)
        self.filepath = str(Path(bpy.path.abspath("//")) / stem) + ENDINGS[self.file_format][0]
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context: bpy.types.Context) -> bool:
        before = self.filepath
        self.filepath = str(self._path())
        return self.filepath != before

    def _path(self) -> Path:
        """The chosen file, with an ending of the format."""
        path = Path(bpy.path.abspath(self.filepath))
        endings = ENDINGS[self.file_format]
        known = path.suffix.lower() in (ending for group in ENDINGS.values() for ending in group)
        if path.suffix.lower() in endings:
            return path
        return path.with_suffix(endings[0]) if known else path.with_name(path.name + endings[0])

    def execute(self, context: bpy.types.Context) -> set[str]:
        bodies = [obj for obj in polls.chosen_bodies(context) if baking.is_baked(obj)]
        if not self.properties.is_property_set("file_format"):
            self._guess_format()
        path = self._path()
        try:
            first, last = baking.export(bodies, context, path, self.file_format)
        except RuntimeError as error:
            self.report({"ERROR"}, f"{path} cannot be written: {str(error).strip()}")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Sinew: frames {first}-{last} of {len(bodies)} bodies are in {path}")
        return {"FINISHED"}

    def _guess_format(self) -> None:
        """By the file's ending, where a script names only that."""
        suffix = Path(self.filepath).suffix.lower()
        for name, _, _ in formats_here():
            if suffix in ENDINGS[name]:
                self.file_format = name


CLASSES = (SINEW_OT_export_bake,)
