"""A bake and its ghost: both by one click in the panel, seen in the view, scrubbed, hidden and removed."""

import bpy

FRAMES = 16
BUTTON = 225
"""Pixels from the upper edge of the sidebar down to the button, where Compare is alone."""


def make_body(gui):
    """A bar of jelly that is held at one end and sags, in the ghost with six substeps."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.4)
        obj = bpy.context.object
        obj.scale = (3.0, 1.0, 1.0)
        bpy.ops.object.transform_apply(scale=True)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=7)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.sinew.enable()
    held = [v.index for v in obj.data.vertices if v.co.x < -0.55]
    obj.vertex_groups.new(name="Pins").add(held, 1.0, "REPLACE")
    obj.sinew.pin_group, obj.sinew.cells_across = "Pins", 10
    obj.sinew.compare.solver, obj.sinew.compare.substeps = "OWN", 6
    bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(FRAMES)  # no button is grey then, and says why
    space = gui.area().spaces.active
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.object.shade_smooth()
    space.region_3d.view_distance, space.region_3d.view_location = 3.0, (0.2, 0.0, -0.2)
    return obj


def undo_another_bake(gui, name):
    """Bake again with other settings, and take that back: the ghost is compared with the first again."""
    running, comparing = gui.module("blender_addon.jobs.job_queue"), gui.module("blender_addon.bake.comparison")
    obj = bpy.data.objects[name]  # references do not outlive an undo
    before, obj.sinew.substeps = obj.sinew.bake.shows, 2
    with gui.context():
        bpy.ops.ed.undo_push(message="Substeps")
        bpy.ops.sinew.bake()
    yield from gui.wait_until(lambda: obj.sinew.bake.shows != before and running.current() is None, 480, "another bake")
    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.wait_until(lambda: bpy.data.objects[name].sinew.bake.shows == before, 60, "it is undone")
    obj = bpy.data.objects[name]
    yield from gui.settle()
    gui.record("after undo", comparing.seen(obj).difference.words)
    yield from gui.photograph("2b-undone")


def scenario(gui):
    running, comparing = gui.module("blender_addon.jobs.job_queue"), gui.module("blender_addon.bake.comparison")
    panels = gui.scenario("open_panels")
    obj = make_body(gui)
    bpy.context.preferences.view.ui_scale = panels.SCALE
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "compare.blend"))
    yield from gui.show_sidebar("Sinew")
    with gui.scenario("manual").alone(gui, "compare"):
        yield from gui.settle()
        yield from gui.photograph("0-panel")
        left, top = panels.corner(gui)
        for _ in range(3):  # on a busy machine a simulated click may come before the panel is there
            yield from gui.move(left + 98, top - BUTTON)
            yield from gui.drag([(left + 100, top - BUTTON)])
            yield from gui.settle()
            if not running.is_idle():
                break
        yield from gui.move(*gui.centre())
    yield from gui.wait_until(
        lambda: running.current() is None or running.current().state.frames_done >= 2, 480, "two frames"
    )
    yield from gui.photograph("1-first")
    yield from gui.wait_until(lambda: running.is_idle(), 480, "both are done")
    bpy.context.scene.frame_set(FRAMES - 4)
    yield from gui.settle()
    yield from gui.photograph("2-both")
    gui.record("difference", comparing.seen(obj).difference.words)
    yield from undo_another_bake(gui, obj.name)
    with gui.context():
        bpy.ops.sinew.remove_ghost()
    yield from gui.settle()
    yield from gui.photograph("3-removed")
