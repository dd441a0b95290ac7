"""A light body in smoke that Blender has simulated: the field Fluid Flow carries it along, and the bake plays."""

import bpy
import numpy as np

FRAMES = 12
BLOWN = (4.0, 0.0, 2.0)


def domain(gui):
    """Smoke that is blown in from a lower corner, baked."""
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    obj = bpy.context.object
    obj.scale = (1.5, 1.0, 1.5)
    modifier = obj.modifiers.new("Fluid", "FLUID")
    modifier.fluid_type = "DOMAIN"
    settings = modifier.domain_settings
    settings.domain_type, settings.resolution_max, settings.cache_type = "GAS", 24, "ALL"
    settings.cache_directory, settings.cache_frame_end = str(gui.session / "fluid"), FRAMES
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(-0.9, 0.0, -0.9))
    modifier = bpy.context.object.modifiers.new("Fluid", "FLUID")
    modifier.fluid_type = "FLOW"
    flow = modifier.flow_settings
    flow.flow_type, flow.flow_behavior = "SMOKE", "INFLOW"
    flow.use_initial_velocity, flow.velocity_coord = True, BLOWN
    return obj


def middle():
    mesh = bpy.data.objects["Body"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3).mean(axis=0).tolist()


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    scene = bpy.context.scene
    scene.use_gravity, scene.frame_end = False, FRAMES
    with gui.context():
        gui.clear()
        smoke = domain(gui)
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "fluid.blend"))
        with bpy.context.temp_override(object=smoke, active_object=smoke):
            bpy.ops.fluid.bake_all()
        field = bpy.data.objects.new("Breeze", None)
        scene.collection.objects.link(field)
        with bpy.context.temp_override(object=field, active_object=field):
            bpy.ops.object.forcefield_toggle()
        field.field.type, field.field.source_object = "FLUID_FLOW", smoke
        field.field.strength, field.field.flow = 20.0, 1.0
        bpy.ops.mesh.primitive_cube_add(size=0.4, location=(-0.3, 0.0, -0.4))
        body = bpy.context.object
        body.name = "Body"
        bpy.ops.sinew.enable()
        body.sinew.cells_across, body.sinew.materials[0].density = 4, 5.0
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.current() is None, 480, "the bake is done")
    gui.record("baked", [body.sinew.bake.status, body.sinew.bake.frames])
    places = []
    for frame in (1, FRAMES // 2, FRAMES):
        scene.frame_set(frame)
        places.append(middle())
    gui.record("places", places)
    yield from gui.photograph("carried")
