"""Live mode with the mouse and the keyboard of the X server: the panel's buttons, the body in the viewport, Esc."""

import bpy
import numpy as np

LAST = 60
"""Frames of the take: enough for a pull and for what comes after it."""

# Pixels from the left and upper edge of the sidebar to the buttons, at the scale of the other scenario.
PLAY, RECORD, BAKE = (60, 77), (142, 77), (60, 32)


def press(gui, right, down):
    """Click at a place in the sidebar; a button wants to be hovered over first."""
    region = gui.region("UI")
    x, y = region.x + right, region.y + region.height - down
    yield from gui.point(x - 2, y)
    yield from gui.settle()
    yield from gui.point(x, y)
    yield from gui.settle()
    yield from gui.xdotool("click", 1)


def drag(gui, scene):
    """Pause, press on the nose, and move up to the left in steps."""
    live = gui.module("blender_addon.live.live")
    session = live.current()
    live.toggle()
    yield from gui.wait_until(lambda: not session.state.out and session.drawn is session.state.shown, 60, "it pauses")
    yield from gui.redraw()
    x, y = scene.pixels(gui, scene.front_vertex(session), session)
    yield from gui.point(x, y)
    yield from gui.xdotool("mousedown", 1)
    for k in range(1, 9):
        yield from gui.point(x - 20 * k, y + 10 * k)


def show_panels(gui):
    """The sidebar, with Live alone below Bake."""
    gui.scenario("manual").only(gui, "live")
    space = gui.area().spaces.active
    space.show_region_ui = True
    yield from gui.wait_until(lambda: gui.region("UI").width > 1, 5.0, "the sidebar opens")
    yield from gui.redraw()
    gui.region("UI").active_panel_category = "Sinew"
    yield from gui.settle()


def play(gui, scene):
    """Click Play, and wait for frames."""
    live = gui.module("blender_addon.live.live")
    yield from press(gui, *PLAY)
    yield from gui.wait_until(lambda: live.current() is not None, 60, "Play was clicked")
    yield from gui.wait_until(lambda: live.current().state.frame >= 5, 500, "five frames")


def drag_and_pin(gui, scene):
    """A drag that lets go, one that pins."""
    session = gui.module("blender_addon.live.live").current()
    vertex = scene.front_vertex(session)
    rest = session.view.positions()[vertex]
    yield from drag(gui, scene)
    gui.module("blender_addon.live.live").toggle()
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame >= frame + 10, 60, "ten frames of pulling")
    gui.record("grabbed", [len(session.state.grabs), len(gui.window.modal_operators)])
    gui.record("away", float(np.linalg.norm(session.view.positions()[vertex] - rest)))
    yield from gui.photograph("1-dragging")
    yield from gui.xdotool("mouseup", 1)
    gui.record("released", [len(session.state.grabs), len(gui.window.modal_operators)])
    yield from gui.xdotool("keydown", "ctrl")
    yield from drag(gui, scene)
    yield from gui.xdotool("mouseup", 1)
    yield from gui.xdotool("keyup", "ctrl")
    gui.module("blender_addon.live.live").toggle()
    gui.record("pinned", [grab.pinned for grab in session.state.grabs.values()])
    gui.record("selection kept", bpy.context.view_layer.objects.active == scene.body())
    yield from gui.photograph("2-pinned")


def shapes(obj):
    """Return the positions of the baked frames, (f,n,3)."""
    keys = obj.data.shape_keys.key_blocks
    flat = np.empty((len(keys), 3 * len(obj.data.vertices)), dtype=np.float32)
    for key, row in zip(keys, flat, strict=True):
        key.data.foreach_get("co", row)
    return flat


def record(gui, scene):
    """Click Record, drag meanwhile, until the last frame."""
    live = gui.module("blender_addon.live.live")
    yield from press(gui, *RECORD)

    yield from gui.wait_until(lambda: live.current().state.recording, 300, "Record was clicked")
    session = live.current()
    yield from drag(gui, scene)
    gui.record("in the take", [session.state.recording, len(session.state.grabs)])
    yield from gui.photograph("3-recording")
    live.toggle()
    yield from gui.wait_until(lambda: session.state.frame >= LAST // 3, 100, "some frames")
    yield from gui.xdotool("mouseup", 1)
    yield from gui.wait_until(lambda: live.current() is None, 200, "the take is done")
    obj = scene.body()
    gui.record("take", [obj.sinew.bake.status, obj.sinew.bake.frames, len(obj.sinew.springs)])
    bpy.context.scene.frame_set(LAST // 2)
    yield from gui.photograph("4-taken")


def bake(gui, scene):
    """The take away but for its springs, and Bake clicked: the same frames."""
    taken = shapes(scene.body())
    with gui.context():
        bpy.ops.sinew.delete_bake()
    yield from gui.settle()
    yield from gui.photograph("5-before-the-bake")
    yield from press(gui, *BAKE)
    yield from gui.wait_until(
        lambda: gui.module("blender_addon.jobs.job_queue").current() is not None, 10, "Bake was clicked"
    )
    yield from gui.wait_until(lambda: scene.body().sinew.bake.status == "DONE", 300, "it is baked")
    yield from gui.photograph("6-baked")
    baked = shapes(scene.body())
    gui.record(
        "baked", [baked.shape == taken.shape and float(np.abs(baked - taken).max()), float(np.ptp(taken, 0).max())]
    )


def scenario(gui):
    scene = gui.scenario("live")
    live = gui.module("blender_addon.live.live")
    scene.make_body(gui)
    with gui.context():
        bpy.context.object.sinew.solver = "subspace_mixed_fem"
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "mouse.blend"))
    bpy.context.scene.frame_end = LAST
    bpy.context.preferences.view.ui_scale = scene.SCALE
    yield from show_panels(gui)
    yield from gui.photograph("0-before")
    yield from play(gui, scene)
    yield from drag_and_pin(gui, scene)
    yield from gui.point(*gui.centre())
    yield from gui.xdotool("key", "Escape")
    yield from gui.record_when("ended", lambda: [live.current() is None, scene.body().hide_get()], [True, False])
    yield from play(gui, scene)
    yield from record(gui, scene)
    yield from bake(gui, scene)
