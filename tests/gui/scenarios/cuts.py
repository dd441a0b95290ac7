"""A held bar that a keyed blade cuts: the panel, the split mesh, a bake and the free half that falls, and a restore."""

import bpy


def make_bar(gui):
    """A bar held at its left end, and a blade that sinks through its middle from frame 3 to 6."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_plane_add(size=0.6, location=(0.05, 0.0, 1.5), rotation=(0.0, 1.5708, 0.0))
        blade = bpy.context.object
        blade.name = "Blade"
        for frame, height in ((3, 1.5), (6, 0.9)):
            blade.location.z = height
            blade.keyframe_insert("location", frame=frame)
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 1.0), scale=(0.8, 0.2, 0.2))
        bar = bpy.context.object
        bpy.ops.object.transform_apply(location=False)
        bar.name = "Bar"
        bpy.ops.sinew.enable()
        bar.sinew.cells_across = 8
        bar.sinew.pin_group = bar.vertex_groups.new(name="Pins").name
        bar.vertex_groups["Pins"].add([v.index for v in bar.data.vertices if v.co.x < 0.0], 1.0, "REPLACE")
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "cuts.blend"))
    bpy.context.scene.frame_end = 12
    bar.sinew.cuts.cutter = blade
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance, view.view_location = "PERSP", 3.0, (0.2, 0.0, 0.8)
    return bar


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    bar = make_bar(gui)
    yield from gui.show_sidebar("Sinew")
    count = len(bar.data.vertices)
    with gui.context():
        bpy.ops.sinew.split_mesh("INVOKE_DEFAULT")
    gui.record("grown", len(bar.data.vertices) > count)
    gui.record("slots", len(bar.material_slots))
    bar.sinew.collisions.self_contact = True
    yield from gui.scenario("manual").photograph_alone(gui, "cuts")
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.wait_until(running.is_idle, 240, "the bar is baked")
    gui.record("baked", [bar.sinew.bake.status, bar.sinew.bake.frames])
    bpy.context.scene.frame_set(12)
    yield from gui.settle()
    yield from gui.photograph("1-cut")
    seen = bar.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    gui.record("lowest", min(v.co.z for v in seen.vertices))
    gui.record("held", min(v.co.z for v in seen.vertices if v.co.x < -0.35))
    with gui.context():
        bpy.ops.sinew.delete_bake()
        bpy.ops.sinew.restore_mesh("INVOKE_DEFAULT")
    gui.record("restored", len(bar.data.vertices) == count)
