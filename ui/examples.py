"""Menu of example scenes, in the 3D View's menu Add."""

from typing import Any

import bpy


class SINEW_MT_examples(bpy.types.Menu):
    bl_label = "Sinew Examples"

    def draw(self, context: Any) -> None:
        self.layout.operator_enum("sinew.add_example", "example")


def add_menu(self: Any, context: Any) -> None:
    """Draw the entry of the examples in the menu Add."""
    self.layout.menu("SINEW_MT_examples", icon="PHYSICS")
