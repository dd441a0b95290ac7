"""Operators of presets, of the asset library, and of Blender materials that carry physical values."""

from dataclasses import replace
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..blender_addon.blend_data import item_lists
from ..blender_addon.blend_data.list_animation import animated
from ..blender_addon.objects import duplicate_result, linked
from ..blender_addon.properties import choices, own_presets
from ..blender_addon.scene_import.settings_in import material_settings
from ..blender_addon.setup import asset_library, defaults, slot_materials
from ..blender_addon.translations.translate import marked, translated
from . import polls
from .materials import about_preset, preset_property
from .operator_class import EDITS, operator, refused

KEYED = {"log_stiffness": marked("Stiffness"), "log_painted_stiffness": marked("Where Painted")}
"""Labels of the animatable properties of a material, by property name."""


def _about_applying(context: Any, properties: Any) -> str:
    applies = translated("Apply the values of this preset to the active physical material")
    kept = translated("Its name, maps, regions, depth and keyframes are kept")
    return f"{applies}{about_preset(properties)}. {kept}"


@operator(
    "Apply Material Preset",
    polls.body_with_material,
    EDITS,
    description=_about_applying,
    preset=preset_property(
        "Preset that is applied to the active physical material: stiffness in Pa, Poisson's ratio, density in kg/m³, "
        "energy, "
        "painted range"
    ),
)
def apply_preset(self: Any, context: Any, obj: Any) -> None:
    """Set the properties of the active physical material from a preset."""
    material = item_lists.active_item(obj.sinew, "material")
    defaults.fill_material(material, defaults.preset_settings(self.preset))
    warn_animated(self, obj, item_lists.active_index(obj.sinew, "material"))


def warn_animated(operator: Any, obj: Any, index: int) -> None:
    """Report a warning if keys or drivers override values that a physical material was just given."""
    material = obj.sinew.materials[index]
    keyed = animated(obj, f"sinew.materials[{index}]")
    if not material.use_range:
        keyed.discard("log_painted_stiffness")
    if words := translated(" and ").join(translated(label) for name, label in KEYED.items() if name in keyed):
        operator.report(
            {"WARNING"},
            translated(
                "{words} of “{name}” is animated: its keys override the preset", words=words, name=material.name
            ),
        )


def _about_muscle(context: Any, properties: Any) -> str:
    words = next((item[2] for item in choices.muscle_preset_items() if item[0] == properties.preset), "")
    kept = marked("Sets law, strength and tendons; fibers, activation and the stiffness of the material are kept")
    return f"{translated(words)}. {translated(kept)}"


@operator(
    "Apply Muscle Preset",
    polls.body_with_material,
    EDITS,
    description=_about_muscle,
    preset=EnumProperty(
        name="Preset",
        description="Preset that is applied to the muscle of the active physical material",
        items=choices.muscle_preset_items,
        default=choices.number_of("Biceps"),
    ),
)
def apply_muscle_preset(self: Any, context: Any, obj: Any) -> None:
    """Make the active physical material a muscle with the law, strength and tendons of a preset."""
    from ..core.mechanics.fibres.presets import muscle_preset

    defaults.fill_muscle(item_lists.active_item(obj.sinew, "material").muscle, muscle_preset(self.preset))


def _ask_name(self: Any, context: Any, event: Any) -> set[str]:
    self.properties.name = item_lists.active_item(duplicate_result.body_of(context).sinew, "material").name
    return context.window_manager.invoke_props_dialog(self)


def _draw_name(self: Any, context: Any) -> None:
    self.layout.prop(self.properties, "name")
    if own_presets.path_of(self.properties.name.strip()).exists():
        self.layout.label(text="Replaces the preset of that name", icon="INFO")


@operator(
    "Save Material Preset",
    polls.body_with_material,
    {"REGISTER"},
    invoke=_ask_name,
    draw=_draw_name,
    name=StringProperty(
        name="Name",
        description="Name of the preset; an existing preset of that name is replaced",
        maxlen=63,
        options={"SKIP_SAVE"},
    ),
)
def save_preset(self: Any, context: Any, obj: Any) -> None:
    """Save the properties of the active physical material as a user preset, for use in all files. Its maps, regions and
    depth are not saved.
    """
    material = item_lists.active_item(obj.sinew, "material")
    name = self.properties.name.strip() or material.name
    own_presets.save(replace(material_settings(material), name=name))
    self.report({"INFO"}, translated("Saved “{name}”", name=name))


def _has_own(context: Any) -> None:
    polls.disable_if(not own_presets.own_presets().materials, "You have not saved a preset")


def _confirm(self: Any, context: Any, event: Any) -> set[str]:
    return context.window_manager.invoke_confirm(self, event)


@operator(
    "Remove Material Preset",
    _has_own,
    {"REGISTER"},
    invoke=_confirm,
    name=StringProperty(name="Name", description="Name of the preset", options={"SKIP_SAVE"}),
)
def remove_preset(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Delete this user preset permanently; physical materials made from it are kept."""
    name = self.properties.name
    if name not in [material.name for material in own_presets.own_presets().materials]:
        return refused(self, translated("There is no user preset “{name}”", name=name))
    own_presets.remove(name)
    return None


# -- assets ------------------------------------------------------------------------------------------------------------


@operator("Add Asset Library")
def add_asset_library(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Add Sinew's folder of assets to the asset libraries in Blender's preferences: physical materials, example bodies
    and node groups.
    """
    if (entry := asset_library.registered()) is not None:
        self.report({"INFO"}, translated("The asset library “{name}” has this folder already", name=entry.name))
        return {"CANCELLED"}
    entry = asset_library.add()
    self.report({"INFO"}, translated("Choose the library “{name}” in an Asset Browser", name=entry.name))
    return None


def _is_registered(context: Any) -> None:
    polls.disable_if(asset_library.registered() is None, "The asset library is not in Blender's preferences")


@operator("Remove Asset Library", _is_registered)
def remove_asset_library(self: Any, context: Any, obj: Any) -> None:
    """Remove Sinew's folder of assets from the asset libraries in Blender's preferences. No file is deleted, and files
    that use the assets keep them.
    """
    asset_library.remove()


def _can_take(context: Any, obj: Any = None) -> Any:
    """Return the mesh object that takes physical values, by default the active one; raise PollFailure if it cannot."""
    obj = obj or polls.mesh_object(context)
    polls.refuse(linked.linked_words(obj))
    polls.with_own_mesh(obj)
    polls.disable_if(obj.mode != "OBJECT", polls.NOT_IN_OBJECT)
    polls.idle()
    polls.disable_if(duplicate_result.source_of(obj), "This object shows a bake: select its original")
    return obj


def _apply(self: Any, context: Any, obj: Any, shader: Any) -> None:
    material = slot_materials.apply_shader(obj, shader, context)
    warn_animated(self, obj, obj.sinew.active_material)
    self.report({"INFO"}, translated("“{name}” has the values of “{material}”", name=obj.name, material=material.name))


def _is_idle(context: Any) -> None:
    polls.idle()  # the object, which a drop names, is checked by the operator


@operator(
    "Apply Physical Values",
    _is_idle,
    EDITS,
    object_name=StringProperty(
        name="Object", description="Name of the object; empty: the active object", options={"HIDDEN", "SKIP_SAVE"}
    ),
    shader_name=StringProperty(
        name="Blender Material",
        description="Full name of the Blender material; empty: that of the active slot",
        options={"HIDDEN", "SKIP_SAVE"},
    ),
)
def apply_shader(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Simulate this object with the physical values that its Blender material carries, where its faces show that
    material.
    """
    try:
        target = _can_take(context, bpy.data.objects[self.object_name] if self.object_name else None)
    except polls.PollFailure as reason:
        return refused(self, translated(str(reason)))
    shader = slot_materials.shader_named(self.shader_name) if self.shader_name else target.active_material
    if shader is None:
        return refused(self, translated("Assign a Blender material to the object first"))
    return _apply(self, context, target, shader)


def _can_apply_asset(context: Any) -> None:
    asset = getattr(context, "asset", None)
    if asset is None or asset.id_type != "MATERIAL":
        raise polls.PollFailure("Select a material in the Asset Browser")
    _can_take(context)


@operator("Apply to Active Object", _can_apply_asset, EDITS)
def apply_asset(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Put this material into the active slot of the active object, and simulate the object with the physical values
    that the material carries.
    """
    asset, target = context.asset, context.object
    shader = asset.local_id or _appended(asset)
    if shader is None:
        return refused(self, translated("The asset “{name}” cannot be read: refresh the library", name=asset.name))
    if not shader.sinew.is_physical:
        return refused(self, translated("The material “{name}” carries no physical values", name=shader.name))
    target.active_material = shader
    return _apply(self, context, target, shader)


def _appended(asset: Any) -> Any | None:
    """Return the Blender material of an asset, appended from its file, or as it was appended before."""
    path = asset.full_library_path
    for shader in bpy.data.materials:
        origin = shader.library_weak_reference
        if origin and origin.id_name == f"MA{asset.name}" and bpy.path.abspath(origin.filepath) == path:
            return shader
    before = set(bpy.data.materials)
    bpy.ops.wm.append(
        directory=f"{path}/Material/", filename=asset.name, do_reuse_local_id=True, set_fake=False, link=False
    )
    made = [shader for shader in bpy.data.materials if shader not in before]
    return next((shader for shader in made if shader.name.startswith(asset.name)), None)


def _can_store(context: Any) -> None:
    obj = polls.body_with_material(context)
    polls.disable_if(obj.active_material is None, "Assign a Blender material to the object first")
    polls.disable_if(obj.active_material.library, "The Blender material is linked: make it local first")


@operator("Store in Blender Material", _can_store, EDITS)
def store_in_shader(self: Any, context: Any, obj: Any) -> None:
    """Store the values of the active physical material in the object's active Blender material. Mark that as an asset
    to share both. Its map, regions, depth and fibers are not stored.
    """
    shader = obj.active_material
    slot_materials.store(material_settings(item_lists.active_item(obj.sinew, "material")), shader)
    self.report({"INFO"}, translated("The Blender material “{name}” carries the values", name=shader.name))
