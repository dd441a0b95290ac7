"""Example scenes in the Add menu of the 3D View."""

from typing import Any

import bpy

from ..blender_addon.translations.translate import CONTEXT


class SINEW_MT_examples(bpy.types.Menu):
    bl_label = "Sinew Examples"
    bl_translation_context = CONTEXT

    def draw(self, context: Any) -> None:
        self.layout.operator_enum("sinew.add_example", "example")


def add_menu(self: Any, context: Any) -> None:
    """Draw the entry *Sinew Examples* in the Add menu."""
    self.layout.menu("SINEW_MT_examples", icon="PHYSICS")
