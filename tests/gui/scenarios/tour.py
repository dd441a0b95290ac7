"""The whole way of an artist in one sitting: a head, two materials, a stroke, tetrahedra, picks, a bake that is stopped
and resumed, the timeline, undo, a file saved and opened again, a picture.
"""

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

FRAMES = 40
EAR, CHIN = (1.2, 0.0, 0.4), (0.0, -0.6, -0.7)


def body():
    """The head by name: references do not outlive an undo or a file."""
    return bpy.data.objects["Suzanne"]


def members(group):
    """Return the number of vertices with a weight in a group."""
    index = body().vertex_groups[group].index
    return sum(1 for v in body().data.vertices for g in v.groups if g.group == index and g.weight > 0.0)


def keys():
    blocks = body().data.shape_keys
    return sum(key.name.startswith("Frame") for key in blocks.key_blocks) if blocks else 0


def shown():
    """Vertices as the viewport has them, (n,3)."""
    mesh = body().evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def at(gui, place):
    """Window coordinates of a place of the world."""
    region = gui.region()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, place)
    return int(region.x + x), int(region.y + y)


def material_by_a_stroke(gui):
    """A head of flesh; bone is painted on an ear."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        body().sinew.cells_across = 12
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
    yield from gui.show_sidebar("Sinew")
    yield from gui.photograph("1-enabled")
    with gui.context():
        bpy.ops.sinew.add_material(preset="Bone")
        bpy.ops.sinew.paint_material()
        bpy.ops.ed.undo_push(message="Bone")
    yield from gui.settle()
    x, y = at(gui, EAR)
    yield from gui.drag([(x - 30 + 6 * k, y) for k in range(11)])
    yield from gui.settle()
    gui.record("painted", [body().mode, members("Bone")])
    yield from gui.photograph("2-painted")
    with gui.context():
        bpy.ops.object.mode_set(mode="OBJECT")


def tetrahedra(gui, running):
    """Made in the background, and drawn by stiffness."""
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "tour.blend"))
        bpy.ops.sinew.tetrahedralize("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.current() is None, 480, "the tetrahedra are there")
    gui.record("tetrahedra", [body().sinew.bake.tets, body().sinew.bake.mesh_summary])
    overlay = gui.window.workspace.sinew
    overlay.show_tets = True
    yield from gui.settle()
    yield from gui.photograph("3-tetrahedra")
    overlay.show_tets = False


def pins_by_picks(gui):
    """The chin, by two clicks and a box."""
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="sinew.pick_tool")
    yield from gui.settle()
    x, y = at(gui, CHIN)
    yield from gui.drag([(x - 60, y - 40), (x, y), (x + 60, y + 40)])
    yield from gui.settle()
    gui.record("picked", [body().sinew.pin_group, members(body().sinew.pin_group)])
    yield from gui.photograph("4-pinned")
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")


def bake_stopped_and_resumed(gui):
    """By Esc, and to its end."""
    bpy.context.scene.frame_end = FRAMES
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.halt(3)
    yield from gui.photograph("5-baking")
    yield from gui.stop()
    gui.record("stopped", [body().sinew.bake.status, keys() == body().sinew.bake.frames])
    yield from gui.resume()
    gui.record("resumed", [body().sinew.bake.status, keys()])


def scrubbed(gui):
    """The mouse pulls the playhead; then the arrow keys."""
    region = gui.region("WINDOW", "DOPESHEET_EDITOR")
    across = [region.view2d.view_to_region(frame, 0.0, clip=False)[0] for frame in (3, 8, 16)]
    y = region.y + region.height - 10
    before = shown()
    yield from gui.drag([(region.x + x, y) for x in across])
    yield from gui.redraw()
    gui.record("scrubbed", [bpy.context.scene.frame_current, float(np.abs(shown() - before).max())])
    yield from gui.photograph("6-scrubbed")
    yield from gui.move(*gui.centre())
    yield from gui.press("RIGHT_ARROW")
    gui.record("stepped", bpy.context.scene.frame_current)


def undone_and_redone(gui):
    """The resumed half of the bake and back; the frame is the artist's."""
    with gui.context():
        body().sinew.materials[0].density = 900.0
        bpy.ops.ed.undo_push(message="Density")
        body().sinew.materials[0].density = 800.0
        bpy.ops.ed.undo_push(message="Density")
    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.redraw()
    gui.record("undone", [round(body().sinew.materials[0].density), keys(), body().sinew.bake.status])
    yield from gui.press("Z", ctrl=True, shift=True)
    yield from gui.redraw()
    gui.record("redone", [round(body().sinew.materials[0].density), keys()])


def saved_opened_rendered(gui):
    """By its key; opened anew it plays the same, and a picture is made."""
    bpy.context.scene.frame_set(12)
    before = shown()
    yield from gui.press("S", ctrl=True)
    yield from gui.wait_until(lambda: not bpy.data.is_dirty, 20, "the file is saved")
    bpy.ops.wm.open_mainfile(filepath=str(gui.session / "tour.blend"))
    yield from gui.settle()
    gui.record("opened", [body().sinew.bake.status, keys(), bpy.context.scene.frame_current])
    gui.record("plays the same", float(np.abs(shown() - before).max()))
    yield from gui.photograph("7-opened")
    settings = bpy.context.scene.render
    with gui.context():
        bpy.ops.object.camera_add(location=(0.0, -7.0, 0.0), rotation=(1.5708, 0.0, 0.0))
        bpy.context.scene.camera = bpy.context.object
    settings.engine, settings.film_transparent = "BLENDER_WORKBENCH", True
    settings.resolution_x = settings.resolution_y = 128
    settings.filepath = str(gui.session / "tour.png")
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(settings.filepath)
    alpha = np.array(picture.pixels[:]).reshape(-1, 4)[:, 3]
    gui.record("rendered", float((alpha > 0.5).mean()))


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    yield from material_by_a_stroke(gui)
    yield from tetrahedra(gui, running)
    yield from pins_by_picks(gui)
    yield from bake_stopped_and_resumed(gui)
    yield from scrubbed(gui)
    yield from undone_and_redone(gui)
    yield from saved_opened_rendered(gui)
