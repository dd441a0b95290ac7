"""A coarse body with a Subdivision: played with, dragged by what is seen, at another level, and under its ghost."""

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

FRAMES = 16


def make_body(gui):
    """A bar of jelly of few faces, held at one end."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.4)
        obj = bpy.context.object
        obj.scale = (3.0, 1.0, 1.0)
        bpy.ops.object.transform_apply(scale=True)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=2)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.shade_smooth()
        bpy.ops.sinew.enable()
    obj.modifiers.new("Fine", "SUBSURF").levels = 3
    held = [v.index for v in obj.data.vertices if v.co.x < -0.55]
    obj.vertex_groups.new(name="Pins").add(held, 1.0, "REPLACE")
    obj.sinew.pin_group, obj.sinew.cells_across, obj.sinew.modes = "Pins", 10, 8
    obj.sinew.materials[0].log_stiffness = np.log10(5e4)
    obj.sinew.compare.solver, obj.sinew.compare.substeps = "OWN", 6
    bpy.context.scene.frame_end = FRAMES
    space = gui.area().spaces.active
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_orbit(angle=0.5, type="ORBITLEFT")
        bpy.ops.view3d.view_orbit(angle=0.4, type="ORBITUP")
        bpy.context.object.sinew.solver = "subspace_mixed_fem"
    space.region_3d.view_distance, space.region_3d.view_location = 3.0, (0.0, 0.0, -0.1)
    return obj


def drag(gui, session):
    """Press on the face of the free end, and lead it up; what is in the hand, and whether what is seen follows."""
    region, data = gui.region(), gui.area().spaces.active.region_3d

    def pixels(place):
        found = location_3d_to_region_2d(region, data, place)
        return np.array([region.x + found.x, region.y + found.y])

    surface, _ = session.view.surface()
    point = int((surface[:, 0] - 2.0 * surface[:, 1]).argmax())
    x, y = (int(each) for each in pixels(surface[point]))
    yield from gui.press_at(x, y)
    (grab,) = session.state.grabs.values()
    places = session.view.seen()
    gui.record("jump", float(np.linalg.norm(grab.target - places[grab.vertex])))
    gui.record("beside", float(np.linalg.norm(places[grab.vertex] - surface[point])))
    ((_vertex, held, _target),) = session.view.grab_marks(region, data)
    gui.record("marked", [float(v) for v in np.array(held) + [region.x - x, region.y - y]])
    for k in range(1, 9):
        yield from gui.move(x - 5 * k, y + 15 * k)
    gui.module("blender_addon.live.live").toggle()
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame >= frame + 60, 120, "it follows")
    yield from gui.photograph("3-dragged")
    gui.record("led", [float(v) for v in pixels(session.view.surface()[0][point]) - [x, y]])
    gui.window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x - 40, y=y + 120)
    yield


def play(gui, obj):
    """From Play to Esc."""
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: live.current().state.frame >= 1, 500, "a frame")
    session = live.current()
    live.toggle()
    yield from gui.wait_until(lambda: not session.state.out and session.drawn is session.state.shown, 60, "it pauses")
    yield from gui.photograph("2-live")
    gui.record("drawn", [len(session.view.positions()), len(session.view.surface()[0]), live.not_drawn(obj)])
    yield from drag(gui, session)
    live.toggle()
    obj.modifiers["Fine"].levels = 1
    yield from gui.wait_until(lambda: len(session.view.surface()[0]) < 1000, 60, "another level")
    yield from gui.photograph("4-level-1")
    yield from gui.press("ESC")
    yield from gui.record_when("ended", lambda: [live.current() is None, obj.hide_get()], [True, False])


def scenario(gui):
    obj = make_body(gui)
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "subdivision.blend"))
    yield from gui.photograph("1-solid")
    yield from play(gui, obj)
    obj.modifiers["Fine"].levels = 3
    with gui.context():
        bpy.ops.sinew.compare()
    running = gui.module("blender_addon.jobs.job_queue")
    yield from gui.wait_until(lambda: running.is_idle(), 480, "both are done")
    bpy.context.scene.frame_set(FRAMES - 4)
    yield from gui.settle()
    yield from gui.photograph("5-ghost")
    everything = (*bpy.data.scenes, *bpy.data.objects, *bpy.data.meshes)
    gui.record("left behind", [each.name for each in everything if "Probe" in each.name])
