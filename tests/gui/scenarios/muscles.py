"""An arm that curls: its panel, its fibres in the viewport, and its bake."""

import bpy
import numpy as np

FRAMES = 34


def hand(obj, tip):
    """Height of a vertex as the viewport has it."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return float((obj.matrix_world @ mesh.vertices[tip].co).z)


def names(obj):
    keys = obj.data.shape_keys
    return [] if keys is None else [key.name for key in keys.key_blocks]


def settle_while_sculpting(gui, arm, running):
    """In Sculpt Mode at a frame of the pose; Ctrl+Z takes it back."""
    with gui.context():
        bpy.ops.object.mode_set(mode="SCULPT")
        bpy.ops.ed.undo_push(message="Sculpt Mode")
        bpy.ops.sinew.settle("INVOKE_DEFAULT")
    yield from gui.wait_until(running.is_idle, 300, "it settles")
    yield from gui.settle()
    yield from gui.photograph("3-settled")
    gui.record("settled", [arm.mode, names(arm), arm.sinew.bake.message])
    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.wait_until(lambda: not names(bpy.context.view_layer.objects.active), 20, "it is undone")
    with gui.context():
        bpy.ops.object.mode_set(mode="OBJECT")


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    with gui.context():
        gui.clear()
        bpy.ops.sinew.add_example("EXEC_DEFAULT", True, example="curling_arm")
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "muscles.blend"))
        bpy.ops.view3d.view_axis(type="LEFT")
        bpy.ops.view3d.view_selected()
    arm = bpy.context.view_layer.objects.active
    settings, scene = arm.sinew, bpy.context.scene
    settings.cells_across, settings.frame_end = 16, settings.frame_start + FRAMES
    tip = int(np.argmin([vertex.co.y for vertex in arm.data.vertices]))
    settings.active_material = len(settings.materials) - 1
    yield from gui.show_sidebar("Sinew")
    with gui.scenario("manual").alone(gui, "muscle"):
        yield from gui.settle()
        yield from gui.photograph("1-panel")
    with gui.context():
        bpy.ops.sinew.tetrahedralize("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 300, "tetrahedra are made")
    bpy.context.workspace.sinew.show_fibres = True
    gui.area().spaces.active.shading.show_xray = True
    scene.frame_set(scene.frame_start + 30)
    yield 1.0
    yield from gui.photograph("2-fibres")
    yield from settle_while_sculpting(gui, arm, running)
    overlays = gui.module("blender_addon.draw_handlers.overlays")
    gui.record("switches", sorted(overlays.asked_for(bpy.context)) if bpy.context.space_data else [])
    arm = bpy.context.view_layer.objects.active  # Undo has replaced the object
    settings, scene = arm.sinew, bpy.context.scene
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 900, "the arm is baked")
    gui.record("status", settings.bake.status)
    heights = []
    for frame in range(scene.frame_start, scene.frame_start + FRAMES + 1, 2):
        scene.frame_set(frame)
        heights.append(hand(arm, tip))
    gui.record("heights", heights)
    yield from gui.photograph("4-curled")
