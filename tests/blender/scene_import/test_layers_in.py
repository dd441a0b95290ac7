"""Materials by region and by depth, and stiffness painted between two moduli: from the panel's properties to tets."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import bake_messages
from sinew.blender_addon.blend_data.list_animation import curves_of
from sinew.blender_addon.live import live_edits
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import painting
from sinew.core.foundation.errors import MeshError, SettingsError
from sinew.core.foundation.events import ignore
from sinew.core.foundation.schema.settings import DepthSettings
from sinew.core.simulation.preparation.mesh_report import mesh_report
from sinew.core.simulation.preparation.prepare import materials, tetrahedra
from sinew.ui.materials import place_words


@pytest.fixture
def shelled(body):
    """The bar of 1 x 0.3 x 0.3 m with a shell of bone."""
    bpy.ops.sinew.add_material(preset="Bone")
    bone = body.sinew.materials[1]
    bone.depth_kind, bone.depth = "SHELL", 0.05
    body.sinew.cells_across = 16
    return body


def fields_of(body):
    job = make_job(body, bpy.context)
    mesh, embedding = tetrahedra(job, None, ignore)
    fields = materials(job, mesh, embedding, None, ignore)[0]
    return mesh, fields, mesh_report(job, mesh, embedding, fields)


def cube(add_mesh, name, low, high):
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return add_mesh(corners, faces, name)


def test_a_shell_weighs_what_geometry_says(shelled):
    mesh, fields, event = fields_of(shelled)
    flesh, bone = mesh.body_volumes @ fields.weights
    assert flesh == pytest.approx(0.9 * 0.2 * 0.2, rel=0.02)
    assert event.mass == pytest.approx(1050.0 * flesh + 1920.0 * bone)
    assert fields.youngs_modulus.min() == 5e4 and fields.youngs_modulus.max() == 1e9
    assert not any("Bone" in warning for warning in event.warnings)


def test_depths_are_in_the_scenes_units(shelled):
    bpy.context.scene.unit_settings.scale_length = 0.01
    shelled.sinew.materials[1].fade = 0.25
    (layer,) = make_job(shelled, bpy.context).body.layers
    assert layer.depth == DepthSettings("shell", 0.0005, 0.0025) and layer.material == 1


def test_a_shell_thinner_than_the_tets_and_a_core_that_is_nowhere_are_told(shelled):
    bone = shelled.sinew.materials[1]
    bone.depth = 0.001
    _mesh, _fields, event = fields_of(shelled)
    assert any("“Bone” is thinner (0.001 m) than the tetrahedra" in warning for warning in event.warnings)
    bone.depth_kind, bone.depth = "CORE", 0.4
    _mesh, fields, event = fields_of(shelled)
    assert any("as deep as the material “Bone”: lower its Depth" in warning for warning in event.warnings)
    assert (fields.youngs_modulus == 5e4).all()


def test_the_later_of_shell_and_region_wins(shelled, add_mesh):
    block = cube(add_mesh, "Block", (-1.0, -1.0, -1.0), (0.51, 1.0, 1.0))
    bpy.context.view_layer.objects.active = shelled
    bpy.ops.sinew.add_material(preset="Rubber")
    shelled.sinew.materials[2].region = block
    mesh, fields, _event = fields_of(shelled)
    along = mesh.rest_positions[mesh.tets][:, :, 0]
    left, right = (along < 0.4).all(axis=1), (along > 0.6).all(axis=1)
    assert (fields.weights[left, 2] == 1.0).all() and (fields.weights[right, 2] == 0.0).all()
    shelled.sinew.active_material = 2
    assert bpy.ops.sinew.move_material(direction="UP") == {"FINISHED"}
    mesh, fields, _event = fields_of(shelled)
    assert [m.name for m in shelled.sinew.materials] == ["Soft Flesh", "Rubber", "Bone"]
    assert fields.weights[left, 2].max() == 1.0 and fields.weights[~left, 2].max() == 1.0


def test_a_collection_gives_many_regions_and_never_the_body(shelled, add_mesh):
    bones = bpy.data.collections.new("Bones")
    bpy.context.scene.collection.children.link(bones)
    bone = shelled.sinew.materials[1]
    bone.depth_kind, bone.region_kind, bone.region_collection = "NONE", "COLLECTION", bones
    bones.objects.link(shelled)
    with pytest.raises(MeshError, match="“Bones”, the region of “Bone”, contains no mesh"):
        make_job(shelled, bpy.context)
    for name, x in (("B", 0.6), ("A", 0.1)):
        bones.objects.link(cube(add_mesh, name, (x, 0.1, 0.1), (x + 0.2, 0.2, 0.2)))
    bones.hide_viewport = True
    (layer,) = make_job(shelled, bpy.context).body.layers
    assert [surface.positions[:, 0].min() for surface in layer.surfaces] == pytest.approx([0.1, 0.6])
    assert bones.hide_viewport


def test_the_map_of_a_layer_says_how_much_it_covers(shelled):
    bpy.context.view_layer.objects.active = shelled
    assert bpy.ops.sinew.paint_material(map="PLACE") == {"FINISHED"}
    bone = shelled.sinew.materials[1]
    assert not painting.paints_a_map(shelled), "the map of a layer is no share of a sum"
    bpy.ops.sinew.stop_painting()
    assert (make_job(shelled, bpy.context).body.layers[0].map == 1.0).all(), "painting begins with what was there"
    group = shelled.vertex_groups[bone.vertex_group]
    group.add([0, 1, 2, 3], 0.25, "REPLACE")
    job = make_job(shelled, bpy.context)
    assert job.body.layers[0].map[:4] == pytest.approx(0.25) and (job.body.layers[0].map[4:] == 1.0).all()
    assert (job.body.material_weights[:, 0] == 1.0).all(), "the map of a layer is no paint"


def test_a_range_is_painted_between_two_stiffnesses(body):
    material = body.sinew.materials[0]
    material.use_range = True
    material.stiffness_unit = "KPA"
    material.stiffness_value, material.painted_value = 10.0, 1000.0
    assert material.log_painted_stiffness == pytest.approx(6.0)
    bpy.ops.sinew.paint_material(map="STIFFNESS")
    assert material.stiffness_map == "Soft Flesh Stiffness" and body.mode == "WEIGHT_PAINT"
    assert not painting.paints_a_map(body)
    bpy.ops.sinew.stop_painting()
    group = body.vertex_groups[material.stiffness_map]
    _mesh, fields, _event = fields_of(body)
    assert (fields.youngs_modulus == 1e4).all(), "nothing is painted yet"
    group.add(list(range(12)), 0.5, "REPLACE")
    _mesh, fields, _event = fields_of(body)
    np.testing.assert_allclose(fields.youngs_modulus, 1e5, rtol=1e-6)
    material.use_range = False
    assert make_job(body, bpy.context).body.materials[0].painted_modulus is None


def test_a_stiffness_map_that_is_gone_is_told(body):
    material = body.sinew.materials[0]
    material.use_range, material.stiffness_map = True, "Gone"
    with pytest.raises(SettingsError, match="stiffness map “Gone” of “Soft Flesh” does not exist"):
        make_job(body, bpy.context)


def test_a_bake_is_out_of_date_after_each_edit(shelled, add_mesh):
    ribs = bpy.data.collections.new("Ribs")
    bpy.context.scene.collection.children.link(ribs)
    block, rib = (cube(add_mesh, name, (0.1, 0.1, 0.1), (0.4, 0.2, z)) for name, z in (("Block", 0.2), ("Rib", 0.3)))
    ribs.objects.link(rib)
    shelled.vertex_groups.new(name="Other").add([0, 5], 0.5, "REPLACE")
    job = make_job(shelled, bpy.context)
    before, edits = job.fingerprints(), live_edits.Edits(shelled, bpy.context.scene, job.body)
    changes = (
        ("depth", 0.06),
        ("fade", 0.01),
        ("depth_kind", "CORE"),
        ("region", block),
        ("region_kind", "COLLECTION"),
        ("region_collection", ribs),
        ("vertex_group", "Other"),
        ("use_range", True),
        ("stiffness_map", "Other"),
    )
    for name, value in changes:
        setattr(shelled.sinew.materials[1], name, value)
        after = make_job(shelled, bpy.context).fingerprints()
        changed = [part for part in after if after[part] != before[part]]
        assert changed == ["materials"], f"{name} changes {changed}"
        assert edits.others(shelled, bpy.context.scene) == ["materials"]
        before = after


def test_live_mode_follows_both_ends_of_a_range(body):
    material = body.sinew.materials[0]
    material.use_range, material.log_painted_stiffness = True, 6.0
    edits = live_edits.Edits(body, bpy.context.scene, make_job(body, bpy.context).body)
    material.log_painted_stiffness = 7.0
    assert edits.new_stiffness(body).moduli == [5e4, 1e7]
    assert edits.others(body, bpy.context.scene) == []


def test_words_say_what_wins(shelled):
    flesh, bone = shelled.sinew.materials
    assert place_words(flesh, True) == "Used where no material is painted"
    assert "by depth" in place_words(bone, False) and "the lowest in the list applies" in place_words(bone, False)
    bone.depth_kind = "NONE"
    assert "paint it" in place_words(bone, False)
    assert "“Bone” is not assigned yet" in bake_messages.nowhere_words(make_job(shelled, bpy.context))
    bone.depth_kind = "CORE"
    assert bake_messages.nowhere_words(make_job(shelled, bpy.context)) == ""


def test_a_shell_whose_stiffness_is_keyed_is_baked(shelled, saved):
    bone = shelled.sinew.materials[1]
    for frame, value in ((1, 9.0), (4, 4.0)):
        bone.log_stiffness = value
        shelled.keyframe_insert("sinew.materials[1].log_stiffness", frame=frame)
    shelled.sinew.cells_across = 6
    assert bpy.ops.sinew.bake() == {"FINISHED"} and shelled.sinew.bake.status == "DONE"
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and shelled.sinew.bake.stale == ""
    curve = next(c for curves in curves_of(shelled) for c in curves)
    curve.keyframe_points[-1].co.y = 5.0
    curve.update()
    bpy.ops.sinew.check_bake()
    assert "materials" in shelled.sinew.bake.stale


def test_a_region_that_was_deleted_is_told(shelled, add_mesh):
    bone = shelled.sinew.materials[1]
    bone.depth_kind, bone.region = "NONE", cube(add_mesh, "Core", (0.6, 0.1, 0.1), (0.8, 0.2, 0.2))
    with bpy.context.temp_override(selected_objects=[bone.region], object=bone.region):
        bpy.ops.object.delete()
    assert bone.region is not None, "the file keeps what a property names"
    with pytest.raises(MeshError, match="The region “Core” was deleted"):
        make_job(shelled, bpy.context)
