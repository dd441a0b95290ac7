"""Split meshes in Blender: closed pieces that keep the look of the outer surface, and jobs with seams."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.cuts import cut_state
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import columns_of, triangles_of, vectors_of, vertex_positions
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.core.geometry.mesh.surface_mesh import signed_volume
from sinew.core.geometry.mesh.topology import open_edges

from ..scenes import keyed

PLACES = {"location": (1.0, 2.0, 3.0), "rotation": (0.3, 0.2, 0.1), "scale": (0.5, 0.6, 0.5)}


def enabled(kind: str, **place: Any) -> Any:
    """A body made of a primitive, over frames 1 to 20."""
    scale = place.pop("scale", (1.0, 1.0, 1.0))
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**place)
    obj = bpy.context.object
    obj.scale = scale
    bpy.context.view_layer.update()
    bpy.ops.object.shade_smooth()
    obj.data.materials.append(bpy.data.materials.new("Outer"))
    bpy.ops.sinew.enable()
    obj.sinew.use_scene_range, obj.sinew.frame_start, obj.sinew.frame_end = False, 1, 20
    return obj


def add_knife(obj: Any, start: float = 4.0, end: float = 0.0) -> Any:
    """A plane across the body that moves down through it, above and below its origin."""
    origin = obj.matrix_world.translation
    bpy.ops.mesh.primitive_plane_add(size=6.0, rotation=(np.pi / 2, 0.0, 0.2), location=origin)
    knife, z = bpy.context.object, origin.z
    knife.name = "Knife"
    keyed(knife, "location", *((f, (origin.x, origin.y, z + dz)) for f, dz in ((1, start), (20, end))))
    for curves in cut_state.curves_of(knife):
        for curve in curves:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    bpy.context.view_layer.objects.active = obj
    obj.sinew.cuts.cutter = knife
    return knife


def pieces_of(mesh: Any) -> list[np.ndarray]:
    triangles = triangles_of(mesh, False)
    piece = columns_of(mesh.attributes["sinew_piece"].data, "value", 1, np.int32)[:, 0]
    return [triangles[piece[triangles[:, 0]] == k] for k in range(piece.max() + 1)]


@pytest.mark.parametrize("kind", ["cube", "torus", "monkey"])
def test_a_swept_cutter_splits_a_body_into_closed_pieces(kind):
    obj = enabled(kind, **PLACES)
    add_knife(obj)
    before = obj.data
    count, materials = len(before.polygons), len(before.materials)
    assert bpy.ops.sinew.split_mesh() == {"FINISHED"}
    mesh = obj.data
    assert not mesh.validate(verbose=True) and obj.sinew.cuts.original == before and len(before.polygons) == count

    X, parts = vertex_positions(mesh), pieces_of(mesh)
    assert len(parts) == 2 and not any(len(open_edges(part)) for part in parts)
    volumes = [signed_volume(X, part) for part in parts]
    if kind != "monkey":  # whose eyes are open
        whole = signed_volume(vertex_positions(before), triangles_of(before, False))
        assert sum(volumes) == pytest.approx(whole, rel=1e-6)

    assert len(mesh.materials) == materials + 1
    slot = columns_of(mesh.polygons, "material_index", 1, np.int32)[:, 0]
    seam = columns_of(mesh.attributes["sinew_seam"].data, "value", 1, bool)[:, 0]
    assert (slot[seam] == materials).all() and (slot[~seam] == materials).sum() < 60 * (kind == "monkey") + 1
    sizes = columns_of(mesh.polygons, "loop_total", 1, np.int32)[:, 0]
    assert (sizes == 4).sum() > 0.5 * count or kind == "cube"  # quads that no seam crosses stay quads

    job = make_job(obj, bpy.context)
    seams = job.body.seams
    assert seams.count == 2
    seams.welded(job.body.surface)
    frames = seams.cut_frames[np.unique(job.body.surface.triangles[seams.seam_faces])]
    height = job.body.surface.positions[np.unique(job.body.surface.triangles[seams.seam_faces]), 2]
    # The lower edge of the plane is 3 m below its middle, which moves from 4 m above the body to its origin.
    np.testing.assert_allclose(frames, 1.0 + 19.0 * np.clip(4.0 - (height - 3.0) - 3.0, 0.0, None) / 4.0, atol=0.1)


def test_uvs_normals_weights_and_attributes_follow():
    obj = enabled("uv_sphere", segments=24, ring_count=12)
    mesh = obj.data
    X = vertex_positions(mesh)
    for name in ("Soft", "Pins"):
        obj.vertex_groups.new(name=name)
    for k, x in enumerate(X):
        obj.vertex_groups["Soft"].add([k], float(0.5 + 0.4 * x[0]), "REPLACE")
    obj.vertex_groups["Pins"].add(np.flatnonzero(X[:, 2] < -0.5).tolist(), 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    colour = mesh.attributes.new("Heat", "FLOAT", "POINT")
    colour.data.foreach_set("value", X[:, 1].astype(np.float32))
    uv_size = np.ptp(columns_of(mesh.uv_layers[0].uv, "vector", 2, np.float32), axis=0).max()
    add_knife(obj)
    bpy.ops.sinew.split_mesh()

    new = obj.data
    X, normals = vertex_positions(new), vectors_of(new.corner_normals, "vector")
    of_loop = columns_of(new.loops, "vertex_index", 1, np.int32)[:, 0]
    seam = np.repeat(
        columns_of(new.attributes["sinew_seam"].data, "value", 1, bool)[:, 0],
        columns_of(new.polygons, "loop_total", 1, np.int32)[:, 0],
    )
    radial = X[of_loop] / np.linalg.norm(X[of_loop], axis=1, keepdims=True)
    assert np.einsum("li,li->l", normals, radial)[~seam].min() > 0.98  # as smooth as before
    across = np.array([-np.sin(0.2), np.cos(0.2), 0.0])
    assert np.abs(normals[seam] @ across).min() > 0.98
    uv = columns_of(new.uv_layers[0].uv, "vector", 2, np.float32)
    assert np.isfinite(uv).all() and 0.05 < np.ptp(uv[seam], axis=0).max() < 2.0 * uv_size

    assert [group.name for group in obj.vertex_groups] == ["Soft", "Pins"]
    weights = group_weights(obj, new, ["Soft", "Pins"])
    np.testing.assert_allclose(weights[:, 0], 0.5 + 0.4 * X[:, 0], atol=0.04)
    inner = np.setdiff1d(np.arange(len(X)), of_loop[~seam])
    assert len(inner) and not weights[inner, 1].any()
    outer = np.setdiff1d(np.arange(len(X)), inner)
    heat = columns_of(new.attributes["Heat"].data, "value", 1, np.float32)[:, 0]
    np.testing.assert_allclose(heat[outer], X[outer, 1], atol=0.02)
    sharp = columns_of(new.attributes["sharp_edge"].data, "value", 1, bool)[:, 0]
    assert sharp.any()


def test_the_outer_surface_does_not_change():
    obj = enabled("monkey")
    before = vertex_positions(obj.data)
    add_knife(obj)
    bpy.ops.sinew.split_mesh()
    after = {tuple(x) for x in vertex_positions(obj.data)}
    assert all(tuple(x) in after for x in before)


def test_split_again_and_restore():
    obj = enabled("cube")
    knife, before = add_knife(obj), obj.data
    obj.vertex_groups.new(name="Kept").add([0], 0.5, "REPLACE")
    bpy.ops.sinew.split_mesh()
    count = len(obj.data.vertices)
    assert cut_state.split_warning(obj, bpy.context.scene) == ""
    bpy.context.scene.frame_set(7)
    assert cut_state.split_warning(obj, bpy.context.scene) == ""
    keyed(knife, "location", (20, (0.0, 0.5, 0.0)))
    assert "Split Again" in cut_state.split_warning(obj, bpy.context.scene)
    keyed(knife, "location", (20, (0.0, 0.0, 0.0)))
    bpy.ops.sinew.split_mesh()
    assert len(obj.data.vertices) == count and obj.sinew.cuts.original == before
    assert bpy.ops.sinew.restore_mesh() == {"FINISHED"}
    assert obj.data == before and len(bpy.data.meshes) == 2 and len(before.vertices) == 8
    assert obj.vertex_groups["Kept"].weight(0) == 0.5
    assert make_job(obj, bpy.context).body.seams is None
    assert not bpy.ops.sinew.restore_mesh.poll()


def test_a_painted_seam_and_fragments():
    obj = enabled("uv_sphere", segments=24, ring_count=12)
    group = obj.vertex_groups.new(name="Left")
    group.add(np.flatnonzero(vertex_positions(obj.data)[:, 0] < 0.0).tolist(), 1.0, "REPLACE")
    cuts = obj.sinew.cuts
    cuts.tear, cuts.seam_group, cuts.tear_stress = "PAINTED", "Left", 5e3
    bpy.ops.sinew.split_mesh()
    seams = make_job(obj, bpy.context).body.seams
    assert seams.count == 2 and set(seams.tear_stress) == {5e3, np.inf} and np.isinf(seams.cut_frames).all()
    cuts.tear, cuts.fragments = "FRAGMENTS", 9
    bpy.ops.sinew.split_mesh()
    assert make_job(obj, bpy.context).body.seams.count == 9


def test_a_seam_along_edges_leaves_closed_pieces():
    """The split leaves slivers of faces beside such a seam."""
    obj = enabled("cube")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=11)
    bpy.ops.object.mode_set(mode="OBJECT")
    group = obj.vertex_groups.new(name="Lower")
    for vertex in obj.data.vertices:
        vertex.co.x, vertex.co.y, vertex.co.z = 0.15 * vertex.co.x, 0.15 * vertex.co.y, 0.6 * (vertex.co.z + 1.0)
        group.add([vertex.index], min(1.0, max(0.0, 1.1 - vertex.co.z)), "REPLACE")  # 0.5 where vertices are
    cuts = obj.sinew.cuts
    cuts.tear, cuts.seam_group = "PAINTED", "Lower"
    bpy.ops.sinew.split_mesh()
    parts = pieces_of(obj.data)
    assert len(parts) == 2 and not any(len(open_edges(part)) for part in parts)
    assert not obj.data.validate(verbose=True) and np.isclose(vertex_positions(obj.data)[:, 2], 0.6).sum() > 50
    job = make_job(obj, bpy.context)
    job.body.seams.welded(job.body.surface)


def test_a_modified_body_is_split_in_the_shape_of_the_first_frame():
    """A lattice moves the body by 1 m, so the knife at its place cuts it in the middle."""
    obj = enabled("cube")
    bpy.ops.object.add(type="LATTICE")
    lattice = bpy.context.object
    lattice.scale = (4.0, 4.0, 4.0)
    obj.modifiers.new("Lattice", "LATTICE").object = lattice
    bpy.context.view_layer.update()
    for point in lattice.data.points:
        point.co_deform.y += 0.25
    knife = add_knife(obj)
    knife.rotation_euler = (np.pi / 2, 0.0, 0.0)
    keyed(knife, "location", (1, (0.0, 1.0, 4.0)), (20, (0.0, 1.0, 0.0)))
    bpy.ops.sinew.split_mesh()
    X = vertex_positions(obj.data)
    seam = np.unique(triangles_of(obj.data, False)[make_job(obj, bpy.context).body.seams.seam_faces])
    np.testing.assert_allclose(X[seam, 1], 0.0, atol=1e-4)


@pytest.mark.parametrize(
    ("words", "prepare"),
    [
        ("neither cutters nor a tear", lambda obj, knife: setattr(obj.sinew.cuts, "cutter", None)),
        ("one piece", lambda obj, knife: keyed(knife, "location", (1, (0, 9, 4)), (20, (0, 9, 0)))),
        ("shape keys", lambda obj, knife: obj.shape_key_add(name="Basis")),
        ("sweeps a volume", lambda obj, knife: keyed(knife, "location", (1, (0, 9, 0)), (20, (0, -9, 0)))),
        ("change the mesh", lambda obj, knife: subdivided(obj)),
        ("changes its mesh", lambda obj, knife: growing(knife)),
        ("vertex group", lambda obj, knife: setattr(obj.sinew.cuts, "tear", "PAINTED")),
    ],
)
def test_bad_input_is_named_and_leaves_the_body_as_it_was(words, prepare):
    obj = enabled("cube")
    knife = add_knife(obj)
    prepare(obj, knife)
    before, frame = obj.data, bpy.context.scene.frame_current
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.sinew.split_mesh()
    assert obj.data == before and len(before.vertices) == 8 and obj.sinew.cuts.original is None
    assert bpy.context.scene.frame_current == frame and len(bpy.data.meshes) == 2


def subdivided(obj: Any) -> None:
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.sinew.simulate_at, obj.sinew.simulate_after = "MODIFIER", "Subdivision"


def growing(knife: Any) -> None:
    array = knife.modifiers.new("Array", "ARRAY")
    keyed(array, "count", (1, 1), (20, 3))


def test_one_of_two_cutters_that_misses_is_named():
    obj = enabled("cube")
    knife = add_knife(obj)
    group = bpy.data.collections.new("Knives")
    bpy.context.scene.collection.children.link(group)
    beside = bpy.data.objects.new("Beside", knife.data)
    beside.location = (0.0, 9.0, 0.0)
    beside.rotation_euler = knife.rotation_euler
    for each in (knife, beside):
        group.objects.link(each)
    obj.sinew.cuts.cutter_kind, obj.sinew.cuts.cutters = "COLLECTION", group
    bpy.context.view_layer.update()
    bpy.ops.sinew.split_mesh()
    from sinew.blender_addon.cuts import splitting

    found = splitting.split(obj, bpy.context)
    assert splitting.missed_words(obj, found) == "Nothing is cut by “Beside”: move it through the body."


@pytest.mark.parametrize("result", ["KEYS", "CACHE"])
def test_a_cut_body_comes_apart_in_a_bake(saved, result):
    """Half of a cube falls once the knife has passed; numbers of vertices stay, and the split cannot change."""
    obj = enabled("cube")
    obj.sinew.pin_group, obj.sinew.cells_across, obj.sinew.result = "Pins", 4, result
    pinned = np.flatnonzero(vertex_positions(obj.data)[:, 1] < 0.0).tolist()
    obj.vertex_groups.new(name="Pins").add(pinned, 1.0, "REPLACE")
    add_knife(obj)
    obj.sinew.cuts.edges_across = 8
    bpy.ops.sinew.split_mesh()
    count = len(obj.data.vertices)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert (obj.sinew.bake.status, obj.sinew.bake.message) == ("DONE", "")
    store = baking.open_store(obj)
    assert all(len(store.read(frame)) == count for frame in store.frames()) and len(obj.data.vertices) == count
    fallen = store.read(20) - store.read(1)
    piece = columns_of(obj.data.attributes["sinew_piece"].data, "value", 1, np.int32)[:, 0]
    heights = sorted(fallen[piece == k, 2].mean() for k in (0, 1))
    assert heights[0] < -0.3 and heights[1] > -0.05
    assert not bpy.ops.sinew.split_mesh.poll() and not bpy.ops.sinew.restore_mesh.poll()
