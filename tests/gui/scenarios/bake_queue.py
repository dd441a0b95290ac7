"""Two bodies by *Bake All*: what their panels say while they wait, Esc that stops all, and the result."""

import bpy


def make_bodies(gui):
    with gui.context():
        gui.clear()
        for k, name in enumerate(("A", "B")):
            bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.6 * k, 0.0, 0.3))
            bpy.context.object.name = name
            bpy.ops.sinew.enable()
            bpy.context.object.sinew.cells_across = 6
            bpy.context.object.sinew.collisions.use_ground = True
            bpy.context.object.sinew.collisions.contact_bodies = False
    bpy.context.scene.frame_end = 200


def statuses():
    return [bpy.data.objects[name].sinew.bake.status for name in ("A", "B")]


def count_evaluated(gui):
    """The frames for which the scene is evaluated from now on, to be read."""
    module, frames = gui.module("blender_addon.scene_import.animation_in"), []
    stop = module._stop

    def noting(passengers, scene, frame, *rest):
        frames.append(frame)
        stop(passengers, scene, frame, *rest)

    module._stop = noting
    return frames


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    make_bodies(gui)
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "queue.blend"))
        bpy.ops.sinew.bake_all("INVOKE_DEFAULT")
    yield from gui.halt(3)
    gui.record("label", running.current().state.label)
    yield from gui.photograph("1-the-second-waits")  # B is active
    yield from gui.stop()
    yield from gui.record_when("stopped", lambda: [*statuses(), bool(running.waiting())], ["STOPPED", "NONE", False])
    yield from gui.photograph("2-stopped")
    bpy.context.scene.frame_end = 5
    for name in ("A", "B"):
        with gui.context():
            bpy.context.view_layer.objects.active = bpy.data.objects[name]
            if bpy.data.objects[name].sinew.bake.status != "NONE":
                bpy.ops.sinew.delete_bake()
    evaluated = count_evaluated(gui)
    with gui.context():
        bpy.ops.sinew.bake_all("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.is_idle(), 240, "both are done")
    gui.record("done", statuses())
    gui.record("evaluated", evaluated)
    yield from gui.photograph("3-done")
