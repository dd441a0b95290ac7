"""A block glued to a held bar and a lid that slides on it, and a balloon: panels, a bake, and the picture."""

import bpy


def add(gui, name, location, scale):
    """A body of a scaled cube, pinned nowhere."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=location, scale=scale)
    obj = bpy.context.object
    bpy.ops.object.transform_apply(location=False)
    obj.name = name
    bpy.ops.sinew.enable()
    bpy.ops.sinew.apply_preset(preset="Soft Flesh")
    obj.sinew.cells_across = 4
    return obj


def make_bodies(gui):
    """A bar held at its left end, a block below its right end, and a hollow ball beside them."""
    with gui.context():
        gui.clear()
        bar = add(gui, "Bar", (0.0, 0.0, 1.0), (1.0, 0.2, 0.2))
        pins = bar.vertex_groups.new(name="Pins")
        pins.add([v.index for v in bar.data.vertices if v.co.x < -0.4], 1.0, "REPLACE")
        bar.sinew.pin_group = "Pins"
        add(gui, "Block", (0.4, 0.0, 0.8), (0.2, 0.2, 0.2))
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.25, location=(1.2, 0.0, 1.0), segments=16, ring_count=8)
        ball = bpy.context.object
        ball.name = "Balloon"
        bpy.ops.sinew.enable()
        ball.sinew.cells_across = 6
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "attached.blend"))
    bpy.context.scene.frame_end = 8
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance, view.view_location = "PERSP", 3.0, (0.5, 0.0, 0.9)


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    make_bodies(gui)
    bar, block, balloon = (bpy.data.objects[name] for name in ("Bar", "Block", "Balloon"))
    yield from gui.show_sidebar("Sinew")
    with gui.context():
        bar.select_set(True)
        block.select_set(True)
        balloon.select_set(False)
        bpy.context.view_layer.objects.active = block
        bpy.ops.sinew.add_tie("INVOKE_DEFAULT")
    gui.record("other", block.sinew.ties[0].other.name)
    yield from gui.scenario("manual").photograph_alone(gui, "ties")
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.wait_until(running.is_idle, 240, "both are baked")
    gui.record("baked", [[obj.sinew.bake.status, obj.sinew.bake.frames] for obj in (bar, block)])
    chamber = balloon.sinew.chamber
    chamber.enabled, chamber.is_gas, chamber.pressure = True, True, 8000.0
    balloon.sinew.field_weights.gravity = 0.0
    balloon.sinew.collisions.contact_bodies = False
    with gui.context():
        bpy.context.view_layer.objects.active = balloon
    yield from gui.scenario("manual").photograph_alone(gui, "pressure")
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT")
    yield from gui.wait_until(running.is_idle, 240, "the balloon is baked")
    gui.record("balloon", [balloon.sinew.bake.status, balloon.sinew.bake.frames])
    bpy.context.scene.frame_set(8)
    yield from gui.settle()
    yield from gui.photograph("1-attached")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    gui.record("width", max(v.co.x for v in balloon.evaluated_get(depsgraph).data.vertices))
    gui.record("apart", lowest(block, depsgraph) - lowest(bar, depsgraph))


def lowest(obj, depsgraph):
    """Height of the lowest vertex of an object as shown."""
    own = obj.evaluated_get(depsgraph)
    return min((own.matrix_world @ vertex.co).z for vertex in own.data.vertices)
