"""Files that are saved while a body is played with, and files of its own."""

from __future__ import annotations

import bpy
import numpy as np
from sinew.blender_addon import baking, live, live_handlers

from .live_driver import drain_until, playing


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
