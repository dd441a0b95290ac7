"""The asset library: added by its operator, shown in an Asset Browser; a material is dropped onto the cube, undone,
redone, and another is applied by the menu's operator. Others are dropped onto the list of slots and onto the Outliner.
"""

import bpy

BUTTON = 400, 382
"""Pixels from the left and upper edge of Blender's preferences to *Add Asset Library*."""


def state(name):
    """Return whether the cube is a body, its physical materials and its Blender material."""
    obj = bpy.data.objects[name]
    shader = obj.active_material
    materials = [[m.name, f"{10.0**m.log_stiffness:.3g}", m.vertex_group] for m in obj.sinew.materials]
    return [obj.sinew.enabled, materials, shader and shader.name]


def browser(gui):
    """Open an Asset Browser with the library below the 3D View. Returns its area."""
    with gui.context():
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.35)
    yield 0.2
    area = min((a for a in gui.window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.y)
    area.ui_type = "ASSETS"
    yield from gui.wait_until(lambda: area.spaces.active.params is not None, 30, "the Asset Browser opens")
    area.spaces.active.params.asset_library_reference = "Sinew"
    return area


def pressed_in_preferences(gui):
    """Press the button in the add-on's preferences. Records whether the library is there before and after."""
    names = bpy.context.preferences.filepaths.asset_libraries.keys
    before, area = names(), gui.area()
    area.ui_type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Sinew"
    package = gui.module("blender_addon.blend_data.names").PACKAGE
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=gui.window, area=area, region=region):
        bpy.ops.preferences.addon_expand(module=package)
    yield 1.0
    yield from gui.settle()
    yield from gui.photograph("0-preferences")
    x, y = BUTTON
    yield from gui.click(region.x + x, region.y + region.height - y)
    yield from gui.wait_until(lambda: names() != before, 20, "the library is added")
    yield from gui.settle()
    yield from gui.photograph("0-added")
    gui.record("pressed", [before, names()])
    area.ui_type = "VIEW_3D"
    yield from gui.settle()


def only(gui, area, name):
    """Search for an asset. Returns the middle of its tile."""
    area.spaces.active.params.filter_search = name
    area.tag_redraw()
    yield 1.0
    yield from gui.settle()
    region = next(r for r in area.regions if r.type == "WINDOW")
    return region.x + 50, region.y + region.height - 60


def drop(gui, area, name, to=None):
    """Drag an asset to a place of the window, by default to the middle of the 3D View, where the cube is."""
    x, y = yield from only(gui, area, name)
    to_x, to_y = to or gui.centre()
    path = [(x + (to_x - x) * k // 10, y + (to_y - y) * k // 10) for k in range(11)]
    yield from gui.drag(path)


def step(gui, kind):
    with gui.context():
        getattr(bpy.ops.ed, kind)()


def in_other_editors(gui, area, name):
    """Drop a material onto the list of slots, and one of this file onto the cube's row in the Outliner, twice. Blender
    takes no asset of a library there. The first time the cube has no slot, the second time it gets a second one.
    """
    yield from gui.show_properties("MATERIAL")
    yield from gui.settle()
    region = gui.region("WINDOW", "PROPERTIES")
    yield from drop(gui, area, "Wood", (region.x + 90, region.y + region.height - 60))
    yield from gui.record_when("in the list", lambda: state(name), [True, [["Wood", "1e+10", ""]], "Wood"])
    yield from gui.photograph("4-list")
    obj = bpy.data.objects[name]
    for other in [other for other in bpy.data.objects if other != obj]:
        bpy.data.objects.remove(other)
    bpy.data.materials["Rubber"].asset_mark()
    bpy.data.materials["Wood"].asset_mark()
    area.spaces.active.params.asset_library_reference = "LOCAL"
    obj.data.materials.clear()
    with gui.context():
        bpy.ops.sinew.disable()
    yield from gui.settle()
    outliner = gui.region("WINDOW", "OUTLINER")
    row = outliner.x + 90, outliner.y + outliner.height - 54  # below those of both collections
    yield from drop(gui, area, "Rubber", row)
    yield from gui.record_when("in the Outliner", lambda: state(name), [True, [["Rubber", "5e+06", ""]], "Rubber"])
    yield from drop(gui, area, "Wood", row)
    yield from gui.wait_until(lambda: len(obj.material_slots) == 2, 30, "a second slot")
    yield from gui.settle()
    gui.record("in a second slot", [state(name), obj.material_slots[1].material.name])
    yield from gui.photograph("5-no-face")


def scenario(gui):
    name = bpy.context.object.name
    applied = [True, [["Rubber", "5e+06", ""]], "Rubber"]
    before = state(name)
    yield from pressed_in_preferences(gui)
    with gui.context():
        gui.record("again", list(bpy.ops.sinew.add_asset_library("INVOKE_DEFAULT")))
    area = yield from browser(gui)
    yield 2.0
    yield from gui.settle()
    yield from gui.photograph("1-library")
    yield from drop(gui, area, "Rubber")
    yield from gui.record_when("dropped", lambda: state(name), applied)
    yield from gui.show_properties("PHYSICS")
    yield from gui.settle()
    yield from gui.photograph("2-dropped")
    step(gui, "undo")
    yield from gui.record_when("undone", lambda: state(name) == before, True)
    step(gui, "redo")
    yield from gui.record_when("redone", lambda: state(name), applied)
    # A material that is assigned by hand is not a drop.
    other = bpy.data.objects.new("Other", bpy.data.meshes["Cube"].copy())
    bpy.context.scene.collection.objects.link(other)
    other.data.materials.clear()
    other.data.materials.append(bpy.data.materials["Rubber"])
    yield 0.5
    gui.record("assigned", state("Other")[0])
    x, y = yield from only(gui, area, "Steel")
    yield from gui.click(x, y)
    yield 0.5
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=gui.window, area=area, region=region):
        gui.record("asset", bpy.context.asset and bpy.context.asset.name)
        bpy.ops.sinew.apply_asset("EXEC_DEFAULT", True)
    gui.record("applied", state(name))
    yield from gui.click(x, y, "RIGHTMOUSE")
    yield 0.5
    yield from gui.photograph("3-menu")
    yield from gui.press("ESC")
    yield from in_other_editors(gui, area, name)
