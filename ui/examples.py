"""Scenes to begin with, in the 3D View's menu Add."""

from typing import Any

import bpy


class SINEW_MT_examples(bpy.types.Menu):
    bl_label = "Sinew Examples"

    def draw(self, context: Any) -> None:
        self.layout.operator_enum("sinew.add_example", "example")


def add_menu(self: Any, context: Any) -> None:
    """The entry among what Blender can add."""
    self.layout.menu("SINEW_MT_examples", icon="PHYSICS")
