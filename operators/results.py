"""Operators that apply, convert, show, report and delete baked frames."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ..blender_addon.bake import background, baking, comparison, settling
from ..blender_addon.objects import duplicate_result
from ..blender_addon.scene_export import corrective_key as corrective
from ..blender_addon.scene_export.result_attributes import put_attributes
from ..blender_addon.setup import demo_material, diagnostics
from ..blender_addon.translations.translate import translated
from ..core.foundation.errors import SinewError
from ..core.jobs.results.bake_report import csv_of
from ..core.jobs.store.frame_store import FrameStore
from . import polls
from .operator_class import EDITS, ask_before_loss, operator


def _told(name: str, description: str, default: str = "") -> Any:
    return StringProperty(name=name, description=description, default=default, options={"HIDDEN", "SKIP_SAVE"})


# No REGISTER: Adjust Last Operation (F9) would run this operator again. Failures are reported as warnings: an error
# report would raise in the calling timer and never be shown.
@operator(
    "Bake Elastic Body",
    options={"UNDO", "INTERNAL"},
    object_name=_told("Object", "Name of the body that was baked"),
    folder=_told("Folder", "Folder of the baked frames"),
    status=_told("Status", "DONE, STOPPED or FAILED", "DONE"),
    message=_told("Message", "Last message of the bake"),
)
def apply_bake(self: Any, context: Any, obj: Any) -> None:
    """Apply baked frames to the scene in the form of the Result setting. One undo reverts it."""
    obj = bpy.data.objects[self.object_name, None]  # the local object, not the linked object that it overrides
    obj.sinew.bake.message = self.message
    try:
        count = baking.put_result(obj, context, self.status, FrameStore.open(self.folder))
    except SinewError as error:
        if not baking.is_baked(obj):  # a result that could not be converted still exists
            obj.sinew.bake.status = "FAILED"
        baking.note_error(obj, error)
        self.report({"WARNING"}, str(error))
        return
    if obj.sinew.bake.message:
        self.report({"WARNING"}, obj.sinew.bake.message)
    else:
        self.report({"INFO"}, translated("Sinew: {count} frames of “{name}” are baked", count=count, name=obj.name))


def _can_convert(context: Any) -> None:
    obj = polls.with_bake(polls.idle_body_outside_edit(context))
    polls.disable_if(not baking.kept_otherwise(obj), "The baked frames already have the form chosen in Result")
    polls.disable_if(not baking.has_frames(obj), "The baked frames are missing on disk: press Delete Bake, then Bake")


@operator("Convert Result", _can_convert, keep=True)
def convert_result(self: Any, context: Any, obj: Any) -> None:
    """Convert the baked frames to the form of the Result setting, without simulating again."""
    if baking.wanted_modes(obj):
        background.begin(obj, "handles")
    else:
        background.apply(obj, baking.own_store(obj, shown=True).folder, obj.sinew.bake.status)


def _can_delete(context: Any) -> None:
    obj = polls.mesh_object(context)
    obj = polls.not_simulated(duplicate_result.body_of(context) or obj)
    polls.disable_if(obj.mode == "EDIT", polls.IN_EDIT)
    polls.with_bake(obj)


def _ask_before_delete(self: Any, context: Any, event: Any) -> set[str]:
    return ask_before_loss(self, context, event, [duplicate_result.body_of(context) or context.object], "Delete Bake")


@operator("Delete Bake", _can_delete, {"UNDO"}, keep=True, invoke=_ask_before_delete)
def delete_bake(self: Any, context: Any, obj: Any) -> None:
    """Remove the bake from the scene, and show the original object again. The frames on disk are deleted when the file
    is saved; until then Undo restores the bake.
    """
    source = obj or context.object
    words = baking.delete(source)
    baking.delete_live(source)
    if words:
        self.report({"WARNING"}, words)
    comparison.look_again(source)
    context.view_layer.objects.active = source


def _is_hidden(context: Any) -> None:
    polls.disable_if(
        duplicate_result.is_edited(polls.body_with_duplicate(context)), "The original object is shown already"
    )


@operator("Edit Source", _is_hidden, {"UNDO"})
def edit_source(self: Any, context: Any, obj: Any) -> None:
    """Show and select the original object instead of the duplicate with its bake, to edit, paint or simulate it live.
    Renders still show the bake; Show Bake shows it in viewports again.
    """
    duplicate_result.show_source(obj, context)


def _is_edited(context: Any) -> None:
    polls.disable_if(not duplicate_result.is_edited(polls.body_with_duplicate(context)), "The bake is shown already")


@operator("Show Bake", _is_edited, {"UNDO"})
def show_bake(self: Any, context: Any, obj: Any) -> None:
    """Hide the original object, which Edit Source has shown. Show and select the duplicate that plays the bake."""
    duplicate_result.show_bake(obj, context)


def _can_correct(context: Any) -> None:
    obj = polls.with_bake(polls.idle_body_outside_edit(context))
    polls.disable_if(not baking.has_frames(obj), "The baked frames are missing on disk: press Delete Bake, then Bake")


def _draw_corrective(self: Any, context: Any) -> None:
    rig = next(iter(corrective.bones_of(duplicate_result.body_of(context))), None)
    if rig is not None:
        self.layout.prop_search(self.properties, "bone", rig.id_data.pose, "bones")


@operator(
    "Frame to Corrective Key",
    _can_correct,
    EDITS,
    keep=True,
    draw=_draw_corrective,
    bone=StringProperty(
        name="Bone", description="Bone whose rotation drives the key; empty: the one that is rotated most"
    ),
)
def corrective_key(self: Any, context: Any, obj: Any) -> None:
    """Add a shape key to the original mesh that moves it to the baked shape of this frame, on top of its armature. The
    rotation of a bone drives the key, so that it appears with the pose.
    """
    target = baking.own_store(obj, shown=True).read(context.scene.frame_current)
    bone = corrective.turned_bone(obj, self.bone)
    key = corrective.add_corrective(obj, target, bone, context)
    driven = "" if bone is None else translated(", driven by the bone “{name}”", name=bone.name)
    self.report({"INFO"}, translated("Shape key “{key}” of “{name}”", key=key.name, name=obj.name) + driven)


def _ask_before_rest(self: Any, context: Any, event: Any) -> set[str]:
    return ask_before_loss(self, context, event, [duplicate_result.body_of(context)], "Set as Rest Shape")


@operator("Set as Rest Shape", _can_correct, EDITS, keep=True, invoke=_ask_before_rest)
def set_as_rest_shape(self: Any, context: Any, obj: Any) -> None:
    """Make the baked shape of this frame the rest shape, so that a dented or bent body starts there without stress. A
    shape key holds it, the other shape keys are muted, and the bake is deleted. Until the file is saved, Undo
    restores it.
    """
    target = baking.own_store(obj, shown=True).read(context.scene.frame_current)
    baking.delete(obj)
    key = settling.put_rest(obj, target, context)
    context.view_layer.objects.active = obj
    self.report(
        {"INFO"},
        translated(
            "The shape key “{key}” is the rest shape of “{name}”; bake again to start there",
            key=key.name,
            name=obj.name,
        ),
    )


def _can_mirror(context: Any) -> None:
    obj = polls.with_own_mesh(polls.idle_body_outside_edit(context))
    polls.disable_if(obj.data.shape_keys is None or obj.active_shape_key_index == 0, "Choose a corrective shape key")


@operator("Mirror Corrective Key", _can_mirror, EDITS)
def mirror_corrective_key(self: Any, context: Any, obj: Any) -> None:
    """Copy the active shape key of the original mesh to the other side (local X), driven by the bone of the other side.
    Its name and the bone's name end with .L or .R.
    """
    key = corrective.mirror_corrective(obj, obj.active_shape_key)
    self.report({"INFO"}, translated("Shape key “{name}” is the mirrored key", name=key.name))


def _can_settle(context: Any) -> None:
    obj = polls.with_own_mesh(polls.can_begin(context))
    polls.disable_if(obj.sinew.bake.status != "NONE", "The body has a bake: press Delete Bake first")


@operator("Settle", _can_settle, keep=True)
def settle(self: Any, context: Any, obj: Any) -> None:
    """Move the mesh to its static equilibrium at this frame, under its pins, muscles, gravity and colliders, by a shape
    key. Sculpt or pose the mesh, and press it again; Undo takes it back. The mesh without shape keys is the rest shape,
    unless another one is set.
    """
    background.begin(obj, "settle")


# As for apply_bake: no REGISTER, and failures are warnings.
@operator(
    "Settle Body",
    options={"UNDO", "INTERNAL"},
    object_name=_told("Object", "Name of the body that has settled"),
    folder=_told("Folder", "Folder of the equilibrium"),
)
def apply_settled(self: Any, context: Any, obj: Any) -> None:
    """Show the computed equilibrium as a shape key."""
    obj = bpy.data.objects[self.object_name, None]
    try:
        key = settling.put_settled(obj, context, FrameStore.open(self.folder))
    except SinewError as error:
        baking.note_error(obj, error)
        self.report({"WARNING"}, str(error))
        return
    self.report({"INFO"}, translated("“{name}” is at its equilibrium: shape key “{key}”", name=obj.name, key=key.name))


@operator("Add Demo Material", polls.idle_body_outside_edit, EDITS)
def add_demo_material(self: Any, context: Any, obj: Any) -> None:
    """Show the result as skin: pale with fine marks where it is stretched, red where it is pressed or compressed. The
    attributes that the shader reads are switched on. The mesh keeps its own materials, which Link: Data of a material
    slot shows again.
    """
    record, words = obj.sinew.bake, ""
    objects = [each for each in (obj, record.result) if each is not None and each.data.library is None]
    has_values = baking.is_baked(obj) and baking.has_frames(obj) and record.kind != "BONES"
    if has_values:
        store = baking.shown_store(obj)
        frames = range(record.first_frame, record.first_frame + record.frames)
        demo_material.show_material(demo_material.demo_material(**demo_material.limits_of(store, frames)), obj, objects)
        words = put_attributes(obj, context, store, frames)
        record.message = words or record.message
    else:
        demo_material.show_material(demo_material.demo_material(), obj, objects)
    if words:
        self.report({"WARNING"}, words)
    elif has_values:
        self.report({"INFO"}, translated("“{name}” shows where it is stretched and pressed", name=obj.name))
    else:
        self.report({"INFO"}, translated("“{name}” shows skin; bake for its marks and blush", name=obj.name))


@operator("Copy as Table", polls.baked_body)
def copy_report(self: Any, context: Any, obj: Any) -> None:
    """Copy the solver report, one row per frame, to the clipboard as comma-separated values."""
    report = baking.report_of(obj)
    context.window_manager.clipboard = csv_of({context.object.name: report})
    self.report({"INFO"}, translated("Sinew: {count} frames copied", count=len(report.frames)))


@operator("Copy Diagnostics", polls.body)
def copy_diagnostics(self: Any, context: Any, obj: Any) -> None:
    """Copy versions, settings and the last report to the clipboard for a bug report, without names and paths."""
    context.window_manager.clipboard = diagnostics.text(obj)
    self.report({"INFO"}, translated("Sinew: diagnostics copied. Paste them into the bug report"))


@operator("Open Report", polls.baked_body, {"UNDO"})
def open_report(self: Any, context: Any, obj: Any) -> None:
    """Write the solver report, one row per frame, into a text data-block, and show it in the Text Editor."""
    words = baking.report_of(obj).table()
    name = f"Sinew Report {obj.name}"
    text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
    text.from_string(f"{obj.name}\n\n{words}")
    text.cursor_set(0)
    if not bpy.app.background:
        _show(context, text)
    self.report({"INFO"}, translated("Sinew: the report is the text “{name}”", name=name))


def _show(context: Any, text: Any) -> None:
    """Show a text data-block in an open Text Editor, or else in a new window."""
    areas = [area for window in context.window_manager.windows for area in window.screen.areas]
    editor = next((area for area in areas if area.type == "TEXT_EDITOR"), None)
    if editor is None:
        bpy.ops.wm.window_new()
        editor = context.window_manager.windows[-1].screen.areas[0]
        editor.type = "TEXT_EDITOR"
    space = editor.spaces.active
    space.text = text
    space.show_word_wrap = space.show_syntax_highlight = False
