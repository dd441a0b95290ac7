"""Jobs of bone bodies have the joints, limits and animation of the bones; errors name what is wrong."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sinew.blender_addon.objects.contact_groups import group_of
from sinew.blender_addon.scene_import.job_in import group_steps, make_job
from sinew.blender_addon.setup.joint_words import joint_words
from sinew.blender_addon.window.stepwise import at_once
from sinew.core.foundation.errors import MeshError, TieError
from sinew.core.jobs.job.job import Job

from ..drawn import drawn_by
from ..scenes import CUBE, add_armature

CHAIN = {
    "A": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), None),
    "B": ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), "A"),
    "C": ((2.0, 0.0, 0.0), (3.0, 0.0, 0.0), "B"),
}


def joint_of(obj):
    (joint,) = make_job(obj, bpy.context).body.joints
    return joint


def test_a_joint_is_at_the_head_of_its_bone(arm, ragdoll):
    arm.location.y, arm.scale = 0.5, (2.0, 2.0, 2.0)
    bpy.context.scene.unit_settings.scale_length = 0.1
    bodies = ragdoll()
    joint = joint_of(bodies["Lower"])
    assert (joint.other, joint.kind, joint.limits) == ("Upper Body", "ball", None)
    np.testing.assert_allclose(joint.position, (0.2, 0.05, 0.4), atol=1e-6)
    assert make_job(bodies["Upper"], bpy.context).body.joints == ()
    bodies["Lower"].sinew.joint.kind = "NONE"
    assert make_job(bodies["Lower"], bpy.context).body.joints == ()
    assert joint_words(bodies["Lower"]) == "The bone moves freely"


def test_the_partner_is_the_nearest_body_above(saved):
    """A bone without a body in between moves along. In a job alone, the partner is a collider."""
    rig = add_armature(CHAIN)
    rig.data.bones["B"].use_deform = False
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    last = next(each for each in rig.children if each.parent_bone == "C")
    assert joint_of(last).other == "A Body" and joint_words(last) == "Ball with “A Body”"
    last.sinew.collisions.contact_bodies = False
    alone = make_job(last, bpy.context, alone=True).body
    assert [each.name for each in alone.colliders] == ["A Body"] == [each.other for each in alone.joints]


def test_a_cone_is_around_the_middle_of_the_ranges(arm, ragdoll):
    lower = arm.pose.bones["Lower"]
    for axis, low, high in (("x", -20.0, 60.0), ("z", -30.0, 30.0), ("y", -5.0, 5.0)):
        setattr(lower, f"use_ik_limit_{axis}", True)
        setattr(lower, f"ik_min_{axis}", math.radians(low))
        setattr(lower, f"ik_max_{axis}", math.radians(high))
    bodies = ragdoll()
    assert joint_words(bodies["Lower"]) == "Ball with “Upper Body”, in a cone of 40°, twist -5° to 5°"
    joint = joint_of(bodies["Lower"])
    np.testing.assert_allclose(np.degrees(joint.twist), (-5.0, 5.0), rtol=1e-6)
    assert joint.limits[1] == pytest.approx(math.radians(40.0))
    assert np.degrees(np.arccos(joint.axis @ joint.cone)) == pytest.approx(20.0, abs=1e-3)
    lower.rotation_mode, lower.rotation_euler.x = "XYZ", math.radians(20.0)
    bpy.context.view_layer.update()
    joint = joint_of(bodies["Lower"])
    assert np.degrees(np.arccos(min(joint.axis @ joint.cone, 1.0))) == pytest.approx(0.0, abs=0.1)
    lower.rotation_euler.y = math.radians(4.0)
    bpy.context.view_layer.update()
    offset, posed = Rotation.from_rotvec(joint_of(bodies["Lower"]).offset), lower.matrix.to_3x3()
    rest = lower.bone.matrix_local.to_3x3()
    np.testing.assert_allclose(offset.as_matrix() @ np.array(rest), np.array(posed), atol=1e-6)
    lower.rotation_euler.y = math.radians(7.0)
    bpy.context.view_layer.update()
    with pytest.raises(TieError, match="exclude its pose at the first frame, by"):
        make_job(bodies["Lower"], bpy.context)
    lower.rotation_euler.y = 0.0
    bpy.context.view_layer.update()
    lower.lock_ik_x = lower.lock_ik_z = True
    assert joint_words(bodies["Lower"]) == "Hinge with “Upper Body” about Y, -5° to 5°"
    lower.lock_ik_y = True
    assert joint_words(bodies["Lower"]) == "Weld with “Upper Body”"


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_a_motor_turns_to_the_animated_pose(kind, arm, ragdoll):
    """The target is the rotation against the partner, which turns too; it passes half a turn without a jump."""
    scene, lower, upper = bpy.context.scene, arm.pose.bones["Lower"], arm.pose.bones["Upper"]
    for frame in range(1, 6):
        for bone, angle in ((lower, 0.3 + (frame - 1)), (upper, 0.2 * frame)):
            bone.rotation_mode, bone.rotation_euler = "XYZ", (0.0, 0.0, angle)
            bone.keyframe_insert("rotation_euler", frame=frame)
    bodies = ragdoll()
    joint = bodies["Lower"].sinew.joint
    joint.kind, joint.axis, joint.stiffness, joint.to_animation = kind, "Z", 5.0, True
    scene.frame_set(1)
    found = joint_of(bodies["Lower"])
    axis = found.axis if kind == "hinge" else np.array(arm.matrix_world @ lower.matrix).T[2, :3]
    angles = found.target if kind == "hinge" else found.target @ (axis / np.linalg.norm(axis))
    np.testing.assert_allclose(angles, np.minimum(np.arange(len(angles)), 4.0), atol=1e-5)
    joint.to_animation = False
    assert joint_of(bodies["Lower"]).target.tolist() == [0.0]


def test_limits_that_exclude_the_first_pose_are_told(arm, ragdoll):
    lower = arm.pose.bones["Lower"]
    lower.rotation_mode, lower.rotation_euler.z = "XYZ", 1.0
    bpy.context.view_layer.update()
    bodies = ragdoll()
    joint = bodies["Lower"].sinew.joint
    joint.kind, joint.axis, joint.use_limits, joint.lower, joint.upper = "hinge", "Z", True, 0.0, 0.9
    with pytest.raises(TieError, match="bone “Lower” exclude its pose at the first frame, by 5.7 degrees"):
        make_job(bodies["Lower"], bpy.context)
    joint.kind, joint.cone = "ball", 0.9
    with pytest.raises(TieError, match="exclude its pose at the first frame, by 5.7 degrees"):
        make_job(bodies["Lower"], bpy.context)
    joint.cone = 1.1
    assert joint_of(bodies["Lower"]).limits[1] == pytest.approx(1.1)


def test_bad_bodies_are_told(arm, ragdoll, add_mesh):
    bodies = ragdoll()
    twin = bodies["Upper"].copy()
    bpy.context.scene.collection.objects.link(twin)
    with pytest.raises(MeshError, match="are both the body of the bone “Upper”"):
        make_job(bodies["Upper"], bpy.context)
    bpy.data.objects.remove(twin)
    arm.scale.x = 2.0
    bpy.context.view_layer.update()
    with pytest.raises(MeshError, match="armature “Rig” is scaled differently along its axes"):
        make_job(bodies["Upper"], bpy.context)
    arm.scale.x = 1.0
    flat = bodies["Lower"].data
    for vertex in flat.vertices:
        vertex.co.z = 0.0
    bpy.context.view_layer.update()
    with pytest.raises(MeshError, match="“Lower Body”, the body of a bone: .* encloses no volume"):
        make_job(bodies["Lower"], bpy.context)


def test_flesh_and_meshes_of_bones_are_taken(arm, add_mesh):
    """A mesh that is a child of a bone is its body; what the armature deforms is glued, and leads."""
    skin = add_mesh(np.array(CUBE[0]) * (2.0, 0.4, 0.4) - (0.0, 0.2, -1.8), CUBE[1], "Skin")
    bpy.ops.sinew.enable()
    skin.modifiers.new("Armature", "ARMATURE").object = arm
    skin.sinew.use_scene_range, skin.sinew.frame_end, skin.sinew.substeps = False, 5, 2
    shape = add_mesh(np.array(CUBE[0]) * 0.1, CUBE[1], "Shape")
    shape.parent, shape.parent_type, shape.parent_bone = arm, "BONE", "Upper"
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.add_bone_bodies() == {"FINISHED"}
    assert not bpy.ops.sinew.add_bone_bodies.poll()
    assert (
        {each.name for each in arm.children} == {"Shape", "Lower Body"} == {tie.other.name for tie in skin.sinew.ties}
    )
    assert (shape.sinew.method, shape.sinew.substeps, shape.sinew.frame_end) == ("rigid", 2, 5)
    assert [each.name for each in group_of(shape, bpy.context)] == ["Lower Body", "Shape", "Skin"]
    jobs = at_once(group_steps(group_of(shape, bpy.context), bpy.context))
    assert [len(job.body.ties) for job in jobs] == [0, 0, 2] and [len(job.body.joints) for job in jobs] == [1, 0, 0]


def test_a_job_file_keeps_the_joint_and_the_pull(arm, ragdoll, tmp_path):
    bodies = ragdoll()
    arm.data.sinew.follow = 0.25
    job = make_job(bodies["Lower"], bpy.context)
    job.save(tmp_path / "lower.npz")
    again = Job.load(tmp_path / "lower.npz").body
    (joint,), (spring,) = again.joints, again.springs
    assert joint.other == "Upper Body" and spring.name == "Animation"
    mass = 1920.0 * bodies_volume(bodies["Lower"])
    np.testing.assert_allclose(spring.stiffness, mass * (2.0 * math.pi) ** 2, rtol=1e-3)  # a quarter is 1 Hz


def bodies_volume(obj):
    """Volume of a capsule of two radii: two hemispheres and a frustum, less the polygons' error."""
    corners = np.array([[obj.data.vertices[i].co for i in t.vertices] for t in triangles(obj)], dtype=float)
    return np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0


def triangles(obj):
    obj.data.calc_loop_triangles()
    return obj.data.loop_triangles


def test_capsules_are_closed_and_end_before_the_joints(arm, ragdoll):
    bodies = ragdoll()
    points = np.array([v.co for v in bodies["Upper"].data.vertices])
    assert points[:, 1].min() == pytest.approx(-0.92) and points[:, 1].max() == pytest.approx(-0.08)
    assert np.hypot(points[:, 0], points[:, 2]).max() == pytest.approx(0.1)  # the envelope of a new bone
    assert 0.01 < bodies_volume(bodies["Upper"]) < math.pi * 0.1**2 * 0.84
    drawn = drawn_by(bpy.types.PHYSICS_PT_sinew_joint)
    assert "The bone moves freely" in drawn.labels and any(each.startswith("Mass") for each in drawn.labels)
    bpy.context.view_layer.objects.active = arm
    drawn = drawn_by(bpy.types.PHYSICS_PT_sinew)
    assert "2 bones have bodies. Select a body to set its joint and its collisions." in drawn.labels
    assert drawn.text_of("sinew.bake_bones") == "Bake" and "follow" in drawn.properties
    assert drawn.text_of("sinew.add_bone_bodies") is None
