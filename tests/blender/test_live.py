"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

import time

import bpy
import numpy as np
import pytest
from sinew.blender_addon import job as child
from sinew.blender_addon import live


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
