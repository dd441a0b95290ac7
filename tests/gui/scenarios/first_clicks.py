"""From N to a playing bake of a new mesh on a ground, by the real mouse alone; each press is counted."""

import bpy
import numpy as np

FRAMES = 12
GROUND = 122, 488
"""Pixels from the left and upper edge of the sidebar to *Ground*."""

SAVE = 74, 22
"""Pixels from the right and lower edge of the file browser to its button."""


def body():
    return bpy.data.objects["Suzanne"]


def heights():
    """World heights of the shown vertices."""
    mesh = body().evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([(body().matrix_world @ vertex.co).z for vertex in mesh.vertices])


def save_beside(gui, clicks):
    """The file browser is a window of its own, with the button at its lower right."""
    windows = bpy.context.window_manager.windows
    yield from gui.wait_until(lambda: len(windows) == 2 and windows[-1].screen.areas[0].spaces.active.params, 60, "it")
    yield from gui.settle()
    windows[-1].screen.areas[0].spaces.active.params.directory = str(
        gui.session
    ).encode()  # as the artist's last folder
    yield from gui.settle()
    yield from gui.photograph("2-where-to-save")
    gui.record("browser", [windows[-1].x, windows[-1].y, windows[-1].width, windows[-1].height])
    yield from clicks.at(windows[-1].x + windows[-1].width - SAVE[0], windows[-1].y + SAVE[1], "Save")
    running = gui.module("blender_addon.jobs.job_queue")
    yield from gui.wait_until(lambda: running.current() is not None, 60, "the bake begins")
    gui.record("saved", bpy.data.filepath)


def scenario(gui):
    newcomer, running = gui.scenario("newcomer"), gui.module("blender_addon.jobs.job_queue")
    bpy.context.scene.frame_end = FRAMES
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
    clicks = newcomer.Clicks(gui)
    yield from newcomer.open_tab(gui, clicks)
    yield from clicks.in_sidebar(44, "Enable Sinew")
    yield from gui.wait_until(lambda: body().sinew.enabled, 10, "it is enabled")
    yield from gui.settle()
    yield from gui.photograph("1-enabled")
    region = gui.region("UI")
    yield from clicks.at(region.x + GROUND[0], region.y + region.height - GROUND[1], "Ground")
    yield from gui.wait_until(lambda: body().sinew.collisions.use_ground, 10, "it stands on a ground")
    first = heights()
    yield from clicks.in_sidebar(newcomer.FIRST, "Save and Bake")
    yield from save_beside(gui, clicks)
    yield from gui.wait_until(running.is_idle, 480, "it is baked")
    gui.record("baked", [body().sinew.bake.status, body().sinew.bake.frames, body().sinew.bake.message])
    yield from gui.settle()
    yield from clicks.in_sidebar(newcomer.FIRST, "Play")
    yield from gui.wait_until(lambda: gui.window.screen.is_animation_playing, 20, "it plays")
    gui.record("clicks", clicks.made)
    with gui.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    bpy.context.scene.frame_set(FRAMES)
    last = heights()
    gui.record("lowest", [float(first.min()), float(last.min())])
    gui.record("height", [float(np.ptp(first)), float(np.ptp(last))])
    yield from gui.photograph("3-last-frame")
