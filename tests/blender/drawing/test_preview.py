"""The preview on the graphics card: positions, normals, colours, and what it leaves behind."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import bpy
import gpu
import numpy as np
import pytest
from sinew.blender_addon.drawing import preview_shader
from sinew.blender_addon.drawing.display_mode import Manner
from sinew.blender_addon.drawing.gpu_preview import Preview
from sinew.blender_addon.drawing.preview_light import Light, studio_lights
from sinew.blender_addon.drawing.preview_mesh import DrawnMesh, Skin, drawn_mesh, read_drawn_mesh
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.core.foundation.errors import PreviewError
from sinew.core.methods.subspaces.display_handles import DisplayHandles
from sinew.core.simulation.frame_loop.live import Grab, LiveBody
from sinew.core.simulation.frame_loop.live_service import display_arrays
from sinew.core.simulation.preparation.prepare import prepare

from .. import card

STUDIO = (
    Light((-0.365, 0.548, 0.753), (0.62, 0.62, 0.62), (0.5, 0.5, 0.5), 0.0),
    Light((0.811, 0.081, 0.579), (0.20, 0.20, 0.20), (0.1, 0.1, 0.1), 0.2),
    Light((0.0, -0.894, 0.447), (0.12, 0.12, 0.12), (0.0, 0.0, 0.0), 0.5),
)
"""A key from the upper left, a fill from the right, and a weak one from below."""


@pytest.fixture(autouse=True)
def drawing(empty_file):
    card.make_ready()


def ball(add_mesh, rings=48, smooth=True):
    """A smooth ball with a dent, of radius 0.5 around (0.2, 0, 0); its mesh."""
    import bmesh

    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=2 * rings, v_segments=rings, radius=0.5)
    obj = add_mesh([], [])
    shape.to_mesh(obj.data)
    shape.free()
    points = vertex_positions(obj.data)
    points *= (1.0 - 0.3 * np.exp(-8.0 * np.linalg.norm(points - [0.3, 0.2, 0.35], axis=1) ** 2))[:, None]
    obj.data.vertices.foreach_set("co", (points + [0.2, 0.0, 0.0]).astype(np.float32).ravel())
    obj.data.polygons.foreach_set("use_smooth", np.full(len(obj.data.polygons), smooth))
    obj.data.update()
    return obj.data


def waves(points, count, seed=0):
    """Signed smooth weights (n,h), and small random handles for a body of this size."""
    random = np.random.default_rng(seed)
    weights = np.sin(points @ random.normal(0.0, 2.5, (3, count)) + np.arange(count))
    return weights, random.normal(0.0, 0.12 / np.sqrt(count), (count, 4, 3))


def degrees_between(a, b):
    return np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", a, b), -1.0, 1.0)))


def preview_of(mesh, handles, seed=0):
    """A preview of a mesh under waves, bent; with its rest positions and weights."""
    points = vertex_positions(mesh)
    weights, bent = waves(points, handles, seed)
    skin = Skin(points, weights, np.array([0.15, 0.02, -0.01]), 1.1)
    preview = Preview(drawn_mesh(mesh, np.eye(4)), skin)
    preview.set_handles(bent)
    return preview, skin, bent


def square(skin_weights=((1.0,),) * 4, normal=(0.0, 0.0, 1.0)):
    """A unit square in the plane z = 0."""
    points = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    normals = np.tile(np.array(normal, dtype=np.float32), (2, 3, 1))
    return DrawnMesh(triangles, normals), Skin(points, np.array(skin_weights), np.zeros(3), 1.0)


def test_what_is_drawn_is_at_rest_when_a_rest_shape_is_chosen(body):
    plain = read_drawn_mesh(body, bpy.context, 1)
    body.shape_key_add(name="Basis")
    sheared = body.shape_key_add(name="Sheared")
    for point in sheared.data:
        point.co.z += 0.5 * point.co.x
    sheared.value, body.sinew.rest_key = 1.0, "Basis"

    def shown():
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        return [tuple(vertex.co) for vertex in mesh.vertices]

    before = shown()
    np.testing.assert_allclose(read_drawn_mesh(body, bpy.context, 1).normals, plain.normals, atol=1e-6)
    assert shown() == before
    body.sinew.rest_key = ""
    assert np.abs(read_drawn_mesh(body, bpy.context, 1).normals - plain.normals).max() > 0.1


@pytest.mark.parametrize("handles", [1, 5, 17, 18, 19, 20, 64, 84])
def test_the_card_moves_vertices_as_the_processor_does(add_mesh, handles):
    mesh = ball(add_mesh, 32)
    preview, skin, bent = preview_of(mesh, handles)
    assert preview_shader.in_attributes(handles) == (handles <= 18)
    found = skin.centre + skin.size * card.read_back(preview, "moved")
    vertices = preview.card.vertices
    coordinates = np.column_stack([(skin.rest - skin.centre) / skin.size, np.ones(len(skin.rest))])
    expected = skin.rest + np.einsum("nh,ni,hij->nj", skin.weights, coordinates, bent)
    assert np.abs(expected - skin.rest).max() > 0.05
    assert np.abs(preview.positions() - expected).max() < 1e-12
    assert np.abs(found - expected[vertices]).max() < 1e-6 * skin.size


@pytest.mark.parametrize("modes", [5, 16])
def test_the_card_shows_what_is_simulated(body, modes):
    """``X + A U`` of a body in its modes, pulled at a corner and held at an end, against the card's vertices."""
    body.sinew.solver, body.sinew.modes, body.sinew.cells_across = "subspace_mixed_fem", modes, 8
    job = make_job(body, bpy.context).extended()
    prepared = prepare(job)
    arrays = display_arrays(job, prepared)
    skin = Skin(arrays["rest"], arrays["weights"], arrays["centre"], float(arrays["size"][0]))
    preview = Preview(read_drawn_mesh(body, bpy.context, job.frame_start), skin)
    assert arrays["weights"].shape[1] > modes and arrays["weights"].min() < 0.0
    live = LiveBody(job, prepared)
    for _ in range(5):
        frame = live.advance([Grab(11, skin.rest[11] + [0.0, 0.3, 0.2], 2000.0)])
    shown = DisplayHandles(prepared.subspace, prepared.embedding)
    preview.set_handles(shown.of(frame.state.positions))
    simulated = prepared.surface(frame.state.positions)
    assert np.abs(simulated - skin.rest).max() > 0.02 * skin.size
    beside = np.linalg.norm(preview.positions() - simulated, axis=1).max()
    assert shown.max_difference(frame.state.positions) == pytest.approx(beside, rel=1e-2, abs=2e-6 * skin.size)
    assert beside < 0.01 * skin.size
    found = skin.centre + skin.size * card.read_back(preview, "moved")
    assert np.abs(found - preview.positions()[preview.card.vertices]).max() < 2e-6 * skin.size


def test_new_handles_reach_the_card(add_mesh):
    preview, skin, bent = preview_of(ball(add_mesh, 8), 20)
    card.read_back(preview, "moved")
    preview.set_handles(-2.0 * bent)
    found = skin.centre + skin.size * card.read_back(preview, "moved")
    assert np.abs(found - preview.positions()[preview.card.vertices]).max() < 1e-6
    assert np.abs(preview.handles + 2.0 * bent).max() == 0.0


def test_positions_are_drawn_as_handles_that_lead_there(add_mesh):
    """A body without handles has the same vertices and normals, from the same shader."""
    preview, skin, bent = preview_of(ball(add_mesh, 32), 5)
    plain = Preview(
        drawn_mesh(bpy.context.object.data, np.eye(4)), skin._replace(weights=np.zeros((len(skin.rest), 1)))
    )
    shader, at_rest = plain.ready().shader, plain.shape
    for part in (0.5, 1.0):
        preview.set_handles(part * bent)
        plain.set_positions(preview.positions())
        found, expected = ([card.read_back(each, name) for name in ("moved", "turned")] for each in (plain, preview))
        assert np.abs(found[0] - expected[0]).max() < 2e-6
        assert degrees_between(found[1], expected[1]).max() < 1.0
    assert plain.ready().shader is shader
    assert np.array_equal(plain.positions(), preview.positions()) and np.array_equal(
        plain.positions(at_rest), skin.rest
    )


def normal_errors(add_mesh, handles, rings):
    """Degrees between the card's normals and those of the deformed mesh, and between normals at rest and deformed."""
    mesh = ball(add_mesh, rings)
    preview, *_ = preview_of(mesh, handles)
    assert len(preview.card.vertices) == len(mesh.vertices)
    found = card.read_back(preview, "turned")
    mesh.vertices.foreach_set("co", preview.positions().astype(np.float32).ravel())
    mesh.update()
    expected = np.empty((len(found), 3))
    expected[preview.card.triangles.ravel()] = drawn_mesh(mesh, np.eye(4)).normals.reshape(-1, 3)
    return degrees_between(found, expected), degrees_between(preview.card.normals, expected)


@pytest.mark.parametrize("handles", [5, 20])
def test_normals_of_a_smooth_body_are_those_of_the_deformed_mesh(add_mesh, handles):
    """Both are means over the triangles around, which differ by the square of the triangles' size."""
    coarse, _ = normal_errors(add_mesh, handles, 32)
    fine, turned = normal_errors(add_mesh, handles, 64)
    assert turned.max() > 20.0
    assert fine.max() < 1.0 and fine.mean() < 0.1
    assert fine.mean() < coarse.mean() / 3.0


def test_a_coarse_body_shaded_smooth_has_exact_normals_under_affine_weights(add_mesh):
    # A double pyramid: each triangle leans by 55 degrees from the tangent plane of its corners.
    corners = [(0.5, 0, 0), (-0.5, 0, 0), (0, 0.5, 0), (0, -0.5, 0), (0, 0, 0.5), (0, 0, -0.5)]
    faces = [(a, b, c) for a in (0, 1) for b in (2, 3) for c in (4, 5)]
    faces = [f if (f[0] + f[1] + f[2]) % 2 == 0 else f[::-1] for f in faces]
    mesh = add_mesh(corners, faces).data
    mesh.polygons.foreach_set("use_smooth", np.ones(8, dtype=bool))
    mesh.update()
    points = vertex_positions(mesh)
    preview = Preview(drawn_mesh(mesh, np.eye(4)), Skin(points, points[:, :1], np.zeros(3), 1.0))
    assert len(preview.card.vertices) == 6
    push = np.zeros((1, 4, 3))
    push[0, 3] = [0.3, 0.4, -0.2]
    preview.set_handles(push)
    expected = preview.card.normals @ np.linalg.inv(np.eye(3) + np.outer(push[0, 3], [1.0, 0.0, 0.0]))
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.abs(card.read_back(preview, "turned") - expected).max() < 1e-5


def test_flat_faces_and_sharp_edges_stay_so(add_mesh):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = add_mesh(corners, faces).data
    points = vertex_positions(mesh)
    # The weight is affine along the faces, so that each of them stays flat under it.
    skin = Skin(points, np.column_stack([np.ones(8), points[:, 0]]), np.full(3, 0.5), 1.0)
    preview = Preview(drawn_mesh(mesh, np.eye(4)), skin)
    shear = np.random.default_rng(1).normal(0.0, 0.2, (2, 4, 3))
    shear[1, :3] = 0.0
    preview.set_handles(shear)
    assert len(preview.card.vertices) == 24
    F = np.eye(3) + shear[0, :3].T + np.outer(shear[1, 3], [1.0, 0.0, 0.0])
    expected = preview.card.normals @ np.linalg.inv(F)
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.abs(card.read_back(preview, "turned") - expected).max() < 1e-5


def test_a_mirrored_object_shows_its_outside(add_mesh):
    mesh = ball(add_mesh, 8)
    for matrix in (np.eye(4), np.diag([-2.0, 1.0, 0.5, 1.0])):
        drawn = drawn_mesh(mesh, matrix)
        x = (vertex_positions(mesh) @ matrix[:3, :3].T)[drawn.triangles]
        across = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        assert (np.einsum("ti,tki->tk", across, drawn.normals) > 0.0).all()
        assert np.abs(np.linalg.norm(drawn.normals, axis=2) - 1.0).max() < 1e-6


def test_the_body_is_read_at_its_place_and_frame(body):
    body.rotation_euler = (0.0, 0.0, 0.0)
    body.keyframe_insert("rotation_euler", frame=1)
    body.rotation_euler = (0.0, 0.0, 2.0)
    body.keyframe_insert("rotation_euler", frame=4)
    body.modifiers.new("Fine", "SUBSURF")
    bpy.context.scene.frame_set(4)
    drawn = read_drawn_mesh(body, bpy.context, 1)
    assert drawn.triangles.max() == 11
    assert bpy.context.scene.frame_current == 4
    # A bar along the axes: every flat face looks along one.
    assert np.abs(np.abs(drawn.normals).max(axis=2) - 1.0).max() < 1e-6


def shown_at(preview, places, **options):
    """Colours that a viewer sees at these places of the plane (x,y), the view being two units high."""
    view, window = card.straight_down(2.0)
    seen = card.picture(lambda: preview.draw(view, window, **options))
    return np.array([seen[int(32 + 32 * y), int(32 + 32 * x), :3] for x, y in places])


def test_colours_of_vertices_take_the_place_of_the_objects_colour():
    preview = Preview(*square())
    blue, red = (0.1, 0.2, 0.9), (0.8, 0.1, 0.1)
    (plain_blue,) = shown_at(preview, [(0.0, 0.1)], colour=blue)
    (plain_red,) = shown_at(preview, [(0.0, 0.1)], colour=red)
    assert plain_blue[2] > 2 * plain_blue[0] and plain_red[0] > 2 * plain_red[2]
    batch = preview.ready()
    preview.show_colours(np.array([blue, red, red, blue]))
    left, right, middle = shown_at(preview, [(-0.48, 0.1), (0.48, 0.1), (0.0, 0.1)], colour=(1.0, 1.0, 1.0))
    assert np.abs(left - plain_blue).max() < 0.03 and np.abs(right - plain_red).max() < 0.03
    assert plain_blue[0] < middle[0] < plain_red[0]
    preview.show_colours(None)
    assert np.abs(shown_at(preview, [(0.0, 0.1)], colour=red) - plain_red).max() < 1e-6
    assert preview.ready() is batch


def test_linear_light_is_encoded_for_a_plain_frame_buffer():
    """One light on a face across the view, in linear light, then as a screen wants it."""
    head_on = (Light((0.0, 0.6, 0.8), (0.5, 0.25, 0.5), (0.0, 0.0, 0.0), 0.5),)
    (seen,) = shown_at(Preview(*square(), lights=head_on), [(0.0, 0.1)], colour=(0.8, 0.8, 0.4))
    linear = np.array([0.4, 0.2, 0.2]) * (0.8 + 0.5) / 1.5**2 * 0.95
    assert np.abs(seen - (1.055 * linear ** (1.0 / 2.4) - 0.055)).max() < 3e-3


def test_the_artists_own_lights_are_taken():
    system = bpy.context.preferences.system
    lights = studio_lights(bpy.context.preferences)
    assert len(lights) == sum(light.use for light in system.solid_lights) >= 2
    assert np.abs(np.linalg.norm([light.direction for light in lights], axis=1) - 1.0).max() < 1e-3
    before = tuple(system.light_ambient)
    system.light_ambient = (0.3, 0.2, 0.1)
    try:
        ambient = studio_lights(bpy.context.preferences)[len(lights) :]
    finally:
        system.light_ambient = before
    (seen,) = shown_at(Preview(*square(), lights=ambient), [(0.0, 0.1)], colour=(1.0, 1.0, 1.0))
    linear = np.array([0.3, 0.2, 0.1]) * 0.95
    assert np.abs(seen - (1.055 * linear ** (1.0 / 2.4) - 0.055)).max() < 3e-3


def test_dots_move_with_the_body_and_are_seen_through_it():
    weights = ((0.0,), (0.0,), (1.0,), (1.0,))
    preview = Preview(*square(weights), lights=STUDIO)
    skin = Skin(np.array([[0.0, 0.0, -0.3]]), np.array([[1.0]]), np.zeros(3), 1.0)
    preview.set_dots(skin, np.array([0.2]))
    push = np.zeros((1, 4, 3))
    push[0, 3] = [0.25, 0.0, 0.0]
    options = {"colour": (0.0, 0.0, 0.2), "dot_colour": (0.0, 1.0, 0.0)}
    here, there = [(0.01, 0.01)], [(0.26, 0.01)]
    assert shown_at(preview, here, **options)[0, 1] < 0.2
    assert shown_at(preview, here, dots=True, **options)[0, 1] > 0.99
    preview.set_handles(push)
    assert shown_at(preview, here, dots=True, **options)[0, 1] < 0.2
    assert shown_at(preview, there, dots=True, **options)[0, 1] > 0.99
    assert shown_at(preview, there, **options)[0, 1] < 0.2


def test_metres_become_blender_units():
    mesh, skin = square()
    small, large = Preview(mesh, skin), Preview(mesh, skin, metres=0.6)
    assert shown_at(small, [(0.7, 0.7)]).max() == 0.0
    assert shown_at(large, [(0.7, 0.7)]).min() > 0.1


def test_a_body_far_from_the_origin_is_exact(add_mesh):
    preview, skin, bent = preview_of(ball(add_mesh, 8), 5)
    away = np.array([3e5, -2e5, 1e5])
    far = Preview(
        drawn_mesh(bpy.data.meshes["Body"], np.eye(4)), skin._replace(rest=skin.rest + away, centre=skin.centre + away)
    )
    far.set_handles(bent)
    assert np.abs(card.read_back(far, "moved") - card.read_back(preview, "moved")).max() < 1e-6


def test_the_state_of_the_card_is_put_back():
    preview = Preview(*square())
    preview.set_dots(Skin(np.zeros((1, 3)), np.ones((1, 1)), np.zeros(3), 1.0), np.ones(1))
    view, window = card.straight_down(2.0)
    found = []

    def draw():
        for state in (("ALPHA", "GREATER", False), ("NONE", "NONE", True)):
            gpu.state.blend_set(state[0])
            gpu.state.depth_test_set(state[1])
            gpu.state.depth_mask_set(state[2])
            preview.draw(view, window, dots=True)
            after = gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()
            found.append((state, after))

    seen = card.picture(draw)
    assert all(before == after for before, after in found)
    assert seen[32, 40, :3].max() > 0.1, "nothing was drawn whatever the state before"


def test_a_shader_that_the_driver_refuses_is_named(monkeypatch):
    monkeypatch.setattr(preview_shader, "_BEGIN", "no such words;")
    preview = Preview(*square())
    view, window = card.straight_down(2.0)
    with pytest.raises(PreviewError, match="refuses"):
        card.picture(lambda: preview.draw(view, window))
    assert len(preview.positions()) == 4


def test_a_body_that_no_texture_holds_is_refused(monkeypatch, add_mesh):
    monkeypatch.setattr(gpu.capabilities, "max_texture_size_get", lambda: 64)
    preview, *_ = preview_of(ball(add_mesh, 16), 20)
    with pytest.raises(PreviewError, match="do not fit"):
        card.read_back(preview, "moved")


def test_what_was_on_the_card_goes_with_the_preview(add_mesh):
    preview, skin, _ = preview_of(ball(add_mesh, 8), 20)
    preview.set_dots(skin, np.ones(len(skin.rest)))
    view, window = card.straight_down(2.0)
    card.picture(partial(preview.draw, view, window, dots=True))
    kept = weakref.ref(preview.ready().skinned), weakref.ref(preview)
    gc.disable()
    try:
        del preview
        assert [reference() for reference in kept] == [None, None]
    finally:
        gc.enable()


def two_squares():
    """A square, and a smaller one behind it; their edges."""
    points = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
    points = np.vstack([points, 0.5 * points - [0.0, 0.0, 0.4]])
    one = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    edges = np.array([[k, (k + 1) % 4] for k in range(4)], dtype=np.int32)
    normals = np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (4, 3, 1))
    drawn = DrawnMesh(np.vstack([one, one + 4]), normals, np.vstack([edges, edges + 4]))
    return Preview(drawn, Skin(points, np.ones((8, 1)), np.zeros(3), 1.0), lights=STUDIO)


@pytest.mark.parametrize("perspective", [True, False])
def test_wires_are_seen_before_faces_and_fade_behind_them(perspective):
    preview, green = two_squares(), (0.0, 1.0, 0.0)
    view, window = card.straight_down(2.0)
    if perspective:  # the near square as large as without
        view[2][3] = -10.0
        window = [[10.0, 0, 0, 0], [0, 10.0, 0, 0], [0, 0, -1.002, -0.2002], [0, 0, -1.0, 0]]

    def greens(manner):
        seen = card.picture(lambda: preview.draw(view, window, (0.5, 0.0, 0.0), manner))
        middle = seen[32, :, 1]  # across the left and the right edges of both
        return [middle[low:high].max() for low, high in ((14, 19), (22, 26), (28, 36))]

    outer, inner, face = greens(Manner(1.0, green))
    assert outer > 0.5 and inner == face < 0.2, "only what shines on the face"
    bare = greens(Manner(0.0, green))
    assert bare[0] > 0.5 and bare[1] == pytest.approx(bare[0]) and bare[2] == 0.0
    faded = greens(Manner(0.0, green, behind=0.5))
    assert faded[0] == pytest.approx(bare[0]) and 0.2 < faded[1] < 0.9 * bare[1]
    assert greens(Manner(0.0, green, behind=0.0))[1] == 0.0
    none = card.picture(lambda: preview.draw(view, window, (0.5, 0.0, 0.0), Manner(0.0)))
    assert none[..., :3].max() == 0.0


def test_both_sides_are_seen_through_in_xray():
    preview = two_squares()
    view, window = card.straight_down(2.0)

    def at(opacity):
        seen = card.picture(lambda: preview.draw(view, window, (0.8, 0.1, 0.1), Manner(opacity)))
        return seen[32, 18, 0], seen[32, 32, 0]

    (solid, both), (one, two) = at(1.0), at(0.5)
    assert (
        solid == both and one == pytest.approx(0.5 * solid, abs=0.01) and two == pytest.approx(0.75 * solid, abs=0.01)
    )
    assert at(1.0)[0] == solid, "the state of the card was put back"


def test_edges_of_the_mesh_become_wires(add_mesh):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = add_mesh([*corners, (5, 5, 5)], faces).data
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (0, 8)
    points = vertex_positions(mesh)
    preview = Preview(drawn_mesh(mesh, np.eye(4)), Skin(points, np.ones((9, 1)), np.zeros(3), 1.0))
    ends = np.sort(preview.card.vertices[preview.card.edges], axis=1)
    assert len(ends) == 12 and (np.abs(points[ends[:, 0]] - points[ends[:, 1]]).sum(axis=1) == 1.0).all()
