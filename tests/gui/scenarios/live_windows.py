"""Windows that are closed while a body is played with: one of two, and one in which the body is being dragged."""

import bpy
from bl_ui.space_statusbar import STATUSBAR_HT_header
from bpy_extras.view3d_utils import location_3d_to_region_2d


def opened(gui):
    """A second window with a 3D View."""
    with gui.context():
        bpy.ops.wm.window_new()
    yield from gui.settle()


def close():
    """Close the newest window."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()


def dragged(gui, window, scene):
    """Press on the body in a window, and drag it aside."""
    session = gui.module("blender_addon.live.live").current()
    area = window.screen.areas[0]
    region = next(r for r in area.regions if r.type == "WINDOW")
    place = session.view.seen()[scene.front_vertex(session)]
    at = location_3d_to_region_2d(region, area.spaces.active.region_3d, place)
    x, y = int(region.x + at[0]), int(region.y + at[1])
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
    yield
    for k in range(1, 5):
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x - 10 * k, y=y)
        yield


def hinted():
    """Return whether the status bar shows a tool's hints in place of its own."""
    return STATUSBAR_HT_header.draw is not STATUSBAR_HT_header._draw_orig


def modal_operators():
    """Tools at work in whatever window."""
    return sum(len(window.modal_operators) for window in bpy.context.window_manager.windows)


def closed_windows(gui, scene, play):
    """From Play to the end."""
    live, running = gui.module("blender_addon.live.live"), gui.module("blender_addon.jobs.job_queue")
    yield from opened(gui)
    yield from play(gui, scene)
    close()
    yield from gui.frames()
    obj = scene.body()
    said = [live.current() is not None, obj.hide_get(), obj.sinew.live.message]
    gui.record("closed window", [*said, running.current() is not None, modal_operators()])
    yield from opened(gui)
    session = live.current()
    yield from dragged(gui, bpy.context.window_manager.windows[-1], scene)
    gui.record("dragged in the other window", [len(session.state.grabs), modal_operators(), hinted()])
    yield from gui.photograph("hints-of-a-drag")
    close()
    yield
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame > frame + 2, 20, "it goes on without that window")
    said = [live.current() is session, obj.hide_get(), obj.sinew.live.message]
    gui.record("closed while dragging", [len(session.state.grabs), modal_operators(), hinted(), *said])
    live.stop()
    yield
