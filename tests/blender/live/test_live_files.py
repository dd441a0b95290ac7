"""Files that are saved while a body is played with, and files of its own."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.live import live, live_handlers
from sinew.core.jobs.store.frame_store import FrameStore

from ..scenes import prepared
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
    session = live.begin(soft_body)
    drain_until(lambda: session.state.ready)
    live.stop()
    _job, store = prepared(soft_body)
    ours, theirs = store.read_cached("subspace"), session.store.read_cached("subspace")
    assert ours[1] == theirs[1] and np.array_equal(ours[0]["weights"], theirs[0]["weights"])
    assert session.store.folder.is_dir() and session.store.folder != store.folder
    bpy.ops.sinew.disable()
    assert not session.store.folder.is_dir()


def test_deleting_the_bake_deletes_what_live_mode_keeps(soft_body):
    session = live.begin(soft_body)
    drain_until(lambda: session.state.ready)
    assert not bpy.ops.sinew.delete_bake.poll(), "not while it is played with"
    live.stop()
    bpy.ops.sinew.bake()
    folders = session.store.folder, baking.open_store(soft_body).folder
    assert all(folder.is_dir() for folder in folders)
    bpy.ops.sinew.delete_bake()
    bpy.ops.wm.save_mainfile()
    assert not any(folder.exists() for folder in folders)


@pytest.fixture
def unsaved_body(soft_body):
    """``soft_body`` in a file that has never been saved."""
    bpy.ops.wm.save_mainfile()
    path = bpy.data.filepath
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path) as (_there, here):
        here.objects = ["Body"]
    body = bpy.data.objects["Body"]
    bpy.context.scene.collection.objects.link(body)
    bpy.context.view_layer.objects.active = body
    assert not bpy.data.filepath
    return body


def test_a_file_that_was_never_saved(unsaved_body, tmp_path):
    session = playing(unsaved_body)
    session_folder = session.store.folder
    assert session_folder.is_relative_to(bpy.app.tempdir) and unsaved_body.hide_get()
    assert not bpy.ops.sinew.live_record.poll(), "a take would be lost"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved later.blend"))
    frame = session.state.frame
    drain_until(lambda: session.state.frame > frame)
    assert live.current() is session and unsaved_body.hide_get() and bpy.ops.sinew.live_record.poll()
    live.record()
    drain_until(lambda: live.current() is None)
    store = baking.open_store(unsaved_body)
    assert unsaved_body.sinew.bake.status == "DONE" and store.frames() == [1, 2, 3, 4]
    assert store.folder.is_relative_to(tmp_path) and not FrameStore(session_folder).frames()
    bpy.ops.sinew.delete_bake()
    bpy.ops.wm.save_mainfile()
    assert not session_folder.exists() and list(tmp_path.rglob("*.sinew")) == []


def test_modes_that_were_found_before_the_file_was_saved(unsaved_body, tmp_path):
    before = playing(unsaved_body)
    live.stop()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved later.blend"))
    after = live.begin(unsaved_body)
    assert after.store.folder.is_relative_to(tmp_path) and before.store.folder.is_dir()
    drain_until(lambda: after.state.ready)
    modes = [session.store.read_cached("subspace")[0]["weights"] for session in (before, after)]
    assert after.store.folder != before.store.folder and np.array_equal(*modes)
