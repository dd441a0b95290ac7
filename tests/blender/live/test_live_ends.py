"""Ends of live mode, and what remains after each."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon.drawing import layer
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live, live_handlers
from sinew.core.foundation.process import child_process

from .live_driver import drain_until, playing

NEWEST = pytest.mark.skipif(bpy.app.version[:2] < (5, 2), reason="the newest Blender tells")
LINUX = sys.platform == "linux"


def resources() -> dict[str, int]:
    """Return resources that must not grow from session to session; children and open files only on Linux (/proc)."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return {
        "handlers": sum(len(getattr(bpy.app.handlers, name)) for name, _ in live_handlers.HANDLERS),
        "threads": threading.active_count(),
        "children": len(children.read_text().split()) if LINUX else 0,
        "files": len(os.listdir("/proc/self/fd")) if LINUX else 0,
        "objects": len(bpy.data.objects),
        "meshes": len(bpy.data.meshes),
    }


def memory() -> float:
    """Resident, MB; 0 where there is no /proc."""
    if not LINUX:
        return 0.0
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@NEWEST
def test_six_real_sessions_leave_nothing(soft_body):
    def once() -> None:
        session = live.begin(soft_body)
        drain_until(lambda: session.state.frame >= 3)
        live.stop()

    once()
    before = resources()
    for _ in range(5):
        once()
    assert resources() == before


@NEWEST
def test_a_hundred_sessions_leave_nothing(fake_child, monkeypatch):
    added, removed = [], []
    space = bpy.types.SpaceView3D
    monkeypatch.setattr(layer, "add_handler", lambda *a: added.append(space.draw_handler_add(*a)) or added[-1])
    monkeypatch.setattr(layer, "remove_handler", lambda h, r: removed.append(h) or space.draw_handler_remove(h, r))
    for _ in range(20):
        playing(fake_child)
        live.stop()
    before, megabytes = resources(), memory()
    for _ in range(80):
        playing(fake_child)
        live.stop()
    assert resources() == before and memory() - megabytes < 18.0
    assert len(added) == len(removed) == 200 and set(map(id, added)) == set(map(id, removed))
    assert not fake_child.hide_get() and not bpy.app.timers.is_registered(job_queue.tick) or job_queue.tick() is None


def test_what_ends_it_leaves_the_mesh_shown(fake_child):
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    bpy.context.scene.collection.objects.link(other)

    def ends(what, said) -> None:
        playing(fake_child)
        what()
        drain_until(lambda: live.current() is None)
        assert said in fake_child.sinew.live.message and job_queue.current() is None
        assert not fake_child.hide_get() and fake_child.sinew.live_layer == ""
        if fake_child.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")

    ends(lambda: bpy.ops.object.mode_set(mode="EDIT"), "Edit Mode")
    ends(lambda: bpy.ops.object.mode_set(mode="WEIGHT_PAINT"), "Weight Paint Mode")
    ends(lambda: fake_child.data.vertices.add(1), "the mesh was edited")


def test_a_deleted_body_ends_it(fake_child):
    playing(fake_child)
    bpy.data.objects.remove(fake_child)
    drain_until(lambda: live.current() is None)
    assert job_queue.current() is None and not len(bpy.data.objects)


def test_another_file_ends_it(fake_child):
    process = playing(fake_child).work.child.process
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert live.current() is None and job_queue.current() is None and process.poll() is not None


def test_cancelled_while_it_prepares_nothing_has_changed(soft_body):
    live.begin(soft_body)
    bpy.context.scene.frame_set(4)
    bpy.ops.sinew.live_stop()
    assert bpy.context.scene.frame_current == 4 and not soft_body.hide_get() and live.current() is None


def test_a_child_that_dies_is_told(soft_body, monkeypatch, tmp_path):
    monkeypatch.setattr(child_process, "WORKER", tmp_path / "nothing.py")
    live.begin(soft_body)
    drain_until(lambda: job_queue.current() is None)
    assert live.current() is None and "ended unexpectedly with code" in soft_body.sinew.live.message
