"""With more than one step a frame, what moves is sampled at every step, and only that."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking, comparison
from sinew.blender_addon.cache.frame_folders import recorded_folder
from sinew.blender_addon.scene_import import animation_in
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.schema.tracks import at_frames, steps_of
from sinew.core.jobs.store.frame_store import FrameStore

from ..scenes import CUBE, edits, keyed

STEPS = 4
FRAMES = 4


@pytest.fixture
def passes(monkeypatch):
    """The moments between frames that were sampled."""
    seen = []
    stop = animation_in.FrameSampler.stop

    def noting(self, frame, *asked):
        if frame != int(frame) and self.tracks:
            seen.append(frame)
        stop(self, frame, *asked)

    monkeypatch.setattr(animation_in.FrameSampler, "stop", noting)
    return seen


@pytest.fixture
def stepped(body):
    body.sinew.substeps = STEPS
    return body


def job_of(obj):
    return make_job(obj, bpy.context)


def straight(owner, path: str) -> None:
    """Keys without easing."""
    for curve in curves(owner):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"


def curves(owner):
    action = owner.animation_data.action
    if not hasattr(action, "layers") or not action.layers:
        return action.fcurves
    return action.layers[0].strips[0].channelbag(owner.animation_data.action_slot).fcurves


def turn(obj) -> None:
    """90 degrees a frame about z, from frame 1."""
    keyed(obj, "rotation_euler", (1, (0.0, 0.0, 0.0)), (5, (0.0, 0.0, 2.0 * math.pi)))
    straight(obj, "rotation_euler")


def turned(points: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Points (p,3) at angles (f,) about z, (f,p,3)."""
    x, y, z = points.T
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.stack([c * x - s * y, s * x + c * y, np.broadcast_to(z, (len(angles), len(z)))], axis=-1)


ANGLES = 0.5 * np.pi * np.arange((FRAMES - 1) * STEPS + 1) / STEPS


def test_pins_on_a_turning_object_keep_to_the_circle(stepped, passes):
    turn(stepped)
    scene, handlers = bpy.context.scene, bpy.app.handlers
    scene.frame_set(3, subframe=0.25)
    before = [len(handlers.frame_change_post), len(handlers.depsgraph_update_post)]
    job = job_of(stepped)
    assert (scene.frame_current, round(scene.frame_subframe, 6)) == (3, 0.25)
    assert [len(handlers.frame_change_post), len(handlers.depsgraph_update_post)] == before
    assert len(passes) == (FRAMES - 1) * (STEPS - 1) and passes[:3] == [1.25, 1.5, 1.75]
    assert np.allclose(
        job.body.pin_positions, turned(job.body.surface.positions[job.body.pinned_vertices], ANGLES), atol=1e-5
    )
    assert steps_of(job.body.object_to_world, FRAMES) == STEPS


def test_with_one_step_a_frame_nothing_is_asked_between(stepped, passes):
    turn(stepped)
    finer = job_of(stepped)
    passes.clear()
    stepped.sinew.substeps = 1
    job = job_of(stepped)
    assert passes == [] and len(job.body.pin_positions) == len(job.body.object_to_world) == FRAMES
    assert np.array_equal(at_frames(finer.body.pin_positions, FRAMES), job.body.pin_positions)


def test_pins_that_stay_cost_nothing(stepped, passes):
    """Nor what else is animated about the body: keyed settings, a light, its baked shape."""
    keyed(stepped.sinew, "pin_threshold", (1, 0.5), (3, 0.8))
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    turn(other)
    job = job_of(stepped)
    assert passes == [] and len(job.body.pin_positions) == FRAMES


def test_nor_does_a_body_with_its_bake(stepped, saved, passes):
    bpy.ops.sinew.bake()
    assert stepped.data.shape_keys is not None
    bpy.ops.sinew.check_bake()
    assert passes == [] and stepped.sinew.bake.stale == ""


def test_without_pins_a_turning_body_is_not_asked(stepped, passes):
    stepped.sinew.pin_group = ""
    turn(stepped)
    job_of(stepped)
    assert passes == []


def test_straight_ways_stay_with_the_frames(stepped, passes):
    keyed(stepped, "location", (1, (0.0, 0.0, 0.0)), (4, (3.0, 1.0, 0.3)))
    straight(stepped, "location")
    job = job_of(stepped)
    assert passes and len(job.body.pin_positions) == len(job.body.object_to_world) == FRAMES


def test_constant_keys_do_not_jump_within_a_step(stepped):
    keyed(stepped, "location", (1, (0.0, 0.0, 0.0)), (3, (0.3, 0.0, 0.0)))
    for curve in curves(stepped):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    assert len(job_of(stepped).body.pin_positions) == FRAMES


def by_parent(body):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    body.parent = parent
    turn(parent)


def by_constraint(body):
    by_parent(body)
    body.constraints.new("COPY_ROTATION").target, body.parent = body.parent, None


def by_driver(body):
    driver = body.driver_add("rotation_euler", 2).driver
    driver.type, driver.expression = "SCRIPTED", f"{math.pi / 2} * (frame - 1)"


def by_nla(body):
    turn(body)
    animation = body.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    strip = animation.nla_tracks.new().strips.new("Turn", 1, action)
    if slot is not None:
        strip.action_slot = slot
    animation.action = None


def by_armature(body):
    armature = bpy.data.armatures.new("Armature")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Bone").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = body
    body.vertex_groups.new(name="Bone").add(range(12), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Bone"]
    bone.rotation_mode = "XYZ"
    # The bone points along z, so that is its y.
    keyed(bone, "rotation_euler", (1, (0.0, 0.0, 0.0)), (5, (0.0, 2.0 * math.pi, 0.0)))
    straight(rig, 'pose.bones["Bone"].rotation_euler')


@pytest.mark.parametrize("by", [by_parent, by_constraint, by_driver, by_nla, by_armature])
def test_whatever_turns_it(stepped, by):
    by(stepped)
    bpy.context.scene.frame_set(1)
    job = job_of(stepped)
    assert np.allclose(
        job.body.pin_positions, turned(job.body.surface.positions[job.body.pinned_vertices], ANGLES), atol=1e-5
    )


def test_by_shape_keys(stepped):
    """Eased: half-way between two keys of three frames it is slower at the ends."""
    stepped.shape_key_add(name="Basis")
    block = stepped.shape_key_add(name="Up")
    for vertex in range(4):
        block.data[vertex].co.z += 1.0
    keyed(block, "value", (1, 0.0), (2, 1.0))
    job = job_of(stepped)
    height = job.body.pin_positions[: STEPS + 1, 0, 2] - job.body.pin_positions[0, 0, 2]
    assert steps_of(job.body.pin_positions, FRAMES) == STEPS and len(job.body.object_to_world) == FRAMES
    assert height[1] < 0.2 and height[3] > 0.8 and height[4] == pytest.approx(1.0)


def test_a_cycle_of_one_frame_is_seen(stepped):
    """At whole frames nothing ever moves."""
    driver = stepped.driver_add("location", 2).driver
    driver.type, driver.expression = "SCRIPTED", f"sin({2.0 * math.pi} * frame)"
    job = job_of(stepped)
    heights = job.body.pin_positions[:, 0, 2]
    assert np.allclose(heights[::STEPS], 0.0, atol=1e-5) and np.allclose(heights[1::STEPS], 1.0, atol=1e-5)


def test_a_script_that_moves_it_is_followed(stepped):
    def follow(scene, *_):
        stepped.location.x = math.sin(scene.frame_current_final)

    for name in ("frame_change_pre", "frame_change_post"):
        handlers = getattr(bpy.app.handlers, name)
        handlers.append(follow)
        try:
            assert steps_of(job_of(stepped).body.pin_positions, FRAMES) == STEPS
        finally:
            handlers.remove(follow)


def test_time_remapping_and_pre_roll(stepped):
    turn(stepped)
    stepped.sinew.frame_start, stepped.sinew.pre_roll = 3, 2
    stepped.sinew.frame_end = 4
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 50
    job = job_of(stepped)
    angles = np.clip(2.0 * ANGLES + 0.5 * np.pi, 0.0, 2.0 * np.pi)
    start = turned(job.body.surface.positions[job.body.pinned_vertices], -angles[:1])[0]
    assert np.allclose(job.body.pin_positions, turned(start, angles), atol=1e-5)


def test_springs_follow_their_targets(stepped):
    bpy.ops.sinew.add_spring()
    bpy.ops.sinew.add_spring()
    empty = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(empty)
    far = stepped.vertex_groups.new(name="Far")
    far.add([8, 9], 1.0, "REPLACE")
    for spring in stepped.sinew.springs:
        spring.vertex_group = "Far"
    stepped.sinew.springs[1].end, stepped.sinew.springs[1].target = "OBJECT", empty
    turn(empty)
    own, led = job_of(stepped).body.springs
    assert len(own.targets) == FRAMES and steps_of(led.targets, FRAMES) == STEPS
    assert np.allclose(led.targets, turned(led.targets[0], ANGLES), atol=1e-5)
    turn(stepped)
    assert steps_of(job_of(stepped).body.springs[0].targets, FRAMES) == STEPS


def test_colliders_turn(stepped, collection, add_mesh):
    for name in ("Paddle", "Wall"):
        obj = add_mesh(*CUBE, name)
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    turn(bpy.data.objects["Paddle"])
    instanced = bpy.data.collections.new("Wheel")
    instanced.objects.link(bpy.data.objects["Paddle"])
    empty = bpy.data.objects.new("Place", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", instanced
    collection.objects.link(empty)
    bpy.context.view_layer.objects.active = stepped
    paddle, placed, wall = job_of(stepped).body.colliders
    assert [paddle.name, wall.name] == ["Paddle", "Wall"] and len(wall.positions) == 1
    for moving in (paddle, placed):
        assert np.allclose(moving.positions, turned(np.array(CUBE[0], dtype=float), ANGLES), atol=1e-5)


def test_a_bake_knows_what_moved_between_frames(stepped, saved):
    keyed(stepped, "rotation_euler", *((k, (0.0, 0.0, 0.5 * math.pi * (k - 1) ** 2)) for k in range(1, 5)))
    straight(stepped, "rotation_euler")
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = FrameStore.open(recorded_folder(stepped))
    assert edits(stepped) == [] and steps_of(store.job().body.pin_positions, FRAMES) == STEPS
    pins = store.job().body.pinned_vertices
    radius = np.linalg.norm(store.read(3)[pins][:, :2], axis=1)
    assert np.allclose(radius, np.linalg.norm(store.read(1)[pins][:, :2], axis=1), atol=1e-5)
    for curve in curves(stepped):
        for point in curve.keyframe_points:
            point.interpolation = "SINE"
    assert edits(stepped) == ["animation between frames (the object from frame 2; the pins from frame 2)"]
    stepped.sinew.substeps = 2
    assert edits(stepped) == ["solver (substeps 4 → 2)"]


def test_compare_samples_for_its_own_steps(body, saved):
    turn(body)
    body.sinew.compare.solver, body.sinew.compare.substeps = "OWN", STEPS
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert len(baking.open_store(body).job().body.pin_positions) == FRAMES
    ghost = FrameStore.open(comparison.ghost_folder(body))
    assert steps_of(ghost.job().body.pin_positions, FRAMES) == STEPS
    assert comparison.seen(body).difference.words == "solver (substeps 1 → 4)"


def test_physics_is_between_its_frames(stepped, collection, add_mesh):
    """Caches know moments between two frames once they have both: it falls all the way, without a stop."""
    cloth = add_mesh(*CUBE, "Cloth")
    bpy.context.scene.collection.objects.unlink(cloth)
    collection.objects.link(cloth)
    cloth.modifiers.new("Cloth", "CLOTH")
    bpy.context.view_layer.objects.active = stepped
    (collider,) = job_of(stepped).body.colliders
    heights = collider.positions[:, 0, 2]
    assert steps_of(collider.positions, FRAMES) == STEPS and (np.diff(heights) < 0.0).all()
    stepped.sinew.substeps = 1
    assert np.array_equal(job_of(stepped).body.colliders[0].positions, at_frames(collider.positions, FRAMES))
