"""Renders go before what is played with."""

from __future__ import annotations

import bpy
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live_scene

from .live_driver import drain_until, playing


def test_a_render_goes_first(fake_child, monkeypatch, tmp_path):
    session, scene = playing(fake_child), bpy.context.scene
    monkeypatch.setattr(live_scene, "is_rendering", lambda: True)
    drain_until(lambda: not session.state.out, 10.0)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath, scene.frame_start, scene.frame_end = str(tmp_path / "render"), 1, 3
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    frame, shown = session.state.frame, scene.frame_current
    bpy.ops.render.render(animation=True)
    for _ in range(20):
        job_queue.tick()
    assert session.state.frame == frame and scene.frame_current == shown and len(list(tmp_path.glob("*.png"))) == 3
    monkeypatch.setattr(live_scene, "is_rendering", lambda: bpy.app.is_job_running("RENDER"))
    drain_until(lambda: session.state.frame >= frame + 2, 10.0)
    assert session.state.playing, "the render's frames are no reason to pause"
