"""Corrective shape keys: with the pose they give the baked shape, without it the rest shape."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_export.corrective_key import add_corrective, bones_of, turned_bone


def bend_and_bake(body):
    """Put the bar on two bones, of which the second bends by 40 degrees until the third frame, and bake statics."""
    bpy.ops.object.armature_add(enter_editmode=True)
    rig = bpy.context.object
    bones = rig.data.edit_bones
    bones[0].head, bones[0].tail = (0.0, 0.15, 0.15), (0.5, 0.15, 0.15)
    second = bones.new("Second")
    second.head, second.tail, second.parent = (0.5, 0.15, 0.15), (1.0, 0.15, 0.15), bones[0]
    first = bones[0].name
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, chosen in ((first, range(8)), ("Second", range(8, 12))):
        body.vertex_groups.new(name=name).add(list(chosen), 1.0, "REPLACE")
    body.vertex_groups["Pins"].add(list(range(8, 12)), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Second"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (3, math.radians(40.0))):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = body
    body.sinew.integrator = "statics"
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.context.view_layer.objects.active = body


@pytest.fixture
def bent(body, saved):
    bend_and_bake(body)
    return body


def shown(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def test_a_key_corrects_the_pose_and_follows_the_bone(bent):
    """The original is hidden behind its bake when the key is made."""
    scene = bpy.context.scene
    scene.frame_set(3)
    target = baking.open_store(bent).read(3)
    assert bpy.ops.sinew.corrective_key() == {"FINISHED"}
    bpy.ops.sinew.edit_source()
    (_basis, key) = bent.data.shape_keys.key_blocks
    assert key.name == "Corrective 3 Second"
    bpy.context.view_layer.update()
    assert np.abs(shown(bent) - target).max() < 1e-4
    scene.frame_set(1)
    rest = np.array([vertex.co for vertex in bent.data.vertices])
    assert key.value == pytest.approx(0.0, abs=1e-6) and np.abs(shown(bent) - rest).max() < 1e-5
    driver = bent.data.shape_keys.animation_data.drivers[0]
    scene.frame_set(3)
    driver.mute, key.value = True, 0.0
    bpy.context.view_layer.update()
    assert np.abs(shown(bent) - target).max() > 0.005, "the pose needs a correction"
    driver.mute = False
    scene.frame_set(2)
    assert 0.2 < key.value < 0.8


def test_a_mesh_without_a_pose_is_refused(body, saved):
    bpy.ops.sinew.bake()
    with pytest.raises(RuntimeError, match="no pose needs a correction"):
        bpy.ops.sinew.corrective_key()
    assert not any("Corrective" in key.name for key in body.data.shape_keys.key_blocks)


def test_a_chosen_bone_drives_the_key(bent):
    bpy.context.scene.frame_set(3)
    with pytest.raises(RuntimeError, match="is not rotated at this frame"):
        bpy.ops.sinew.corrective_key(bone=bones_of(bent)[0].name)
    with pytest.raises(RuntimeError, match="no bone “Third”"):
        bpy.ops.sinew.corrective_key(bone="Third")
    assert bent.data.shape_keys is None
    assert bpy.ops.sinew.corrective_key(bone="Second") == {"FINISHED"}
    assert bent.data.shape_keys.key_blocks[1].name == "Corrective 3 Second"


def keyed(mesh, bend):
    """Give the bar, centred about X, a key on its right half, driven by the bone Bend.L about ``bend``."""
    bpy.ops.object.armature_add(enter_editmode=True)
    rig = bpy.context.object
    edit = rig.data.edit_bones
    edit[0].name, edit[0].head, edit[0].tail = "Bend.L", (0.1, 0.15, 0.15), (0.5, 0.15, 0.15)
    other = edit.new("Bend.R")
    other.head, other.tail = (-0.1, 0.15, 0.15), (-0.5, 0.15, 0.15)
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, chosen in (("Bend.L", range(8, 12)), ("Bend.R", range(4))):
        mesh.vertex_groups.new(name=name).add(list(chosen), 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.pose.bones["Bend.L"].rotation_euler = bend
    bpy.context.view_layer.objects.active = mesh
    bpy.context.view_layer.update()
    target = shown(mesh)
    target[8:] += (0.02, 0.03, 0.05)
    return add_corrective(mesh, target, turned_bone(mesh), bpy.context), rig


@pytest.mark.parametrize("bend", [(0.5, 0.0, 0.0), (0.0, 0.6, 0.0), (0.0, 0.0, -0.7)])
def test_a_mirrored_key_gives_the_mirror_image_in_the_mirrored_pose(body, bend):
    for vertex in body.data.vertices:
        vertex.co.x -= 0.5
        vertex.co.y -= 0.15
    key, rig = keyed(body, bend)
    assert key.name == "Corrective 1 Bend.L"
    bpy.context.view_layer.update()
    left = shown(body)
    body.active_shape_key_index = 1
    assert bpy.ops.sinew.mirror_corrective_key() == {"FINISHED"}
    assert [block.name for block in body.data.shape_keys.key_blocks[1:]] == [key.name, "Corrective 1 Bend.R"]
    bones = rig.pose.bones
    bones["Bend.L"].rotation_euler = (0.0, 0.0, 0.0)
    bones["Bend.R"].rotation_euler = np.array(bend) * (1.0, -1.0, -1.0)
    bpy.context.view_layer.update()
    image = [np.linalg.norm(shown(body) - p * (-1.0, 1.0, 1.0), axis=1).min() for p in left]
    assert max(image) < 2e-3, "each vertex of the left pose has its mirror image"
    assert bpy.ops.sinew.mirror_corrective_key() == {"FINISHED"}, "once more: the same key"
    assert len(body.data.shape_keys.key_blocks) == 3


def test_keys_without_an_other_side_are_refused(body):
    for vertex in body.data.vertices:
        vertex.co.x -= 0.5
    key, rig = keyed(body, (0.5, 0.0, 0.0))
    body.active_shape_key_index = 1
    key.name = "Elbow"
    with pytest.raises(RuntimeError, match="has no side"):
        bpy.ops.sinew.mirror_corrective_key()
    key.name = "Elbow.L"
    rig.pose.bones["Bend.R"].name = "Other"
    with pytest.raises(RuntimeError, match="no bone “Bend.R”"):
        bpy.ops.sinew.mirror_corrective_key()
    body.data.shape_keys.animation_data_clear()
    with pytest.raises(RuntimeError, match="No bone drives"):
        bpy.ops.sinew.mirror_corrective_key()
    assert len(body.data.shape_keys.key_blocks) == 2
