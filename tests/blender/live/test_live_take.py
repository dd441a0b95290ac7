"""Takes of live mode: springs, a bake, what is kept of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.blend_data import list_animation
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live, live_recording, live_view
from sinew.blender_addon.scene_export import take_to_springs
from sinew.blender_addon.scene_import import animation_in, picks
from sinew.blender_addon.scene_import.springs_in import keyed_springs
from sinew.blender_addon.window import visibility
from sinew.core.simulation.frame_loop.live import Grab, take_springs

from ..bake.test_child import kill
from ..scenes import edits
from .live_driver import drain_until


def record_take(body, move) -> None:
    """Record over the body's range, ``move(frame)`` called at each frame before the next is asked for."""
    body.sinew.live.rate = "FREE"
    session, seen = live.begin(body, record=True), set()

    def follow() -> bool:
        state = session.state
        if live.current() is session and state.take is not None and state.frame not in seen:
            seen.add(state.frame)
            move(state.frame)
        return live.current() is None

    drain_until(follow)


def pulls(rest: np.ndarray, frame: int) -> None:
    """A corner is pulled from frame 2 to 8, another is pinned from frame 5 on."""
    if 2 <= frame < 8:
        live.grab(11, rest[11] + [0.0, 0.02 * frame, 0.03], 400.0)
    if frame == 8:
        live.let_go(11)
    if frame == 5:
        live.grab(8, rest[8] - [0.0, 0.0, 0.1], 250.0)
        live.pin(8)


def test_a_take_is_what_a_bake_without_a_window_gives(soft_body, saved):
    """To the bit, for where steps are cut off before they converge, the least difference may grow."""
    soft_body.sinew.frame_end, soft_body.sinew.substeps, soft_body.sinew.max_iterations = 12, 2, 2
    soft_body.location, soft_body.scale = (0.3, -0.1, 0.2), (1.1, 0.9, 1.3)
    bpy.context.scene.unit_settings.scale_length = 0.1
    bpy.context.view_layer.update()
    rest = live.job_in.make_job(soft_body, bpy.context).body.surface.positions
    record_take(soft_body, lambda frame: pulls(rest, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert record.status == "DONE" and record.frames == 12 and record.stale == "" and not soft_body.hide_get()
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11", "Grab 8"]
    assert edits(soft_body) == [] and len(soft_body.data.shape_keys.key_blocks) == 12
    assert soft_body.sinew.live.message == ""
    take = np.array([store.read(frame) for frame in range(1, 13)])
    assert np.abs(take[-1] - take[0]).max() > 0.02 * 0.5, "the grabs have moved it"

    bpy.ops.wm.save_mainfile()
    launcher = [sys.executable, str(Path(__file__).parents[1] / "command_line.py"), "bake", str(saved)]
    subprocess.run(launcher, check=True, capture_output=True)
    baked = baking.FrameStore.open(store.folder)
    assert all(np.array_equal(baked.read(f), take[f - 1]) for f in baked.frames())


def test_a_take_after_a_deleted_bake_is_by_the_solver_of_live_and_kept_when_saved(soft_body):
    soft_body.sinew.solver = "mixed_fem"
    bpy.ops.sinew.bake()
    bpy.ops.sinew.delete_bake()
    rest = soft_body.data.vertices[11].co.copy()
    record_take(soft_body, lambda frame: live.grab(11, np.array(rest) + [0.0, 0.3, 0.3], 1e4))
    record = soft_body.sinew.bake
    assert soft_body.sinew.solver == "subspace_mixed_fem" and edits(soft_body) == [] and not record.is_deleted
    frames = baking.shown_store(soft_body).frames()
    bpy.ops.wm.save_mainfile()
    assert len(frames) == record.frames > 2 and baking.shown_store(soft_body).frames() == frames


def test_a_take_may_be_kept_as_geometry_nodes(soft_body, evaluated):
    soft_body.sinew.frame_end, soft_body.sinew.result = 8, "NODES"
    rest = live.job_in.make_job(soft_body, bpy.context).body.surface.positions
    record_take(soft_body, lambda frame: pulls(rest, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.kind, record.message) == ("DONE", "NODES", "") and soft_body.data.shape_keys is None
    assert record.error == "The result equals the baked frames up to round-off."
    size = np.ptp(rest, axis=0).max()
    assert max(np.abs(evaluated(soft_body, f) - store.read(f)).max() for f in store.frames()) < 1e-6 * size
    assert np.abs(store.read(8) - store.read(1)).max() > 0.02 * size


def test_a_take_of_what_nodes_carry_is_its_bake(soft_body):
    soft_body.sinew.solver, soft_body.sinew.frame_end, soft_body.sinew.result = "conjac", 8, "NODES"
    soft_body.sinew.result_modes = 6
    picks.change(soft_body, picks.group_of(soft_body, "NODES", make=True), [10], add=True)
    rest = live.job_in.make_job(soft_body, bpy.context).body.surface.positions
    record_take(soft_body, lambda frame: pulls(rest, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.kind, record.modes) == ("DONE", "NODES", 6)
    take = [store.read(frame) for frame in store.frames()]
    assert len(take) == 8 and np.abs(take[-1] - take[0]).max() > 0.02
    bpy.ops.sinew.bake()
    again = baking.open_store(soft_body)
    assert all(np.array_equal(again.read(f), take[f - 1]) for f in again.frames())


def test_a_take_that_begins_in_another_shape_is_its_bake(soft_body, saved, evaluated):
    soft_body.sinew.frame_end, soft_body.sinew.substeps, soft_body.sinew.result = 8, 2, "NODES"
    soft_body.shape_key_add(name="Basis")
    posed, rest = soft_body.shape_key_add(name="Posed"), soft_body.shape_key_add(name="Rest")
    for point in posed.data:
        point.co.z += 0.2 * point.co.x + 1.0
    posed.value, soft_body.sinew.rest_key = 1.0, rest.name
    start = live.job_in.make_job(soft_body, bpy.context).body.initial_shape
    record_take(soft_body, lambda frame: pulls(start, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.kind, record.stale, record.message) == ("DONE", "NODES", "", "")
    assert record.error == "The result equals the baked frames up to round-off."
    take = [store.read(frame) for frame in store.frames()]
    assert max(np.abs(evaluated(record.result, f) - take[f - 1]).max() for f in store.frames()) < 2e-6
    assert np.abs(take[0] - start).max() < 0.01 < np.abs(take[-1] - take[0]).max()
    bpy.ops.sinew.bake()
    again = baking.open_store(soft_body)
    assert all(np.array_equal(again.read(f), take[f - 1]) for f in again.frames())


def test_a_stopped_take_can_be_resumed(soft_body):
    soft_body.sinew.frame_end = 12
    rest = live.job_in.make_job(soft_body, bpy.context).body.surface.positions

    def move(frame):
        pulls(rest, frame)
        if frame == 6:
            bpy.ops.sinew.live_stop()

    record_take(soft_body, move)
    record = soft_body.sinew.bake
    assert record.status == "STOPPED" and 6 <= record.frames < 12 and record.stale == ""
    before = baking.open_store(soft_body).read(6)
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and soft_body.sinew.bake.frames == 12
    assert np.array_equal(baking.open_store(soft_body).read(6), before)


def test_a_take_that_is_cut_off_is_kept(soft_body):
    soft_body.sinew.frame_end, soft_body.sinew.live.rate = 12, "FREE"
    session = live.begin(soft_body, record=True)
    drain_until(lambda: session.state.recording and session.state.frame >= 5)
    live.grab(11, session.job.body.surface.positions[11] + [0.0, 0.1, 0.0], 300.0)
    drain_until(lambda: session.state.frame >= 7)
    bpy.ops.object.mode_set(mode="EDIT")
    drain_until(lambda: job_queue.current().state.waits_for)
    message = soft_body.sinew.live.message
    assert live.current() is None and "is in Edit Mode" in message and "Leave Edit Mode" in message
    bpy.ops.object.mode_set(mode="OBJECT")
    drain_until(lambda: job_queue.current() is None)
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.stale) == ("STOPPED", "") and 7 <= record.frames < 12
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11"] and "are kept" in soft_body.sinew.live.message
    before = store.read(7)
    bpy.ops.sinew.resume_bake()
    assert soft_body.sinew.bake.frames == 12 and np.array_equal(baking.open_store(soft_body).read(7), before)


def test_a_take_of_a_child_that_dies_is_kept(soft_body):
    soft_body.sinew.frame_end, soft_body.sinew.live.rate = 12, "FREE"
    session = live.begin(soft_body, record=True)
    drain_until(lambda: session.state.recording and session.state.frame >= 5)
    words = kill(session.work)
    drain_until(lambda: job_queue.current() is None)
    assert live.current() is None and f"ended unexpectedly {words}" in soft_body.sinew.live.message
    assert soft_body.sinew.bake.status == "STOPPED" and soft_body.sinew.bake.frames >= 5 and not soft_body.hide_get()
    assert live_recording.NOTHING_GRABBED in soft_body.sinew.live.message and not soft_body.sinew.springs


def test_another_take_replaces_the_springs_of_the_first(soft_body):
    soft_body.keyframe_insert("location", frame=1)
    curves = curve_paths(soft_body)
    rest = live.job_in.make_job(soft_body, bpy.context).body.surface.positions
    record_take(soft_body, lambda frame: live.grab(11, rest[11] + [0.0, 0.05 * frame, 0.0], 300.0))
    soft_body.sinew.springs[0].name = "Mine"
    record_take(soft_body, lambda frame: live.grab(10, rest[10] + [0.0, 0.05 * frame, 0.0], 300.0))
    record_take(soft_body, lambda frame: live.grab(9, rest[9] + [0.0, 0.05 * frame, 0.0], 300.0))
    assert [s.name for s in soft_body.sinew.springs] == ["Mine", "Grab 9"]
    assert sorted(g.name for g in soft_body.vertex_groups) == ["Grab 11", "Grab 9", "Pins"]
    assert sorted(o.name for o in bpy.data.objects) == ["Body", "Body Grab 11", "Body Grab 9"]
    strengths = [f"sinew.springs[{k}].strength" for k in range(2)]
    assert sorted(curve_paths(soft_body)) == sorted([*curves, *strengths])
    assert edits(soft_body) == []
    take_to_springs.remove_take(soft_body)
    soft_body.sinew.springs[0].name = soft_body.sinew.springs[0].take
    take_to_springs.remove_take(soft_body)
    assert curve_paths(soft_body) == curves and [o.name for o in bpy.data.objects] == ["Body"]


def test_what_another_body_is_tied_to_stays(soft_body):
    spring = take_springs([[], [Grab(11, np.ones(3), 300.0)]], np.zeros((12, 3)))
    put = [soft_body, bpy.context.scene, [*spring, replace(spring[0], name="Grab")], 1, 1.0]
    take_to_springs.put_take(*put)
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11", "Grab"]
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    other.sinew.springs.add().target = soft_body.sinew.springs[0].target
    take_to_springs.remove_take(soft_body)
    assert not soft_body.sinew.springs and "Body Grab 11" in bpy.data.objects and "Body Grab" not in bpy.data.objects


def test_springs_of_a_take_stretch_with_the_scenes_time(soft_body):
    render, rest = bpy.context.scene.render, np.zeros((12, 3))
    render.frame_map_old, render.frame_map_new = 100, 150
    asked = [[], *([Grab(11, np.array([0.1 * k, 0.2, 0.3]), 100.0 * k)] for k in (1, 2, 4))]
    given = take_springs(asked, rest)
    take_to_springs.put_take(soft_body, bpy.context.scene, given, 1, 1.0)
    (read,) = live.job_in.make_job(soft_body, bpy.context).body.springs
    (kept,) = keyed_springs(soft_body, bpy.context, {"Grab 11"}, (1, soft_body.sinew.frame_end))
    for part in ("vertices", "weights", "targets", "stiffness"):
        assert np.array_equal(getattr(kept, part), getattr(read, part)), part
    moved = read.targets[:, 0] - read.targets[0, 0]
    assert np.allclose(moved, given[0].targets[:, 0] - given[0].targets[0, 0], atol=1e-6)
    assert np.allclose(read.stiffness, given[0].stiffness, rtol=1e-5)


@pytest.mark.parametrize("edit", ["", "stiffness", "solver"])
def test_a_take_reads_no_animation(soft_body, monkeypatch, edit):
    """It would take long in a full scene, and may be refused in one that was edited; the edit is told."""
    soft_body.sinew.frame_end = 8
    rest, edited = live.job_in.make_job(soft_body, bpy.context).body.surface.positions, []

    def move(frame):
        pulls(rest, frame)
        if frame >= 4 and not edited:  # a quick child shows no frame 4
            edited.append(frame)
            monkeypatch.setattr(animation_in.FrameSampler, "stop", None)
            if edit == "stiffness":
                soft_body.sinew.materials[0].log_stiffness += 0.5
            if edit == "solver":
                soft_body.sinew.max_iterations += 1

    record_take(soft_body, move)
    assert edited
    monkeypatch.undo()
    record = soft_body.sinew.bake
    told = {"": "", "stiffness": "materials", "solver": "solver"}[edit]
    assert (record.status, record.frames, record.stale) == ("DONE", 8, told)
    changes = edits(soft_body)
    assert [words.split(" ")[0] for words in changes] == ([told] if edit else [])


def curve_paths(obj) -> list[str]:
    """Return the data paths of an object's own F-curves."""
    return [curve.data_path for curves in list_animation.curves_of(obj) for curve in curves]


def test_a_take_that_waits_for_the_scene_says_so(soft_body, monkeypatch):
    """A tool runs, a box selection say, when the last frame is there."""
    session = live.begin(soft_body)
    drain_until(lambda: session.state.ready)
    live.record()
    monkeypatch.setattr(visibility, "in_the_way", lambda obj: "Finish the running tool to apply the result")
    drain_until(lambda: session.work.state.waits_for != "")
    said = live_view.words(session)
    assert said[0] == f"Recorded: frame {session.job.frame_end}", "and not that it plays"
    assert said[-1] == "Finish the running tool to apply the result"
    soft_body.sinew.materials[0].log_stiffness += 0.5
    session.looked_at = 0.0
    drain_until(lambda: session.looked_at > 0.0)
    monkeypatch.undo()
    drain_until(lambda: live.current() is None)
    assert soft_body.sinew.bake.stale == "materials", "the take has none of what is edited while it waits"
    assert soft_body.sinew.bake.status == "DONE"
