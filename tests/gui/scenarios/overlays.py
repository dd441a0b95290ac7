"""Overlays of what the solver got, with invented tetrahedra: nothing has to be compiled for them."""

import time

import bpy
import numpy as np

PATHS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))


def make_scene(gui):
    """Suzanne with pins at an ear, a spring to an empty, a hidden collider and a ground; saved, front view."""
    with gui.context():
        gui.clear()
        bpy.ops.object.empty_add(location=(2.2, 0.0, 1.2))
        hand = bpy.context.object
        bpy.ops.mesh.primitive_cube_add(size=0.8, location=(-2.0, 0.0, -0.8))
        cube = bpy.context.object
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        bpy.ops.sinew.add_material(preset="Bone")
        bpy.ops.sinew.add_spring()
        monkey = bpy.context.object
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "overlays.blend"))
    points = np.array([v.co for v in monkey.data.vertices])
    for name, chosen in (("Pins", points[:, 0] < -1.0), ("Tip", points[:, 0] > 1.2)):
        monkey.vertex_groups.new(name=name).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    settings = monkey.sinew
    settings.pin_group, settings.springs[0].vertex_group = "Pins", "Tip"
    settings.springs[0].end, settings.springs[0].target = "OBJECT", hand
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(cube)
    gui.window.scene.collection.children.link(obstacles)
    settings.collisions.collection, settings.collisions.use_ground, settings.collisions.height = obstacles, True, -1.3
    crate = bpy.data.objects.new("Crate", None)
    crate.instance_type, crate.instance_collection = "COLLECTION", bpy.data.collections.new("Asset")
    crate.instance_collection.objects.link(cube)
    crate.location, crate.rotation_euler = (4.2, 0.5, 1.0), (0.0, 0.5, 0.4)
    obstacles.objects.link(crate)
    cube.sinew.collider.use_own, cube.sinew.collider.thickness = True, 0.2
    cube.hide_set(True)
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance = "PERSP", 8.0
    view.view_rotation = (0.80, 0.56, 0.12, 0.17)
    return monkey


def block(cells, low, high):
    """Tetrahedra that fill a box, six a cell: rest positions, tets."""
    axis = np.arange(cells + 1)
    steps = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange((cells + 1) ** 3).reshape((cells + 1,) * 3)
    tets = []
    for path in PATHS:
        at, corners = np.zeros(3, dtype=int), []
        for direction in (None, *path):
            if direction is not None:
                at[direction] += 1
            i, j, k = at
            corners.append(number[i : cells + i, j : cells + j, k : cells + k].ravel())
        tets.append(np.column_stack(corners))
        if path in PATHS[3:]:  # left-handed
            tets[-1] = tets[-1][:, [0, 2, 1, 3]]
    return low + steps / cells * (high - low), np.concatenate(tets).astype(np.int32)


def keep_tets(gui, monkey, cells):
    """A store with a block of tets around the body, soft at its left and stiff at its right."""
    baking, cached_mesh = gui.module("blender_addon.bake.baking"), gui.module("core.jobs.store.cached_mesh")
    cached_materials, fields = (
        gui.module("core.jobs.store.cached_materials"),
        gui.module("core.mechanics.materials.fields"),
    )
    job = gui.module("blender_addon.scene_import.job_in").make_job(monkey, bpy.context, (1, 3))
    store = baking.prepare(monkey, job)
    surface = job.body.surface.positions
    rest, tets = block(cells, surface.min(axis=0), surface.max(axis=0))
    n = len(surface)
    barycentric = np.full((n, 4), 0.25)
    barycentric[:3] = [-1.5, 0.5, 1.0, 1.0]
    tied = gui.module("core.geometry.mesh.embedding").Embedding(
        np.zeros(n, dtype=np.int32), barycentric, np.zeros(n, dtype=bool)
    )
    mesh = gui.module("core.geometry.mesh.tet_mesh").TetMesh(rest, tets)
    store.write_cached("mesh", cached_mesh.pack(mesh, tied), {"key": cached_mesh.mesh_key(job)})
    x = rest[tets].mean(axis=1)[:, 0]
    stiff = (x - x.min()) / np.ptp(x)
    cached_materials.cache_materials(
        store, job, fields.blend(np.column_stack([1.0 - stiff, stiff]), job.body.materials)
    )


class NoBatch:
    """In the place of a batch where a card by software would take all the time."""

    def draw(self, shader):
        """Nothing."""


def timed(gui, count=30):
    """Milliseconds of the processor in our draw handler without the driver's drawing, the median and the most."""
    overlays = gui.module("blender_addon.draw_handlers.overlays")
    drawn, made, spent = overlays.Overlays._draw_body, overlays.TetsOf.batch, []

    def watched(self, *arguments):
        began = time.thread_time()
        drawn(self, *arguments)
        spent.append(1e3 * (time.thread_time() - began))

    def without(self, settings):
        made(self, settings)
        return NoBatch()

    overlays.Overlays._draw_body, overlays.TetsOf.batch = watched, without
    while len(spent) < count:
        gui.area().tag_redraw()
        yield None
    overlays.Overlays._draw_body, overlays.TetsOf.batch = drawn, made
    gui.record("drawing", [len(spent), float(np.median(spent)), float(np.max(spent))])


def scenario(gui):
    monkey = make_scene(gui)
    region = gui.region()
    gui.record("viewport", [region.x, gui.window.height - region.y - region.height, region.width, region.height])
    settings = gui.window.workspace.sinew
    yield from gui.photograph("0-nothing")
    settings.show_tets = True
    yield from gui.photograph("1-first")
    with gui.context():
        keep_tets(gui, monkey, gui.parameters.get("cells", 10))
    yield 0.6
    yield from gui.photograph("2-tets")
    settings.use_slice = True
    yield from gui.photograph("3-slice")
    settings.slice_offset = 0.25
    yield from gui.photograph("4-moved")
    settings.slice_flip, settings.slice_axis = True, "Z"
    settings.colour = "MATERIALS"
    yield from gui.photograph("5-materials")
    if "cells" in gui.parameters:
        yield from timed(gui)
    settings.show_tets = False
    for name in ("pins", "springs", "colliders", "outside"):
        setattr(settings, f"show_{name}", True)
    yield from gui.photograph("6-marks")
    with gui.context():
        bpy.ops.wm.call_panel(name="VIEW3D_PT_overlay", keep_open=True)
    yield 0.5
    yield from gui.photograph("7-popover")
    yield from gui.move(5, 5)
    yield from gui.press("ESC")
    gui.area().spaces.active.overlay.show_overlays = False
    yield from gui.photograph("8-off")
