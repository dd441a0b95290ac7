"""Corrective shape keys: with the pose they give the baked shape, without it the rest shape."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking


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
    assert key.name == "Corrective 3"
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
