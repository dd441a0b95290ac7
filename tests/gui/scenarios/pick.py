"""The pick tool: chosen, clicked with, a box dragged, mirrored, undone."""

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d


def make_scene(gui):
    """A cube of 26 vertices a side grid, seen from the front, on; the view centred on it."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.5, location=(2.0, 0.0, 0.0))
        bpy.context.object.name = "Other"
        bpy.ops.mesh.primitive_cube_add()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=3)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.sinew.enable()
        bpy.ops.sinew.add_spring()
        body = bpy.context.object
        bpy.ops.ed.undo_push(message="Begin")
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance = "PERSP", 6.0
    view.view_rotation = (0.7071, 0.7071, 0.0, 0.0)
    return body.name


def members(name, group):
    body = bpy.data.objects[name]
    found = body.vertex_groups.get(group)
    if found is None:
        return []
    return [v.index for v in body.data.vertices if any(e.group == found.index and e.weight > 0.0 for e in v.groups)]


def at(gui, name, place, beside=(0, 0)):
    """Window coordinates of a place on the body, some pixels beside it."""
    region = gui.region()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, place)
    return int(region.x + x) + beside[0], int(region.y + y) + beside[1]


def drag(gui, start, end, **modifiers):
    """A box with the left button, modifiers held."""
    x, y = start
    yield from gui.move(x, y)
    gui.window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y, **modifiers)
    yield None
    for part in (0.3, 0.7, 1.0):
        x, y = (int(a + part * (b - a)) for a, b in zip(start, end, strict=True))
        gui.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y, **modifiers)
        yield None
    if modifiers:
        yield from gui.photograph("3-box")
    gui.window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y, **modifiers)
    yield None


def scenario(gui):
    name = make_scene(gui)
    chosen = []
    for mode in ("EDIT", "SCULPT", "WEIGHT_PAINT"):
        with gui.context():
            bpy.ops.object.mode_set(mode=mode)
            bpy.ops.sinew.start_picking("INVOKE_DEFAULT")
            chosen.append((bpy.context.mode, bpy.context.workspace.tools.from_space_view3d_mode("OBJECT").idname))
    gui.record("chosen", chosen)
    yield from gui.settle()
    yield from gui.photograph("0-tool")
    yield from gui.click(*at(gui, name, (0.5, -1.0, 0.5), (4, 3)))
    yield from gui.settle()
    gui.record("clicked", [list(bpy.data.objects[name].data.vertices[v].co) for v in members(name, "Pins")])
    yield from gui.photograph("1-clicked")
    yield from gui.click(*at(gui, name, (0.5, -1.0, 0.5), (-3, 2)))
    yield from gui.settle()
    gui.record("clicked again", len(members(name, "Pins")))
    bpy.data.objects[name].data.use_mirror_x = True
    yield from gui.click(*at(gui, name, (0.5, -1.0, 0.5)))
    yield from gui.settle()
    gui.record("mirrored", sorted(bpy.data.objects[name].data.vertices[v].co.x for v in members(name, "Pins")))
    bpy.data.objects[name].data.use_mirror_x = False
    low, high = at(gui, name, (-1.0, -1.0, -1.0), (-12, -12)), at(gui, name, (-0.4, -1.0, 1.0), (0, 12))
    yield from drag(gui, low, high)
    yield from gui.settle()
    boxed = [bpy.data.objects[name].data.vertices[v].co for v in members(name, "Pins")]
    gui.record("boxed", [len(boxed), float(np.max([place.y for place in boxed]))])
    yield from gui.photograph("2-boxed")
    yield from drag(gui, low, at(gui, name, (-0.4, -1.0, 0.1)), ctrl=True)
    yield from gui.settle()
    gui.record("boxed out", len(members(name, "Pins")))
    yield from gui.press("Z", ctrl=True)
    yield from gui.settle()
    gui.record("undone", [len(members(name, "Pins")), bpy.context.mode])
    yield from gui.photograph("4-undone")
    tool = bpy.context.workspace.tools.from_space_view3d_mode("OBJECT")
    tool.operator_properties("sinew.pick").target = "SPRING"
    yield from gui.click(*at(gui, name, (0.5, -1.0, -0.5)))
    yield from gui.settle()
    gui.record("spring", [bpy.data.objects[name].sinew.springs[0].vertex_group, len(members(name, "Spring"))])
    yield from gui.photograph("5-spring")
    active = []
    for place in ((2.0, -0.25, 0.0), (0.25, -1.0, 0.25)):
        yield from gui.click(*at(gui, name, place))
        yield 0.5
        active.append(gui.window.view_layer.objects.active.name)
    gui.record("selected", [*active, len(members(name, "Spring"))])
    bpy.ops.preferences.addon_disable(module="bl_ext.user_default.sinew")
    yield from gui.redraw()
    gui.record("without", gui.window.workspace.tools.from_space_view3d_mode("OBJECT").idname)
    bpy.ops.preferences.addon_enable(module="bl_ext.user_default.sinew")
    yield from gui.redraw()
