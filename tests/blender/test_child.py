"""The child process, driven by calling the timer's function by hand: no timer runs without a window."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon import background, baking, playback
from sinew.blender_addon import job as child
from sinew.blender_addon.bridge.job_in import default_folder
from sinew.core.simulation import bake as library
from sinew.operators.stop_bake import SINEW_OT_stop_bake


def start(obj, mode="bake") -> child.Run:
    """What the button does in a window."""
    prepare = baking.prepare_resume if mode == "resume" else baking.prepare
    job, store = prepare(obj, bpy.context)
    run = background.child_run(obj, mode, job, store)
    child.start(run)
    return run


def drain_until(condition, seconds: float = 300.0) -> None:
    """Call the timer's function until the condition holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "the child did not get there in time"
        child.drain()
        time.sleep(0.01)


def kill(run) -> str:
    """End the child as the system or a user may; how that is told. Windows has no signals: it gives a code."""
    run.process.kill()
    code = run.process.wait()
    assert code == (1 if sys.platform == "win32" else -9)
    return "with code 1" if sys.platform == "win32" else "by signal 9"


@pytest.fixture(autouse=True)
def no_child_is_left():
    yield
    child.abandon()


def test_a_bake_in_the_child_has_the_same_bits(body, saved, tmp_path):
    run = start(body)
    assert child.run_of(body.session_uid) is run and not bpy.ops.sinew.bake.poll() and bpy.ops.sinew.stop_bake.poll()
    drain_until(lambda: child.current() is None)
    assert run.outcome == "done" and run.frames_done == 4 and run.mesh["tets"] > 0
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4
    job, theirs = baking.open_store(body).job(), baking.open_store(body)
    here = baking.FrameStore.create(tmp_path / "here", job)
    library.bake(job, here)
    assert all(np.array_equal(here.read(f), theirs.read(f)) for f in here.frames())
    assert not bpy.app.timers.is_registered(child.drain) or child.drain() is None


@pytest.mark.skipif(sys.platform == "win32", reason="links want a privilege there")
def test_nothing_is_written_through_links_of_a_strangers_folder(body, saved, tmp_path):
    treasure, folder = tmp_path / "treasure", default_folder(body)
    treasure.write_text("mine")
    folder.mkdir(parents=True)
    for name in (".writable", child.LOG_NAME, "lock", "job.npz.part", "frame_000002.sinew.part"):
        (folder / name).symlink_to(treasure)
    start(body)
    drain_until(lambda: child.current() is None)
    assert body.sinew.bake.status == "DONE" and treasure.read_text() == "mine"


def test_the_window_is_drawn_anew_when_there_is_something_new(monkeypatch, tmp_path):
    """Ten times a second, at every look for events, a full scene would take the processors from the bake."""
    clock, drawn = [0.0], []
    monkeypatch.setattr(child, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(child.redrawing, "redraw", lambda views=True: drawn.append((clock[0], run.label, views)))
    run = child.Run(1, "Body", tmp_path, "bake", 400, lambda run: True, started=0.0)
    monkeypatch.setattr(child, "_current", run)
    for clock[0] in (0.0, 0.1, 0.2, 0.9, 1.0, 1.1):
        child.drain()
    assert drawn == [(0.0, "Starting", True), (1.0, "Starting", False)], "the panels' clock, when a second has passed"
    run.events.put(b'{"event": "phase", "phase": "simulate", "done": 0, "total": 400}')
    child.drain()
    run.events.put(b'{"event": "frame", "frame": 1}')
    child.drain()
    run.stopping = True
    for clock[0] in (1.2, 1.3):
        child.drain()
    said = ["Frame 0 / 400", "Frame 1 / 400", "Stopping after this step"]
    assert [told[1:] for told in drawn[2:]] == [(words, True) for words in said]


def test_stop_keeps_frames_and_resume_completes(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.frames_done >= 3)
    assert 0.0 < run.factor < 1.0 and run.remaining is not None and "/ 400" in run.label
    assert bpy.ops.sinew.stop_bake() == {"FINISHED"}
    assert run.label == "Stopping after this step" and not bpy.ops.sinew.stop_bake.poll()
    drain_until(lambda: child.current() is None)
    done = body.sinew.bake.frames
    assert run.outcome == "stopped" and body.sinew.bake.status == "STOPPED" and 3 <= done < 400
    assert len(body.data.shape_keys.key_blocks) == done and body.sinew.bake.message == ""

    run = start(body, "resume")
    drain_until(lambda: run.frames_done >= 3)
    assert run.frames_before >= done - 1
    child.request_stop()
    drain_until(lambda: child.current() is None)
    assert body.sinew.bake.frames > done


def test_the_child_finds_handles(body, saved, evaluated):
    """After a bake, and for Convert Result; the record keeps saying how the bake itself went."""
    body.sinew.result, body.sinew.result_modes = "NODES", 2
    run = start(body)
    drain_until(lambda: child.current() is None)
    assert run.outcome == "done" and body.sinew.bake.kind == "NODES" and body.sinew.bake.modes == 2
    before = evaluated(body, 4)
    body.sinew.result_modes, body.sinew.bake.status = 8, "STOPPED"
    store = baking.open_store(body)
    child.start(background.child_run(body, "handles", store.job(), store))
    drain_until(lambda: child.current() is None)
    assert (body.sinew.bake.status, body.sinew.bake.kind, body.sinew.bake.modes) == ("STOPPED", "NODES", 8)
    after = evaluated(body, 4)
    assert np.abs(after - store.read(4)).max() < np.abs(before - store.read(4)).max()


def test_handles_that_fail_leave_the_result_as_it_is(body, saved):
    body.sinew.result = "KEYS"
    bpy.ops.sinew.bake()
    store = baking.open_store(body)
    (store.folder / "frame_000003.sinew").write_bytes(b"damaged")
    body.sinew.result = "NODES"
    run = background.child_run(body, "handles", store.job(), store)
    child.start(run)
    drain_until(lambda: child.current() is None)
    assert run.outcome == "error" and "frame_000003.sinew is damaged" in body.sinew.bake.message
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4


def test_esc_stops_the_playback_first(monkeypatch):
    """Called by hand: without a window Blender never invokes an operator."""

    def pressed(by_key: bool, playing: list[bool]) -> set[str]:
        windows = [SimpleNamespace(screen=SimpleNamespace(is_animation_playing=p)) for p in playing]
        context = SimpleNamespace(window_manager=SimpleNamespace(windows=windows))
        operator = SimpleNamespace(by_key=by_key, execute=lambda context: {"FINISHED"})
        return SINEW_OT_stop_bake.invoke(operator, context, None)

    assert pressed(True, [False, True]) == {"PASS_THROUGH"} and pressed(True, [False, False]) == {"FINISHED"}
    assert pressed(False, [False, True]) == {"FINISHED"}, "the button stops the bake at any time"
    playback.note_end()  # Blender's own key ends the playback first and passes the event on
    assert pressed(True, [False]) == {"PASS_THROUGH"} and pressed(False, [False]) == {"FINISHED"}
    monkeypatch.setattr(playback, "SAME_EVENT", 0.0)
    assert pressed(True, [False]) == {"FINISHED"}


def test_a_killed_child_is_reported_and_resumable(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.frames_done >= 2)
    words = kill(run)
    drain_until(lambda: child.current() is None)
    record = body.sinew.bake
    assert run.outcome == "error" and record.status == "FAILED"
    assert f"ended unexpectedly {words}" in record.message and "Resume" in record.message
    assert record.frames >= 2 and bpy.ops.sinew.resume_bake.poll()


def test_tetrahedra_that_end_the_child_are_told_with_a_way_out(body, saved):
    run = start(body)
    run.phase, run.method = "tetrahedralize", "robust"
    words = kill(run)
    drain_until(lambda: child.current() is None)
    message = body.sinew.bake.message
    assert run.outcome == "error" and f"fTetWild crashed on this mesh (its process ended {words})." in message
    assert "Set Method to Draft under Resolution" in message


def test_a_needle_that_crashes_ftetwild_in_a_window_is_told(body, saved):
    body.scale = 1.0, 4e-3, 4e-3
    body.sinew.method = "robust"
    run = start(body, "mesh")
    drain_until(lambda: child.current() is None)
    assert run.outcome == "error" and "it is a needle, 1.2 mm thick" in body.sinew.bake.message


def test_what_a_killed_child_never_reads_does_not_hinder_its_end(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.frames_done >= 2)
    words = kill(run)
    child.request_stop()
    drain_until(lambda: child.current() is None)
    assert f"ended unexpectedly {words}" in body.sinew.bake.message and body.sinew.bake.frames >= 2


def test_an_error_of_the_library_arrives_with_its_remedy(body, saved):
    job, store = baking.prepare(body, bpy.context)
    (store.folder / "job.npz").write_bytes(b"torn")
    child.start(background.child_run(body, "bake", job, store))
    drain_until(lambda: child.current() is None)
    assert body.sinew.bake.status == "FAILED" and "job.npz" in body.sinew.bake.message
    assert "Delete the bake" in body.sinew.bake.message


def test_loading_a_file_ends_the_child(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    process = run.process
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert child.current() is None and process.poll() is not None


def test_an_object_that_is_gone_loses_nothing_else(body, saved, capfd):
    run = start(body)
    bpy.data.objects.remove(body)
    drain_until(lambda: child.current() is None)
    assert run.outcome == "done" and len(bpy.data.objects) == 0
    said = capfd.readouterr().err
    assert "“Body” is gone" in said and str(run.folder) in said and "Resume" in said


def test_edit_mode_delays_the_result(body, saved):
    run = start(body)
    bpy.ops.object.mode_set(mode="EDIT")
    drain_until(lambda: bool(run.outcome) and run.process is None)
    assert child.drain() is not None and body.data.shape_keys is None and child.current() is run
    assert run.label == "Leave Edit Mode (Tab) to take the result" and run.remaining is None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert child.drain() is None and body.data.shape_keys is not None


def test_an_error_that_was_not_foreseen_does_not_hold_up_the_next_bake(monkeypatch, tmp_path):
    """The timer is gone then: nobody would ask again, and Esc finds no process to stop."""
    run = child.Run(1, "Body", tmp_path, "bake", 4, lambda run: 1 // 0, outcome="done")
    monkeypatch.setattr(child, "_current", run)
    with pytest.raises(ZeroDivisionError):
        child.drain()
    assert child.current() is None


def test_only_one_child_at_a_time(body, saved):
    body.sinew.frame_end = 400
    start(body)
    with pytest.raises(RuntimeError, match="at work already"):
        child.start(child.Run(0, "Other", Path(), "bake", 1, lambda run: True))


def test_results_go_where_the_object_is_shown(body, saved):
    """A timer has no window, and the first window may show another scene."""
    other = bpy.data.scenes.new("Other")
    windows = [SimpleNamespace(view_layer=s.view_layers[0]) for s in (other, bpy.context.scene)]
    assert baking.window_with(body, windows) is windows[1] and baking.window_with(body, windows[:1]) is windows[0]
    assert baking.window_with(body, []) is None
    window, scene = bpy.context.window_manager.windows[0], bpy.context.scene
    with bpy.context.temp_override(window=None):
        with baking.where_it_is_shown(body):
            assert bpy.context.window == window and bpy.context.scene == scene


def test_the_child_gets_a_python_and_the_libraries():
    code = "import numba, scipy, numpy, sys; print(sys.version_info[:2])"
    said = subprocess.run(
        [child.python_executable(), "-c", code],
        env=child.child_process.child_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == str(sys.version_info[:2])
    assert child.child_process.child_environment()["PYTHONDONTWRITEBYTECODE"] == "1"


def test_frames_that_did_not_settle_are_told(body, saved):
    """One iteration a step is not enough; the artist is told what to raise."""
    body.sinew.max_iterations = 1
    body.sinew.tolerance = 0.0
    run = start(body)
    drain_until(lambda: child.current() is None)
    assert run.outcome == "done" and body.sinew.bake.status == "DONE"
    assert "Frames 2-4 did not settle" in body.sinew.bake.message and "raise Substeps" in body.sinew.bake.message


SLEEPY_WORKER = """
import json, sys, time
for phase in ("compile", "tetrahedralize"):
    print(json.dumps({"event": "phase", "phase": phase, "done": 0, "total": 1}), flush=True)
time.sleep(600)
"""


def test_tetrahedralizing_is_stopped_though_it_listens_to_nobody(body, saved, tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text(SLEEPY_WORKER)
    monkeypatch.setattr(child.child_process, "WORKER", worker)
    monkeypatch.setattr(child.child_process.tempfile, "gettempdir", lambda: str(tmp_path))
    run = start(body, "mesh")
    left = tmp_path / f"{child.child_process.temporary_mark(run.process.pid)}x"
    left.mkdir()
    drain_until(lambda: run.phase == "tetrahedralize")
    assert run.label == "Tetrahedralizing"
    bpy.ops.sinew.stop_bake()
    assert run.label == "Stopping"
    drain_until(lambda: child.current() is None)
    assert run.outcome == "stopped" and body.sinew.bake.message == "" and body.sinew.bake.status == "NONE"
    assert not left.exists()


def test_a_bake_stopped_before_its_tetrahedra_begins_anew(body, saved, tmp_path, monkeypatch):
    """The stop came while kernels were compiled: the child is ended when it says that it tetrahedralizes."""
    worker = tmp_path / "worker.py"
    worker.write_text(SLEEPY_WORKER)
    monkeypatch.setattr(child.child_process, "WORKER", worker)
    run = start(body)
    child.request_stop()
    drain_until(lambda: child.current() is None)
    assert run.outcome == "stopped" and body.sinew.bake.status == "STOPPED" and body.sinew.bake.frames == 0
    monkeypatch.undo()
    bpy.ops.sinew.resume_bake()
    assert body.sinew.bake.status == "DONE" and body.sinew.bake.frames == 4


def test_tetrahedralize_samples_no_frame_but_the_first(body, saved, monkeypatch):
    seen = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _graph: seen.append(scene.frame_current))
    bpy.context.scene.frame_set(3)
    seen.clear()
    bpy.ops.sinew.tetrahedralize()
    bpy.app.handlers.frame_change_post.pop()
    assert set(seen) <= {1, 3} and body.sinew.bake.mesh_summary
    assert bpy.context.scene.frame_current == 3
