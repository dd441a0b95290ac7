"""Bone bodies are baked together; their motion becomes an action of the armature."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler
from sinew.blender_addon import command
from sinew.blender_addon.bake import baking
from sinew.blender_addon.objects.bones import shows_result
from sinew.blender_addon.objects.contact_groups import group_of
from sinew.blender_addon.setup.joint_words import joint_words

from ..scenes import add_armature, keyed


def distance_from_bake(bodies, evaluated):
    """Largest distance, m, of the shown bodies from the baked ones in all frames."""
    stores = {each: baking.open_store(each) for each in bodies.values()}
    frames = next(iter(stores.values())).frames()
    return max(np.abs(evaluated(o, frame) - s.read(frame)).max() for o, s in stores.items() for frame in frames)


def test_a_ragdoll_falls_and_its_action_shows_it(arm, ragdoll, evaluated):
    bodies = ragdoll()
    assert set(bodies) == {"Upper", "Lower"} == {each.parent_bone for each in group_of(bodies["Upper"], bpy.context)}
    before = evaluated(bodies["Lower"], 1)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    for each in bodies.values():
        assert (each.sinew.bake.status, each.sinew.bake.frames, each.sinew.bake.message) == ("DONE", 8, "")
        assert each.data.shape_keys is None
    assert shows_result(arm) and arm.animation_data.action.name == "Rig Bake"
    assert distance_from_bake(bodies, evaluated) < 1e-5
    fallen = before - evaluated(bodies["Lower"], 8)
    np.testing.assert_allclose(fallen[:, 2], 9.81 * 28.0 / 24.0**2, rtol=1e-3)  # implicit Euler: g h² (1 + ... + 7)
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and not bodies["Upper"].sinew.bake.stale


def test_the_animation_stays_and_moves_what_follows_it(arm, ragdoll, evaluated):
    """Taken hold of, the bodies are at the animation; let go, they fall from it. The artist's action stays as it is."""
    upper = arm.pose.bones["Upper"]
    upper.rotation_mode = "XYZ"
    keyed(upper, "rotation_euler", (1, (0.0, 0.0, 0.0)), (8, (0.0, 0.4, 1.2)))
    arm.animation_data.action.name = "Wave"
    bodies = ragdoll()
    shown = {frame: [evaluated(each, frame) for each in bodies.values()] for frame in (1, 5, 8)}
    keyed(arm.data.sinew, "follow", (1, 1.0), (5, 1.0), (6, 0.0))
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    stores = [baking.open_store(each) for each in bodies.values()]
    for frame in (1, 5):
        off = [np.abs(store.read(frame) - there).max() for store, there in zip(stores, shown[frame])]
        assert max(off) < 1e-4, off
    assert np.abs(stores[0].read(8) - shown[8][0]).max() > 0.01, "let go, it follows no more"
    assert distance_from_bake(bodies, evaluated) < 1e-5
    assert arm.animation_data.action.name == "Rig Bake" and bpy.data.actions["Wave"].users
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.show_animation() == {"FINISHED"} and arm.animation_data.action.name == "Wave"
    assert np.abs(evaluated(bodies["Lower"], 8) - shown[8][list(bodies).index("Lower")]).max() < 1e-5
    assert bpy.ops.sinew.show_baked_motion() == {"FINISHED"}
    bpy.context.view_layer.objects.active = bodies["Upper"]
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert arm.animation_data.action.name == "Wave" and "Rig Bake" not in bpy.data.actions


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "ZXY"])
def test_a_pose_without_keys_is_there_again(arm, ragdoll, evaluated, mode):
    """In every rotation mode the action shows the bake, and without it the bones have the pose that they had."""
    for bone in arm.pose.bones:
        bone.rotation_mode = mode
        bone.matrix_basis = Euler((0.2, 0.3, 0.4)).to_matrix().to_4x4()
    bpy.context.view_layer.update()
    bodies, before = ragdoll(6), [bone.matrix_basis.copy() for bone in arm.pose.bones]
    bodies["Upper"].sinew.joint.follow = 0.0
    bodies["Lower"].sinew.joint.stiffness = 5.0
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.bake_bones() == {"FINISHED"} and distance_from_bake(bodies, evaluated) < 1e-5
    first = baking.open_store(bodies["Upper"]).read(1)
    bpy.context.scene.frame_set(6)
    assert bpy.ops.sinew.bake_bones() == {"FINISHED"}
    np.testing.assert_allclose(baking.open_store(bodies["Upper"]).read(1), first, atol=1e-6)
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.show_animation() == {"FINISHED"}
    for bone, matrix in zip(arm.pose.bones, before):
        np.testing.assert_allclose(np.array(bone.matrix_basis), np.array(matrix), atol=1e-6)


def angle(arm, frame):
    """Angle of the lower bone from its rest position about its z, degrees, at a frame."""
    bpy.context.scene.frame_set(frame)
    seen = arm.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.degrees(seen.pose.bones["Lower"].matrix_basis.to_euler().z)


@pytest.mark.parametrize("by", ["IK", "Limit Rotation", "panel"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_hinge_stops_at_the_limits_of_its_bone(arm, ragdoll, evaluated, mirrored, by):
    """The upper bone follows its animation; the lower one swings from its first pose to its limit, in a mirror too."""
    arm.rotation_euler.x = np.pi / 2.0
    arm.scale.x = -1.0 if mirrored else 1.0
    lower, (low, high) = arm.pose.bones["Lower"], np.radians([-10.0, 60.0])
    lower.rotation_mode, lower.rotation_euler.z = "XYZ", 0.5
    bpy.context.view_layer.update()
    bodies = ragdoll(20)
    joint = bodies["Lower"].sinew.joint
    if by == "IK":
        lower.lock_ik_x = lower.lock_ik_y = lower.use_ik_limit_z = True
        lower.ik_min_z, lower.ik_max_z = low, high
    elif by == "Limit Rotation":
        limit = lower.constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
        limit.min_z, limit.max_z = low, high
    else:
        joint.kind, joint.axis, joint.use_limits, joint.lower, joint.upper = "hinge", "Z", True, low, high
    assert joint_words(bodies["Lower"]) == "Hinge with “Upper Body” about Z, -10° to 60°"
    arm.data.sinew.follow, joint.follow = 1.0, 0.0
    assert bpy.ops.sinew.bake() == {"FINISHED"} and distance_from_bake(bodies, evaluated) < 1e-5
    assert [angle(arm, frame) for frame in (1, 20)] == pytest.approx([np.degrees(0.5), -10.0], abs=0.1)


CHAIN = {
    "A": ((0.0, 0.0, 2.0), (1.0, 0.0, 2.0), None),
    "B": ((1.0, 0.0, 2.0), (2.0, 0.0, 2.0), "A"),
    "C": ((2.0, 0.0, 2.0), (3.0, 0.0, 2.0), "B"),
}


def test_bones_without_bodies_and_constraints_are_reckoned_with(saved, evaluated):
    """A moving, scaled armature, a keyed bone in between without a body, and an IK constraint on the last bone."""
    rig = add_armature(CHAIN)
    rig.scale = (0.5, 0.5, 0.5)
    keyed(rig, "location", (1, (0.0, 0.0, 0.0)), (6, (0.5, 0.3, 0.2)))
    rig.data.bones["B"].use_deform = False
    rig.pose.bones["B"].rotation_mode = "XYZ"
    keyed(rig.pose.bones["B"], "rotation_euler", (1, (0.0, 0.0, 0.0)), (6, (0.0, 0.0, 0.8)))
    goal = bpy.data.objects.new("Goal", None)
    goal.location = (0.8, 0.4, 1.0)
    bpy.context.scene.collection.objects.link(goal)
    reach = rig.pose.bones["C"].constraints.new("IK")
    reach.target, reach.influence = goal, 0.5
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    bodies = {each.parent_bone: each for each in rig.children}
    for each in bodies.values():
        each.sinew.use_scene_range, each.sinew.frame_end = False, 6
    bpy.context.view_layer.objects.active = bodies["A"]
    assert set(bodies) == {"A", "C"} and bpy.ops.sinew.bake() == {"FINISHED"}
    assert distance_from_bake(bodies, evaluated) < 1e-5 and reach.influence == 0.0
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.sinew.show_animation() == {"FINISHED"} and reach.influence == 0.5


def test_a_bake_is_resumed_and_baked_again(arm, ragdoll, evaluated):
    bodies = ragdoll()
    bpy.context.scene.frame_set(4)
    assert bpy.ops.sinew.bake_to_current() == {"FINISHED"} and bodies["Lower"].sinew.bake.status == "STOPPED"
    assert distance_from_bake(bodies, evaluated) < 1e-5
    bpy.context.scene.frame_set(3)
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and bodies["Lower"].sinew.bake.frames == 8
    assert distance_from_bake(bodies, evaluated) < 1e-5
    first = baking.open_store(bodies["Lower"]).read(8)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    np.testing.assert_allclose(baking.open_store(bodies["Lower"]).read(8), first, atol=1e-6)
    bodies["Lower"].sinew.joint.stiffness = 3.0
    bpy.ops.sinew.check_bake()
    assert "Lower Body" in bodies["Upper"].sinew.bake.stale


def test_the_file_keeps_both_actions(arm, ragdoll, saved, evaluated):
    """A bake by the command starts from the artist's action, not from the baked one."""
    keyed(arm.pose.bones["Upper"], "location", (1, (0.0, 0.0, 0.0)), (8, (0.0, 1.0, 0.0)))
    arm.animation_data.action.name = "Wave"
    bodies = ragdoll()
    arm.data.sinew.follow = 1.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    before = baking.open_store(bodies["Lower"]).read(8)
    bpy.ops.wm.save_mainfile()
    assert command.main([str(saved)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    bodies = {each.parent_bone: each for each in bpy.data.objects["Rig"].children}
    np.testing.assert_allclose(baking.open_store(bodies["Lower"]).read(8), before, atol=1e-6)
    assert distance_from_bake(bodies, evaluated) < 1e-5
    assert {each.name for each in bpy.data.actions} == {"Rig Bake", "Wave"}


def test_flesh_hangs_on_its_bones(arm, add_mesh, evaluated):
    """A bar of flesh around two bones falls with them, and keeps its place on them."""
    grid = np.array([(x, y, z) for x in np.linspace(-0.1, 2.1, 12) for y in (-0.2, 0.2) for z in (1.8, 2.2)])
    around = (0, 1), (1, 3), (3, 2), (2, 0)
    faces = [(4 * k + a, 4 * k + b, 4 * k + 4 + b, 4 * k + 4 + a) for k in range(11) for a, b in around]
    skin = add_mesh(grid, [*faces, (2, 3, 1, 0), (44, 45, 47, 46)], "Skin")
    bpy.ops.sinew.enable()
    skin.modifiers.new("Armature", "ARMATURE").object = arm
    skin.sinew.use_scene_range, skin.sinew.frame_end, skin.sinew.cells_across = False, 6, 16
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    bodies = {each.parent_bone: each for each in arm.children}
    bpy.context.view_layer.objects.active = skin
    assert bpy.ops.sinew.bake() == {"FINISHED"} and not skin.sinew.bake.message, skin.sinew.bake.message
    assert distance_from_bake(bodies, evaluated) < 1e-5
    shown = skin.sinew.bake.result, *bodies.values()
    fallen = [evaluated(each, 1)[:, 2].mean() - evaluated(each, 6)[:, 2].mean() for each in shown]
    np.testing.assert_allclose(fallen, 9.81 * 15.0 / 24.0**2, rtol=0.02)


@pytest.mark.parametrize("override", [False, True], ids=["linked", "override"])
def test_a_linked_armature_is_told_and_an_override_gets_the_action(arm, saved, evaluated, override):
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(saved.with_name("shot.blend")))
    with bpy.data.libraries.load(str(saved), link=True) as (_there, here):
        here.objects = ["Rig"]
    (rig,) = here.objects
    bpy.context.scene.collection.objects.link(rig)
    rig = rig.override_create(remap_local_usages=True) if override else rig
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    bodies = {each.parent_bone: each for each in rig.children}
    for each in bodies.values():
        each.sinew.use_scene_range, each.sinew.frame_end = False, 4
    bpy.context.view_layer.objects.active = bodies["Upper"]
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    if override:
        assert rig.animation_data.action.name == "Rig Bake" and distance_from_bake(bodies, evaluated) < 1e-5
    else:
        messages = [each.sinew.bake.message for each in bodies.values()]
        assert any("The armature “Rig” is linked from another file" in words for words in messages)


def test_other_units_and_a_copy_of_the_armature(arm, ragdoll, evaluated):
    """Centimetres, and a late first frame. A copy of the armature plays the action still where the bake is deleted."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    bodies = ragdoll(16, frame_start=11, pre_roll=3)
    bodies["Upper"].sinew.joint.kind = "weld"
    assert bpy.ops.sinew.bake() == {"FINISHED"} and bodies["Lower"].sinew.bake.frames == 6
    stores = {each: baking.open_store(each) for each in bodies.values()}
    for frame in range(11, 17):
        for each, store in stores.items():
            assert np.abs(0.01 * evaluated(each, frame) - store.read(frame)).max() < 1e-6
    copy = arm.copy()
    scene.collection.objects.link(copy)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and not shows_result(arm)
    assert shows_result(copy) and copy.animation_data.action.name == "Rig Bake"
