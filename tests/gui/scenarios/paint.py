"""A stroke with the mouse on a material's map: the maps sum to one after it, and one undo takes all of it back."""

import bpy


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
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
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
