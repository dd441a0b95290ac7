"""Add-on preferences. No ``from __future__ import annotations``: Blender reads the annotations as values."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ..blend_data.names import PACKAGE
from ..jobs import compiling


class SinewPreferences(bpy.types.AddonPreferences):
    """Preferences of the extension on this computer."""

    bl_idname = PACKAGE

    python_executable: StringProperty(
        name="Python",
        description="Python that runs the simulation, of the same version as Blender's; empty: Blender's own Python",
        subtype="FILE_PATH",
    )

    compile_ahead: BoolProperty(
        name="Compile in Background",
        description="After an installation, compile the simulation code in the background while nothing is baked",
        default=True,
        update=compiling.toggled,
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the preferences (called by Blender)."""
        from ...ui import preferences

        preferences.draw(self, self.layout, context)


CLASSES = (SinewPreferences,)
