"""Operators of physical materials, and of the vertex groups that map the materials onto the body."""

from typing import Any

import bpy
import numpy as np
from bpy.props import CollectionProperty, EnumProperty, FloatProperty

from ..blender_addon.blend_data import item_lists
from ..blender_addon.objects import duplicate_result
from ..blender_addon.picking import stroke_view
from ..blender_addon.properties import choices
from ..blender_addon.properties.mirror import stiffness_of
from ..blender_addon.properties.muscle_properties import SinewStrokePoint
from ..blender_addon.scene_import.weights_in import check_no_attribute
from ..blender_addon.setup import defaults, drawn_muscle
from ..blender_addon.setup.mirror_muscle import mirror
from ..blender_addon.translations.translate import translated
from ..core.foundation.errors import SinewError
from . import polls
from .operator_class import EDITS, list_operators, operator, refused

remove_material, move_material = list_operators(
    "material",
    "Physical Material",
    polls.body_with_material,
    ". The first material fills unpainted areas; where regions or depths overlap, the lowest in the list applies",
)


def preset_property(description: str) -> Any:
    """Return an enum property of the material presets. ``description`` is the property's tooltip."""
    return EnumProperty(
        name="Preset",
        description=description,
        items=choices.preset_items,
        default=choices.number_of(defaults.FIRST_PRESET),
    )


def about_preset(properties: Any) -> str:
    """Return ": " and the description of the preset in ``properties``. An unknown preset returns ""."""
    return next((f": {translated(item[2])}" for item in choices.preset_items() if item[0] == properties.preset), "")


def _about_adding(context: Any, properties: Any) -> str:
    return translated("Add a physical material") + about_preset(properties)


@operator(
    "Add Physical Material",
    polls.body,
    EDITS,
    description=_about_adding,
    preset=preset_property("Preset of the new material: stiffness in Pa, Poisson's ratio, density in kg/m³"),
)
def add_material(self: Any, context: Any, obj: Any) -> None:
    """Add a physical material."""
    defaults.add_material(obj, self.preset)


def _stiffness_words(context: Any, properties: Any = None) -> str:
    material = item_lists.active_item(duplicate_result.body_of(context).sinew, "material")
    return translated(
        "Young's modulus of {name}: {stiffness}",
        name=material.name,
        stiffness=choices.pascals(stiffness_of(material.log_stiffness)),
    )


@operator("Stiffness in Pascals", polls.body_with_material, {"INTERNAL"}, description=_stiffness_words)
def show_stiffness(self: Any, context: Any, obj: Any) -> None:
    """Show the exact stiffness of the active material, in the tooltip and, if pressed, in the status bar."""
    self.report({"INFO"}, _stiffness_words(context))


@operator("Mirror Muscle", polls.body_with_material, EDITS)
def mirror_muscle(self: Any, context: Any, obj: Any) -> set[str] | None:
    """Copy this material and its muscle to the other side of the body (local X), by names that end with .L and .R.
    Vertex groups and the curve of the other side are used, or made by reflection. Keys are not copied.
    """
    try:
        made = mirror(obj, item_lists.active_item(obj.sinew, "material"))
    except SinewError as error:
        return refused(self, str(error))
    self.report({"INFO"}, translated("“{name}” is the mirrored muscle", name=made.name))
    return None


def _can_paint(context: Any) -> None:
    polls.active(context, polls.with_material(polls.idle_body(context)))


def _about_painting(context: Any, properties: Any) -> str:
    if properties.map == "STIFFNESS":
        return translated(
            "Paint the stiffness of this material in Weight Paint mode: from Stiffness (0) to Where Painted (1)"
        )
    return translated(
        "Paint the fraction of this material in Weight Paint mode. Each stroke keeps the sum of all fractions at one"
    )


@operator(
    "Paint",
    _can_paint,
    EDITS,
    description=_about_painting,
    map=EnumProperty(
        name="Map",
        description="Map to paint: the fraction of the material, or its stiffness",
        items=[("PLACE", "Map", "Fraction of the material"), ("STIFFNESS", "Stiffness Map", "Its stiffness")],
        options={"SKIP_SAVE"},
    ),
)
def paint_material(self: Any, context: Any, obj: Any) -> None:
    """Paint the weight map of the active physical material."""
    material = item_lists.active_item(obj.sinew, "material")
    # Leave Edit Mode first: vertex weights cannot be changed in it.
    if obj.mode != "WEIGHT_PAINT":
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    owner, name = ("stiffness_map", f"{material.name} Stiffness")
    if self.map == "PLACE":
        owner, name = "vertex_group", material.name
    group = obj.vertex_groups.get(getattr(material, owner)) if getattr(material, owner) else None
    if group is None:
        check_no_attribute(obj, getattr(material, owner))
        group = obj.vertex_groups.new(name=name)
        setattr(material, owner, group.name)
        if self.map == "PLACE" and material.is_layer:
            # Without a map the material fills its whole region or depth: start from weights of 1.
            group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.vertex_groups.active_index = group.index


def _is_painted(context: Any) -> None:
    if context.object is None or context.object.mode != "WEIGHT_PAINT":
        raise polls.PollFailure


@operator("Stop Painting", _is_painted, EDITS)
def stop_painting(self: Any, context: Any, obj: Any) -> None:
    """Leave Weight Paint mode for Object Mode."""
    bpy.ops.object.mode_set(mode="OBJECT")


def _can_draw(context: Any) -> None:
    polls.in_object_mode(context)
    polls.active(context, polls.with_material(polls.idle_body(context)))


def _begin_stroke(self: Any, context: Any, event: Any) -> set[str]:
    self._path, self._view = [], None
    context.window_manager.modal_handler_add(self)
    context.workspace.status_text_set(
        translated("Drag over the body from the muscle's origin to its insertion. Esc: cancel")
    )
    context.window.cursor_modal_set("PAINT_BRUSH")
    return {"RUNNING_MODAL"}


def _follow_stroke(self: Any, context: Any, event: Any) -> set[str]:
    where = event.mouse_x, event.mouse_y
    if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
        return _end_stroke(self, context) or {"CANCELLED"}
    if event.type == "LEFTMOUSE" and event.value == "PRESS" and not self._path:
        self._view = stroke_view.view_at(context, where)
        if self._view is None:
            return _end_stroke(self, context) or {"CANCELLED"}
        self._path.append(where)
        self._line = stroke_view.Line(self._view, self._path)
    elif event.type == "MOUSEMOVE" and self._path:
        self._path.append(where)
        self._view.area.tag_redraw()
    elif event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._path:
        _end_stroke(self, context)
        _keep_passes(self, context)
        return self.execute(context)
    elif not self._path:
        return {"PASS_THROUGH"}  # the view can be turned before the stroke
    return {"RUNNING_MODAL"}


def _keep_passes(self: Any, context: Any) -> None:
    """Store where the stroke enters and leaves the body, so that Adjust Last Operation (F9) needs no view."""
    region, view = self._view.region, self._view.space.region_3d
    stroke = [(x - region.x, y - region.y) for x, y in self._path]
    found = drawn_muscle.passes_of(duplicate_result.body_of(context), stroke, region, view, context)
    self.stroke.clear()
    for pair in zip(found.enter, found.leave, strict=True):
        for place in pair:
            self.stroke.add().location = place


def _end_stroke(self: Any, context: Any) -> None:
    if self._path:
        self._line.remove()
    context.workspace.status_text_set(None)
    context.window.cursor_modal_restore()


@operator(
    "Draw Muscle",
    _can_draw,
    EDITS,
    invoke=_begin_stroke,
    modal=_follow_stroke,
    stroke=CollectionProperty(
        name="Stroke",
        description="Positions where the view's rays enter and leave the body, in turn",
        type=SinewStrokePoint,
        options={"SKIP_SAVE", "HIDDEN"},
    ),
    depth=FloatProperty(
        name="Depth",
        description="Position between the front of the body, 0, and its back, 1",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    ),
    thickness=FloatProperty(
        name="Thickness",
        description="Diameter of the muscle, as a fraction of the body's thickness: 0.2 to 0.7",
        default=0.5,
        min=0.05,
        max=1.0,
        subtype="FACTOR",
    ),
)
def draw_muscle(self: Any, context: Any, obj: Any) -> None:
    """Drag over the body in the 3D View, from the muscle's origin to its insertion. The active physical material
    becomes a muscle along a curve inside the body. Adjust depth and thickness afterwards (F9).
    """
    places = np.array([element.location for element in self.stroke], dtype=np.float64).reshape(-1, 2, 3)
    material = item_lists.active_item(obj.sinew, "material")
    passes = drawn_muscle.Passes(places[:, 0], places[:, 1])
    curve = drawn_muscle.draw_muscle(obj, material, passes, self.depth, self.thickness)
    self.report(
        {"INFO"}, translated("“{name}” is a muscle along the curve “{curve}”", name=material.name, curve=curve.name)
    )
