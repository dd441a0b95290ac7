"""The matrix of a Subdivision against what Blender's own modifier makes of the same mesh, moved anyhow."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects.modifier_stack import subdivision_after
from sinew.blender_addon.scene_import import subdivision_in
from sinew.blender_addon.scene_import.mesh_in import columns_of, mesh_of, vertex_positions
from sinew.blender_addon.scene_import.subdivision_in import cage_of, coarser_words, settings_of, subdivided

CLOSE = 1e-6
"""Parts of the size: Blender computes in 32 bits."""


def _from(operator):
    def make(_add_mesh):
        operator()
        return bpy.context.object

    return make


def _creased(kind):
    def make(_add_mesh):
        bpy.ops.mesh.primitive_monkey_add()
        mesh, random = bpy.context.object.data, np.random.default_rng(1)
        for name, domain, items in (("crease_edge", "EDGE", mesh.edges), ("crease_vert", "POINT", mesh.vertices)):
            if kind in name:
                values = random.choice([0.0, 0.35, 0.7, 1.0], len(items), p=[0.7, 0.1, 0.1, 0.1])
                mesh.attributes.new(name, "FLOAT", domain).data.foreach_set("value", values.astype(np.float32))
        return bpy.context.object

    return make


def _fins(add_mesh):
    """Three squares at one edge, one more at a corner alone."""
    points = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1), (-1, 1, 0), (-1, 1, 1), (-1, -1, 0), (-1, -1, 1)]
    far = [(0.2, 0.1, 2), (0.4, 0.9, 2), (0.1, 0.5, 3)]
    return add_mesh(points + far, [(0, 2, 3, 1), (0, 4, 5, 1), (0, 6, 7, 1), (1, 8, 10, 9)])


def _with_loose_edges(_add_mesh):
    """A cube with an edge from a corner of it into the air, and one in the air."""
    bpy.ops.mesh.primitive_cube_add()
    mesh, shape = bpy.context.object.data, bmesh.new()
    shape.from_mesh(mesh)
    corner = next(iter(shape.verts))
    free = [shape.verts.new((3, k, 0)) for k in range(3)]
    shape.edges.new((corner, free[0]))
    shape.edges.new(free[1:])
    shape.to_mesh(mesh)
    return bpy.context.object


def _prism(_add_mesh):
    """Caps of nine corners, and a cone's tip."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=9)
    bpy.ops.mesh.primitive_cone_add(vertices=7, location=(3, 0, 0))
    with bpy.context.temp_override(selected_editable_objects=bpy.context.scene.objects[:]):
        bpy.ops.object.join()
    return bpy.context.object


MESHES = {
    "cube": _from(lambda: bpy.ops.mesh.primitive_cube_add()),
    "monkey": _from(lambda: bpy.ops.mesh.primitive_monkey_add()),
    "grid": _from(lambda: bpy.ops.mesh.primitive_grid_add(x_subdivisions=5, y_subdivisions=4)),
    "triangles": _from(lambda: bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2)),
    "prism": _prism,
    "creased edges": _creased("edge"),
    "creased corners": _creased("vert"),
    "three faces at an edge": _fins,
    "loose edges": _with_loose_edges,
}


def modified(obj, settings, positions):
    """The corners (q,4,3) of the faces that Blender's modifier makes of an object's mesh at positions (n,3)."""
    obj.data.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    obj.data.update()
    modifier = obj.modifiers.get("Own") or obj.modifiers.new("Own", "SUBSURF")
    for name, value in settings.items():
        setattr(modifier, name, value)
    with mesh_of(obj.evaluated_get(bpy.context.evaluated_depsgraph_get())) as mesh:
        return vertex_positions(mesh)[columns_of(mesh.loops, "vertex_index", 1, np.int32).reshape(-1, 4)]


def anyhow(obj):
    """Places for the vertices (n,3), of size 1."""
    return np.random.default_rng(3).uniform(-0.5, 0.5, (len(obj.data.vertices), 3))


def settings(**chosen):
    plain = {"use_limit_surface": True, "quality": 3, "boundary_smooth": "ALL", "use_creases": True, "levels": 2}
    return {"subdivision_type": "CATMULL_CLARK", **plain, **chosen}


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize(
    "chosen",
    [
        {"levels": 1},
        {},
        {"levels": 3, "quality": 2},
        {"use_limit_surface": False},
        {"boundary_smooth": "PRESERVE_CORNERS"},
        {"use_creases": False},
        {"subdivision_type": "SIMPLE"},
    ],
    ids=lambda chosen: " ".join(map(str, chosen.values())) or "plain",
)
def test_it_is_what_the_modifier_makes_of_any_movement(add_mesh, name, chosen):
    obj = MESHES[name](add_mesh)
    found = subdivided(cage_of(obj.data), settings(**chosen))
    positions = anyhow(obj)
    expected = modified(obj, settings(**chosen), positions)
    assert found.level == settings(**chosen)["levels"] and coarser_words(found, found.level) == ""
    assert np.abs((found.matrix @ positions)[found.quads] - expected).max() < CLOSE
    assert np.abs(found.matrix.sum(axis=1) - 1.0).max() < CLOSE and len(found.matrix.data) < 40 * len(expected)


def test_what_is_smooth_and_what_is_the_cages_own(add_mesh):
    """A cube whose upper face is flat, with one sharp edge below."""
    bpy.ops.mesh.primitive_cube_add()
    mesh = bpy.context.object.data
    normals = columns_of(mesh.polygons, "normal", 3, np.float32)
    mesh.polygons.foreach_set("use_smooth", normals[:, 2] < 0.5)
    next(e for e in mesh.edges if all(mesh.vertices[v].co.z < 0.0 for v in e.vertices)).use_edge_sharp = True
    found = subdivided(cage_of(mesh), settings(levels=2))
    kinds = [np.unique(found.normals[found.quads == v], axis=0) for v in range(found.matrix.shape[0])]
    places = found.matrix @ vertex_positions(mesh)
    counts = np.array([len(kind) for kind in kinds])
    assert {*counts[places[:, 2] < 0.0]} == {1, 2} and (counts[places[:, 2] < 0.0] == 2).sum() == 3, "inside the edge"
    assert counts[places[:, 2].argmax()] == 4, "each face of a flat one by itself"
    assert len(found.edges) == 4 * len(mesh.edges)


def test_what_is_too_much_is_drawn_coarser_or_not_at_all(add_mesh, monkeypatch):
    bpy.ops.mesh.primitive_cube_add()
    cage = cage_of(bpy.context.object.data)
    monkeypatch.setattr(subdivision_in, "MOST_TRIANGLES", 2 * 24 * 4)
    found = subdivided(cage, settings(levels=3))
    assert found.level == 2 and len(found.quads) == 24 * 4
    assert coarser_words(found, 3) == "Subdivision is drawn at level 2 of 3: higher levels are too slow"
    monkeypatch.setattr(subdivision_in, "MOST_NUMBERS", 24 * 8)
    assert subdivided(cage, settings(levels=3)).level == 1
    monkeypatch.setattr(subdivision_in, "MOST_NUMBERS", 24 * 8 - 1)
    assert subdivided(cage, settings(levels=3)) is None and "level 0 of 1" in coarser_words(None, 1)
    monkeypatch.undo()
    many = np.zeros((10_000, 3))
    assert subdivided(cage_of(add_mesh(many, [range(10_000)]).data), settings(levels=1)) is None


def test_blenders_data_are_as_before_and_an_edit_is_seen(add_mesh):
    bpy.ops.mesh.primitive_cube_add()
    mesh = bpy.context.object.data
    lists = bpy.data.objects, bpy.data.meshes, bpy.data.scenes
    before, cage = [len(each) for each in lists], cage_of(mesh)
    subdivided(cage, settings())
    assert [len(each) for each in lists] == before and cage_of(mesh).key == cage.key
    mesh.vertices[0].co.x += 1.0
    assert cage_of(mesh).key == cage.key, "it is the same for all movements"
    mesh.attributes.new("crease_edge", "FLOAT", "EDGE").data[3].value = 0.5
    assert cage_of(mesh).key != cage.key


def test_which_subdivision_is_the_bodys(body):
    """It is the first one after the simulated position in the stack, at its viewport level."""
    scene, render = bpy.context.scene, bpy.context.scene.render
    assert subdivision_after(body, scene) is None
    modifier = body.modifiers.new("Fine", "SUBSURF")
    modifier.levels, modifier.render_levels = 2, 4
    assert subdivision_after(body, scene) == (modifier, 2)
    assert settings_of(modifier, 2) == settings()
    render.use_simplify, render.simplify_subdivision = True, 1
    assert subdivision_after(body, scene) == (modifier, 1)
    render.simplify_subdivision = 0
    assert subdivision_after(body, scene) is None
    render.use_simplify = False
    body.modifiers.new("Cage", "LATTICE")
    assert subdivision_after(body, scene) is None, "it is simulated"
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", ""
    assert subdivision_after(body, scene) == (modifier, 2)
    modifier.show_viewport = False
    assert subdivision_after(body, scene) is None
