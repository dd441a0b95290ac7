"""Two bodies in contact: panels, *Separate Overlaps* and *Grow Apart* for an overlap, one bake of both, contact."""

import bpy


def make_bodies(gui):
    """A box on the ground, and another that begins in it."""
    with gui.context():
        gui.clear()
        for name, height in (("Low", 0.25), ("High", 0.55)):
            bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.0, 0.0, height))
            bpy.context.object.name = name
            bpy.ops.sinew.enable()
            settings = bpy.context.object.sinew
            settings.cells_across, settings.collisions.use_ground = 6, True
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "meet.blend"))
    bpy.context.scene.frame_end = 8
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance, view.view_location = "PERSP", 2.2, (0.0, 0.0, 0.4)


def records():
    return [bpy.data.objects[name].sinew.bake for name in ("Low", "High")]


def grow_apart(gui, running):
    """Put into each other again they are untangled; what is shown begins with both at their size."""
    with gui.context():
        bpy.data.objects["High"].location.z -= 0.2
        bpy.ops.sinew.bake("EXEC_DEFAULT")  # without being asked
    yield from gui.wait_until(running.is_idle, 240, "it is refused again")
    yield from gui.scenario("manual").photograph_alone(gui, "bake", "overlap")
    with gui.context():
        bpy.ops.sinew.untangle()
        bpy.ops.sinew.bake("EXEC_DEFAULT")
    yield from gui.wait_until(running.is_idle, 240, "both have grown apart")
    gui.record("untangled", [[record.status, record.frames] for record in records()])
    bpy.context.scene.frame_set(1)
    yield from gui.settle()
    yield from gui.photograph("5-apart")
    with gui.context():
        bpy.ops.ed.undo()


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    make_bodies(gui)
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.6
    yield from gui.photograph("1-panel")
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    gui.record("both", len(running.current().uids))
    yield from gui.wait_until(running.is_idle, 240, "it is refused")
    gui.record("refused", [record.message for record in records()])
    yield from gui.photograph("2-overlap")
    with gui.context():
        bpy.ops.sinew.move_out()
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.current() is not None and running.current().state.of_step, 240, "a frame")
    gui.record("words", running.current().state.of_step)
    yield from gui.photograph("3-at-work")
    yield from gui.wait_until(running.is_idle, 240, "both are baked")
    gui.record("done", [[record.status, record.frames] for record in records()])
    gui.window.workspace.sinew.show_contacts = gui.window.workspace.sinew.show_touching = True
    bpy.context.scene.frame_set(8)
    yield from gui.settle()
    yield from gui.photograph("4-contacts")
    with gui.context():
        bpy.ops.ed.undo()
    gui.record("undone", [[record.status, record.frames] for record in records()])
    yield from grow_apart(gui, running)
    with gui.context():
        bpy.ops.sinew.add_pair()
        high = bpy.context.object
    high.sinew.pairs[0].other = bpy.data.objects["Low"]
    yield from gui.scenario("manual").photograph_alone(gui, "pairs")
