"""Operators that apply, save and remove presets of materials and muscles."""

from dataclasses import replace
from typing import Any

from bpy.props import EnumProperty, StringProperty

from ..blender_addon.blend_data import item_lists
from ..blender_addon.blend_data.list_animation import animated
from ..blender_addon.objects import duplicate_result
from ..blender_addon.properties import choices, own_presets
from ..blender_addon.scene_import.settings_in import material_settings
from ..blender_addon.setup import defaults
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
    keyed = animated(obj, f"sinew.materials[{item_lists.active_index(obj.sinew, 'material')}]")
    if not material.use_range:
        keyed.discard("log_painted_stiffness")
    if words := translated(" and ").join(translated(label) for name, label in KEYED.items() if name in keyed):
        self.report(
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
