"""Regions that the body follows: rigid, deformed and armature regions, keys, and messages."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import bake_messages
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import MeshError
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare
from sinew.ui.materials import place_words

from ..scenes import CUBE, edits, keyed

SIDE = 0.16


@pytest.fixture
def bone(body, add_mesh):
    """A cube in the middle of the bar, whose inside follows it; the bar has no pins and eight cells along it."""
    corners = np.array([0.42, 0.07, 0.07]) + SIDE * np.array(CUBE[0])
    cube = add_mesh(corners, CUBE[1], "Cube")
    bpy.context.view_layer.objects.active = body
    bpy.ops.sinew.add_material(preset="Bone")
    material = body.sinew.materials[1]
    material.region, material.follows = cube, True
    body.sinew.pin_group, body.sinew.cells_across = "", 14
    return SimpleNamespace(body=body, cube=cube, material=material)


def rise(cube, frames=4, step=0.02):
    keyed(cube, "location", (1, (0.0, 0.0, 0.0)), (frames, (0.0, 0.0, step * (frames - 1))))


def job_of(bone):
    return make_job(bone.body, bpy.context)


def simulated(job):
    made = prepare(job)
    return made, [frame.state.positions for frame in simulate_body(job, made)]


def off_targets(job, made, frames):
    own = made.pin_springs.pinned.regions.owners >= 0
    assert own.any()
    goals = job.body.regions[0].follow(made.model.mesh.rest_positions[own])
    return np.array([np.abs(x[own] - goal).max() for x, goal in zip(frames, goals, strict=True)])


def test_a_rigid_bone_moves_the_flesh_through_a_bake(bone, saved):
    rise(bone.cube)
    bone.cube.hide_viewport = True
    job = job_of(bone)
    (region,) = job.body.regions
    assert region.name == "Cube" and region.held.all() and bone.cube.hide_viewport
    assert np.allclose(np.ptp(region.positions, axis=1), SIDE)
    assert np.ptp(region.positions[:, 0, 2]) == pytest.approx(0.06, rel=1e-5)
    made, frames = simulated(job)
    assert off_targets(job, made, frames).max() <= 1e-9
    bpy.context.view_layer.objects.active = bone.body
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert edits(bone.body) == []
    bone.cube.location.z = 0.0
    keyed(bone.cube, "location", (4, (0.0, 0.1, 0.06)))
    assert any("pins" in words and "Cube" in words for words in edits(bone.body)), edits(bone.body)


def test_switched_off_it_is_stiff_only(bone):
    assert "moves everything inside its region" in place_words(bone.material, False)
    bone.material.follows = False
    assert "moves" not in place_words(bone.material, False)
    assert job_of(bone).body.regions == () and len(job_of(bone).body.layers) == 1
    bone.material.follows, bone.material.region = True, None
    assert job_of(bone).body.regions == ()


def test_a_key_lets_go_and_takes_hold(bone):
    rise(bone.cube, 6)
    bone.body.sinew.frame_end = 6
    keyed(bone.material, "follows", (1, True), (3, False), (5, True))
    job = job_of(bone)
    assert job.body.regions[0].held.tolist() == [True, True, False, False, True, True]
    made, frames = simulated(job)
    off = off_targets(job, made, frames)
    assert off[[0, 1, 4, 5]].max() <= 1e-9 and off[2:4].min() > 1e-3


def test_with_the_first_key_off_it_holds_later(bone):
    keyed(bone.material, "follows", (1, False), (3, True))
    bpy.context.scene.frame_set(1)
    assert not bone.material.follows and bone.material.is_followed
    assert job_of(bone).body.regions[0].held.tolist() == [False, False, True, True]


def armature(bend=0.6):
    """An armature of two bones along the bar, of which the second bends at frame 4."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    first, second = data.edit_bones.new("Upper"), data.edit_bones.new("Lower")
    first.head, first.tail = (0.1, 0.15, 0.15), (0.5, 0.15, 0.15)
    second.head, second.tail, second.parent = (0.5, 0.15, 0.15), (0.9, 0.15, 0.15), first
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = rig.pose.bones["Lower"]
    pose.rotation_mode = "XYZ"
    keyed(pose, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (bend, 0.0, 0.0)))
    bpy.context.scene.frame_set(1)
    return rig


def test_an_armature_deformed_bone_moves_the_flesh(bone, add_mesh):
    rig = armature()
    x = np.linspace(0.15, 0.85, 15)
    around = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    rings = np.array([[a, 0.15 + 0.07 * b, 0.15 + 0.07 * c] for a in x for b, c in around])
    sides = [(4 * k + a, 4 * k + (a + 1) % 4) for k in range(14) for a in range(4)]
    faces = [(3, 2, 1, 0), (56, 57, 58, 59), *((p, q, q + 4, p + 4) for p, q in sides)]
    mesh = add_mesh(rings, faces, "Skinned")
    for name, weights in (("Upper", np.clip((0.6 - x) / 0.2, 0.0, 1.0)), ("Lower", np.clip((x - 0.4) / 0.2, 0.0, 1.0))):
        group = mesh.vertex_groups.new(name=name)
        for k, weight in enumerate(np.repeat(weights, 4)):
            group.add([k], float(weight), "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    bone.material.region = mesh
    job = job_of(bone)
    (region,) = job.body.regions
    bends = np.linalg.norm(region.positions[-1] - region.surface.positions, axis=1)
    assert bends.max() > 0.15 and bends[region.surface.positions[:, 0] < 0.3].max() < 1e-6
    made, frames = simulated(job)
    assert off_targets(job, made, frames).max() <= 1e-9
    lasting = made.surface(frames[-1])
    assert np.linalg.norm(lasting - job.body.surface.positions, axis=1).max() > 0.15


def test_each_bone_of_an_armature_is_a_region(bone):
    bone.material.region = armature()
    bone.body.sinew.substeps = 2
    job = job_of(bone)
    assert [region.name for region in job.body.regions] == ["Rig > Upper", "Rig > Lower"]
    upper, lower = job.body.regions
    assert len(upper.positions) == 1 and len(lower.positions) == 7, "only what moves is sampled between frames"
    joint = np.array([0.5, 0.15, 0.15])
    tip = lower.follow(np.array([[0.9, 0.15, 0.15]]))[-1, 0]
    assert np.linalg.norm(tip - joint) == pytest.approx(0.4, rel=1e-5)
    assert math.acos((tip - joint)[0] / 0.4) == pytest.approx(0.6, rel=1e-4)


def test_a_bone_that_is_parented_to_a_pose_bone_follows_it(bone):
    rig = armature()
    bone.cube.parent, bone.cube.parent_type, bone.cube.parent_bone = rig, "BONE", "Lower"
    bpy.context.view_layer.update()
    bone.cube.matrix_world.translation = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    (region,) = job_of(bone).body.regions
    assert np.linalg.norm(region.positions[-1] - region.positions[0], axis=1).max() > 0.02
    sides = np.linalg.norm(region.positions[:, 1] - region.positions[:, 0], axis=1)
    assert np.allclose(sides, SIDE, rtol=1e-5)


def test_a_region_that_changes_its_mesh_is_refused(bone):
    modifier = bone.cube.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = 0
    keyed(modifier, "levels", (2, 0), (3, 1))
    with pytest.raises(MeshError, match="The region “Cube” changes its mesh: 8 vertices at first, and 26 at frame 3"):
        job_of(bone)


def test_a_deleted_region_is_told(bone):
    bpy.data.objects.remove(bone.cube)
    assert job_of(bone).body.regions == (), "nothing names it any more"
    bone.material.region = other = bpy.data.objects.new("Gone", bpy.data.meshes.new("Gone"))
    assert not other.users_collection
    with pytest.raises(MeshError, match="“Gone” was deleted"):
        job_of(bone)


def test_bad_motions_are_told(bone):
    def told():
        events = []
        prepare(job_of(bone), on_event=events.append)
        return " ".join(next(event for event in events if event.kind == "mesh").warnings)

    assert "“Cube” does not move, so it holds the flesh inside it still" in told()
    keyed(bone.cube, "location", (1, (0.0, 0.0, 0.0)), (2, (0.0, 0.0, 0.0)), (3, (5.0, 0.0, 0.0)))
    assert "“Cube” jumps by" in told()
    bone.cube.animation_data_clear()
    bone.cube.location = (9.0, 0.0, 0.0)
    assert "“Cube” lies outside the body and moves nothing" in told()


def test_a_body_that_follows_a_region_does_not_fall(bone):
    group = bone.body.vertex_groups.new(name="Empty")
    bone.body.sinew.pin_group = group.name
    job = job_of(bone)
    assert bake_messages.no_pin_words(bone.body, job) == ""
    bone.material.follows = False
    assert "will fall" in bake_messages.no_pin_words(bone.body, job_of(bone))


def test_the_snapshot_knows_the_switch(bone):
    from sinew.blender_addon.scene_import.edit_snapshot import snapshot

    scene = bpy.context.scene
    before = snapshot(bone.body, scene)
    bone.material.follows = False
    assert snapshot(bone.body, scene)["materials"] != before["materials"]
    keyed(bone.material, "follows", (1, True), (3, False))
    one = snapshot(bone.body, scene)["materials"]
    scene.frame_set(2)
    assert snapshot(bone.body, scene)["materials"] == one
