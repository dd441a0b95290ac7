"""Overlays of what the solver got: read, sliced, coloured, drawn off screen, and explained."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import gpu
import numpy as np
import pytest
from mathutils import Euler, Matrix
from sinew.blender_addon.draw_handlers import overlay_legend, overlays
from sinew.blender_addon.drawing import layer, overlay_colliders
from sinew.blender_addon.drawing import overlay_marks as marks
from sinew.blender_addon.drawing.gpu_overlay import Painter, View, marks_batch, tets_batch
from sinew.blender_addon.drawing.overlay_colliders import collider_lines
from sinew.blender_addon.drawing.overlay_tets import ShownTets, Slice, newest_store, read_tets
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.core.contact.penalty.penalty import PenaltyParameters
from sinew.core.geometry.mesh.embedding import Embedding
from sinew.core.jobs.store.cached_materials import received

from .. import card


@pytest.fixture
def hard_cored(body, saved_body):
    """The bar with a stiff part painted on its free end, tetrahedralized."""
    body.sinew.materials[0].log_stiffness = 4.0
    bpy.ops.sinew.add_material(preset="Bone")
    stiff = body.sinew.materials[1]
    stiff.log_stiffness, stiff.vertex_group = 9.0, "Stiff"
    body.vertex_groups.new(name="Stiff").add([8, 9, 10, 11], 1.0, "REPLACE")
    bpy.ops.sinew.tetrahedralize()
    return body


@pytest.fixture
def saved_body(body, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    return body


def tets_of(obj):
    return read_tets(newest_store(obj)[0])


def test_nothing_is_there_before_tetrahedralize(saved_body):
    assert newest_store(saved_body)[0] is None


def test_tets_lie_where_the_object_does_and_say_what_they_are_made_of(hard_cored):
    tets = tets_of(hard_cored)
    assert tets.names == tuple(material.name for material in hard_cored.sinew.materials)
    assert tets.stiffness[0] == pytest.approx(1e4) and tets.stiffness[1] == pytest.approx(1e9)
    corners = tets.corners("STIFFNESS", None)
    places = corners.position[:, :3]
    assert (places.min(axis=0) < 0.01).all() and (places.max(axis=0) > [0.99, 0.29, 0.29]).all()
    assert np.linalg.norm(corners.normal[:, :3], axis=1) == pytest.approx(1.0, abs=1e-5)
    free, fixed = places[:, 0] > 0.9, places[:, 0] < 0.2
    # Red is stiff, blue is soft.
    assert corners.colour[free].mean(axis=0)[0] > 3 * corners.colour[free].mean(axis=0)[2]
    assert corners.colour[fixed].mean(axis=0)[2] > corners.colour[fixed].mean(axis=0)[0]
    by_material = tets.corners("MATERIALS", None).colour
    assert np.abs(by_material[fixed, :3] - tets.colours_of_materials[0]).max() < 1e-5
    assert len(tets.outside) == 0


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-2.0, 1.0, 0.5)])
def test_triangles_point_outwards_however_the_object_is_scaled(saved_body, scale):
    saved_body.scale, saved_body.location = scale, (3.0, -1.0, 2.0)
    bpy.ops.sinew.tetrahedralize()
    got = received(newest_store(saved_body)[0])
    corners = ShownTets(got).corners("STIFFNESS", None)
    x, normals = corners.position[:, :3].reshape(-1, 3, 3), corners.normal[::3, :3]
    across = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    side = np.einsum("ti,ti->t", normals, across)
    assert (side > 0.0).all() if scale[0] > 0.0 else (side < 0.0).all()
    # Normals that point outwards make a closed surface hold the volume of its tets.
    volume = np.einsum("ti,ti->", normals * np.linalg.norm(across, axis=1)[:, None], x.mean(axis=1)) / 6.0
    assert volume == pytest.approx(got.mesh.volumes.sum() / abs(np.prod(scale)), rel=1e-4)
    assert (x.reshape(-1, 3).max(axis=0) > [0.99, 0.29, 0.29]).all()


def test_a_slice_moves(hard_cored):
    tets = tets_of(hard_cored)
    ends = [tets.corners("STIFFNESS", Slice(0, offset, False)).position[:, 0].max() for offset in (0.2, 0.5, 1.0)]
    assert ends[0] < ends[1] - 0.1 < ends[2] - 0.2
    rest = tets.corners("STIFFNESS", Slice(0, 0.5, True)).position
    assert rest[:, 0].max() == pytest.approx(ends[2]) and rest[:, 0].min() > 0.2


def test_badly_embedded_vertices_are_marked_where_they_are(body, saved_body):
    """A vertex whose coordinates in its tet are made far from its place."""
    bpy.ops.sinew.tetrahedralize()
    got = received(newest_store(body)[0])
    weights = got.embedding.barycentric.copy()
    weights[11] += [-1.5, 0.5, 0.5, 0.5]
    far = Embedding(got.embedding.tet_indices, weights, got.embedding.outside)
    shown = ShownTets(got._replace(embedding=far))
    corners = got.mesh.rest_positions[got.mesh.tets[far.tet_indices[11]]]
    expected = vertex_positions(body.data)[11] + np.array([-1.5, 0.5, 0.5, 0.5]) @ corners
    assert shown.outside.shape == (1, 3) and np.abs(shown.outside[0] - expected).max() < 1e-5


def looking_down(height):
    return View(*card.straight_down(height))


def test_tets_are_drawn_in_their_colours_before_all_else(hard_cored):
    card.make_ready()
    tets, painter = tets_of(hard_cored), Painter()
    batch = tets_batch(tets.corners("STIFFNESS", None))
    view, window = card.straight_down(1.2)
    here = np.eye(4)
    here[:3, 3] = -0.5, -0.15, 0.0
    seen = card.picture(lambda: painter.tets(batch, View(view, window, in_front=True), here))
    left, right = seen[26:38, 8:16, :3].mean(axis=(0, 1)), seen[26:38, 50:56, :3].mean(axis=(0, 1))
    assert left[2] > left[0] + 0.1 and right[0] > right[2] + 0.1
    assert seen[:10, :, :3].max() == 0.0
    half = tets_batch(tets.corners("STIFFNESS", Slice(0, 0.4, False)))
    cut = card.picture(lambda: painter.tets(half, View(view, window), here))
    assert cut[26:38, 8:16, :3].min() > 0.0 and cut[26:38, 50:56, :3].max() == 0.0


def test_marks_are_seen_and_dim_where_they_are_hidden():
    card.make_ready()
    painter, view = Painter(), looking_down(2.0)
    dot, line = (marks_batch(kind, np.array(points)) for kind, points in (
        ("POINTS", [[0.5, 0.5, 0.0]]), ("LINES", [[-1.0, -0.5, 0.0], [1.0, -0.5, 0.0]])))  # fmt: skip
    assert marks_batch("POINTS", np.empty((0, 3))) is None

    def draw():
        painter.marks("POINTS", dot, view, np.eye(4), (1.0, 0.0, 0.0), 12.0)
        painter.marks("LINES", line, view, np.eye(4), (0.0, 1.0, 0.0))

    seen = card.picture(draw)
    assert seen[48, 48, 0] > 0.95 and seen[48, 48, 1] == 0.0
    assert seen[15:18, 20:44, 1].max(axis=0).min() > 0.95
    behind = card.straight_down(2.0)[1]
    far = np.eye(4)
    far[2, 3] = -30.0  # beyond the far plane's depth of 1 that the picture is cleared with: still drawn, but clipped

    def beyond():
        painter.marks("POINTS", dot, View(np.eye(4), behind), far, (1.0, 0.0, 0.0), 12.0)

    assert card.picture(beyond).max() <= 1.0


def test_marks_lie_on_the_vertices_that_the_groups_name(saved_body):
    obj, depsgraph = saved_body, bpy.context.evaluated_depsgraph_get()
    obj.location = (0.0, 0.0, 5.0)
    target = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (1.0, 2.0, 3.0)
    bpy.ops.sinew.add_spring()
    spring = obj.sinew.springs[0]
    spring.vertex_group, spring.end, spring.target = "Tip", "OBJECT", target
    obj.sinew.node_group = "Nodes"
    nodes = obj.vertex_groups.new(name="Nodes")
    nodes.add([6], 1.0, "REPLACE")
    nodes.add([7], 0.9, "REPLACE")
    obj.vertex_groups.new(name="Tip").add([10, 11], 0.4, "REPLACE")
    obj.sinew.collisions.use_ground = True
    bpy.context.view_layer.update()
    positions = marks.shown_positions(obj, obj, depsgraph)
    groups = marks.groups_of(obj)
    weights = group_weights(obj, obj.data, groups)
    assert positions[:, 2].min() == pytest.approx(5.0)
    assert np.array_equal(marks.mark_points(obj, weights, positions)["pins"], positions[:4])
    assert np.array_equal(marks.mark_points(obj, weights, positions)["nodes"], positions[6:7])
    (ball,) = marks.mark_points(obj, weights, positions)["balls"]
    assert np.array_equal(ball[:3], positions[6]) and ball[3] == pytest.approx(0.45), "of a body of one metre"
    obj.sinew.pin_threshold = 1.5
    found = marks.mark_points(obj, weights, positions)
    assert len(found["pins"]) == 0
    points, ends = found["springs"], found["lines"]
    assert np.array_equal(points, positions[[10, 11]])
    assert np.array_equal(ends[0::2], points) and np.allclose(ends[1::2], [1.0, 2.0, 3.0])
    assert marks.groups_of(obj) == groups
    spring.vertex_group = "Pins"
    assert marks.groups_of(obj) != groups, "others are to be read"
    ground = found["ground"]
    assert len(ground) == 4 * (marks.GRID + 1) and np.ptp(ground[:, 2]) == 0.0


def lines_of(collider, obj, distance=0.0, least=0.0):
    bpy.context.view_layer.update()
    return collider_lines(collider, obj, distance, least, bpy.context.evaluated_depsgraph_get())


def cube_in(collection, **given):
    bpy.ops.mesh.primitive_cube_add(**given)
    cube = bpy.context.object
    collection.objects.link(cube)
    return cube


def test_edges_of_colliders_are_found_hidden_or_not(saved_body, collection):
    cube = cube_in(collection)
    cube.hide_viewport = True
    assert marks.colliders_of(saved_body, bpy.context) == [cube]
    assert lines_of(cube, saved_body).edges.shape == (24, 3)
    collection.objects.unlink(cube)
    assert marks.colliders_of(saved_body, bpy.context) == []


@pytest.mark.parametrize("hidden", [False, True])
def test_instances_that_collide_are_shown_where_they_are(saved_body, collection, hidden):
    asset = bpy.data.collections.new("Asset")
    prop = cube_in(asset)
    asset.instance_offset = (1.0, 0.0, 0.0)
    empty = bpy.data.objects.new("Crate", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", asset
    empty.location, empty.scale = (5.0, 0.0, 0.0), (2.0, 1.0, -1.0)
    collection.objects.link(empty)
    empty.hide_set(hidden)
    lines = lines_of(empty, saved_body)
    assert lines.sources == {prop.session_uid} and lines.edges.shape == (24, 3)
    seen = lines.edges @ np.array(empty.matrix_world)[:3, :3].T + [5.0, 0.0, 0.0]
    assert np.allclose([seen.min(axis=0), seen.max(axis=0)], [[1.0, -1.0, -1.0], [5.0, 1.0, 1.0]], atol=1e-6)


def test_of_many_instances_boxes_are_shown(saved_body, collection, monkeypatch):
    cube = cube_in(collection)
    cube.modifiers.new("Fine", "SUBSURF").levels = 3
    points = bpy.data.objects.new("Points", bpy.data.meshes.new("Points"))
    points.data.from_pydata([(0, 0, 0), (9, 0, 0)], [], [])
    collection.objects.link(points)
    cube.parent, points.instance_type = points, "VERTS"
    assert len(lines_of(points, saved_body).edges) > 2 * 2 * 700
    monkeypatch.setattr(overlay_colliders, "MOST_EDGES", 1000)
    boxes = lines_of(points, saved_body, 0.5)
    assert boxes.edges.shape == boxes.outline.shape == (2 * 24, 3)
    assert boxes.edges[:, 0].max() - 9.0 == pytest.approx(-boxes.edges[:, 0].min()) and boxes.edges[:, 0].max() > 9.5


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-3.0, 1.0, 0.5)])
def test_the_outline_lies_at_the_distance_in_world_space(saved_body, collection, scale):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32)
    ball = bpy.context.object
    ball.scale, ball.rotation_euler = scale, (0.4, 0.0, 1.0)
    collection.objects.link(ball)
    lines = lines_of(ball, saved_body, 0.3)
    linear = np.array(ball.matrix_world)[:3, :3]
    edges, outline = (points @ linear.T for points in lines[:2])
    normals = edges @ np.linalg.inv(linear @ linear.T)  # of the ellipsoid
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    assert (np.einsum("ei,ei->e", outline - edges, normals) > 0.299).all()
    cube = cube_in(collection)
    cube.scale = scale
    assert np.allclose(np.abs(lines_of(cube, saved_body, 0.3).outline * scale), np.abs(scale) + 0.3, atol=1e-4), (
        "faces lie there"
    )
    assert len(lines_of(ball, saved_body, 1e-4).outline) == 0, "one could not tell it from the edges"


def test_a_sheet_is_outlined_on_both_sides_and_what_is_flat_not_at_all(saved_body, collection):
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    collection.objects.link(plane)
    lines = lines_of(plane, saved_body, 0.25)
    assert sorted(set(lines.outline[:, 2].tolist())) == [-0.25, 0.25] and len(lines.outline) == 2 * len(lines.edges)
    assert np.allclose(np.abs(lines_of(plane, saved_body, 0.1, 0.3).outline[:, 2]), 0.3, atol=1e-6)
    assert np.abs(lines_of(cube_in(collection), saved_body, 0.1, 0.3).outline).max() == pytest.approx(1.1, abs=1e-4)
    plane.scale.x = 0.0
    assert [len(points) for points in lines_of(plane, saved_body, 0.25)] == [0, 0, 0]


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_the_least_distance_from_sheets_is_the_solvers(saved_body, collection, monkeypatch, unit):
    """Figures of the body as simulated, also before anything is computed."""
    bpy.ops.mesh.primitive_plane_add(size=0.5)
    collection.objects.link(bpy.context.object)
    plane, made = bpy.context.object, []
    bpy.context.scene.unit_settings.scale_length = unit
    bpy.context.view_layer.objects.active = saved_body
    saved_body.sinew.collisions.thickness = 1e-4
    monkeypatch.setattr(overlays, "collider_lines", lambda *given: made.append(given) or collider_lines(*given))
    monkeypatch.setattr(overlays, "marks_batch", lambda kind, points: None)
    kept = overlays.MarksOf(saved_body.session_uid)
    for scale in (2.0, 3.0):
        saved_body.scale.x = scale
        bpy.context.view_layer.update()
        kept.forget(set(), {saved_body.session_uid}, False)
        kept.collider(plane, saved_body, bpy.context)
        size = make_job(saved_body, bpy.context).body.surface.size
        numbers = PenaltyParameters.for_body(1000.0, size, 9.81, 1.0 / 24.0)
        assert made[-1][3] * unit == pytest.approx(numbers.sheet_thickness, rel=1e-6) and size == pytest.approx(
            scale * unit
        )
        assert np.abs(collider_lines(*made[-1]).outline[:, 2]).min() == pytest.approx(made[-1][3], rel=1e-5)


def test_lines_are_made_anew_after_what_changes_them_alone(saved_body, collection, monkeypatch):
    cube, made = cube_in(collection), []
    monkeypatch.setattr(overlays, "collider_lines", lambda *given: made.append(given) or collider_lines(*given))
    monkeypatch.setattr(overlays, "marks_batch", lambda kind, points: None)
    kept = overlays.MarksOf(saved_body.session_uid)

    def draw():
        bpy.context.view_layer.update()
        kept.collider(cube, saved_body, bpy.context)
        return len(made)

    assert draw() == draw() == 1
    cube.location, cube.rotation_euler = (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)
    kept.forget(set(), {cube.session_uid}, False)
    assert draw() == 1, "it is drawn under its matrix"
    for angle in np.linspace(0.0, 6.0, 25):
        cube.rotation_euler = (angle, 2.0 * angle, -angle)
        assert draw() == 1
    cube.scale.x = 2.0
    assert draw() == 2
    saved_body.sinew.collisions.thickness = 0.5
    assert draw() == 3 and draw() == 3
    kept.forget({cube.session_uid}, set(), False)
    assert draw() == 4
    cube.scale = (1e-4, 1e-4, 1e-4)
    assert draw() == 5 and len(made[-1]) == 5 and len(collider_lines(*made[-1]).edges) == 24
    cube.scale.z = 2e-4
    assert draw() == 6


def test_the_legend_names_both_ends_and_the_powers_of_ten_between():
    assert overlay_legend.ticks(5e4, 5e4) == [(0.5, "50 kPa")]
    found = overlay_legend.ticks(5e4, 2e7)
    assert [words for _, words in found] == ["50 kPa", "100 kPa", "1 MPa", "10 MPa", "20 MPa"]
    assert [place for place, _ in found] == pytest.approx([0.0, 0.1157, 0.5, 0.8843, 1.0], abs=1e-3)
    places = [place for place, _ in overlay_legend.ticks(1e2, 9.7e11)]
    assert np.diff(places).min() >= overlay_legend.NEAR and places[-1] == 1.0
    assert overlay_legend.short_pascals(999.9) == "1 kPa" and overlay_legend.short_pascals(0.25) == "0.25 Pa"


def test_the_legend_is_drawn_in_the_corner_that_the_sidebar_leaves_free():
    card.make_ready()
    region = SimpleNamespace(width=256, height=256, x=40)
    sidebar = SimpleNamespace(type="UI", alignment="RIGHT", width=60, x=40 + 196)
    system = SimpleNamespace(ui_scale=1.0, use_region_overlap=True)
    context = SimpleNamespace(
        region=region, area=SimpleNamespace(regions=[sidebar]), preferences=SimpleNamespace(system=system)
    )
    legend = overlay_legend.Legend(
        bar=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), rows=[((0.0, 0.0, 1.0), "Pins", "SQUARE")]
    )
    legend.title, legend.ticks = "Stiffness", overlay_legend.ticks(1e4, 1e6)

    def draw():
        flat = np.diag([2.0 / 256.0, 2.0 / 256.0, 1.0, 1.0])
        flat[:2, 3] = -1.0
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(Matrix(flat.tolist()))
            overlay_legend.draw(legend, context)

    seen = card.picture(draw, (256, 256))[..., :3]
    places = [np.argwhere(np.abs(seen - colour).max(axis=2) < 0.02) for colour in np.eye(3)]
    assert all(len(found) > 100 for found in places)
    red, green, blue = (found.mean(axis=0) for found in places)
    assert blue[0] < red[0] < green[0] and red[1] == pytest.approx(green[1])
    assert seen[:, 200:].max() == 0.0 and (seen.min(axis=2) > 0.9).sum() > 50


def test_the_legend_asks_for_tetrahedra_and_explains_them(hard_cored, saved_body):
    settings = bpy.context.workspace.sinew
    drawn = overlays.Overlays()
    try:
        assert drawn.legend(hard_cored, {"tets"}, settings).words == [overlays.FIRST]
        kept = overlays.latest(drawn._tets, hard_cored.session_uid, overlays.TetsOf)
        kept.look(hard_cored)
        legend = drawn.legend(hard_cored, {"tets"}, settings)
        assert legend.title == "Stiffness" and len(legend.bar) == 64
        assert [words for _, words in legend.ticks][::5] == ["10 kPa", "1 GPa"]
        settings.colour = "MATERIALS"
        legend = drawn.legend(hard_cored, {"tets", "outside"}, settings)
        assert [words for _, words, _ in legend.rows] == [m.name for m in hard_cored.sinew.materials]
        assert "No vertex is badly embedded" in legend.words
    finally:
        drawn.remove()
        bpy.context.workspace.property_unset("sinew")


def test_an_error_in_drawing_is_told_once_and_other_switches_are_tried(hard_cored, monkeypatch, capsys):
    drawn = overlays.Overlays()
    asked, drawings = frozenset({"pins"}), []

    def draw(_self, _context, asked, obj, _shown):
        drawings.append(asked)
        raise RuntimeError("no batch")

    context = SimpleNamespace(context=SimpleNamespace(region_data=object()))
    monkeypatch.setattr(overlays, "bpy", context)
    monkeypatch.setattr(layer, "bpy", context)
    monkeypatch.setattr(overlays, "asked_for", lambda _context: asked)
    monkeypatch.setattr(overlays, "shown_body", lambda _context: (hard_cored, hard_cored))
    monkeypatch.setattr(overlays.Overlays, "_draw_body", draw)
    try:
        drawn.draw(drawn.draw_view)
        drawn.draw(drawn.draw_view)
        assert drawings == [asked] and capsys.readouterr().err.count("RuntimeError: no batch") == 1
        said = drawn.legend(hard_cored, asked, None).words
        assert said == ["The overlays cannot be drawn (no batch). Switch them off and on."]
        asked = frozenset({"springs"})
        drawn.draw(drawn.draw_view)
        assert len(drawings) == 2
    finally:
        monkeypatch.undo()
        drawn.remove()


def test_what_is_kept_of_bodies_is_bounded():
    kept = {}
    made = [overlays.latest(kept, uid, overlays.TetsOf) for uid in (1, 2, 3, 1, 4)]
    assert list(kept) == [3, 1, 4] and made[0] is made[3]


def test_balls_of_nodes_are_circles_that_face_the_viewer(saved_body):
    obj = saved_body
    positions = marks.shown_positions(obj, obj, bpy.context.evaluated_depsgraph_get())
    balls = marks.node_balls(obj, np.array([0, 1, 8]), positions + 1.0)
    near = np.linalg.norm(positions[0] - positions[1])
    assert np.allclose(balls[:, :3], positions[[0, 1, 8]] + 1.0) and np.allclose(
        balls[:2, 3], np.clip(near, 0.12, 0.45)
    )
    turn = np.eye(4)
    turn[:3, :3] = np.array(Euler((0.4, 0.5, 0.6)).to_matrix())
    ends = marks.circles(balls, turn).reshape(3, -1, 3) - balls[:, None, :3]
    assert np.allclose(np.linalg.norm(ends, axis=2), balls[:, 3:]) and np.allclose(ends @ turn[2, :3], 0.0, atol=1e-6)
    assert len(marks.node_balls(obj, np.zeros(0, dtype=int), positions)) == 0
    assert len(marks.node_balls(obj, np.arange(201), positions)) == 0, "a bake refuses them"
    assert len(marks.circles(np.empty((0, 4)), turn)) == 0
