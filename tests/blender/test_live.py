"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

import time

import bpy
import numpy as np
import pytest
from sinew.blender_addon import job as child
from sinew.blender_addon import live
from sinew.core.simulation import bake as library


def drain_until(condition, seconds: float = 120.0) -> None:
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
def soft_body(body, saved):
    """The bar with a subspace of a few modes."""
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


def play_until(session, frame: int) -> None:
    """Play to a frame, the grabs as they are."""
    drain_until(lambda: session.state.frame >= frame)


def recorded(body, move) -> tuple[np.ndarray, list[str]]:
    """Positions (frames,n,3) of a take over the body's range, ``move(frame)`` called before each frame is asked for."""
    session = live.start(body, bpy.context, record=True)
    body.sinew.live.rate = "FREE"
    drain_until(lambda: session.state.take is not None)
    seen = {}

    def follow():
        if session.state.frame not in seen:
            seen[session.state.frame] = session.view.positions()
            move(session.state.frame)
        return live.current() is None

    drain_until(follow)
    return seen


def test_a_take_becomes_springs_and_a_bake(soft_body, tmp_path):
    soft_body.sinew.frame_end = 12
    soft_body.location, soft_body.scale = (0.3, -0.1, 0.2), (1.1, 0.9, 1.3)
    bpy.context.view_layer.update()
    rest = live.baking.job_in.make_job(soft_body, bpy.context).surface.positions

    def move(frame):
        if 2 <= frame < 8:
            live.grab(11, rest[11] + [0.0, 0.02 * frame, 0.03], 400.0)
        if frame == 8:
            live.let_go(11)
        if frame == 5:
            live.grab(8, rest[8] - [0.0, 0.0, 0.1], 250.0)
            live.pin(8)

    seen = recorded(soft_body, move)
    record = soft_body.sinew.bake
    assert record.status == "DONE" and record.frames == 12 and record.stale == "" and not soft_body.hide_get()
    assert [s.name for s in soft_body.sinew.springs] == ["Grab 11", "Grab 8"]
    assert live.baking.find_changes(soft_body, bpy.context) == []

    kept = live.baking.open_store(soft_body)
    take = np.array([kept.read(frame) for frame in range(1, 13)])
    assert np.abs(take[-1] - take[0]).max() > 0.03, "the grabs have moved it"
    job = kept.job()
    again = live.FrameStore.create(tmp_path / "again", job)
    library.bake(job, again)
    assert max(np.abs(again.read(f) - take[f - 1]).max() for f in again.frames()) <= 1e-9
