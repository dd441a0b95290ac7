"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon import background, baking, live, live_handlers, live_state, live_view
from sinew.blender_addon import job as child
from sinew.blender_addon.bridge import list_animation, take_out
from sinew.core.simulation.live import Grab, take_springs


def drain_until(condition, seconds: float = 300.0) -> None:
    """Call the timer's function until the condition holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert live.current() is not None or child.current() is not None, bpy.data.objects[0].sinew.live.message
        assert time.monotonic() < limit, "live mode did not get there in time"
        child.drain()
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    live.stop()
    child.abandon()


@pytest.fixture
def soft_body(body, saved, monkeypatch):
    """The bar with a subspace of a few modes; one frame is asked for at a time, so that a test sees each."""
    monkeypatch.setattr(live_state, "MOST_AHEAD", 1)
    body.sinew.solver, body.sinew.modes = "subspace_mixed_fem", 5
    bpy.ops.object.select_all(action="DESELECT")
    body.select_set(True)
    return body


def test_play_and_stop_leave_the_scene_as_it_was(soft_body):
    bpy.context.scene.frame_set(3)
    session = live.start(soft_body, bpy.context)
    process = session.run.process
    assert not soft_body.hide_get(), "the mesh is shown while the body is prepared"
    drain_until(lambda: session.state.frame >= 8)
    assert soft_body.hide_get() and bpy.context.scene.frame_current == 4, "the scene stops at the job's last frame"
    assert np.abs(session.view.positions() - session.job.surface.positions).max() > 1e-4
    live.stop()
    assert live.current() is None and child.current() is None and process.poll() is not None
    assert not soft_body.hide_get() and soft_body.select_get() and bpy.context.view_layer.objects.active == soft_body
    assert bpy.context.scene.frame_current == 3 and soft_body.sinew.live_layer == ""


def record_take(body, move) -> None:
    """Record over the body's range, ``move(frame)`` called at each frame before the next is asked for."""
    body.sinew.live.rate = "FREE"
    session, seen = live.start(body, bpy.context, record=True), set()

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
    soft_body.sinew.frame_end, soft_body.sinew.substeps = 12, 2
    soft_body.location, soft_body.scale = (0.3, -0.1, 0.2), (1.1, 0.9, 1.3)
    bpy.context.scene.unit_settings.scale_length = 0.5
    bpy.context.view_layer.update()
    rest = live.job_in.make_job(soft_body, bpy.context).surface.positions
    record_take(soft_body, lambda frame: pulls(rest, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert record.status == "DONE" and record.frames == 12 and record.stale == "" and not soft_body.hide_get()
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11", "Grab 8"]
    assert baking.find_changes(soft_body, bpy.context) == [] and len(soft_body.data.shape_keys.key_blocks) == 12
    take = np.array([store.read(frame) for frame in range(1, 13)])
    assert np.abs(take[-1] - take[0]).max() > 0.02 * 0.5, "the grabs have moved it"

    bpy.ops.wm.save_mainfile()
    launcher = [sys.executable, str(Path(__file__).with_name("command_line.py")), "bake", str(saved)]
    subprocess.run(launcher, check=True, capture_output=True)
    baked = baking.FrameStore.open(store.folder)
    assert max(np.abs(baked.read(f) - take[f - 1]).max() for f in baked.frames()) <= 1e-9


def test_a_take_may_be_kept_as_geometry_nodes(soft_body, evaluated):
    soft_body.sinew.frame_end, soft_body.sinew.result = 8, "NODES"
    rest = live.job_in.make_job(soft_body, bpy.context).surface.positions
    record_take(soft_body, lambda frame: pulls(rest, frame))
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.kind, record.message) == ("DONE", "NODES", "") and soft_body.data.shape_keys is None
    assert record.error == "Equal to the frames but for round-off."
    size = np.ptp(rest, axis=0).max()
    assert max(np.abs(evaluated(soft_body, f) - store.read(f)).max() for f in store.frames()) < 1e-6 * size
    assert np.abs(store.read(8) - store.read(1)).max() > 0.02 * size


def test_a_stopped_take_can_be_resumed(soft_body):
    soft_body.sinew.frame_end = 12
    rest = live.job_in.make_job(soft_body, bpy.context).surface.positions

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
    session = live.start(soft_body, bpy.context, record=True)
    drain_until(lambda: session.state.recording and session.state.frame >= 5)
    live.grab(11, session.job.surface.positions[11] + [0.0, 0.1, 0.0], 300.0)
    drain_until(lambda: session.state.frame >= 7)
    bpy.ops.object.mode_set(mode="EDIT")
    drain_until(lambda: child.current().waits_for)
    message = soft_body.sinew.live.message
    assert live.current() is None and "is in Edit Mode" in message and "Leave Edit Mode" in message
    bpy.ops.object.mode_set(mode="OBJECT")
    drain_until(lambda: child.current() is None)
    record, store = soft_body.sinew.bake, baking.open_store(soft_body)
    assert (record.status, record.stale) == ("STOPPED", "") and 7 <= record.frames < 12
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11"] and "is kept" in soft_body.sinew.live.message
    before = store.read(7)
    bpy.ops.sinew.resume_bake()
    assert soft_body.sinew.bake.frames == 12 and np.array_equal(baking.open_store(soft_body).read(7), before)


def test_a_take_of_a_child_that_dies_is_kept(soft_body):
    soft_body.sinew.frame_end, soft_body.sinew.live.rate = 12, "FREE"
    session = live.start(soft_body, bpy.context, record=True)
    drain_until(lambda: session.state.recording and session.state.frame >= 5)
    session.run.process.kill()
    drain_until(lambda: child.current() is None)
    assert live.current() is None and "ended unexpectedly by signal 9" in soft_body.sinew.live.message
    assert soft_body.sinew.bake.status == "STOPPED" and soft_body.sinew.bake.frames >= 5 and not soft_body.hide_get()


def test_another_take_replaces_the_springs_of_the_first(soft_body):
    soft_body.keyframe_insert("location", frame=1)
    curves = curve_paths(soft_body)
    rest = live.job_in.make_job(soft_body, bpy.context).surface.positions
    record_take(soft_body, lambda frame: live.grab(11, rest[11] + [0.0, 0.05 * frame, 0.0], 300.0))
    soft_body.sinew.springs[0].name = "Mine"
    record_take(soft_body, lambda frame: live.grab(10, rest[10] + [0.0, 0.05 * frame, 0.0], 300.0))
    record_take(soft_body, lambda frame: live.grab(9, rest[9] + [0.0, 0.05 * frame, 0.0], 300.0))
    assert [s.name for s in soft_body.sinew.springs] == ["Mine", "Grab 9"]
    assert sorted(g.name for g in soft_body.vertex_groups) == ["Grab 11", "Grab 9", "Pins"]
    assert sorted(o.name for o in bpy.data.objects) == ["Body", "Body Grab 11", "Body Grab 9"]
    strengths = [f"sinew.springs[{k}].strength" for k in range(2)]
    assert sorted(curve_paths(soft_body)) == sorted([*curves, *strengths])
    assert baking.find_changes(soft_body, bpy.context) == []
    take_out.remove_take(soft_body)
    soft_body.sinew.springs[0].name = soft_body.sinew.springs[0].take
    take_out.remove_take(soft_body)
    assert curve_paths(soft_body) == curves and [o.name for o in bpy.data.objects] == ["Body"]


def test_what_another_body_is_tied_to_stays(soft_body):
    spring = take_springs([[], [Grab(11, np.ones(3), 300.0)]], np.zeros((12, 3)))
    put = [soft_body, bpy.context.scene, [*spring, replace(spring[0], name="Grab")], 1, 1.0]
    take_out.put_take(*put)
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11", "Grab"]
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    other.sinew.springs.add().target = soft_body.sinew.springs[0].target
    take_out.remove_take(soft_body)
    assert not soft_body.sinew.springs and "Body Grab 11" in bpy.data.objects and "Body Grab" not in bpy.data.objects


def curve_paths(obj) -> list[str]:
    """Of an object's own F-curves."""
    return [curve.data_path for curves in list_animation.curves_of(obj) for curve in curves]


@pytest.fixture
def fake_child(soft_body, monkeypatch):
    """A child that answers at once; what it shows was prepared by a real one."""
    session = live.start(soft_body, bpy.context)
    drain_until(lambda: session.state.ready)
    monkeypatch.setenv("SINEW_FAKE_HANDLES", str(len(session.state.handles)))
    live.stop()
    monkeypatch.setattr(child, "WORKER", Path(__file__).resolve().parents[1] / "gui" / "fake_live_worker.py")
    return soft_body


def playing(body):
    """A session whose body is shown and moves."""
    session = live.start(body, bpy.context)
    drain_until(lambda: session.state.frame >= 2)
    return session


def resources() -> dict[str, int]:
    """What must not grow from session to session."""
    return {
        "handlers": sum(len(getattr(bpy.app.handlers, name)) for name, _ in live_handlers.HANDLERS),
        "threads": threading.active_count(),
        "children": len(list(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())),
        "files": len(os.listdir("/proc/self/fd")),
        "objects": len(bpy.data.objects),
        "meshes": len(bpy.data.meshes),
    }


def memory() -> float:
    """Resident, MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_ten_real_sessions_leave_nothing(soft_body):
    def once() -> None:
        session = live.start(soft_body, bpy.context)
        drain_until(lambda: session.state.frame >= 3)
        live.stop()

    once()
    before = resources()
    for _ in range(9):
        once()
    assert resources() == before


def test_two_hundred_sessions_leave_nothing(fake_child, monkeypatch):
    added, removed = [], []
    space = bpy.types.SpaceView3D
    monkeypatch.setattr(live_view, "add_handler", lambda *a: added.append(space.draw_handler_add(*a)) or added[-1])
    monkeypatch.setattr(live_view, "remove_handler", lambda h, r: removed.append(h) or space.draw_handler_remove(h, r))
    for _ in range(20):
        playing(fake_child)
        live.stop()
    before, megabytes = resources(), memory()
    for _ in range(180):
        playing(fake_child)
        live.stop()
    assert resources() == before and memory() - megabytes < 40.0
    assert len(added) == len(removed) == 400 and set(map(id, added)) == set(map(id, removed))
    assert not fake_child.hide_get() and not bpy.app.timers.is_registered(child.drain) or child.drain() is None


def test_what_ends_it_leaves_the_mesh_shown(fake_child):
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    bpy.context.scene.collection.objects.link(other)

    def ends(what, said) -> None:
        playing(fake_child)
        what()
        drain_until(lambda: live.current() is None)
        assert said in fake_child.sinew.live.message and child.current() is None
        assert not fake_child.hide_get() and fake_child.sinew.live_layer == ""
        if fake_child.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")

    ends(lambda: bpy.ops.object.mode_set(mode="EDIT"), "Edit Mode")
    ends(lambda: bpy.ops.object.mode_set(mode="WEIGHT_PAINT"), "Weight Paint Mode")
    ends(lambda: fake_child.data.vertices.add(1), "the mesh was edited")


def test_a_card_that_refuses_is_replaced_by_a_mesh(soft_body, tmp_path):
    soft_body.sinew.live.rate = "FREE"
    session = live.start(soft_body, bpy.context)
    drain_until(lambda: session.state.frame >= 2)
    session.view.refused = "The shader is refused."
    drain_until(lambda: session.state.frame >= 6)
    stand_in = bpy.data.objects["Body Live"]
    flat = np.empty(3 * len(stand_in.data.vertices), dtype=np.float32)
    stand_in.data.vertices.foreach_get("co", flat)
    live.toggle()
    assert np.abs(flat.reshape(-1, 3) - session.view.positions()).max() < 1e-6 and soft_body.hide_get()
    assert "The mesh itself is moved instead" in soft_body.sinew.live.message
    path = str(tmp_path / "refused.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert "Body Live" not in bpy.data.objects, "the file is saved without it"
    drain_until(lambda: "Body Live" in bpy.data.objects)
    live.stop()
    assert [o.name for o in bpy.data.objects] == ["Body"] and [m.name for m in bpy.data.meshes] == ["Body"]
    bpy.ops.wm.open_mainfile(filepath=path)
    assert [o.name for o in bpy.data.objects] == ["Body"]


def test_a_deleted_body_ends_it(fake_child):
    playing(fake_child)
    bpy.data.objects.remove(fake_child)
    drain_until(lambda: live.current() is None)
    assert child.current() is None and not len(bpy.data.objects)


def test_another_file_ends_it(fake_child):
    process = playing(fake_child).run.process
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert live.current() is None and child.current() is None and process.poll() is not None


def test_a_saved_file_has_the_mesh_shown(fake_child, tmp_path):
    session = playing(fake_child)
    path = str(tmp_path / "while_live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    drain_until(lambda: session.state.frame >= 4)
    assert fake_child.hide_get() and live.current() is session, "hidden again, and going on"
    bpy.ops.wm.open_mainfile(filepath=path)
    body = bpy.data.objects["Body"]
    assert not body.hide_get() and body.sinew.live_layer == "" and body.select_get()
    assert bpy.context.scene.frame_current == 1, "the artist's frame, not the one played"


def test_a_file_that_was_saved_by_itself_is_put_right(fake_child, tmp_path):
    """An autosave calls no handler."""
    session = playing(fake_child)
    live_handlers.HANDLERS, handlers = (), live_handlers.HANDLERS
    path = str(tmp_path / "autosave.blend")
    bpy.app.handlers.save_pre.remove(live_handlers.before_save)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    finally:
        bpy.app.handlers.save_pre.append(live_handlers.before_save)
        live_handlers.HANDLERS = handlers
    assert session.object.hide_get()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not bpy.data.objects["Body"].hide_get() and bpy.data.objects["Body"].sinew.live_layer == ""


def test_the_frame_changed_by_hand(fake_child):
    session = playing(fake_child)
    bpy.context.scene.frame_set(3)
    drain_until(lambda: not session.state.playing)
    assert "the scene's frame was changed" in session.message
    session.state.play()
    drain_until(lambda: session.state.frame >= 7)
    live.toggle()
    drain_until(lambda: session.state.out == 0)
    bpy.context.scene.frame_set(1)
    drain_until(lambda: session.state.frame == 1)
    live.toggle()
    drain_until(lambda: session.state.frame >= 2)
    assert session.message == "", "back at the first frame it begins anew"


def test_stiffness_is_sent_and_other_edits_are_told(fake_child):
    session = playing(fake_child)
    fake_child.sinew.materials[0].log_stiffness = 6.0
    drain_until(lambda: session.state.stale)
    assert live.is_outdated(session) and session.pending == []
    fake_child.sinew.max_iterations += 1
    fake_child.sinew.pin_group = ""
    drain_until(lambda: session.pending == ["solver", "pins"])
    process = session.run.process
    live.reset(bpy.context)
    assert live.current() is not session and process.poll() is not None
    drain_until(lambda: live.current().state.ready)
    before, fake_child.location.x = live.current(), 1.0
    assert before.pending == [] and not live.is_outdated(before)
    live.reset(bpy.context)
    assert live.current() is not before, "what is not looked at all the time is found, too"


def test_the_colours_follow_the_stiffness(fake_child, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        live_view.preview_colours, "stiffness_colours", lambda log: drawn.append(log) or np.zeros((1, 3))
    )
    session, material = playing(fake_child), fake_child.sinew.materials[0]
    fake_child.sinew.live.show = "STIFFNESS"
    before = material.log_stiffness
    session.view._colour(fake_child.sinew.live)
    material.log_stiffness = before + 1.0
    drain_until(lambda: session.state.stale)
    session.view._colour(fake_child.sinew.live)
    session.view._colour(fake_child.sinew.live)
    assert len(drawn) == 2, "only when something has changed"
    assert np.abs(drawn[0] - before).max() < 1e-5 and np.abs(drawn[1] - drawn[0] - 1.0).max() < 1e-5


def test_only_one_at_a_time(fake_child):
    playing(fake_child)
    with pytest.raises(RuntimeError, match="at work already"):
        live.start(fake_child, bpy.context)
    assert bpy.ops.sinew.live_stop.poll() and bpy.ops.sinew.live_step.poll() and not bpy.ops.sinew.bake.poll()
    assert not bpy.ops.sinew.stop_bake.poll(), "Esc is live mode's"
    bpy.ops.sinew.live_stop()
    assert live.current() is None and not bpy.ops.sinew.live_play.poll(), "nothing is played without a window"


def test_cancelled_while_it_prepares_nothing_has_changed(soft_body):
    live.start(soft_body, bpy.context)
    bpy.context.scene.frame_set(4)
    bpy.ops.sinew.live_stop()
    assert bpy.context.scene.frame_current == 4 and not soft_body.hide_get() and live.current() is None


def test_a_child_that_dies_is_told(soft_body, monkeypatch, tmp_path):
    monkeypatch.setattr(child, "WORKER", tmp_path / "nothing.py")
    live.start(soft_body, bpy.context)
    drain_until(lambda: child.current() is None)
    assert live.current() is None and "ended unexpectedly with code" in soft_body.sinew.live.message


def test_modes_are_lent_and_deleted(soft_body):
    session = live.start(soft_body, bpy.context)
    drain_until(lambda: session.state.ready)
    live.stop()
    _job, store = baking.prepare(soft_body, bpy.context)
    ours, theirs = store.read_kept("subspace"), session.store.read_kept("subspace")
    assert ours[1] == theirs[1] and np.array_equal(ours[0]["weights"], theirs[0]["weights"])
    assert session.store.folder.is_dir() and session.store.folder != store.folder
    bpy.ops.sinew.disable()
    assert not session.store.folder.is_dir()


def test_a_take_that_waits_for_the_scene_says_so(soft_body, monkeypatch):
    """A tool runs, a box selection say, when the last frame is there."""
    session = live.start(soft_body, bpy.context)
    drain_until(lambda: session.state.ready)
    live.record(bpy.context)
    monkeypatch.setattr(background, "in_the_way", lambda obj: "Finish the running tool to take the result")
    drain_until(lambda: session.run.waits_for != "")
    said = live_view.words(session)
    assert said[0] == f"Recorded: frame {session.job.frame_end}", "and not that it plays"
    assert said[-1] == "Finish the running tool to take the result"
    monkeypatch.undo()
    drain_until(lambda: live.current() is None)
    assert soft_body.sinew.bake.status == "DONE"
