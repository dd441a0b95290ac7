"""One undo takes back what an operator did, one redo does it again; the registry says which operators change data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from sinew.blender_addon.bake import background
from sinew.operators import CLASSES

from ..scene_export.test_corrective_key import bend_and_bake, keyed
from ..scenes import add_armature
from .test_cycles import data_blocks

CHANGES_NOTHING_TO_UNDO = {
    "SINEW_OT_bake": "starts work; its result comes by apply_bake",
    "SINEW_OT_bake_bones": "starts work; its result comes by apply_bake",
    "SINEW_OT_save_and_bake": "writes a file and starts work; its result comes by apply_bake",
    "SINEW_OT_bake_to_current": "starts work; its result comes by apply_bake",
    "SINEW_OT_bake_all": "starts work; its results come by apply_bake",
    "SINEW_OT_resume_bake": "starts work; its result comes by apply_bake",
    "SINEW_OT_start_picking": "chooses a tool",
    "SINEW_OT_convert_result": "its result comes by apply_bake",
    "SINEW_OT_tetrahedralize": "fills the cache; what it tells is true whatever is undone",
    "SINEW_OT_check_bake": "what it tells is true whatever is undone",
    "SINEW_OT_stop_bake": "ends work",
    "SINEW_OT_go_to_newest": "goes to another frame, as the timeline does",
    "SINEW_OT_read_animation": "leaves the scene as it was",
    "SINEW_OT_compare": "its ghost is drawn, and no data-block",
    "SINEW_OT_remove_ghost": "the ghost is drawn, and no data-block",
    "SINEW_OT_export_bake": "writes a file",
    "SINEW_OT_send_to_engine": "writes a file",
    "SINEW_OT_save_setup": "writes a file",
    "SINEW_OT_copy_report": "fills the clipboard",
    "SINEW_OT_copy_diagnostics": "fills the clipboard",
    "SINEW_OT_save_preset": "writes a file",
    "SINEW_OT_remove_preset": "deletes a file",
    "SINEW_OT_add_asset_library": "changes Blender's preferences",
    "SINEW_OT_remove_asset_library": "changes Blender's preferences",
    "SINEW_OT_show_stiffness": "shows a number",
    "SINEW_OT_settle": "starts work; its result comes by apply_settled",
    "SINEW_OT_find_vibrations": "starts work; what it tells is true whatever is undone",
    "SINEW_OT_play_vibration": "a vibration is drawn, and no data-block",
    "SINEW_OT_stop_vibration": "a vibration is drawn, and no data-block",
    "SINEW_OT_live_play": "live mode leaves the scene as it was",
    "SINEW_OT_live_step": "live mode leaves the scene as it was",
    "SINEW_OT_live_reset": "live mode leaves the scene as it was",
    "SINEW_OT_live_stop": "live mode leaves the scene as it was",
    "SINEW_OT_live_grab": "live mode leaves the scene as it was",
    "SINEW_OT_live_record": "the take comes by apply_take",
}
IN_A_WINDOW = {"SINEW_OT_pick", "SINEW_OT_paint_stroke", "SINEW_OT_apply_take", "SINEW_OT_apply_asset"}
"""Their undo is tested where there is a mouse (``tests/gui``)."""


def values(group: Any) -> Any:
    """All that a property group holds, read again after an undo."""
    found: dict[str, Any] = {}
    for prop in group.bl_rna.properties:
        if prop.identifier == "rna_type":
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            found[prop.identifier] = [values(item) for item in value]
        elif isinstance(value, bpy.types.PropertyGroup):
            found[prop.identifier] = values(value)
        elif isinstance(value, bpy.types.ID):
            found[prop.identifier] = value.name
        elif getattr(prop, "is_array", False):
            found[prop.identifier] = tuple(value)
        else:
            found[prop.identifier] = value
    return found


def state() -> dict[str, Any]:
    """Return the data of the file that operators change."""
    body = bpy.data.objects["Body"]
    if body.mode == "EDIT":
        body.update_from_editmode()
    keys, blocks = body.data.shape_keys, data_blocks()
    for kind in ("brushes", "libraries", "all_ids"):  # Weight Paint mode loads brushes, for good
        blocks.pop(kind, None)
    return {
        "settings": values(body.sinew),
        "settings of the scene": values(bpy.context.scene.sinew),
        "physical values": [values(shader.sinew) for shader in bpy.data.materials],
        "settings of others": [values(obj.sinew) for obj in bpy.data.objects if obj != body],
        "weights": [[(element.group, element.weight) for element in v.groups] for v in body.data.vertices],
        "groups": [group.name for group in body.vertex_groups],
        "selected": [vertex.select for vertex in body.data.vertices],
        "keys": [] if keys is None else [block.name for block in keys.key_blocks],
        "vertices": len(body.data.vertices),
        "shown": (body.hide_viewport, body.hide_render, body.mode),
        "modifiers": [(m.name, m.show_viewport, m.show_render) for m in body.modifiers],
        "actions": [
            o.animation_data and o.animation_data.action and o.animation_data.action.name for o in bpy.data.objects
        ],
        "data-blocks": blocks,
    }


def two_materials(obj: Any) -> None:
    bpy.ops.sinew.add_material(preset="Bone")
    obj.sinew.materials[1].keyframe_insert("log_stiffness", frame=1)
    obj.vertex_groups.new(name="Hard").add([4, 5], 0.7, "REPLACE")
    obj.sinew.materials[1].vertex_group = "Hard"


def two_springs(obj: Any) -> None:
    bpy.ops.sinew.add_spring()
    bpy.ops.sinew.add_spring()
    obj.sinew.springs[0].vertex_group = "Pins"


def two_pairs(obj: Any) -> None:
    bpy.ops.sinew.add_pair()
    bpy.ops.sinew.add_pair()


def two_ties(obj: Any) -> None:
    bpy.ops.sinew.add_tie()
    bpy.ops.sinew.add_tie()


def with_fragments(obj: Any) -> None:
    obj.sinew.cuts.tear = "FRAGMENTS"


def already_split(obj: Any) -> None:
    with_fragments(obj)
    bpy.ops.sinew.split_mesh()


def beside_an_armature(obj: Any) -> None:
    add_armature(
        {"Upper": ((0.0, 0.0, 2.0), (1.0, 0.0, 2.0), None), "Lower": ((1.0, 0.0, 2.0), (2.0, 0.0, 2.0), "Upper")}
    )


def with_baked_bones(obj: Any) -> None:
    beside_an_armature(obj)
    armature = bpy.context.object
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    for each in armature.children:
        each.sinew.use_scene_range, each.sinew.frame_end = False, 3
    bpy.context.view_layer.objects.active = armature.children[0]
    baked(obj)
    bpy.context.view_layer.objects.active = armature


def with_animation_shown(obj: Any) -> None:
    with_baked_bones(obj)
    assert bpy.ops.sinew.show_animation() == {"FINISHED"}


def editing(obj: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")


def none_selected(obj: Any) -> None:
    editing(obj)
    bpy.ops.mesh.select_all(action="DESELECT")


def painting(obj: Any) -> None:
    two_materials(obj)
    obj.vertex_groups.new(name="Soft").add([4, 5], 0.9, "REPLACE")
    obj.sinew.materials[0].vertex_group = "Soft"
    bpy.ops.sinew.paint_material()


def baked(obj: Any) -> None:
    assert bpy.ops.sinew.bake() == {"FINISHED"}


def baked_on_a_duplicate(obj: Any) -> None:
    obj.shape_key_add(name="Basis")
    baked(obj)


def source_shown(obj: Any) -> None:
    baked_on_a_duplicate(obj)
    bpy.ops.sinew.edit_source()


def baked_before_save_as(obj: Any) -> None:
    baked(obj)
    bpy.ops.wm.save_as_mainfile(filepath=bpy.data.filepath.replace("scene", "shot"))


def advised(obj: Any) -> None:
    for vertex in obj.data.vertices:
        vertex.co.z *= 0.4
    bpy.ops.sinew.tetrahedralize()


def beside_another(obj: Any) -> None:
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.scene.collection.objects.link(twin)
    for each in (obj, twin):
        each.select_set(True)
    two_materials(obj)


def saved_setup(obj: Any) -> None:
    two_materials(obj)
    bpy.ops.sinew.save_setup(filepath="//a.sinewsetup")
    obj.sinew.materials.remove(1)


def too_few_points(obj: Any) -> None:
    obj.sinew.bake.points_that_suffice = 77


def overlapping(obj: Any) -> None:
    obj.sinew.bake.separation_object, obj.sinew.bake.separation = obj, (0.0, 0.0, 1.0)


def overlapping_another(obj: Any) -> None:
    beside_another(obj)
    twin = bpy.data.objects["Twin"]
    twin.sinew.enabled = obj.sinew.collisions.contact_bodies = True
    overlapping(obj)


def posed(obj: Any) -> None:
    bend_and_bake(obj)
    bpy.context.scene.frame_set(3)


def with_corrective(obj: Any) -> None:
    for vertex in obj.data.vertices:
        vertex.co.x -= 0.5
    keyed(obj, (0.5, 0.0, 0.0))
    obj.active_shape_key_index = 1


def with_a_shader(obj: Any) -> None:
    obj.active_material = bpy.data.materials.new("Mine")


def with_values_on_faces(obj: Any) -> None:
    with_a_shader(obj)
    bpy.ops.sinew.store_in_shader()
    obj.data.materials.append(None)
    obj.data.polygons[0].material_index = 1


def with_a_side(obj: Any) -> None:
    obj.sinew.materials[0].name = "Biceps.L"


def nothing(obj: Any) -> None:
    pass


def switched_off(obj: Any) -> None:
    bpy.ops.sinew.disable()


def beside_a_collider(obj: Any) -> None:
    obj.modifiers.new("Softbody", "SOFT_BODY")
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.scene.collection.objects.link(twin)
    twin.modifiers.new("Collision", "COLLISION")
    obj.sinew.enabled = False


def mirrored(body):
    body.modifiers.new("Mirror", "MIRROR")


def huge(body):
    body.scale = (10.0, 10.0, 10.0)
    bpy.context.view_layer.update()


STROKE = [{"name": "", "location": (0.1 * k, y, 0.1)} for k in range(9) for y in (0, 1)]
CASES: dict[str, tuple[Callable[[Any], None], dict[str, Any]]] = {
    "enable": (switched_off, {}),
    "disable": (two_materials, {}),
    "add_material": (nothing, {"preset": "Bone"}),
    "apply_preset": (two_materials, {"preset": "Rubber"}),
    "apply_shader": (with_values_on_faces, {}),
    "store_in_shader": (with_a_shader, {}),
    "apply_muscle_preset": (nothing, {"preset": "Calf"}),
    "remove_material": (two_materials, {}),
    "move_material": (two_materials, {"direction": "UP"}),
    "paint_material": (nothing, {}),
    "stop_painting": (painting, {}),
    "normalize_maps": (painting, {}),
    "assign_pins": (editing, {"action": "ADD"}),
    "select_pins": (none_selected, {}),
    "propose_nodes": (nothing, {}),
    "add_spring": (nothing, {}),
    "remove_spring": (two_springs, {}),
    "move_spring": (two_springs, {"direction": "UP"}),
    "add_pair": (nothing, {}),
    "remove_pair": (two_pairs, {}),
    "move_pair": (two_pairs, {"direction": "UP"}),
    "add_tie": (nothing, {}),
    "remove_tie": (two_ties, {}),
    "move_tie": (two_ties, {"direction": "UP"}),
    "split_mesh": (with_fragments, {}),
    "restore_mesh": (already_split, {}),
    "add_bone_bodies": (beside_an_armature, {}),
    "show_animation": (with_baked_bones, {}),
    "show_baked_motion": (with_animation_shown, {}),
    "select_thin": (editing, {}),
    "delete_bake": (baked, {}),
    "set_as_rest_shape": (baked, {}),
    "edit_source": (baked_on_a_duplicate, {}),
    "show_bake": (source_shown, {}),
    "bring_frames": (baked_before_save_as, {}),
    "open_report": (baked, {}),
    "copy_settings": (beside_another, {}),
    "transfer_setup": (beside_another, {}),
    "load_setup": (saved_setup, {"filepath": "//a.sinewsetup"}),
    "import_physics": (beside_a_collider, {"kind": "SOFT_BODY"}),
    "take_advice": (advised, {"setting": "cells_across"}),
    "use_points": (too_few_points, {}),
    "set_rest_shape": (nothing, {}),
    "simulate_smaller": (huge, {}),
    "fit_stiffness": (huge, {}),
    "simulate_added_shape": (mirrored, {}),
    "move_out": (overlapping, {}),
    "untangle": (overlapping_another, {}),
    "corrective_key": (posed, {}),
    "add_demo_material": (baked, {}),
    "mirror_corrective_key": (with_corrective, {}),
    "mirror_muscle": (with_a_side, {}),
    "draw_muscle": (
        nothing,
        {"stroke": [{"name": "", "location": (0.1 * k, y, 0.1)} for k in range(9) for y in (0, 1)]},
    ),
}


def test_every_operator_that_changes_data_can_be_undone():
    without = {cls.__name__ for cls in CLASSES if "UNDO" not in cls.bl_options}
    assert without == set(CHANGES_NOTHING_TO_UNDO)
    by_themselves = {"SINEW_OT_apply_bake", "SINEW_OT_add_example", "SINEW_OT_apply_settled"}
    tested = {f"SINEW_OT_{name}" for name in CASES} | IN_A_WINDOW | by_themselves
    assert {cls.__name__ for cls in CLASSES} - without == tested


@pytest.mark.parametrize("name", CASES)
def test_undo_and_redo(body, saved, name):
    prepare, given = CASES[name]
    prepare(body)
    edits = body.mode == "EDIT"
    bpy.ops.ed.undo_push(message="Before")
    before = state()
    assert getattr(bpy.ops.sinew, name)("EXEC_DEFAULT", True, **given) == {"FINISHED"}
    after = state()
    assert after != before
    bpy.ops.ed.undo()
    undone = state()
    if edits:  # an undo in Edit Mode is the mesh's alone: what is noted of picks is mended by the next job
        undone["settings"]["picks"] = before["settings"]["picks"]
    assert undone == before
    bpy.ops.ed.redo()
    assert state() == after


def test_a_bake_is_undone(body, saved):
    bpy.ops.ed.undo_push(message="Before")
    before = state()
    background.begin(body, "bake")  # as a timer, not from within an operator
    assert state()["keys"]
    bpy.ops.ed.undo()
    undone = state()
    assert (undone["keys"], undone["data-blocks"]) == (before["keys"], before["data-blocks"])
    assert undone["settings"]["bake"]["status"] == "NONE"
    bpy.ops.ed.redo()
    assert len(state()["keys"]) == 4


def test_settling_is_undone(body, saved):
    bpy.ops.ed.undo_push(message="Before")
    before = state()
    background.begin(body, "settle")  # as a timer
    assert state()["keys"] == ["Basis", "Settled"]
    bpy.ops.ed.undo()
    assert state() == before
    bpy.ops.ed.redo()
    assert state()["keys"] == ["Basis", "Settled"]


def test_an_example_is_undone(body, saved):
    bpy.ops.ed.undo_push(message="Before")
    before = state()
    name = bpy.ops.sinew.add_example.get_rna_type().properties["example"].enum_items[0].identifier
    assert bpy.ops.sinew.add_example("EXEC_DEFAULT", True, example=name) == {"FINISHED"}
    assert state()["data-blocks"] != before["data-blocks"]
    bpy.ops.ed.undo()
    assert state() == before
