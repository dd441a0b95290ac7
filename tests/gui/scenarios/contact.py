"""A soft cube drops onto a slope and lies there by friction, until a spring pulls a corner up; baked by a click."""

import bpy
import numpy as np

FRAMES = 30
SLOPE = np.radians(15.0)
NORMAL, DOWNHILL = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)]), np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
BAKE = (100, 37)  # the button, from the left and upper edge of the sidebar


def add_slope():
    obstacles = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(obstacles)
    bpy.ops.mesh.primitive_plane_add(size=4.0, rotation=(0.0, SLOPE, 0.0))
    slope = bpy.context.object
    slope.users_collection[0].objects.unlink(slope)
    obstacles.objects.link(slope)
    return obstacles


def add_handle():
    bpy.ops.object.empty_add(location=(0.1, 0.2, 0.65), radius=0.1)
    handle = bpy.context.object
    for frame, height in ((20, 0.65), (28, 0.85)):
        handle.location.z = height
        handle.keyframe_insert("location", frame=frame)
    return handle


def add_cube():
    """Add a cube of 40 cm and 40 kPa, parallel to the slope and 5 cm above it."""
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=tuple(0.25 * NORMAL), rotation=(0.0, SLOPE, 0.0))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=7)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.sinew.enable()
    cube = bpy.context.object
    cube.sinew.materials[0].log_stiffness = np.log10(4e4)
    cube.sinew.cells_across = 6
    return cube


def make_scene(gui):
    with gui.context():
        gui.clear()
        obstacles, handle, cube = add_slope(), add_handle(), add_cube()
        bpy.ops.sinew.add_spring()
    corner = [v.index for v in cube.data.vertices if min(v.co) > 0.12]
    cube.vertex_groups.new(name="Corner").add(corner, 1.0, "REPLACE")
    spring = cube.sinew.springs[0]
    gui.record("strength", spring.strength)
    spring.vertex_group, spring.end, spring.target = "Corner", "OBJECT", handle
    for frame, strength in ((1, 0.0), (19, 0.0), (20, 2000.0)):
        spring.strength = strength
        cube.keyframe_insert("sinew.springs[0].strength", frame=frame)
    cube.sinew.collisions.collection, cube.sinew.collisions.collider_friction = obstacles, 0.6
    bpy.context.scene.frame_end = FRAMES
    return cube


def look_from_the_side(gui):
    space = gui.area().spaces.active
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_orbit(angle=0.12, type="ORBITUP")
    space.region_3d.view_distance, space.region_3d.view_location = 1.8, (0.0, 0.0, 0.25)


def points(cube):
    """Return the vertices of the baked cube at the current frame, world space."""
    evaluated = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    panels = gui.scenario("open_panels")
    cube = make_scene(gui)
    look_from_the_side(gui)
    bpy.context.preferences.view.ui_scale = panels.SCALE
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "contact.blend"))
    panels.close_all(gui)
    yield from gui.show_sidebar("Sinew")
    record = cube.sinew.bake
    for _ in range(3):  # on a busy machine a simulated click may come before the panel is there
        left, top = panels.corner(gui)
        yield from gui.move(left + BAKE[0] - 2, top - BAKE[1])  # a button wants to be hovered over first
        yield from gui.drag([(left + BAKE[0], top - BAKE[1])])
        yield from gui.settle()
        if running.current() is not None or record.status != "NONE":
            break
    yield from gui.wait_until(lambda: running.current() is None, 800, "the bake is done")
    gaps, slips = [], []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        gaps.append(float((points(cube) @ NORMAL).min()))
        slips.append(float((points(cube) @ DOWNHILL).mean()))
        if frame in (1, 6, 19, 30):
            yield from gui.photograph(f"frame-{frame}")
    gui.record("gaps", gaps)
    gui.record("slips", slips)
    for name in ("resolution", "collisions", "report"):
        yield from gui.scenario("manual").photograph_alone(gui, name)
    bpy.context.scene.unit_settings.scale_length = 0.001
    yield from gui.scenario("manual").photograph_alone(gui, "solver")
    gui.record("bake", [record.status, record.body_mass, record.message, record.report])
