"""The two places where each panel stands."""

from __future__ import annotations

from typing import Any

import bpy

SIDEBAR = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "Sinew"}
PHYSICS = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"}
ROOTS = {"VIEW3D": "VIEW3D_PT_sinew", "PHYSICS": "PHYSICS_PT_sinew"}


class Subject:
    """Base of what a panel shows: only for objects that are simulated."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether the panel is there."""
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.sinew.enabled


def panels(subject: type, name: str, **options: Any) -> tuple[type, ...]:
    """Panel classes of a subject, one a place, under the body's panel."""
    made = []
    for prefix, place in (("VIEW3D", SIDEBAR), ("PHYSICS", PHYSICS)):
        attributes = {"bl_idname": f"{prefix}_PT_sinew_{name}", "bl_parent_id": ROOTS[prefix], **place, **options}
        made.append(type(attributes["bl_idname"], (subject, bpy.types.Panel), attributes))
    return tuple(made)


def properties_layout(panel: Any) -> Any:
    """The panel's layout in Blender's two-column style."""
    layout = panel.layout
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def wrapped(layout: Any, text: str, context: Any, icon: str = "NONE") -> None:
    """A text over as many lines as the region's width asks for."""
    column = layout.column(align=True)
    scale = context.preferences.system.ui_scale
    limit = max(20, int(context.region.width / (7.2 * scale)) - (8 if icon == "NONE" else 11))
    line, first = "", True
    for word in text.split():
        if line and len(line) + 1 + len(word) > limit:
            column.label(text=line, icon=icon if first else ("NONE" if icon == "NONE" else "BLANK1"))
            line, first = word, False
        else:
            line = f"{line} {word}".strip()
    column.label(text=line, icon=icon if first else ("NONE" if icon == "NONE" else "BLANK1"))
