"""Picking under the cursor and in a box, against Blender's own ray casts; views are matrices, without a window."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Euler, Matrix, Vector
from mathutils.bvhtree import BVHTree
from sinew.blender_addon.live import live_pick
from sinew.blender_addon.picking import picking

REGION = SimpleNamespace(width=640, height=400)
METRES = 0.5
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                  [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


def view_from(place, turn=(1.1, 0.2, 0.7), perspective=True, clip=(0.1, 100.0)):
    """A ``RegionView3D``'s matrices: looked from a place, turned by Euler angles."""
    near, far = clip
    across, up = 0.4 * near, 0.25 * near
    if perspective:
        window = Matrix(
            (
                (near / across, 0, 0, 0),
                (0, near / up, 0, 0),
                (0, 0, (far + near) / (near - far), 2 * far * near / (near - far)),
                (0, 0, -1, 0),
            )
        )
    else:
        window = Matrix(((0.5, 0, 0, 0), (0, 0.8, 0, 0), (0, 0, -1 / far, 0), (0, 0, 0, 1)))
    matrix = Matrix.Translation(place) @ Euler(turn).to_matrix().to_4x4()
    return SimpleNamespace(
        is_perspective=perspective,
        view_perspective="CAMERA",  # Blender's own rays begin within the view
        perspective_matrix=window @ matrix.inverted(),
        view_matrix=matrix.inverted(),
        window_matrix=window,
    )


def towards(perspective=True, distance=6.0):
    """A view of the origin from afar, oblique."""
    turn = Euler((1.1, 0.2, 0.7)).to_matrix()
    return view_from(turn @ Vector((0.0, 0.0, distance)), perspective=perspective)


def viewport(data, metres=1.0):
    return picking.viewport_of(REGION, data, metres)


def bumpy_ball():
    """Vertices and triangles of a ball whose bumps hide parts of it from many sides."""
    from scipy.spatial import ConvexHull

    k = np.arange(900) + 0.5
    polar, around = np.arccos(1.0 - 2.0 * k / 900), np.pi * (1.0 + 5.0**0.5) * k
    unit = np.column_stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)])
    triangles = ConvexHull(unit).simplices.astype(np.int64)
    return unit * (1.0 + 0.35 * np.sin(5.0 * unit[:, :1]) * np.cos(4.0 * unit[:, 2:])), triangles


@pytest.mark.parametrize("perspective", [True, False])
def test_places_in_the_region_are_blenders(perspective):
    data, points = towards(perspective), np.random.default_rng(0).normal(0.0, 1.0, (30, 3))
    shown = viewport(data, METRES).project(METRES * points)
    expected = [location_3d_to_region_2d(REGION, data, p) for p in points]
    assert np.abs(shown[:, :2] / shown[:, 3:] - np.array(expected)).max() < 1e-2


@pytest.mark.parametrize("perspective", [True, False])
def test_the_first_triangle_is_that_of_blenders_ray(perspective):
    positions, triangles = bumpy_ball()
    data, tree = towards(perspective), BVHTree.FromPolygons(positions.tolist(), triangles.tolist())
    view, hits = viewport(data, METRES), 0
    for where in np.random.default_rng(1).uniform((120, 40), (520, 360), (200, 2)):
        origin, along = region_2d_to_origin_3d(REGION, data, where), region_2d_to_vector_3d(REGION, data, where)
        place, _normal, _index, _distance = tree.ray_cast(origin, along)
        hit = picking.Surface(view, METRES * positions, triangles).first_hit(tuple(where))
        assert (hit is None) == (place is None)
        if hit is not None:
            hits += 1
            assert np.linalg.norm(hit.position - METRES * np.array(place)) < 1e-4
    assert 60 < hits < 180


@pytest.mark.parametrize("perspective", [True, False])
def test_what_is_seen_is_what_blenders_rays_reach(perspective):
    positions, triangles = bumpy_ball()
    data, tree = towards(perspective), BVHTree.FromPolygons(positions.tolist(), triangles.tolist())
    view = viewport(data)
    every = np.arange(len(positions))
    found = picking.Surface(view, positions, triangles).seen(every)
    clear = []
    for p in positions:
        where = location_3d_to_region_2d(REGION, data, p)
        back = -region_2d_to_vector_3d(REGION, data, where)
        clear.append(tree.ray_cast(Vector(p) + 2e-4 * back, back)[0] is None)
    assert 200 < np.count_nonzero(found) < 600
    # A vertex on the very silhouette may be told apart by round-off.
    assert np.count_nonzero(found != np.array(clear)) <= 3


def test_nothing_is_seen_through_a_seam():
    """Each vertex of the far side lies on one of the near side, and on its edges."""
    straight = view_from((0.0, 0.0, 6.0), (0.0, 0.0, 0.0), perspective=False)
    near = np.array([[x, y, 1.0] for x in np.linspace(-1.0, 1.0, 12) for y in np.linspace(-1.0, 1.0, 12)])
    corner = (np.arange(11)[:, None] * 12 + np.arange(11)).ravel()
    one = np.column_stack([corner, corner + 12, corner + 13])
    two = np.column_stack([corner, corner + 13, corner + 1])
    points = np.vstack([near, near * [1.0, 1.0, -1.0]])
    triangles = np.vstack([one, two, one + len(near), two + len(near)])
    clear = picking.Surface(viewport(straight), points, triangles).seen(np.arange(len(points)))
    assert clear[: len(near)].all() and not clear[len(near) :].any()


def test_nothing_is_seen_beyond_the_ends_of_the_view_or_behind_it():
    data = view_from((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    points = np.array([[0.0, 0.0, -5.0], [0.0, 0.0, 5.0], [0.0, 0.0, -0.05], [0.0, 0.0, -200.0]])
    none = np.zeros((0, 3), dtype=np.int64)
    assert picking.Surface(viewport(data), points, none).seen(np.arange(4)).tolist() == [True, False, False, False]
    through = picking.Surface(viewport(data), points, none, through=True)
    assert through.vertices_in_box((0, 0), (640, 400)).tolist() == [0]
    behind = picking.Surface(viewport(data), points[[1, 1, 1]] + np.eye(3), np.array([[0, 1, 2]]))
    assert behind.first_hit((320, 200)) is None


def test_a_floor_that_reaches_behind_the_viewer_hides_what_is_under_it():
    data = view_from((0.0, 0.0, 1.0), (1.2, 0.0, 0.0))
    floor = np.array([[-50.0, -50.0, 0.0], [50.0, -50.0, 0.0], [0.0, 90.0, 0.0]])
    points = np.vstack([floor, [[0.0, 3.0, 0.2], [0.0, 3.0, -0.2], [0.3, 3.0, 0.0]]])
    clear = picking.Surface(viewport(data), points, np.array([[0, 1, 2]])).seen(np.array([3, 4, 5]))
    assert clear.tolist() == [True, False, True], "what lies in it is seen"


def test_a_click_means_the_nearest_corner_or_a_vertex_near_by():
    data = towards()
    view = viewport(data)
    shown = view.project(CUBE)
    pixels = shown[:, :2] / shown[:, 3:]
    cube = picking.Surface(view, CUBE, FACES)
    clear = cube.seen(np.arange(8))
    assert np.count_nonzero(clear) == 7, "of a cube seen from a corner all but one"
    for vertex in np.flatnonzero(clear):
        towards_middle = pixels.mean(axis=0) - pixels[vertex]
        away = towards_middle / np.linalg.norm(towards_middle)
        assert cube.vertex_at(tuple(pixels[vertex] + 3.0 * away), 10.0) == vertex
        beside = tuple(pixels[vertex] - 8.0 * away)
        outline = cube.first_hit(beside) is None
        assert cube.vertex_at(beside, 10.0) == vertex
        assert cube.vertex_at(beside, 7.0) == (None if outline else vertex)
    (behind,) = np.flatnonzero(~clear)
    on_it = tuple(pixels[behind])
    assert cube.vertex_at(on_it, 2.0) in np.flatnonzero(clear)
    assert picking.Surface(view, CUBE, FACES, through=True).vertex_at(on_it, 2.0) == behind
    assert cube.vertex_at((2.0, 2.0), 10.0) is None


def test_a_box_holds_what_is_seen_in_it_or_all_of_it():
    view = viewport(towards())
    positions, triangles = bumpy_ball()
    shown = view.project(positions)
    pixels = shown[:, :2] / shown[:, 3:]
    low, high = (300.0, 150.0), (420.0, 260.0)
    inside = ((pixels >= low) & (pixels <= high)).all(axis=1)
    ball = picking.Surface(view, positions, triangles)
    found = ball.vertices_in_box(low, high)
    through = picking.Surface(view, positions, triangles, through=True).vertices_in_box(low, high)
    assert through.tolist() == np.flatnonzero(inside).tolist()
    clear = ball.seen(np.arange(len(positions)))
    assert found.tolist() == np.flatnonzero(inside & clear).tolist() and 0 < len(found) < 0.7 * len(through)
    assert not len(ball.vertices_in_box((0.0, 0.0), (5.0, 5.0)))


def test_vertices_across_the_mirror():
    opposite = picking.mirrored(CUBE)
    assert (CUBE[opposite] == CUBE * [-1.0, 1.0, 1.0]).all() and (opposite[opposite] == np.arange(8)).all()
    assert (CUBE[picking.mirrored(CUBE, axis=2)] == CUBE * [1.0, 1.0, -1.0]).all()
    points = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [-1.00005, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert picking.mirrored(points).tolist() == [0, 2, 1, -1]


def played_with(surface, triangles, carrier_of):
    """A session with a cube of which this is drawn."""
    view = SimpleNamespace(seen=lambda: METRES * CUBE, surface=lambda: (surface, triangles), carrier_of=carrier_of)
    return SimpleNamespace(metres=METRES, view=view)


def test_of_a_subdivision_the_drag_takes_what_is_drawn():
    """Half a cube is drawn of a cube: where only the cage would be nothing is taken, and on it the place in the hand
    stays under the mouse.
    """
    data = towards()
    context = SimpleNamespace(
        region=REGION, region_data=data, preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    )
    session = played_with(0.5 * METRES * CUBE, FACES, lambda vertex: (vertex + 1) % 8)
    cage, drawn = (viewport(data).project(part * CUBE) for part in (1.0, 0.5))
    beside, (nearest, *_) = cage[:, :2] / cage[:, 3:], np.argsort(drawn[:, 2] / drawn[:, 3])
    outermost = beside[:, 0].argmin(), beside[:, 0].argmax()
    assert all(live_pick.surface_at(session, context, tuple(beside[corner])) is None for corner in outermost)
    middle, (x, y) = (drawn[:, :2] / drawn[:, 3:]).mean(axis=0), drawn[nearest, :2] / drawn[nearest, 3]
    where = (0.9 * x + 0.1 * middle[0], 0.9 * y + 0.1 * middle[1])
    drag = live_pick.surface_at(session, context, where)
    assert drag.vertex == (nearest + 1) % 8
    assert np.abs(drag.target(context, where) - METRES * CUBE[drag.vertex]).max() < 1e-5, "it does not jump"
    there = viewport(data).project((drag.target(context, (200.0, 100.0)) - drag.offset)[None] / METRES)[0]
    assert there[:2] / there[3] == pytest.approx((200.0, 100.0), abs=1e-2)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_drag_that_begins_beside_the_body_takes_what_is_near(scale):
    data, system = towards(), SimpleNamespace(ui_scale=scale)
    context = SimpleNamespace(region=REGION, region_data=data, preferences=SimpleNamespace(system=system))
    session = played_with(METRES * CUBE, FACES, lambda vertex: vertex)
    shown = viewport(data).project(CUBE)
    pixels = shown[:, :2] / shown[:, 3:]
    vertex = int(np.argmax(pixels[:, 0]))
    for away in (9.0 * scale, 11.0 * scale):
        where = tuple(pixels[vertex] + [away, 0.0])
        assert picking.Surface(viewport(data), CUBE, FACES).first_hit(where) is None
        drag = live_pick.surface_at(session, context, where)
        if away > 10.0 * scale:
            assert drag is None
            continue
        assert drag.vertex == vertex
        assert np.abs(drag.target(context, where) - METRES * CUBE[vertex]).max() < 1e-5, "it does not jump"
    on_it = live_pick.surface_at(session, context, tuple(pixels.mean(axis=0)))
    assert np.abs(on_it.target(context, tuple(pixels.mean(axis=0))) - METRES * CUBE[on_it.vertex]).max() < 1e-5
    moved = on_it.target(context, tuple(pixels.mean(axis=0) + [0.0, 50.0])) - METRES * CUBE[on_it.vertex]
    assert np.linalg.norm(moved) > 0.1 * METRES and abs(moved @ viewport(data).forward) < 1e-5, "across the view"
