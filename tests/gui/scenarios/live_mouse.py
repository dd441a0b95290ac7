"""Live mode with the mouse and the keyboard of the X server."""

import importlib.util
from pathlib import Path

import bpy
import numpy as np


def load(name):
    """Another scenario, for what it can do."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drag(gui, x, y):
    """Press, and move up to the left in steps."""
    yield from gui.point(x, y)
    yield from gui.xdotool("mousedown", 1)
    yield 0.2
    for k in range(1, 9):
        yield from gui.point(x - 20 * k, y + 10 * k)


def scenario(gui):
    scene = load("live")
    live = scene.module("live")
    scene.make_body(gui)
    with gui.context():
        bpy.ops.sinew.live_choose_solver()
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "mouse.blend"))
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    session = live.current()
    yield from gui.wait_until(lambda: session.state.frame >= 5, 500, "five frames")
    vertex = scene.front_vertex(session)
    rest = session.view.positions()[vertex]
    yield from drag(gui, *scene.pixels(gui, vertex, session))
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame >= frame + 10, 60, "ten frames of pulling")
    gui.record("grabbed", [len(session.state.grabs), len(gui.window.modal_operators)])
    gui.record("away", float(np.linalg.norm(session.view.positions()[vertex] - rest)))
    yield from gui.photograph("1-dragging")
    yield from gui.xdotool("mouseup", 1)
    yield 0.5
    gui.record("released", [len(session.state.grabs), len(gui.window.modal_operators)])
    yield from gui.xdotool("keydown", "ctrl")
    yield from drag(gui, *scene.pixels(gui, scene.front_vertex(session), session))
    yield from gui.xdotool("mouseup", 1)
    yield from gui.xdotool("keyup", "ctrl")
    yield 0.5
    gui.record("pinned", [grab.pinned for grab in session.state.grabs.values()])
    gui.record("selection kept", bpy.context.view_layer.objects.active == scene.body())
    yield from gui.photograph("2-pinned")
    yield from gui.point(*gui.centre())
    yield from gui.xdotool("key", "Escape")
    yield 1.0
    gui.record("ended", [live.current() is None, scene.body().hide_get()])
