"""The child process, driven by calling the timer's function by hand: no timer runs without a window."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, baking
from sinew.blender_addon.cache.frame_folders import default_folder
from sinew.blender_addon.jobs import job_queue, task
from sinew.blender_addon.jobs.process import LOG_NAME, python_executable
from sinew.blender_addon.jobs.state_machine import Ended, Stage, State, StopAsked
from sinew.blender_addon.window import esc_after_playback, visibility
from sinew.core.foundation.errors import SinewError
from sinew.core.foundation.events import Event, FrameDone, Phase
from sinew.core.foundation.process import child_process
from sinew.core.simulation.frame_loop import bake as library
from sinew.operators.bake import stop_bake


def in_child(work: job_queue.Task) -> job_queue.Task:
    """Run a task in a child, as in a window."""
    work.here = None
    return work


def start(obj, mode="bake", until=None) -> job_queue.Task:
    """Do what the button does in a window."""
    run = in_child(background.work_on(obj, mode, until))
    job_queue.begin(run)
    return run


def drain_until(condition, seconds: float = 300.0) -> None:
    """Call the timer's function until the condition holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "the child did not get there in time"
        job_queue.tick()
        time.sleep(0.01)


def kill(run) -> str:
    """End the child as the system or a user may; how that is told. Windows has no signals: it gives a code."""
    run.child.process.kill()
    code = run.child.process.wait()
    assert code == (1 if sys.platform == "win32" else -9)
    return "with code 1" if sys.platform == "win32" else "by signal 9"


def at_work(monkeypatch) -> job_queue.Task:
    """A child is at work on 400 frames of no object."""
    run = job_queue.Task(1, "Body", lambda obj: iter(()), lambda *_: None, lambda *_: None)
    run.state = State(stage=Stage.RUNNING, frames_total=400)
    monkeypatch.setattr(job_queue, "_works", [run])
    return run


@pytest.fixture(autouse=True)
def no_child_is_left():
    yield
    job_queue.abandon()


def test_a_bake_in_the_child_has_the_same_bits(body, saved, tmp_path):
    run = start(body)
    assert (
        job_queue.current(body.session_uid) is run and not bpy.ops.sinew.bake.poll() and bpy.ops.sinew.stop_bake.poll()
    )
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "done" and run.state.frames_done == 4 and run.state.mesh().tets > 0
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4
    job, theirs = baking.open_store(body).job(), baking.open_store(body)
    here = baking.FrameStore.create(tmp_path / "here", job)
    library.bake(job, here)
    assert all(np.array_equal(here.read(f), theirs.read(f)) for f in here.frames())
    assert not bpy.app.timers.is_registered(job_queue.tick) or job_queue.tick() is None


@pytest.mark.skipif(sys.platform == "win32", reason="links want a privilege there")
def test_nothing_is_written_through_links_of_a_strangers_folder(body, saved, tmp_path):
    treasure, folder = tmp_path / "treasure", default_folder(body)
    treasure.write_text("mine")
    folder.mkdir(parents=True)
    for name in (f".writable-{os.getpid()}", LOG_NAME, "lock", "job.npz.part", "frame_000002.sinew.part"):
        (folder / name).symlink_to(treasure)
    start(body)
    drain_until(lambda: job_queue.current() is None)
    assert body.sinew.bake.status == "DONE" and treasure.read_text() == "mine"


def test_the_window_is_drawn_anew_when_there_is_something_new(monkeypatch):
    """Ten times a second, at every look for events, a full scene would take the processors from the bake."""
    clock, drawn = [0.0], []
    monkeypatch.setattr(task, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(job_queue.redraw, "redraw", lambda views=True: drawn.append((clock[0], run.state.label, views)))
    run = at_work(monkeypatch)
    told: list[Event] = []
    run.child = SimpleNamespace(events=lambda: [told.pop()] if told else [])
    for clock[0] in (0.0, 0.1, 0.2, 0.9, 1.0, 1.1):
        job_queue.tick()
    assert drawn == [(0.0, "Starting", True), (1.0, "Starting", False)], "the panels' clock, when a second has passed"
    told.append(Phase("simulate", 0, 400))
    job_queue.tick()
    told.append(FrameDone(1, 0.1, {}))
    job_queue.tick()
    run.note(StopAsked())
    for clock[0] in (1.2, 1.3):
        job_queue.tick()
    said = ["Frame 0 / 400", "Frame 1 / 400", "Stopping after this step"]
    assert [news[1:] for news in drawn[2:]] == [(words, True) for words in said]


def test_stop_keeps_frames_and_resume_completes(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.state.frames_done >= 3)
    assert 0.0 < run.state.factor < 1.0 and run.remaining is not None and "/ 400" in run.state.label
    assert bpy.ops.sinew.stop_bake() == {"FINISHED"}
    assert run.state.label == "Stopping after this step" and not bpy.ops.sinew.stop_bake.poll()
    drain_until(lambda: job_queue.current() is None)
    done = body.sinew.bake.frames
    assert run.state.outcome == "stopped" and body.sinew.bake.status == "STOPPED" and 3 <= done < 400
    assert len(body.data.shape_keys.key_blocks) == done and body.sinew.bake.message == ""

    run = start(body, "resume")
    drain_until(lambda: run.state.frames_done >= 3)
    assert run.state.frames_before >= done - 1
    job_queue.stop()
    drain_until(lambda: job_queue.current() is None)
    assert body.sinew.bake.frames > done


def test_the_child_finds_handles(body, saved, evaluated):
    """After a bake, and for Convert Result; the record keeps saying how the bake itself went."""
    body.sinew.result, body.sinew.result_modes = "NODES", 2
    run = start(body)
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "done" and body.sinew.bake.kind == "NODES" and body.sinew.bake.modes == 2
    before = evaluated(body, 4)
    body.sinew.result_modes, body.sinew.bake.status = 8, "STOPPED"
    store = baking.open_store(body)
    start(body, "handles")
    drain_until(lambda: job_queue.current() is None)
    assert (body.sinew.bake.status, body.sinew.bake.kind, body.sinew.bake.modes) == ("STOPPED", "NODES", 8)
    after = evaluated(body, 4)
    assert np.abs(after - store.read(4)).max() < np.abs(before - store.read(4)).max()


def test_handles_that_fail_leave_the_result_as_it_is(body, saved):
    body.sinew.result = "KEYS"
    bpy.ops.sinew.bake()
    store = baking.open_store(body)
    (store.folder / "frame_000003.sinew").write_bytes(b"damaged")
    body.sinew.result = "NODES"
    run = start(body, "handles")
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "error" and "frame_000003.sinew is damaged" in body.sinew.bake.message
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4


@pytest.fixture
def pressed(monkeypatch):
    """Do what Stop does; called directly, since without a window Blender never invokes an operator."""
    monkeypatch.setattr(esc_after_playback, "_ended_at", -math.inf)
    at_work(monkeypatch).state = State(stage=Stage.RUNNING, started=time.monotonic())

    def press(by_key: bool = True, playing: tuple[bool, ...] = (False,), over_panel: bool = True) -> Any:
        windows = [SimpleNamespace(screen=SimpleNamespace(is_animation_playing=p)) for p in playing]
        manager = SimpleNamespace(windows=windows, invoke_confirm=lambda *_, **__: "asks")
        operator = SimpleNamespace(by_key=by_key, execute=lambda context: "stops")
        monkeypatch.setattr(visibility, "is_panel_under_pointer", lambda _context: over_panel)
        return stop_bake.invoke(operator, SimpleNamespace(window_manager=manager), None)

    return press


def test_esc_stops_the_playback_first(pressed, monkeypatch):
    assert pressed(playing=(False, True)) == {"PASS_THROUGH"} and pressed(playing=(False, False)) == "stops"
    assert pressed(by_key=False, playing=(False, True)) == "stops", "the button stops the bake at any time"
    esc_after_playback.note_end()  # Blender's own key ends the playback first and passes the event on
    assert pressed() == {"PASS_THROUGH"} and pressed(by_key=False) == "stops"
    monkeypatch.setattr(esc_after_playback, "SAME_EVENT", 0.0)
    assert pressed() == "stops"


def test_an_esc_elsewhere_is_for_something_else_or_asks(pressed):
    assert pressed() == "stops" and pressed(over_panel=False) == {"PASS_THROUGH"}
    run = job_queue.current()
    run.state = replace(run.state, started=time.monotonic() - 31.0)
    assert pressed(over_panel=False) == "asks" and pressed() == "stops" and pressed(playing=(True,)) == {"PASS_THROUGH"}
    assert pressed(by_key=False, over_panel=False) == "stops", "the button never asks"


@pytest.mark.parametrize(
    ("kind", "region", "says", "expected"),
    [
        ("VIEW_3D", "UI", "Sinew", True),
        ("VIEW_3D", "UI", "Tool", False),
        ("VIEW_3D", "WINDOW", "Sinew", False),
        ("PROPERTIES", "WINDOW", "PHYSICS", True),
        ("PROPERTIES", "WINDOW", "MATERIAL", False),
        ("IMAGE_EDITOR", "UI", "Sinew", False),
    ],
)
def test_the_pointer_is_over_the_bar_where_our_panels_are(kind, region, says, expected):
    space = SimpleNamespace(active=SimpleNamespace(context=says))
    region, area = SimpleNamespace(type=region, active_panel_category=says), SimpleNamespace(type=kind, spaces=space)
    assert visibility.is_panel_under_pointer(SimpleNamespace(area=area, region=region)) == expected


def test_compiling_is_stopped_at_once(body, saved, tmp_path, monkeypatch):
    """Nothing was compiled before, and nobody in the child listens meanwhile."""
    monkeypatch.setenv("SINEW_KERNEL_CACHE", str(tmp_path / "kernels"))
    run = start(body)
    drain_until(lambda: run.state.phase.phase == "compile")
    assert run.state.label == "First-Time Setup"
    asked, child = time.monotonic(), run.child.process
    bpy.ops.sinew.stop_bake()
    drain_until(lambda: job_queue.current() is None)
    assert time.monotonic() - asked < 1.0 and child.poll() is not None
    assert (run.state.outcome, body.sinew.bake.status, body.sinew.bake.message) == ("stopped", "STOPPED", "")


def test_a_killed_child_is_reported_and_resumable(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.state.frames_done >= 2)
    words = kill(run)
    drain_until(lambda: job_queue.current() is None)
    record = body.sinew.bake
    assert run.state.outcome == "error" and record.status == "FAILED"
    assert f"ended unexpectedly {words}" in record.message and "Resume" in record.message
    assert record.frames >= 2 and bpy.ops.sinew.resume_bake.poll()


def test_tetrahedra_that_end_the_child_are_told_with_a_way_out(body, saved):
    run = start(body)
    run.note(Phase("tetrahedralize", 0, 1, method="robust"))
    words = kill(run)
    drain_until(lambda: job_queue.current() is None)
    message = body.sinew.bake.message
    assert run.state.outcome == "error" and f"fTetWild crashed on this mesh (its process ended {words})." in message
    assert "Set Method to Draft under Resolution" in message


def test_a_needle_that_crashes_ftetwild_in_a_window_is_told(body, saved):
    body.scale = 1.0, 4e-3, 4e-3
    body.sinew.method = "robust"
    run = start(body, "mesh")
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "error" and "it is a needle, 1.2 mm thick" in body.sinew.bake.message


def test_what_a_killed_child_never_reads_does_not_hinder_its_end(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    drain_until(lambda: run.state.frames_done >= 2)
    words = kill(run)
    job_queue.stop()
    drain_until(lambda: job_queue.current() is None)
    assert f"ended unexpectedly {words}" in body.sinew.bake.message and body.sinew.bake.frames >= 2


def test_an_error_of_the_library_arrives_with_its_remedy(body, saved):
    run = in_child(background.work_on(body, "bake"))
    begin = run.begin

    def begin_with_a_torn_job(work, obj, read):
        (read[2][0].folder / "job.npz").write_bytes(b"torn")
        begin(work, obj, read)

    run.begin = begin_with_a_torn_job
    job_queue.begin(run)
    drain_until(lambda: job_queue.current() is None)
    assert body.sinew.bake.status == "FAILED" and "job.npz" in body.sinew.bake.message
    assert "Delete the bake" in body.sinew.bake.message


def test_loading_a_file_ends_the_child(body, saved):
    body.sinew.frame_end = 400
    run = start(body)
    process = run.child.process
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert job_queue.current() is None and process.poll() is not None


def test_an_object_that_is_gone_loses_nothing_else(body, saved, capfd):
    run = start(body)
    bpy.data.objects.remove(body)
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "done" and len(bpy.data.objects) == 0
    said = capfd.readouterr().err
    assert "“Body” was deleted" in said and str(run.order.folder) in said and "Resume" in said


def test_edit_mode_delays_the_result(body, saved):
    run = start(body)
    bpy.ops.object.mode_set(mode="EDIT")
    drain_until(lambda: run.state.stage is Stage.ENDED)
    assert job_queue.tick() is not None and body.data.shape_keys is None and job_queue.current() is run
    assert run.state.label == "Leave Edit Mode (Tab) to apply the result" and run.remaining is None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert job_queue.tick() is None and body.data.shape_keys is not None


def test_an_error_that_was_not_foreseen_does_not_hold_up_the_next_bake(monkeypatch):
    """The timer is gone then: nobody would ask again, and Esc finds no process to stop."""
    run = at_work(monkeypatch)
    run.take = lambda run: 1 // 0
    run.note(Ended("done"))
    job_queue._works.append(in_child(job_queue.Task(2, "Gone", run.read, run.begin, run.refuse)))
    with pytest.raises(ZeroDivisionError):
        job_queue.tick()
    assert job_queue.current() is None and bpy.app.timers.is_registered(job_queue.tick), "the next is not forgotten"
    assert job_queue.tick() is None and job_queue.is_idle(), "its object is gone"


def test_only_one_child_at_a_time(body, saved):
    body.sinew.frame_end = 400
    start(body)
    with pytest.raises(SinewError, match="stop .* first"):
        start(body)


def test_results_go_where_the_object_is_shown(body, saved):
    """A timer has no window, and the first window may show another scene."""
    other = bpy.data.scenes.new("Other")
    windows = [SimpleNamespace(view_layer=s.view_layers[0]) for s in (other, bpy.context.scene)]
    assert (
        visibility.window_with(body, windows) is windows[1] and visibility.window_with(body, windows[:1]) is windows[0]
    )
    assert visibility.window_with(body, []) is None
    window, scene = bpy.context.window_manager.windows[0], bpy.context.scene
    with bpy.context.temp_override(window=None):
        with visibility.where_it_is_shown(body):
            assert bpy.context.window == window and bpy.context.scene == scene


def test_the_child_gets_a_python_and_the_libraries():
    code = "import numba, scipy, numpy, sys; print(sys.version_info[:2])"
    said = subprocess.run(
        [python_executable(), "-c", code],
        env=child_process.child_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == str(sys.version_info[:2])
    assert child_process.child_environment()["PYTHONDONTWRITEBYTECODE"] == "1"


def test_frames_that_did_not_settle_are_told(body, saved):
    """One iteration a step is not enough; the artist is told what to raise."""
    body.sinew.max_iterations = 1
    body.sinew.tolerance = 0.0
    run = start(body)
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "done" and body.sinew.bake.status == "DONE"
    assert "Frames 2-4 did not converge" in body.sinew.bake.message and "raise Substeps" in body.sinew.bake.message


SLEEPY_WORKER = """
import json, sys, time
for phase in ("compile", "tetrahedralize"):
    print(json.dumps({"event": "phase", "phase": phase, "done": 0, "total": 1}), flush=True)
time.sleep(600)
"""


def test_tetrahedralizing_is_stopped_though_it_listens_to_nobody(body, saved, tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text(SLEEPY_WORKER)
    monkeypatch.setattr(child_process, "WORKER", worker)
    monkeypatch.setattr(child_process.tempfile, "gettempdir", lambda: str(tmp_path))
    run = start(body, "mesh")
    left = tmp_path / f"{child_process.temporary_mark(run.child.process.pid)}x"
    left.mkdir()
    drain_until(lambda: run.state.phase.phase == "tetrahedralize")
    assert run.state.label == "Tetrahedralizing"
    bpy.ops.sinew.stop_bake()
    assert run.state.label == "Stopping"
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "stopped" and body.sinew.bake.message == "" and body.sinew.bake.status == "NONE"
    assert not left.exists()


def test_a_bake_stopped_before_its_tetrahedra_begins_anew(body, saved, tmp_path, monkeypatch):
    """The stop came while kernels were compiled: the child is ended when it says that it tetrahedralizes."""
    worker = tmp_path / "worker.py"
    worker.write_text(SLEEPY_WORKER)
    monkeypatch.setattr(child_process, "WORKER", worker)
    run = start(body)
    job_queue.stop()
    drain_until(lambda: job_queue.current() is None)
    assert run.state.outcome == "stopped" and body.sinew.bake.status == "STOPPED" and body.sinew.bake.frames == 0
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
