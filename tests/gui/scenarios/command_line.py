"""A .blend for the command line: the scene that is active has no body, “Shot 2” has one in a turbulence."""

import bpy


def scenario(gui):
    gui.clear()
    scene = bpy.data.scenes.new("Shot 2")
    gui.window.scene = scene
    with gui.context():
        bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.4, location=(0.3, 0.0, 1.0))
        bpy.ops.sinew.enable()
        bpy.context.object.name = "Ball"
        bpy.ops.object.effector_add(type="TURBULENCE")
    bpy.data.objects["Ball"].sinew.cells_across = 4
    scene.frame_start, scene.frame_end = 1, 6
    gui.window.scene = bpy.data.scenes["Scene"]
    yield
    bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "shots.blend"))
