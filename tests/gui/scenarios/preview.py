"""The preview in a real viewport: beside Solid mode and behind another object, bent, with overlays, in exact colour."""

import importlib
from types import SimpleNamespace

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

DRAWING = "bl_ext.user_default.sinew.blender_addon.drawing"
COLOUR = (0.8, 0.3, 0.08)


def make_bodies(gui):
    """A smooth monkey in a colour of its own, and a cube in front of a part of it."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.6, location=(1.2, -1.3, 0.2))
        bpy.ops.mesh.primitive_monkey_add()
        monkey = bpy.context.object
        monkey.modifiers.new("Fine", "SUBSURF").levels = 3
        bpy.ops.object.shade_smooth()
        bpy.ops.object.modifier_apply(modifier="Fine")
        monkey.color = (*COLOUR, 1.0)
        bpy.ops.object.select_all(action="DESELECT")
    space = gui.area().spaces.active
    space.shading.type, space.shading.color_type = "SOLID", "OBJECT"
    space.overlay.show_overlays = False
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_distance = 7.0
    return monkey


def preview_of(monkey):
    """A preview of the monkey under four smooth weights, and its skin."""
    mesh_room, out, light = (
        importlib.import_module(f"{DRAWING}.{name}") for name in ("preview_mesh", "gpu_preview", "preview_light")
    )
    points = np.empty(3 * len(monkey.data.vertices), dtype=np.float32)
    monkey.data.vertices.foreach_get("co", points)
    points = points.reshape(-1, 3).astype(np.float64)
    weights = np.column_stack([np.ones(len(points)), points[:, 0], points[:, 2], np.sin(2.0 * points[:, 0])])
    skin = mesh_room.Skin(points, weights, np.zeros(3), 2.6)
    lights = light.studio_lights(bpy.context.preferences)
    return out.Preview(mesh_room.drawn_mesh(monkey.data, np.eye(4)), skin, lights=lights), skin


def square_of():
    """A square that looks up, with a light above."""
    mesh_room, out, light = (
        importlib.import_module(f"{DRAWING}.{name}") for name in ("preview_mesh", "gpu_preview", "preview_light")
    )
    points = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    up = np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (2, 3, 1))
    mesh = mesh_room.DrawnMesh(np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), up)
    above = light.Light((0.0, 0.0, 1.0), (0.9, 0.9, 0.9), (0.0, 0.0, 0.0), 0.0)
    return out.Preview(mesh, mesh_room.Skin(points, np.ones((4, 1)), np.zeros(3), 2.0), lights=(above,))


def on_screen(gui, place):
    """Pixel of a photograph, from its upper left corner."""
    region = gui.region()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, place)
    return [int(region.x + x), int(gui.window.height - 1 - region.y - y)]


def other_manners(gui, monkey, options):
    """Photograph wires and X-ray; record whether a local view and a hidden collection hide the body."""
    manner = importlib.import_module(f"{DRAWING}.display_mode").Manner
    options["manner"] = manner(0.0, (0.0, 0.0, 0.0), behind=0.0)
    yield from gui.photograph("7-wires")
    options["manner"] = manner(0.5)
    yield from gui.photograph("8-xray")
    del options["manner"]
    sight = importlib.import_module(f"{DRAWING.rpartition('.')[0]}.live.live_visibility")
    anywhere = SimpleNamespace(is_shown_in=lambda _context: True)

    def look(name, change):
        with gui.context():
            change()
            bpy.context.view_layer.update()
            gui.record(name, sight.is_seen(monkey, anywhere, bpy.context))

    def local_view_of_the_cube():
        bpy.data.objects["Cube"].select_set(True)
        bpy.ops.view3d.localview(frame_selected=False)

    def local_view_of_the_body():
        monkey.hide_set(False)
        bpy.ops.object.select_all(action="DESELECT")
        monkey.select_set(True)
        bpy.ops.view3d.localview(frame_selected=False)
        monkey.hide_set(True)

    collection = monkey.users_collection[0]
    look("seen in its own local view", local_view_of_the_body)
    bpy.context.view_layer.depsgraph.update()
    look("still seen in it", lambda: None)
    stand_ins = importlib.import_module(f"{DRAWING}.stand_in")
    stand_in = stand_ins.StandIn(monkey, bpy.context.scene, np.array([[0, 1, 2]]))
    with gui.context():
        stand_in.move(np.eye(3))
        bpy.context.view_layer.update()
        gui.record("stand-in seen in it", sight.is_seen(stand_ins.find(stand_in.uid), anywhere, bpy.context))
        stand_in.remove()
    with gui.context():
        bpy.ops.view3d.localview(frame_selected=False)
    look("seen", lambda: None)
    look("seen in a local view of another", local_view_of_the_cube)
    look("seen out of it", lambda: bpy.ops.view3d.localview(frame_selected=False))
    look("seen in a hidden collection", lambda: setattr(collection, "hide_viewport", True))
    look("seen at the end", lambda: setattr(collection, "hide_viewport", False))


def scenario(gui):
    monkey = make_bodies(gui)
    region = gui.region()
    gui.record("viewport", [region.x, gui.window.height - region.y - region.height, region.width, region.height])
    yield from gui.photograph("1-solid")
    preview, skin = preview_of(monkey)
    monkey.hide_set(True)
    shown = {"preview": preview, "options": {"colour": COLOUR}}

    def draw():
        view = bpy.context.region_data
        shown["preview"].draw(view.view_matrix, view.window_matrix, **shown["options"])

    handler = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")
    yield from gui.photograph("2-preview")
    bent = np.zeros((4, 4, 3))
    bent[1, :3] = [[0.0, 0.5, 0.0], [-0.5, 0.0, 0.3], [0.0, 0.0, 0.4]]
    bent[3, 3] = [0.0, 0.2, 0.5]
    preview.set_handles(bent)
    yield from gui.photograph("3-bent")
    yield from other_manners(gui, monkey, shown["options"])
    colours = importlib.import_module(f"{DRAWING}.preview_colours")
    preview.show_colours(colours.weight_colours(skin.weights[:, 3]))
    some = np.random.default_rng(0).choice(len(skin.rest), 60)
    dots = skin._replace(rest=0.9 * skin.rest[some], weights=skin.weights[some])
    preview.set_dots(dots, np.ones(len(dots.rest)))
    shown["options"]["dots"] = True
    yield from gui.photograph("4-overlays")
    preview.show_colours(colours.cluster_colours(np.floor(3.0 * skin.rest[:, 0]).astype(int) + 10))
    yield from gui.photograph("5-clusters")
    shown.update(preview=square_of(), options={"colour": COLOUR})
    space = gui.area().spaces.active
    space.region_3d.view_perspective, space.region_3d.view_rotation = "ORTHO", (1.0, 0.0, 0.0, 0.0)
    yield from gui.redraw()
    gui.record("square", on_screen(gui, (0.4, 0.4, 0.0)))
    yield from gui.photograph("6-square")
    bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    monkey.hide_set(False)
