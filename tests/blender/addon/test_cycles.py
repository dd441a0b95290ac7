"""Switched on, used, switched off, over and over: nothing piles up. ``SINEW_CYCLES=200`` runs the long version."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections import Counter
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon import registration
from sinew.blender_addon.bake import outdated
from sinew.blender_addon.jobs import job_queue

from ..bake.test_child import drain_until, start

CYCLES = int(os.environ.get("SINEW_CYCLES", "4"))
SETTLING = 2
"""Cycles after which every cache is filled."""
MEMORY = 8 * 2**20
"""Bytes that the allocator may keep, however many cycles there are."""


def traces() -> dict[str, object]:
    """All that an extension can leave in Blender."""
    every = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    handlers = {name: list(map(repr, found)) for name, found in every.items() if isinstance(found, list)}
    configuration = bpy.context.window_manager.keyconfigs.addon
    keymaps = configuration.keymaps if configuration else []
    drawn = [(name, getattr(cls, "draw", None)) for name in dir(bpy.types) if (cls := getattr(bpy.types, name, None))]
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    return {
        "handlers": handlers,
        "timers": [bpy.app.timers.is_registered(timer) for timer in (job_queue.tick, outdated._look_again)],
        "types": sorted(dir(bpy.types)),
        "properties": [name for name in dir(bpy.types) if hasattr(getattr(bpy.types, name, None), "sinew")],
        "appended": {name: list(map(repr, draw._draw_funcs)) for name, draw in drawn if hasattr(draw, "_draw_funcs")},
        "keys": [(keymap.name, item.idname) for keymap in keymaps for item in keymap.keymap_items],
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "children": children.read_text().split() if children.is_file() else [],
        "run": job_queue.current(),
    }


def data_blocks() -> Counter[str]:
    """Return the number of data-blocks of each type in the file."""
    kinds = (name for name in dir(bpy.data) if isinstance(getattr(bpy.data, name), bpy.types.bpy_prop_collection))
    return Counter({name: len(getattr(bpy.data, name)) for name in kinds})


def memory() -> int:
    """Bytes that this process has in memory; 0 where the system keeps no such file (Wine shows Linux' one)."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def switched_off():
    """The extension is off; on again afterwards."""
    registration.unregister()
    yield
    if not registration.is_registered():
        registration.register()


def cycle() -> None:
    """One artist's day: a cube is enabled, baked by a child, its bake deleted, that undone, redone, undone and deleted
    again, the file saved, and the extension switched off.
    """
    registration.register()
    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    bpy.ops.sinew.enable()
    obj.sinew.cells_across, obj.sinew.use_scene_range = 4, False
    obj.sinew.frame_start, obj.sinew.frame_end = 1, 2
    start(obj)
    drain_until(lambda: job_queue.current() is None)
    assert obj.sinew.bake.status == "DONE", obj.sinew.bake.message
    assert obj.data.shape_keys is not None
    name = obj.name
    bpy.ops.ed.undo_push(message="Baked")
    bpy.ops.sinew.delete_bake("EXEC_DEFAULT", True)
    for step, keys in ((bpy.ops.ed.undo, True), (bpy.ops.ed.redo, False), (bpy.ops.ed.undo, True)):
        step()
        assert (bpy.data.objects[name].data.shape_keys is not None) == keys
    bpy.ops.sinew.delete_bake()
    obj = bpy.data.objects[name]
    mesh = obj.data
    assert mesh.shape_keys is None
    bpy.ops.wm.save_mainfile()  # from here on no undo can want the frames
    bpy.data.objects.remove(obj)
    bpy.data.meshes.remove(mesh)
    registration.unregister()


def test_switching_off_leaves_no_trace(saved, switched_off, monkeypatch):
    with_a_window = types.SimpleNamespace(background=False, timers=bpy.app.timers)
    monkeypatch.setattr(outdated, "bpy", types.SimpleNamespace(app=with_a_window))
    before = traces()
    registration.register()
    outdated.after_edit()
    on = traces()
    assert on["types"] != before["types"] and on["handlers"] != before["handlers"] and on["properties"]
    assert on["timers"] != before["timers"]
    registration.unregister()
    assert traces() == before


@pytest.mark.skipif((4, 2) < bpy.app.version[:2] < (5, 2), reason="the oldest and the newest Blender tell")
def test_nothing_piles_up_over_many_cycles(saved, switched_off):
    before, blocks = traces(), data_blocks()
    taken = []
    for _ in range(CYCLES):
        cycle()
        taken.append(memory())
        assert traces() == before
        bpy.data.orphans_purge(do_local_ids=True, do_linked_ids=True, do_recursive=True)
        assert data_blocks() == blocks
    print(f"{CYCLES} cycles, MB: " + " ".join(f"{bytes_ / 1e6:.1f}" for bytes_ in taken[:: max(1, CYCLES // 20)]))
    assert taken[-1] - taken[min(SETTLING, CYCLES) - 1] < MEMORY
    assert not list((saved.parent).rglob("frame_*.sinew"))
