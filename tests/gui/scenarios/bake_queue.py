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
    bpy.context.scene.frame_end = 200


def statuses():
    return [bpy.data.objects[name].sinew.bake.status for name in ("A", "B")]


def scenario(gui):
    job, bake_queue = (gui.module(f"blender_addon.{name}") for name in ("job", "bake_queue"))
    make_bodies(gui)
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "queue.blend"))
        bpy.ops.sinew.bake_all("INVOKE_DEFAULT")
    yield from gui.halt(3)
    gui.record("label", job.current().label)
    yield from gui.photograph("1-the-second-waits")  # B is active
    yield from gui.stop()
    yield from gui.record_when("stopped", lambda: [*statuses(), bake_queue.is_at_work()], ["STOPPED", "NONE", False])
    yield from gui.photograph("2-stopped")
    bpy.context.scene.frame_end = 5
    for name in ("A", "B"):
        with gui.context():
            bpy.context.view_layer.objects.active = bpy.data.objects[name]
            if bpy.data.objects[name].sinew.bake.status != "NONE":
                bpy.ops.sinew.delete_bake()
    with gui.context():
        bpy.ops.sinew.bake_all("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: not bake_queue.is_at_work() and job.current() is None, 240, "both are done")
    gui.record("done", statuses())
    yield from gui.photograph("3-done")
