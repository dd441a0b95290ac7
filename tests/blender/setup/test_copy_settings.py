"""Copy Settings to Selected: all that makes sense there, by name, and a word of what does not."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon.scene_import.settings_in import material_settings, solver_settings
from sinew.blender_addon.setup import copying

from ..scenes import CUBE


@pytest.fixture
def other(body, add_mesh):
    """A cube without Sinew, selected with the body, which is active and has two materials and a spring."""
    other = add_mesh(*CUBE, name="Other")
    bpy.context.view_layer.objects.active = body
    bpy.ops.sinew.add_material(preset="Bone")
    body.sinew.materials[1].vertex_group = body.vertex_groups.new(name="Bones").name
    bpy.ops.sinew.add_spring()
    body.sinew.springs[0].target = other
    body.sinew.springs[0].vertex_group = "Pins"
    for obj in (body, other):
        obj.select_set(True)
    return other


def test_settings_are_copied_and_what_is_missing_is_told(body, other):
    settings = body.sinew
    settings.solver, settings.substeps, settings.mass_damping = "newton", 4, 0.3
    settings.collisions.use_ground, settings.field_weights.wind = True, 0.25
    settings.materials[0].log_stiffness, settings.materials[0].stiffness_unit = 5.25, "MPA"
    settings.simulate_at, settings.simulate_after = "MODIFIER", "Bend"
    settings.refine_group, settings.rest_key = "Lips", "Round"
    other.vertex_groups.new(name="Pins")
    left = copying.copy_settings(body, other)
    things = "vertex group “Bones”", "vertex group “Lips”", "shape key “Round”", "modifier “Bend”"
    assert set(left) == {*things, "Object “Other”, which is the object itself"}
    got, scene = other.sinew, bpy.context.scene
    assert got.enabled and got.collisions.use_ground and got.field_weights.wind == 0.25 and got.pin_group == "Pins"
    assert solver_settings(got, scene) == solver_settings(settings, scene)
    assert [material_settings(m) for m in got.materials] == [material_settings(m) for m in settings.materials]
    assert [m.stiffness_unit for m in got.materials] == [m.stiffness_unit for m in settings.materials]
    assert got.materials[1].vertex_group == "" and got.springs[0].vertex_group == "Pins"
    assert got.springs[0].target is None and got.simulate_at == "AUTOMATIC" and got.refine_group == got.rest_key == ""


def test_items_are_matched_by_name_with_their_animation_and_maps(body, other):
    bpy.context.view_layer.objects.active = other
    bpy.ops.sinew.enable()
    bpy.ops.sinew.add_material(preset="Bone")
    bpy.ops.sinew.add_material(preset="Rubber")
    got = other.sinew
    got.materials.move(1, 0)
    assert [m.name for m in got.materials] == ["Bone", body.sinew.materials[0].name, "Rubber"]
    got.materials[0].vertex_group = other.vertex_groups.new(name="Own").name
    for index in (0, 2):
        got.materials[index].keyframe_insert("log_stiffness", frame=1)
    copying.copy_settings(body, other)
    assert [m.name for m in got.materials] == [m.name for m in body.sinew.materials]
    assert got.materials[1].vertex_group == "Own", "the map that it lacks is left as it was"
    curves = [curve.data_path for curves in copying.curves_of(other) for curve in curves]
    assert curves == ["sinew.materials[1].log_stiffness"]


def test_the_button_leaves_bakes_and_says_what_is_left_out(body, other, saved):
    bpy.context.view_layer.objects.active = other
    bpy.ops.sinew.enable()
    other.sinew.cells_across, other.sinew.use_scene_range, other.sinew.frame_end = 4, False, 2
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.context.view_layer.objects.active = body
    body.sinew.materials[0].keyframe_insert("log_stiffness", frame=1)
    assert bpy.ops.sinew.copy_settings() == {"FINISHED"}
    assert other.sinew.bake.status == "DONE" and other.data.shape_keys is not None
    assert other.sinew.frame_end == body.sinew.frame_end
    assert "keyframes" in copying.copy_settings(body, other)
    other.select_set(False)
    assert not bpy.ops.sinew.copy_settings.poll()
