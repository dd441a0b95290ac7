"""Physical Materials panel: the list, the presets, the properties and the maps; assets with physical values."""

from typing import Any

import bpy

from ..blender_addon.blend_data import item_lists
from ..blender_addon.jobs import job_queue
from ..blender_addon.objects import duplicate_result
from ..blender_addon.properties import choices
from ..blender_addon.properties.own_presets import own_presets
from ..blender_addon.setup import asset_library, body_stats
from ..blender_addon.translations.translate import CONTEXT, marked, translated
from .panel_base import (
    CLOSED,
    ItemList,
    draw_button,
    draw_keyed,
    draw_list,
    draw_properties,
    draw_reasons,
    keyed_column,
    panel,
    properties_layout,
    wrapped,
)

TAG = "physical material"
"""Tag of the assets that carry physical values."""


class SINEW_UL_materials(ItemList, bpy.types.UIList):
    bl_idname = "SINEW_UL_materials"
    row_icon = "PHYSICS"

    def words(self, item: Any) -> str:
        unit = next(label for name, label, _ in choices.STIFFNESS_UNITS if name == item.stiffness_unit)
        return f"{item.stiffness_value:.4g} {unit}"


def _draw_presets(layout, operator):
    """Draw one button per preset, and the reasons why preset files were rejected."""
    own = [item[0] for item in choices.own_preset_items()]
    for name, label, _, _ in choices.preset_items():
        if own and name == own[0]:
            layout.separator()
        layout.operator(operator, text=label, translate=name not in own).preset = name
    for sentence in own_presets().refused:
        layout.label(text=sentence, icon="ERROR")


class SINEW_MT_presets(bpy.types.Menu):
    bl_idname = "SINEW_MT_presets"
    bl_label = "Add Physical Material"
    bl_translation_context = CONTEXT

    def draw(self, context: Any) -> None:
        _draw_presets(self.layout, "sinew.add_material")
        if asset_library.registered() is None:
            self.layout.separator()
            self.layout.operator("sinew.add_asset_library", icon="ASSET_MANAGER")


class SINEW_MT_apply_preset(bpy.types.Menu):
    bl_idname = "SINEW_MT_apply_preset"
    bl_label = "Material Presets"
    bl_translation_context = CONTEXT
    bl_description = "Apply a preset to the active physical material, or save its values as a preset"

    def draw(self, context: Any) -> None:
        self.layout.label(
            text=translated(
                "Apply to “{name}”",
                name=item_lists.active_item(duplicate_result.body_of(context).sinew, "material").name,
            )
        )
        _draw_presets(self.layout, "sinew.apply_preset")
        self.layout.separator()
        self.layout.operator("sinew.show_stiffness", icon="INFO")
        self.layout.operator("sinew.save_preset", text="Save as Preset...", icon="ADD")
        self.layout.operator("sinew.store_in_shader", icon="MATERIAL")
        if choices.own_preset_items():
            self.layout.menu("SINEW_MT_remove_preset", icon="REMOVE")


class SINEW_MT_remove_preset(bpy.types.Menu):
    bl_idname = "SINEW_MT_remove_preset"
    bl_label = "Remove Preset"
    bl_translation_context = CONTEXT

    def draw(self, context: Any) -> None:
        for name, label, _, _ in choices.own_preset_items():
            self.layout.operator("sinew.remove_preset", text=label, translate=False).name = name


class SINEW_MT_apply_muscle_preset(bpy.types.Menu):
    bl_idname = "SINEW_MT_apply_muscle_preset"
    bl_label = "Muscle Presets"
    bl_translation_context = CONTEXT
    bl_description = "Make the active physical material a muscle with the law, strength and tendons of a preset"

    def draw(self, context: Any) -> None:
        for name, label, _, _ in choices.muscle_preset_items():
            self.layout.operator("sinew.apply_muscle_preset", text=label).preset = name


def _draw_header(panel: Any, context: Any) -> None:
    if duplicate_result.body_of(context).sinew.materials:
        panel.layout.emboss = "NONE"
        panel.layout.menu("SINEW_MT_apply_preset", text="", icon="PRESET")


@panel("Physical Materials", is_often=True, draw_header_preset=_draw_header)
def draw_materials(layout: Any, context: Any, obj: Any) -> None:
    """Draw the list of physical materials, and the stiffness and map of the active material."""
    draw_list(layout, obj.sinew, "material", "SINEW_MT_presets", least=1)
    material = item_lists.active_item(obj.sinew, "material")
    if material is None:
        layout.label(text="Add a physical material (+)", icon="INFO")
        return
    _draw_stiffness(layout, material, "stiffness_value", "log_stiffness")
    # The first material fills unpainted areas, so painting makes sense only with a second material.
    if len(obj.sinew.materials) > 1 or material.vertex_group or obj.mode == "WEIGHT_PAINT":
        row = layout.row(align=True)
        row.operator("sinew.paint_material", icon="BRUSH_DATA").map = "PLACE"
        if obj.mode == "WEIGHT_PAINT":
            row.operator("sinew.stop_painting", icon="LOOP_BACK")
        draw_reasons(layout, context, "sinew.paint_material")
        wrapped(layout, place_words(material, material == obj.sinew.materials[0]), context, "INFO")
    _draw_size(layout, context, obj)  # last, so that the stiffness does not move while it is dragged


def _draw_size(layout, context, obj):
    """Draw a note on the fitted stiffness, or the expected sag with buttons that reduce the sag."""
    stats = body_stats.stats_of(obj, context)
    wrapped(layout, stats.fitted, context, "CHECKMARK")
    if stats.factor and not stats.fitted and obj.sinew.bake.status == "NONE" and job_queue.is_idle():
        wrapped(layout, stats.words, context, "INFO")
        draw_button(layout, context, "sinew.fit_stiffness", icon="FULLSCREEN_EXIT")
        draw_button(
            layout,
            context,
            "sinew.simulate_smaller",
            text=translated("Simulate at {scale} Scale", scale=stats.scale),
            icon="FULLSCREEN_EXIT",
        )


def _draw_with_unit(layout, matter, name):
    """Draw a stiffness and its unit. Returns their row."""
    row = layout.row(align=True)
    row.prop(matter, name)
    unit = row.row(align=True)
    unit.ui_units_x = 3.6
    unit.prop(matter, "stiffness_unit", text="")
    return row


def _draw_stiffness(layout, material, name, kept):
    """Draw a stiffness, its unit, and the keyframe button of the logarithm ``kept``."""
    row = _draw_with_unit(layout, material, name)
    hidden = row.row()  # the keyframe button works only if its property is drawn
    hidden.use_property_split, hidden.emboss = False, "NONE"
    hidden.ui_units_x = 0.1
    hidden.prop(material, kept, text="")
    row.prop_decorator(material, kept)


def _has_material(obj: Any) -> bool:
    return item_lists.active_item(obj.sinew, "material") is not None


@panel("Placement", under="materials", where=_has_material, is_often=True, bl_options=CLOSED)
def draw_placement(layout: Any, context: Any, obj: Any) -> None:
    """Draw the map, region and depth of the active material."""
    material = item_lists.active_item(obj.sinew, "material")
    layout.prop(material, "vertex_group", icon="GROUP_VERTEX")
    layout.row().prop(material, "region_kind", text="Region", expand=True)
    layout.prop(material, "region" if material.region_kind == "OBJECT" else "region_collection", text=" ")
    if material.regions is not None:
        draw_keyed(keyed_column(layout), material, "follows")
    layout.prop(material, "depth_kind")
    if material.depth_kind != "NONE":
        layout.prop(material, "depth", text="Down To" if material.depth_kind == "SHELL" else "Below")
        layout.prop(material, "fade")


@panel("Plasticity", under="materials", where=_has_material, bl_options=CLOSED)
def draw_plasticity(layout: Any, context: Any, obj: Any) -> None:
    """Draw the active material's yield strain, creep and hardening, and the button that sets the rest shape."""
    material = item_lists.active_item(obj.sinew, "material")
    layout.prop(material, "yield_strain")
    column = layout.column()
    column.active = material.yield_strain > 0.0
    column.prop(material, "creep")
    column.prop(material, "hardening")
    if material.yield_strain > 0.0 and obj.sinew.bake.status != "NONE":
        draw_button(layout, context, "sinew.set_as_rest_shape", icon="SHAPEKEY_DATA")


@panel("Advanced", under="materials", where=_has_material, is_often=True, bl_options=CLOSED)
def draw_matter(layout: Any, context: Any, obj: Any) -> None:
    """Draw the active material's density, Poisson's ratio, energy and painted stiffness range."""
    material = item_lists.active_item(obj.sinew, "material")
    draw_properties(layout, material, "density", "poissons_ratio", "energy", *choices.own_parameters(material.energy))
    layout.prop(material, "use_range")
    if material.use_range:
        _draw_stiffness(layout, material, "painted_value", "log_painted_stiffness")
        row = layout.row(align=True)
        row.prop(material, "stiffness_map", icon="GROUP_VERTEX")
        row.operator("sinew.paint_material", text="", icon="BRUSH_DATA").map = "STIFFNESS"


def _draw_muscle_header(panel: Any, context: Any) -> None:
    material = item_lists.active_item(duplicate_result.body_of(context).sinew, "material")
    panel.layout.prop(material.muscle, "enabled", text="")


def _draw_muscle_presets(panel: Any, context: Any) -> None:
    panel.layout.emboss = "NONE"
    panel.layout.menu("SINEW_MT_apply_muscle_preset", text="", icon="PRESET")


@panel(
    "Muscle",
    under="materials",
    where=_has_material,
    is_often=True,
    bl_options=CLOSED,
    draw_header=_draw_muscle_header,
    draw_header_preset=_draw_muscle_presets,
)
def draw_muscle(layout: Any, context: Any, obj: Any) -> None:
    """Draw the fibres of the active material: activation, direction, law and tendons."""
    muscle = item_lists.active_item(obj.sinew, "material").muscle
    if not muscle.enabled:
        draw_button(layout, context, "sinew.draw_muscle", icon="GREASEPENCIL")
    layout = layout.column()
    layout.active = muscle.enabled
    column = keyed_column(layout)
    draw_keyed(column, muscle, "activation")
    column = layout.column()
    row = column.row(align=True)
    row.prop(muscle, "direction", expand=True)
    if muscle.enabled:
        row.operator("sinew.draw_muscle", text="", icon="GREASEPENCIL")
    if muscle.direction == "CURVES":
        column.prop(muscle, "curve")
        if muscle.curve is not None and muscle.curve.type == "ARMATURE":
            column.prop_search(muscle, "bone", muscle.curve.data, "bones")
    else:
        for target in ("ORIGIN", "INSERTION"):
            row = column.row(align=True)
            row.prop(muscle, f"{target.lower()}_group", icon="GROUP_VERTEX")
            for action in ("ADD", "REMOVE"):
                button = row.operator("sinew.assign_pins", text="", icon=action)
                button.action, button.target = action, target
    column.prop(muscle, "activation_group", icon="GROUP_VERTEX")
    name = item_lists.active_item(obj.sinew, "material").name
    if bpy.utils.flip_name(name) != name:
        layout.operator("sinew.mirror_muscle", icon="MOD_MIRROR")
    column = layout.column()
    column.prop(muscle, "law")
    column.prop(muscle, "strength")
    if muscle.law != "hill":
        column.prop(muscle, "shortening")
    column.prop(muscle, "passive")
    if muscle.law in {"afung", "hill"}:
        column.prop(muscle, "stiffening")
    column = layout.column()
    column.prop(muscle, "tendon")
    if muscle.tendon > 0.0:
        column.prop(muscle, "tendon_stiffness")


def place_words(material: Any, is_first: bool) -> str:
    """Return a sentence about where a material is used.

    ``is_first`` is True for the first material in the list, which fills unpainted areas.
    """
    if material.muscle.fills_bevel:
        return translated("Used inside the bevel of the muscle's curve, on top of painted materials and below regions")
    if material.is_layer:
        conditions = [marked("inside its region")] if material.regions is not None else []
        conditions += [marked("by depth")] if material.depth_kind != "NONE" else []
        conditions += [marked("where its map is painted")] if material.vertex_group else []
        moves = marked(", and moves everything inside its region") if material.is_followed else ""
        return translated(
            "Overrides painted materials {conditions}{moves}; if several overlap, the lowest in the list applies",
            conditions=", ".join(map(translated, conditions)),
            moves=translated(moves),
        )
    if material.vertex_group:
        return translated("Used where its map is painted; overlapping materials blend")
    return translated(
        "Used where no material is painted" if is_first else "Not assigned yet: paint it, or choose a region or depth"
    )


class MATERIAL_PT_sinew(bpy.types.Panel):
    bl_label = "Physical Values"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "material"
    bl_translation_context = CONTEXT
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Return True if the Blender material carries physical values."""
        return context.material is not None and context.material.sinew.is_physical

    def draw(self, context: Any) -> None:
        layout, matter = properties_layout(self), context.material.sinew
        _draw_with_unit(layout, matter, "stiffness_value")
        draw_properties(layout, matter, "density", "poissons_ratio", "energy")
        draw_button(layout, context, "sinew.apply_shader", icon="PHYSICS")


def asset_menu(self: Any, context: Any) -> None:
    """Draw the button that applies the active asset, if it carries physical values."""
    asset = getattr(context, "asset", None)
    if asset is not None and TAG in [tag.name for tag in asset.metadata.tags]:
        self.layout.operator("sinew.apply_asset", icon="PHYSICS")


def library_button(layout: Any) -> None:
    """Draw the button that adds the asset library to Blender's preferences, or removes it."""
    if asset_library.registered() is None:
        layout.operator("sinew.add_asset_library", icon="ASSET_MANAGER")
    else:
        layout.operator("sinew.remove_asset_library", icon="X")
