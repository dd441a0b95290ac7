"""The vibrations of a bar are found, chosen, played, made wider and stopped by clicks; the scene stays as it is."""

import signal
from types import SimpleNamespace

import bpy
from mathutils import Euler

LEFT = 120
FIND, ROW, PLAY, SWING = 156, 159, 349, 375
"""Pixels below the upper edge of the sidebar."""


def make_body(gui):
    """A bar of jelly that is held at one end."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.4)
        obj = bpy.context.object
        obj.scale = (4.0, 1.0, 1.0)
        bpy.ops.object.transform_apply(scale=True)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=9)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.sinew.enable()
        bpy.ops.object.shade_smooth()
    held = [v.index for v in obj.data.vertices if v.co.x < -0.75]
    obj.vertex_groups.new(name="Pins").add(held, 1.0, "REPLACE")
    settings = obj.sinew
    settings.pin_group, settings.cells_across, settings.match_modes = "Pins", 10, 6
    settings.solver, settings.modes, settings.cubature_points = "subspace_mixed_fem", 8, 400
    obj.location = (0.3, 0.0, 0.2)
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_rotation = "PERSP", Euler((1.2, 0.0, 0.3)).to_quaternion()
    view.view_distance, view.view_location = 3.0, (0.3, 0.0, 0.2)
    return obj


def press(gui, down):
    """Click a button of the panel, which wants to be hovered over before."""
    left, top = gui.scenario("open_panels").corner(gui)
    yield from gui.move(left + LEFT - 2, top - down)
    yield from gui.drag([(left + LEFT, top - down)])
    yield from gui.settle(0.5)
    yield from gui.move(*gui.centre())


def photograph_at(gui, swings, turn, name):
    """Photograph what is played, held at a part of its period."""
    swing, obj = swings.current(), bpy.context.view_layer.objects.active
    hertz = swings.pace(obj, swings.chosen(obj, bpy.context.workspace.sinew))
    period = swings.slower(hertz) / hertz
    clock, swings.time = swings.time, SimpleNamespace(monotonic=lambda: swing._began + turn * period)
    yield from gui.photograph(name)
    swings.time = clock


def find(gui, obj):
    """By the button; the panel before, meanwhile and after."""
    running = gui.module("blender_addon.jobs.job_queue")
    yield from gui.settle()
    yield from gui.photograph("0-unknown")
    yield from press(gui, FIND)
    yield from gui.wait_until(lambda: running.current() is not None, 60, "it begins")
    running.current().child.process.send_signal(signal.SIGSTOP)  # a fast one would end meanwhile
    yield from gui.settle()
    yield from gui.photograph("1-finding")
    gui.go_on()
    yield from gui.wait_until(running.is_idle, 900, "they are found")
    gui.record("found", [[v.frequency, v.right] for v in obj.sinew.bake.vibrations])
    with gui.context():
        bpy.ops.wm.save_mainfile()
    yield from gui.settle()
    yield from gui.photograph("2-found")


def play(gui, swings, obj):
    """One that was chosen, wider and with the object elsewhere, until Esc."""
    settings = bpy.context.workspace.sinew
    yield from press(gui, ROW)
    gui.record("chosen", settings.active_vibration)
    yield from press(gui, PLAY)
    gui.record("played", swings.current() is not None)
    first = gui.screen()
    yield from gui.wait_until(lambda: gui.screen() != first, 30, "it moves by itself")
    for turn in (0.25, 0.75):
        yield from photograph_at(gui, swings, turn, f"3-played-{turn}")
    left, top = gui.scenario("open_panels").corner(gui)
    yield from gui.move(left + 150, top - SWING)
    yield from gui.drag([(left + 150 + 10 * k, top - SWING) for k in range(8)])
    gui.record("swing", settings.swing)
    yield from photograph_at(gui, swings, 0.25, "4-wider")
    yield from gui.move(*gui.centre())
    yield from gui.press("ESC")
    yield from gui.record_when("stopped by Esc", lambda: swings.current() is None, True)
    yield 0.2
    gui.record("timer", bpy.app.timers.is_registered(swings.tick))
    yield from gui.photograph("5-stopped")


def end_otherwise(gui, swings):
    """By the button, by deleting the body, by an undo."""
    yield from press(gui, PLAY)
    gui.record("played again", swings.current() is not None)
    yield from press(gui, PLAY)
    gui.record("stopped by the button", swings.current() is None)
    gui.record("dirty", bpy.data.is_dirty)
    with gui.context():
        bpy.ops.ed.undo_push(message="Before")
    yield from press(gui, PLAY)
    with gui.context():
        bpy.ops.object.delete("EXEC_DEFAULT", True)
    yield from gui.record_when("stopped by deleting", lambda: swings.current() is None, True)
    with gui.context():
        bpy.ops.ed.undo()
    yield from gui.settle()
    bpy.context.view_layer.objects.active.location.z += 0.3
    bpy.context.view_layer.objects.active.rotation_euler.y = 0.6
    with gui.context():
        bpy.ops.ed.undo_push(message="Turned")
    yield from gui.settle()
    yield from press(gui, PLAY)
    gui.record("played after an undo", swings.current() is not None)
    yield from photograph_at(gui, swings, 0.25, "6-turned")
    with gui.context():
        bpy.ops.ed.undo()
    gui.record("stopped by an undo", swings.current() is None)
    yield from gui.settle()


def scenario(gui):
    swings, obj = gui.module("blender_addon.draw_handlers.mode_playback"), make_body(gui)
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "vibrations.blend"))
    yield from gui.show_sidebar("Sinew")
    with gui.scenario("manual").alone(gui, "vibrations"):
        yield from find(gui, obj)
        yield from play(gui, swings, obj)
        yield from end_otherwise(gui, swings)
