"""Several bodies in one run, Bake to Current Frame, and baking again."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, bake_queue, baking
from sinew.blender_addon.command.bodies import bodies_of_scene
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import SinewError

from ..scenes import prepared
from .test_child import drain_until, in_child, start


@pytest.fixture
def bodies(body, saved):
    """Three bars: A, B and C."""
    made = [body]
    for name in ("B", "C"):
        twin = body.copy()
        twin.data, twin.name = body.data.copy(), name
        bpy.context.scene.collection.objects.link(twin)
        made.append(twin)
    body.name = "A"
    return made


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    job_queue.abandon()


def statuses(bodies):
    return [obj.sinew.bake.status for obj in bodies]


def start_all(bodies):
    """Do what Bake All does in a window."""
    job_queue.begin(*map(in_child, background.work_on_all(bodies)))


def run_queue(labels):
    def step():
        if job_queue.current() is not None:
            labels.add(job_queue.current().state.label)
        return job_queue.is_idle()

    drain_until(step)


def test_all_bodies_without_a_window(bodies):
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}
    assert statuses(bodies) == ["DONE"] * 3 and not bpy.ops.sinew.bake_all.poll()
    folders = {baking.open_store(obj).folder for obj in bodies}
    assert len(folders) == 3


def test_only_the_selected(bodies):
    for obj, chosen in zip(bodies, (False, True, True)):
        obj.select_set(chosen)
    bpy.context.view_layer.objects.active = bodies[1]
    assert bpy.ops.sinew.bake_all(selected=True) == {"FINISHED"}
    assert statuses(bodies) == ["NONE", "DONE", "DONE"]


def test_one_after_the_other_in_the_child(bodies):
    """Each says which it is; a body that is refused does not hold up the others."""
    bodies[1].sinew.materials.clear()
    start_all(bodies)
    assert job_queue.waiting() and job_queue.place_of(bodies[2]) == 2 and not bpy.ops.sinew.bake.poll()
    with pytest.raises(SinewError, match="stop .* first"):
        start_all(bodies)
    labels: set[str] = set()
    run_queue(labels)
    assert statuses(bodies) == ["DONE", "NONE", "DONE"]
    assert "no physical material" in bodies[1].sinew.bake.message
    assert any(label.startswith("1 of 3: ") for label in labels)
    assert any(label.startswith("3 of 3: ") for label in labels)


def test_esc_stops_all(bodies):
    for obj in bodies:
        obj.sinew.frame_end = 400
    start_all(bodies)
    drain_until(lambda: job_queue.current().state.frames_done >= 2)
    assert bpy.ops.sinew.stop_bake() == {"FINISHED"}
    run_queue(set())
    assert statuses(bodies) == ["STOPPED", "NONE", "NONE"] and not bpy.ops.sinew.stop_bake.poll()


def test_a_body_in_edit_mode_is_waited_for(bodies):
    bpy.context.view_layer.objects.active = bodies[0]
    start_all(bodies[:2])
    bpy.context.view_layer.objects.active = bodies[1]
    bpy.ops.object.mode_set(mode="EDIT")
    drain_until(lambda: job_queue.current() is None)
    assert job_queue.tick() == job_queue.PAUSE and bpy.ops.sinew.stop_bake.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    run_queue(set())
    assert statuses(bodies[:2]) == ["DONE", "DONE"]


def test_what_is_run_into_comes_first(bodies):
    a, b, c = bodies
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(c)
    a.sinew.collisions.collection = obstacles
    assert bake_queue.in_order(bodies) == [b, c, a]
    around = bpy.data.collections.new("Around")
    around.objects.link(a)
    c.sinew.collisions.collection = around
    assert bake_queue.in_order([a, b, c]) == [b, a, c]


def test_what_a_body_hangs_on_comes_first(bodies):
    a, b, c = bodies
    a.parent, a.parent_type = c, "VERTEX"
    assert bake_queue.in_order(bodies) == [b, c, a]
    a.parent_type = "OBJECT"
    assert bake_queue.in_order(bodies) == bodies


def test_stopped_ones_go_on_and_lost_frames_are_used(bodies):
    """Frames on disk without a record: gone on with where nothing was edited, else baked anew."""
    for obj in bodies:
        bpy.context.view_layer.objects.active = obj
        bpy.context.scene.frame_set(3)
        assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    assert [(o.sinew.bake.status, o.sinew.bake.frames) for o in bodies] == [("STOPPED", 3)] * 3
    baking.remove_result(bodies[1])
    bodies[1].sinew.property_unset("bake")
    bodies[2].sinew.substeps = 2
    assert [baking.mode_of(obj, make_job(obj, bpy.context)) for obj in bodies[:2]] == ["resume", "resume"]
    with pytest.raises(RuntimeError, match="“C”: Edited since the bake began"):
        bpy.ops.sinew.bake_all()
    assert statuses(bodies) == ["DONE", "DONE", "STOPPED"]
    baking.remove_result(bodies[2])
    bodies[2].sinew.property_unset("bake")
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and statuses(bodies) == ["DONE"] * 3


def test_to_the_current_frame_and_on_has_the_same_bits(body, saved):
    scene = bpy.context.scene
    bpy.ops.sinew.bake()
    whole = {f: baking.open_store(body).read(f) for f in range(1, 5)}
    bpy.ops.sinew.delete_bake()
    for outside in (1, 5):
        scene.frame_set(outside)
        assert not bpy.ops.sinew.bake_to_current.poll()
    for frame in (2, 3):
        scene.frame_set(frame)
        assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
        assert (body.sinew.bake.status, body.sinew.bake.frames) == ("STOPPED", frame)
        assert not bpy.ops.sinew.bake_to_current.poll()
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and body.sinew.bake.status == "DONE"
    store = baking.open_store(body)
    assert all(np.array_equal(store.read(f), positions) for f, positions in whole.items())


def test_to_the_current_frame_in_the_child(body, saved):
    start(body, "bake", until=3)
    assert job_queue.current().state.frames_total == 3
    drain_until(lambda: job_queue.current() is None)
    assert (body.sinew.bake.status, body.sinew.bake.frames) == ("STOPPED", 3)
    start(body, "resume", until=2)
    drain_until(lambda: job_queue.current() is None)
    assert (body.sinew.bake.status, body.sinew.bake.frames) == ("STOPPED", 3), "what is done is not taken away"


def test_baking_again_names_what_is_lost(body, saved, evaluated):
    assert baking.replaced_words(body) == ""
    bpy.ops.sinew.bake()
    assert baking.replaced_words(body) == "The 4 baked frames (1-4) of “Body” will be deleted when the file is saved."
    before = evaluated(body, 4)
    body.sinew.materials[0].log_stiffness += 1.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}, "a script is not asked"
    names = [key.name for key in body.data.shape_keys.key_blocks]
    assert body.sinew.bake.status == "DONE" and [name for name in names if not name.startswith("Turn")] == [
        f"Frame {frame}" for frame in (1, 2, 3, 4)
    ]
    assert np.abs(evaluated(body, 4) - before).max() > 1e-4
    baking.remove_result(body)
    body.sinew.property_unset("bake")
    assert "Existing frames of" in baking.replaced_words(body)


def test_a_bake_again_that_fails_at_once_leaves_no_old_shapes(body, saved):
    bpy.ops.sinew.bake()
    job, store = prepared(body)
    assert baking.put_result(body, bpy.context, "FAILED", store) == 0
    assert body.data.shape_keys is None and body.sinew.bake.status == "FAILED"
    assert not body.sinew.bake.on_itself


def test_the_command_line_has_the_same_order(bodies):
    a, b, c = bodies
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(c)
    a.sinew.collisions.collection = obstacles
    assert bodies_of_scene(None) == [b, c, a] and bodies_of_scene("A") == [a]
