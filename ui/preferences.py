"""Layout of the extension's preferences."""

from __future__ import annotations

from typing import Any

from ..blender_addon.window import restart
from .materials import library_button
from .panel_base import wrapped


def draw(preferences: Any, layout: Any, context: Any) -> None:
    """Draw the preferences."""
    wrapped(layout, restart.needed(), context, "ERROR")
    layout.use_property_split = True
    layout.prop(preferences, "compile_ahead")
    layout.prop(preferences, "python_executable")
    wrapped(layout, "Bakes run in a separate process: with this Python, or with Blender's own if none is set.", context)
    library_button(layout)
    wrapped(layout, "The asset library has physical materials to drop onto meshes, bodies and node groups.", context)
