"""Ties and Springs panels: what holds the body to other bodies and colliders, and what pulls its vertices. Cuts panel:
what divides it.
"""

from typing import Any

import bpy

from ..blender_addon.blend_data import item_lists
from ..blender_addon.cuts import cut_state
from ..blender_addon.objects import contact_groups
from ..blender_addon.setup import unit_format
from ..blender_addon.translations.translate import translated
from .panel_base import (
    CLOSED,
    ItemList,
    draw_keyed,
    draw_list,
    draw_properties,
    draw_reasons,
    keyed_column,
    panel,
    wrapped,
)


class SINEW_UL_ties(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_ties"

    def draw_row(self, row: Any, item: Any) -> None:
        name = item.other.name if item.other else item.name
        icon = {"glue": "LINKED", "slide": "MOD_SHRINKWRAP"}[item.kind] if item.other else "ERROR"
        row.label(text=name or "(none)", icon=icon, translate=False)


@panel("Ties", bl_options=CLOSED)
def draw_ties(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of ties, and the settings of the active tie."""
    draw_list(layout, obj.sinew, "tie")
    tie = item_lists.active_item(obj.sinew, "tie")
    if tie is None:
        wrapped(layout, "Add a tie (+) to glue the body to another one, or to let it slide on it.", context, "INFO")
        return
    column = keyed_column(layout)
    column.prop(tie, "other")
    column.prop(tie, "kind")
    column.prop(tie, "vertex_group", icon="GROUP_VERTEX")
    column.prop(tie, "distance")
    draw_keyed(column, tie, "strength")
    row = column.row(heading="Break (Pa)")
    row.prop(tie, "use_breaking", text="")
    value = row.row()
    value.active = tie.use_breaking
    value.prop(tie, "breaking_stress", text="")
    wrapped(layout, contact_groups.idle_tie_words(tie), context, "ERROR")
    if others := [each for each in contact_groups.group_of(obj, context) if each != obj]:
        wrapped(
            layout, translated("Baked together with {names}.", names=contact_groups.names_of(others)), context, "LINKED"
        )


@panel("Cuts", bl_options=CLOSED)
def draw_cuts(layout: Any, context: Any, obj: Any) -> None:
    """Draw cutters and tear, and the buttons that split and restore the mesh."""
    cuts = obj.sinew.cuts
    draw_properties(layout, cuts, "cutter_kind", "cutter" if cuts.cutter_kind == "OBJECT" else "cutters", "tear")
    if cuts.tear == "PAINTED":
        layout.prop(cuts, "seam_group", icon="GROUP_VERTEX")
    elif cuts.tear == "FRAGMENTS":
        draw_properties(layout, cuts, "fragments", "seed")
    if cuts.tear != "NONE":
        layout.prop(cuts, "tear_stress")
    draw_properties(layout, cuts, "edges_across", "material")
    is_split = cuts.original is not None
    row = layout.row(align=True)
    row.operator("sinew.split_mesh", text="Split Again" if is_split else "Split Mesh", icon="MOD_EDGESPLIT")
    if is_split:
        row.operator("sinew.restore_mesh", icon="LOOP_BACK")
    draw_reasons(layout, context, "sinew.split_mesh")
    wrapped(layout, cut_state.split_warning(obj, context.scene), context, "ERROR")
    if is_split and not obj.sinew.collisions.self_contact:
        wrapped(layout, "Pieces pass through each other: enable Self under Collisions.", context, "INFO")


class SINEW_UL_springs(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_springs"
    row_icon = "FORCE_HARMONIC"

    def words(self, item: Any) -> str:
        return f"{item.strength:.4g} N/m"


@panel("Springs", bl_options=CLOSED)
def draw_springs(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of springs, and the settings of the active spring."""
    draw_list(layout, obj.sinew, "spring")
    spring = item_lists.active_item(obj.sinew, "spring")
    if spring is None:
        wrapped(
            layout,
            "Add a spring (+) to pull vertices to another object or to their animated positions.",
            context,
            "INFO",
        )
        return
    _draw_spring(layout, obj, spring)
    draw_reasons(layout, context, "sinew.assign_pins")
    sag, weak = unit_format.sag_words(spring.strength, obj.sinew.bake, context.scene)
    wrapped(layout, sag, context, "ERROR" if weak else "INFO")


def _draw_spring(layout, obj, spring):
    column = keyed_column(layout)
    row = column.row(align=True)
    row.prop(spring, "vertex_group", icon="GROUP_VERTEX")
    for action in ("ADD", "REMOVE"):
        button = row.operator("sinew.assign_pins", text="", icon=action)
        button.action, button.target = action, "SPRING"
    column.prop(spring, "end")
    if spring.end == "OBJECT":
        column.prop(spring, "target")
    draw_keyed(column, spring, "strength")
