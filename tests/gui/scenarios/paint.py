"""A stroke with the mouse on a material's map: the maps sum to one after it, and one undo takes all of it back."""

import bpy
import numpy as np


def weights(obj):
    """Sum over the material maps at each vertex that has any weight, and how many vertices the second map has."""
    names = [m.vertex_group for m in obj.sinew.materials]
    indices = [obj.vertex_groups[name].index for name in names if name]
    rows = [{g.group: g.weight for g in v.groups if g.group in indices} for v in obj.data.vertices]
    sums = [sum(row.values()) for row in rows if row]
    return sums, sum(1 for row in rows if row.get(indices[-1], 0.0) > 0.0)


def body():
    return bpy.data.objects["Suzanne"]


def scenario(gui):
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        bpy.ops.sinew.paint_material()
        body().vertex_groups[0].add(list(range(len(body().data.vertices))), 1.0, "REPLACE")
        bpy.ops.sinew.add_material(preset="Bone")
        bpy.ops.sinew.paint_material()
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
        bpy.ops.ed.undo_push(message="Before")
    yield from gui.show_sidebar("Sinew")
    gui.record("mode", body().mode)
    gui.record("active map", body().vertex_groups.active.name)
    before, _ = weights(body())
    gui.record("sum before", [min(before), max(before)])
    x, y = gui.centre()
    yield from gui.drag([(x - 80 + 16 * k, y + 20) for k in range(11)])
    yield from gui.redraw()
    after, painted = weights(body())
    gui.record("sum after", [min(after), max(after)])
    gui.record("painted", painted)
    yield from gui.photograph("stroke")
    yield from gui.press("Z", ctrl=True)
    yield from gui.redraw()
    undone, painted = weights(body())
    gui.record("after undo", [min(undone), max(undone), painted, body().mode])

    with gui.context():
        group = body().vertex_groups.new(name="Other")
        body().vertex_groups.active_index = group.index
        bpy.ops.ed.undo_push(message="Other map")
    yield from gui.drag([(x - 80 + 16 * k, y + 20) for k in range(11)])
    yield from gui.redraw()
    sums, _ = weights(body())
    gui.record(
        "other map", [min(sums), max(sums), sum(1 for v in body().data.vertices for g in v.groups if g.group == 2)]
    )

    with gui.context():
        body().vertex_groups.active = body().vertex_groups["Bone"]
        bpy.ops.wm.tool_set_by_id(name="builtin.gradient", space_type="VIEW_3D")
        bpy.ops.ed.undo_push(message="Gradient tool")
    yield from gui.settle()
    region, weights_in = gui.region("WINDOW"), gui.module("blender_addon.scene_import.weights_in")
    left, height = x - 60 - region.x, y - region.y
    with gui.context():
        gui.record("stroke with the gradient tool", bpy.ops.sinew.paint_stroke.poll())
        # The tool is on a drag, which simulated events do not become: its operator is called as it would call it.
        bpy.ops.paint.weight_gradient(type="LINEAR", xstart=left, xend=left + 120, ystart=height, yend=height)
    yield from gui.settle()
    across = sorted((v.co.x, float(row[1])) for v, row in zip(body().data.vertices, read(weights_in), strict=True))
    gui.record("gradient", [float(np.corrcoef(*np.transpose(across))[0, 1]), len({round(w, 2) for _, w in across})])
    gui.record("gradient sums", float(np.abs(read(weights_in).sum(axis=1) - 1.0).max()))
    yield from gui.photograph("gradient")
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="builtin.brush", space_type="VIEW_3D")
    yield from mirrored_stroke(gui)


def mirrored_stroke(gui):
    """On one side, with X on: Blender paints Bone.R on the other."""
    with gui.context():
        every = range(len(body().data.vertices))
        body().vertex_groups["Bone"].name = body().sinew.materials[1].vertex_group = "Bone.L"
        body().vertex_groups["Bone.L"].remove(every)
        body().vertex_groups[body().sinew.materials[0].vertex_group].add(every, 1.0, "REPLACE")
        bpy.ops.sinew.add_material(preset="Bone")
        body().sinew.materials[2].vertex_group = body().vertex_groups.new(name="Bone.R").name
        body().vertex_groups.active = body().vertex_groups["Bone.L"]
        body().data.use_mirror_x = True
        bpy.ops.ed.undo_push(message="Mirror")
    yield from gui.settle()
    x, y = gui.centre()
    for _ in range(6):
        yield from gui.drag([(x + 60 + 8 * k, y + 20) for k in range(8)])
    yield from gui.redraw()
    weights_in = gui.module("blender_addon.scene_import.weights_in")
    both = weights_in.group_weights(body(), body().data, ["Bone.L", "Bone.R"])
    gui.record("both sides", both.max(axis=0).tolist())
    gui.record("sums of both sides", float(np.abs(read(weights_in).sum(axis=1) - 1.0).max()))


def read(weights_in):
    """Return the maps as a bake reads them, (n, materials)."""
    return weights_in.material_weights(body(), body().data)
