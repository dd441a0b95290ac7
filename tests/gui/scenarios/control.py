"""The stiffness of a bar's vibrations is set and keyed in the table, by keys and clicks."""

import bpy

FIELD, DIAMOND, FIRST, ROW_HEIGHT = 180, 225, 137, 21
"""Pixels from the sidebar's left edge and below its upper one; of a row."""


def keyed(obj, curves_of):
    """Return which of the factors are keyed."""
    return sorted(curve.data_path for curves in curves_of(obj) for curve in curves)


def at(gui, across, number):
    """A place in the row of a vibration, counted from 0."""
    left, top = gui.scenario("open_panels").corner(gui)
    return left + across, top - FIRST - number * ROW_HEIGHT


def use_fields(gui, obj, curves_of):
    """By dragging, by I, and by the diamond."""
    settings = obj.sinew
    x, y = at(gui, FIELD, 1)
    yield from gui.move(x, y)
    yield from gui.drag([(x + 6 * k, y) for k in range(8)])
    yield from gui.settle()
    gui.record("dragged", [getattr(settings.vibrations, f"stiffness_{k}") for k in (1, 2, 3)])
    yield from gui.photograph("1-dragged")
    yield from gui.move(*at(gui, DIAMOND, 0))
    yield from gui.drag([at(gui, DIAMOND, 0)])
    yield from gui.settle()
    gui.record("keyed by the diamond", keyed(obj, curves_of))
    yield from gui.move(*at(gui, FIELD, 2))
    yield from gui.press("I")
    yield from gui.settle()
    gui.record("keyed by I", keyed(obj, curves_of))
    yield from gui.photograph("2-keyed")


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    obj = gui.scenario("vibrations").make_body(gui)
    obj.sinew.control_vibrations = True
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "control.blend"))
        bpy.ops.sinew.find_vibrations("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 900, "they are found")
    yield from gui.show_sidebar("Sinew")
    with gui.scenario("manual").alone(gui, "solver"):
        yield from gui.settle()
        yield from gui.photograph("0-solver")
    with gui.scenario("manual").alone(gui, "vibrations"):
        yield from gui.settle()
        yield from use_fields(gui, obj, gui.module("blender_addon.blend_data.list_animation").curves_of)
