"""Playing begun and ended over and over, drawn each time by the graphics card."""

import ctypes
import gc
import os
from pathlib import Path

import bpy

BEFORE, COUNTED = 8, 12
"""Sessions that fill what is kept for good, and those after which nothing must have been added."""
HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]


def resources(gui, handles):
    """Return the numbers of handlers, timers, threads and the like, which must not grow."""
    process = Path("/proc/self")
    return {
        "handlers": sum(len(getattr(bpy.app.handlers, name)) for name in HANDLERS),
        "draw handlers": len(handles),
        "timers": bpy.app.timers.is_registered(gui.module("blender_addon.jobs.job_queue").tick),
        "threads": len(list((process / "task").iterdir())),
        "files": len(list((process / "fd").iterdir())),
        "objects": len(bpy.data.objects),
        "meshes": len(bpy.data.meshes),
    }


def megabytes():
    """Return the resident memory, MB, without freed memory that the allocator keeps, which varies by 10 MB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def session(gui, scene, play):
    """One, until the card has drawn a frame of it."""
    yield from play(gui, scene)
    preview = gui.module("blender_addon.drawing.gpu_preview").Preview
    view = gui.module("blender_addon.live.live").current().view
    draw, drawn = preview.draw, []
    preview.draw = lambda self, *a, **b: drawn.append(draw(self, *a, **b))
    yield from gui.wait_until(lambda: drawn, 20, "it is drawn")
    preview.draw = draw
    if view.refused:
        raise RuntimeError(view.refused)
    gui.module("blender_addon.live.live").stop()
    yield from gui.wait_until(
        lambda: not bpy.app.timers.is_registered(gui.module("blender_addon.jobs.job_queue").tick), 5, "its timer ends"
    )


def cycles(gui, scene, play):
    """Count before and after."""
    view, handles = gui.module("blender_addon.drawing.layer"), []
    add, remove = view.add_handler, view.remove_handler

    def added(*arguments):
        handles.append(add(*arguments))
        return handles[-1]

    def removed(handle, region):
        handles.remove(handle)
        remove(handle, region)

    view.add_handler, view.remove_handler = added, removed
    for _ in range(BEFORE):
        yield from session(gui, scene, play)
    before, size = resources(gui, handles), megabytes()
    for _ in range(COUNTED):
        yield from session(gui, scene, play)
    after = resources(gui, handles)
    view.add_handler, view.remove_handler = add, remove
    gui.record("added by cycles", {name: after[name] - before[name] for name in before})
    gui.record("megabytes", [size, megabytes()])
