"""Distances, sides and passages of mesh colliders: closed, flipped, open, nested, moving."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.contact.penalty.collider_surface import ColliderSurface
from sinew.core.foundation.errors import ColliderError

from .colliders import CUBE, CUBE_FACES, SQUARE, SQUARE_FACES, begin, collider, rotation, signed, turned

RANDOM = np.random.default_rng(7)


def box_distance(points):
    """Signed distance from the unit cube, written independently."""
    q = np.abs(points - 0.5) - 0.5
    return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)


@pytest.mark.parametrize("faces", [CUBE_FACES, turned(CUBE_FACES, slice(None)), turned(CUBE_FACES, [0, 3, 7, 8])])
def test_signed_distance_from_a_cube_however_its_faces_are_turned(faces):
    points = RANDOM.uniform(-1.0, 2.0, (4000, 3))
    contacts = signed(faces, CUBE, points)
    near = np.isfinite(contacts.gaps)
    expected = box_distance(points)
    assert near[expected < 0.0].all()
    assert (expected[~near] > 0.0).all()
    assert np.abs(contacts.gaps[near] - expected[near]).max() <= 1e-14
    # The direction of the push is the distance's gradient.
    inside = points[near]
    for i in range(3):
        shift = 1e-6 * np.eye(3)[i]
        slope = (box_distance(inside + shift) - box_distance(inside - shift)) / 2e-6
        apart = np.abs(contacts.normals[near][:, i] - slope)
        assert np.count_nonzero(apart > 1e-6) <= 2  # where the closest face changes


def test_thickness_reaches_out():
    points = np.array([[0.5, 0.5, 1.05], [0.5, 0.5, 1.2], [1.3, 1.4, 0.5]])
    gaps = signed(CUBE_FACES, CUBE, points, thickness=0.1).gaps
    assert gaps[0] == pytest.approx(-0.05)
    assert gaps[1] == np.inf
    assert gaps[2] == np.inf
    assert signed(CUBE_FACES, CUBE, points, thickness=0.6).gaps[2] == pytest.approx(-0.1)


def test_points_on_the_surface_but_for_round_off_are_pushed_by_unit_vectors():
    rng = np.random.default_rng(5)
    on_faces = rng.random((300, 3))
    on_faces[np.arange(300), rng.integers(0, 3, 300)] = rng.integers(0, 2, 300)
    points = np.concatenate([CUBE, on_faces]) + 1e-17 * rng.standard_normal((308, 3))
    approach = begin(collider(CUBE_FACES, CUBE), points)
    for contacts in (approach.initial_contacts, approach.contacts(points)):
        near = np.isfinite(contacts.gaps)
        assert near.sum() > 100
        assert np.abs(np.linalg.norm(contacts.normals[near], axis=1) - 1.0).max() < 1e-12


def test_a_hollow_has_an_inside_where_bodies_may_be():
    inner = 0.5 + 0.5 * (CUBE - 0.5)
    faces = np.concatenate([CUBE_FACES, CUBE_FACES + 8])
    points = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.9], [0.5, 0.5, 1.1]])
    approach = begin(collider(faces, np.concatenate([CUBE, inner])), points)
    assert approach.initial_contacts.gaps == pytest.approx([0.25, -0.1, 0.1])


def test_nested_shells_are_walls_and_hollows_in_turn_among_many_others():
    shells = [0.5 + f * (CUBE - 0.5) for f in (0.6, 1.0, 0.2, 0.8)]
    others = [0.1 * CUBE + [2.0 + 0.3 * k, 0.2 * (k % 5), 0.0] for k in range(40)]
    parts = [*others[:20], *shells, *others[20:]]
    faces = np.concatenate([CUBE_FACES + 8 * k for k in range(len(parts))])
    flipped = turned(faces, np.random.default_rng(2).permutation(len(faces))[::2])
    surface = ColliderSurface("Thing", flipped, np.concatenate(parts)[None])
    assert surface.solid.all()
    corners = np.concatenate(parts)[surface.triangles].reshape(len(parts), 12, 3, 3)
    centred = corners - corners.mean(axis=(1, 2), keepdims=True)
    volumes = np.linalg.det(centred).sum(axis=1) / 6.0
    expected = [1e-3] * 20 + [0.216, 1.0, -0.008, -0.512] + [1e-3] * 20
    assert volumes == pytest.approx(expected)


def test_vertices_that_lie_on_each_other_are_one():
    """Every face with corners of its own, as importers split them."""
    gaps = signed(np.arange(36).reshape(-1, 3), CUBE[CUBE_FACES].reshape(-1, 3), [[0.5, 0.5, 0.9]]).gaps
    assert gaps == pytest.approx([-0.1])


def test_faces_without_area_do_no_harm():
    positions = np.concatenate([CUBE, [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.2, 0.2, 1.0]]])
    faces = np.concatenate([CUBE_FACES, [[8, 9, 8], [1, 3, 1]]])
    assert signed(faces, positions, [[0.5, 0.4, 0.9]]).gaps == pytest.approx([-0.1])
    flat = signed([[0, 1, 2]], np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]), [[1.0, 0.0, 0.0], [0.5, 0.3, 0.0]])
    assert not np.isnan(flat.gaps).any()
    assert not np.isnan(flat.normals).any()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sheet_keeps_a_point_on_its_side(side):
    plate = collider(SQUARE_FACES, SQUARE, sheet_thickness=0.01)
    # Straight through the diagonal that the two triangles share, and beside it.
    start = np.array([[0.0, 0.0, 0.3 * side], [0.3, -0.4, 0.3 * side]])
    approach = begin(plate, start)
    end = start - [0.0, 0.0, 0.5 * side]
    contacts = approach.contacts(end)
    assert contacts.gaps == pytest.approx([-0.21, -0.21])
    assert contacts.normals == pytest.approx(np.tile([0.0, 0.0, side], (2, 1)))
    assert (approach.contacts(start + [0.0, 0.0, side]).gaps > 1.0).all()


def test_a_point_passes_beside_a_sheet():
    approach = begin(collider(SQUARE_FACES, SQUARE), np.array([[1.2, 0.0, 0.1]]))
    gaps = approach.contacts(np.array([[1.1, 0.0, -0.3]])).gaps
    assert gaps[0] > 0.0


@pytest.mark.parametrize("apart", [0.0, 1e-8, -1e-8])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("kind", ["sheet", "flipped sheet", "rising sheet", "solid"])
def test_what_begins_on_a_surface_is_on_the_side_of_its_body(kind, side, apart):
    """Beside a diagonal, and on it; the body lies over the surface or under it."""
    block = 2.0 * (CUBE - [0.5, 0.5, 1.0 if side > 0.0 else 0.0])
    up = np.array([0.0, 0.0, 0.2]) if kind == "rising sheet" else np.zeros(3)
    thing = {
        "sheet": collider(SQUARE_FACES, SQUARE),
        "flipped sheet": collider(turned(SQUARE_FACES, slice(None)), SQUARE),
        "rising sheet": collider(SQUARE_FACES, SQUARE, SQUARE + up),
        "solid": collider(CUBE_FACES, block),
    }[kind]
    start = np.array([[0.3, -0.2, apart], [0.25, 0.25, apart]])
    approach = begin(thing, start, (0.6, 0.0, -0.8 * side))
    assert np.abs(approach.initial_contacts.gaps).max() <= 1.1e-8
    for move in (1e-3, 1e-7, -1e-7, -1e-3, -0.1):
        contacts = approach.contacts(start + up + [0.0, 0.0, side * move])
        near = np.isfinite(contacts.gaps)
        assert near.all() or move > 0.0
        assert contacts.gaps[near] == pytest.approx(np.full(near.sum(), move), abs=1.1e-8)
        # Round-off of the coordinates over the distance.
        assert contacts.normals[near] == pytest.approx(np.tile([0.0, 0.0, side], (near.sum(), 1)), abs=1e-8)


def test_a_point_just_beyond_a_sheet_still_belongs_to_its_body():
    plate = collider(SQUARE_FACES, SQUARE, sheet_thickness=0.01)
    start = np.array([[0.3, -0.2, -0.001], [0.3, -0.2, -0.003]])
    approach = begin(plate, start, (0.0, 0.0, -1.0))
    assert approach.initial_contacts.gaps == pytest.approx([-0.011, -0.007])
    assert approach.contacts(start).gaps == pytest.approx([-0.011, -0.007])
    assert approach.contacts(start).normals[:, 2] == pytest.approx([1.0, -1.0])


def test_a_thin_plate_is_left_by_the_side_it_was_entered():
    plate = 0.5 + (CUBE - 0.5) * [4.0, 4.0, 0.02]  # from z = 0.49 to 0.51
    start = np.array([[0.5, 0.4, 0.8]] * 3)
    end = np.array([[0.5, 0.4, 0.505], [0.5, 0.4, 0.492], [0.5, 0.4, 0.1]])
    contacts = begin(collider(CUBE_FACES, plate), start).contacts(end)
    assert contacts.gaps == pytest.approx([-0.005, -0.018, -0.41])
    assert contacts.normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (3, 1)))


def test_a_point_that_slides_around_an_edge_has_not_passed_through():
    approach = begin(collider(CUBE_FACES, CUBE, thickness=0.05), np.array([[0.5, 0.1, 1.01]]))
    way = [np.array([[0.5, y, 0.95 + 0.3 * y]]) for y in np.linspace(0.1, -0.1, 401)]  # in by the top, out by the side
    gaps = np.array([approach.contacts(at).gaps[0] for at in way])
    assert gaps.min() < -0.04
    assert gaps[-1] > 0.0
    near = np.isfinite(gaps)
    assert np.abs(np.diff(gaps[near])).max() < 1e-3


def test_a_fast_collider_takes_a_still_point_along():
    up = np.array([0.0, 0.0, 0.7])
    point = np.array([[0.1, 0.2, 0.3]])
    contacts = begin(collider(SQUARE_FACES, SQUARE, SQUARE + up), point).contacts(point)
    assert contacts.gaps == pytest.approx([-0.4])
    assert contacts.normals == pytest.approx(np.array([[0.0, 0.0, 1.0]]))
    assert contacts.obstacle_displacements == pytest.approx(up[None])


def test_a_point_that_turns_with_a_collider_has_not_moved_in_its_eyes():
    R = rotation([1.0, 2.0, 3.0], 1.2)
    points = RANDOM.uniform(-0.5, 1.5, (200, 3))
    approach = begin(collider(CUBE_FACES, CUBE, CUBE @ R.T + [3.0, 0.0, 0.0], thickness=0.1), points)
    contacts = approach.contacts(points @ R.T + [3.0, 0.0, 0.0])
    near = np.isfinite(contacts.gaps)
    assert np.abs(contacts.gaps - approach.initial_contacts.gaps)[near].max() <= 1e-13
    assert np.abs(contacts.normals - approach.initial_contacts.normals)[near].max() <= 1e-11
    assert (approach.initial_contacts.gaps[~near] > 0.0).all()


def test_gaps_are_continuous_along_a_path_through_a_sheet_and_a_cube():
    for faces, positions in ((SQUARE_FACES, SQUARE), (CUBE_FACES, CUBE)):
        start = np.array([0.31, 0.42, 1.2])
        t = np.linspace(0.0, 1.0, 2001)[:, None]
        path = start + t * np.array([0.05, 0.02, -1.6 if faces is SQUARE_FACES else -0.6])
        approach = begin(collider(faces, positions, thickness=0.05), np.tile(start, (len(path), 1)))
        gaps = np.minimum(approach.contacts(path).gaps, 0.0)
        assert gaps.min() < -0.2
        assert np.abs(np.diff(gaps)).max() <= 1.001 * np.linalg.norm(path[1] - path[0])


@pytest.mark.parametrize(
    ("faces", "positions", "word"),
    [
        (np.zeros((0, 3), dtype=int), CUBE, "no faces"),
        ([[0, 0, 1]], CUBE, "no faces"),
        ([[0, 1, 8]], CUBE, "does not exist"),
        ([[0, 1, 2]], np.full((3, 3), np.nan), "not a number"),
    ],
)
def test_impossible_colliders(faces, positions, word):
    with pytest.raises(ColliderError, match=word):
        ColliderSurface("Thing", np.array(faces), np.asarray(positions)[None])


def test_open_and_crossed_surfaces_are_sheets():
    assert ColliderSurface("Thing", CUBE_FACES, CUBE[None]).solid.all()
    assert not ColliderSurface("Thing", CUBE_FACES[1:], CUBE[None]).solid.any()
    # A face on both sides, welded: it encloses nothing.
    both = np.concatenate([SQUARE_FACES, SQUARE_FACES[:, ::-1]])
    assert not ColliderSurface("Thing", both, SQUARE[None]).solid.any()
