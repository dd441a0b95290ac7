"""From one closed skin and an armature to a baked biceps curl, by the real mouse; each press is counted."""

import bmesh
import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

FRAMES = 48
MUSCLE = [(0.0, -0.02, 0.28), (0.0, -0.025, 0.2), (0.0, -0.03, 0.13), (0.0, -0.04, 0.07), (0.0, -0.07, 0.0)]
"""Points of the stroke, m."""

# Pixels from the left and upper edge of the sidebar.
ADD = 233, 112
ACTIVATION = 160, 551

TIME = 166, 55
"""Window coordinates of frame 24 in the timeline."""


def arm():
    return bpy.data.objects["Arm"]


def make_scene(gui):
    """An arm that hangs down with the forearm forward, and two bones in it."""
    shapes = gui.module("blender_addon.examples.shapes")
    parts = (
        shapes.limb((0.0, 0.0, 0.31), (0.0, 0.0, 0.0), 0.058, 0.046, 32),
        shapes.limb((0.0, 0.0, 0.0), (0.0, -0.26, -0.02), 0.045, 0.03, 32),
        shapes.ball((0.0, 0.0, 0.0), 0.046),
        shapes.ball((0.0, -0.285, -0.022), (0.036, 0.05, 0.036)),
    )
    mesh, built = bpy.data.meshes.new("Arm"), bmesh.new()
    for part in parts:
        part(built)
    built.to_mesh(mesh)
    built.free()
    obj = bpy.data.objects.new("Arm", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.modifiers.new("Remesh", "REMESH").voxel_size = 0.008
    obj.modifiers.new("Smooth", "SMOOTH").iterations = 6
    bpy.context.view_layer.objects.active = obj
    for name in ("Remesh", "Smooth"):
        bpy.ops.object.modifier_apply(modifier=name)
    bpy.ops.object.armature_add(enter_editmode=True)
    rig = bpy.context.object
    bones = rig.data.edit_bones
    bones[0].head, bones[0].tail = (0.0, 0.004, 0.31), (0.0, 0.004, 0.0)
    second = bones.new("Forearm")
    second.head, second.tail, second.parent = (0.0, 0.004, 0.0), (0.0, -0.28, -0.022), bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.context.scene.frame_end = FRAMES


def heights():
    """World heights of the shown vertices."""
    shown = arm().sinew.bake.result or arm()
    mesh = shown.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([(shown.matrix_world @ vertex.co).z for vertex in mesh.vertices])


def seen(gui, place):
    """Window coordinates of a point of the scene."""
    region = gui.region()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, place)
    return region.x + int(x), region.y + int(y)


def drag(gui, clicks, places, what):
    """Drag the mouse through places in the window."""
    clicks.made.append(what)
    yield from gui.point(*places[0])
    yield from gui.settle(0.5)
    yield from gui.xdotool("mousedown", 1)
    for (x, y), (p, q) in zip(places, places[1:]):
        for k in range(1, 6):
            yield from gui.point(x + (p - x) * k // 5, y + (q - y) * k // 5)
    yield from gui.settle(0.5)
    yield from gui.xdotool("mouseup", 1)
    yield from gui.settle()


def key_activation(gui, clicks, region):
    """Relaxed at the first frame, contracted in the middle."""
    field = region.x + ACTIVATION[0], region.y + region.height - ACTIVATION[1]
    yield from gui.point(*field)
    yield from gui.settle(0.5)
    yield from clicks.key("i", "key it relaxed")
    yield from clicks.at(*TIME, "go to frame 24")
    yield from gui.settle()
    yield from drag(gui, clicks, [field, (field[0] + 400, field[1])], "contract")
    yield from gui.point(*field)
    yield from gui.settle(0.5)
    yield from clicks.key("i", "key it contracted")
    yield from gui.settle()
    yield from gui.photograph("6-keyed")
    curves = arm().animation_data.action.fcurves
    gui.record("keys", [[list(point.co) for point in curve.keyframe_points] for curve in curves])


def scenario(gui):
    newcomer, running = gui.scenario("newcomer"), gui.module("blender_addon.jobs.job_queue")
    with gui.context():
        gui.clear()
        make_scene(gui)
        bpy.ops.view3d.view_axis(type="LEFT")
        bpy.ops.view3d.view_selected()
    clicks = newcomer.Clicks(gui)
    yield from newcomer.open_tab(gui, clicks)
    yield from clicks.in_sidebar(44, "Enable Sinew")
    yield from gui.wait_until(lambda: arm().sinew.enabled, 10, "it is enabled")
    yield from gui.settle()
    region = gui.region("UI")

    def at(place, what):
        yield from clicks.at(region.x + place[0], region.y + region.height - place[1], what)
        yield from gui.settle()

    yield from at((136, 395), "Pick Vertices")
    yield from gui.point(*gui.centre())
    yield from clicks.key("alt+z", "X-Ray")
    yield from gui.settle()
    low, high = seen(gui, (0.0, 0.1, 0.29)), seen(gui, (0.0, -0.1, 0.33))
    yield from drag(gui, clicks, [low, high], "box of pins")
    yield from at(ADD, "Add a material")
    yield from at((266, 242), "Bone")
    yield from at((70, 374), "Placement")
    yield from at((175, 462), "Region")
    yield from at((142, 494), "Armature")
    yield from at(ADD, "Add a material")
    yield from at((266, 179), "Muscle")
    yield from at((73, 499), "Muscle panel")
    yield from at((124, 530), "Draw Muscle")
    yield from drag(gui, clicks, [seen(gui, place) for place in MUSCLE], "stroke")
    yield from gui.photograph("5-muscle")
    yield from key_activation(gui, clicks, region)
    first = heights()
    yield from clicks.in_sidebar(newcomer.FIRST, "Save and Bake")
    yield from gui.scenario("first_clicks").save_beside(gui, clicks)
    yield from gui.wait_until(running.is_idle, 480, "it is baked")
    baked = arm().sinew.bake
    gui.record("baked", [baked.status, baked.frames, baked.message])
    gui.record("clicks", clicks.made)
    bpy.context.scene.frame_set(FRAMES)
    last = heights()
    hand = np.array([vertex.co.y for vertex in arm().data.vertices]) < -0.28
    gui.record("hand", [float(first[hand].mean()), float(last[hand].mean())])
    yield from gui.photograph("7-curled")
