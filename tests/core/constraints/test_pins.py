"""Springs hold what was pinned and no more: all of a face's area, turns about an edge or a vertex left open, and a few
samples act for all where few will do. Where a pinned vertex is one of the tets' it is given exactly.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.rigid_clamp import KAPPA_PER_CELL, WIDEST
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.mechanics.constraints.anchors import CONFORMING, LOOSE, anchors, cell_sides
from sinew.core.mechanics.constraints.pins import REACH, PinnedSurface, PinSprings
from sinew.core.mechanics.forces.embedded_points import EmbeddedPoints

SIDE = 0.1
CUBE = SIDE * np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)
PINS = {
    "vertex": [0],
    "two vertices apart": [0, 7],
    "edge": [0, 1],
    "face": [0, 1, 2, 3],
    "all but one": list(range(7)),
}


def body(pins, cells=8):
    surface = SurfaceMesh(CUBE, FACES)
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=cells))
    embedding = embed(CUBE, mesh)
    return mesh, anchors(surface, mesh, embedding, np.array(pins), np.ones(len(pins), dtype=bool)), surface, embedding


def stiffness_of(mesh, found, moves):
    """Return the stiffness of the springs against a displacement field of positions, per Young's modulus, m³."""
    at = found.embedding.apply(mesh.rest_positions, mesh.tets)
    return float(found.factors @ (moves(at) ** 2).sum(axis=1))


@pytest.mark.parametrize("pins", PINS.values(), ids=PINS)
def test_it_holds_what_was_pinned_and_no_more(pins):
    """By movements of space: shifts are held by the area, turns about what is pinned are free."""
    mesh, found, _surface, _embedding = body(pins)
    h = cell_sides(mesh)[0]
    shift = stiffness_of(mesh, found, lambda x: np.ones_like(x[:, :1]))
    faces = {4: 1.0, 7: 3.0}.get(len(pins), 0.0)
    occupied = len(np.unique(found.embedding.tet_indices))
    assert shift == pytest.approx(
        (KAPPA_PER_CELL * WIDEST) * faces * SIDE**2 / h if faces else LOOSE * h * occupied, rel=1e-9
    )
    about_edge = stiffness_of(mesh, found, lambda x: np.cross([0.0, 0.0, 1.0], x))
    about_vertex = stiffness_of(mesh, found, lambda x: np.cross([0.6, 0.0, 0.8], x))
    assert (about_edge <= 1e-20 * shift) == (pins in ([0], [0, 1]))
    assert (about_vertex <= 1e-20 * shift) == (pins == [0])
    # Each sample's target is where the pins' positions put it: those of the samples themselves.
    there = found.target_weights @ CUBE[pins]
    np.testing.assert_allclose(there, found.embedding.apply(mesh.rest_positions, mesh.tets), atol=1e-12)


def test_a_strip_narrower_than_a_cell_still_holds():
    """By no less than half the body's own modulus for each unit of length, however narrow it is."""
    mesh = tetrahedralize(SurfaceMesh(CUBE, FACES), ResolutionSettings(cells_across=8))
    for width in (1e-6, 1e-2, 0.1, 0.3, 0.5, 0.7, 1.0, 2.0):
        strip = CUBE.copy()
        strip[[2, 3], 1] = width * cell_sides(mesh)[0]
        found = anchors(SurfaceMesh(strip, FACES), mesh, embed(strip, mesh), np.arange(4), np.ones(4, dtype=bool))
        assert found.factors.sum() >= 0.5 * SIDE, width


def holding(surface, mesh, embedding, pins, most=math.inf, scale=1.0):
    """The springs of pins that go aside by a frame."""
    track, held = np.stack([CUBE[pins], CUBE[pins] + 0.1 * SIDE]), np.ones((2, len(pins)), dtype=bool)
    pinned = PinnedSurface(surface, mesh, embedding, np.array(pins), track, held, most)

    def carried(found):
        return EmbeddedPoints(found, mesh.tets, len(mesh.rest_positions))

    return PinSprings(pinned, np.full(len(mesh.tets), 2e5), carried).holding(1, np.full(len(mesh.tets), scale))


@pytest.mark.parametrize("pins", PINS.values(), ids=PINS)
def test_all_samples_hold_by_their_own_stiffness(pins):
    mesh, found, surface, embedding = body(pins)
    springs = holding(surface, mesh, embedding, pins, scale=3.0)
    np.testing.assert_allclose(springs.stiffness, 6e5 * found.factors)
    np.testing.assert_array_equal(springs.reach, REACH * cell_sides(mesh)[found.embedding.tet_indices])
    assert (springs.target_weights != found.target_weights).nnz == 0


@pytest.mark.parametrize("pins", [PINS["face"], PINS["all but one"]])
def test_a_few_samples_hold_for_all(pins):
    """A shift by as much, turns by nearly as much, with targets that are those of the same places."""
    mesh, found, surface, embedding = body(pins)
    few = holding(surface, mesh, embedding, pins, most=64)
    assert len(few.stiffness) == 64 < len(found.factors)
    assert few.stiffness.sum() == pytest.approx(2e5 * found.factors.sum())
    at = few.points.positions(mesh.rest_positions)
    np.testing.assert_allclose(few.target_weights @ CUBE[pins], at, atol=1e-12)
    for axis in np.eye(3):
        turning = 2e5 * stiffness_of(mesh, found, lambda x, axis=axis: np.cross(axis, x - 0.5 * SIDE))
        assert few.stiffness @ (np.cross(axis, at - 0.5 * SIDE) ** 2).sum(axis=1) == pytest.approx(turning, rel=0.25)


def test_vertices_of_the_tets_are_given_exactly():
    """A cube of six tets with its own vertices: hard pins, and springs only for what these do not hold."""
    kuhn = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])[
        :, [1, 0, 2, 3]
    ]
    mesh = TetMesh(CUBE, kuhn)
    assert (mesh.volumes > 0).all()
    track, held = np.stack([CUBE[[0, 1, 2, 3]], CUBE[[0, 1, 2, 3]] + 0.1]), np.array([[True] * 4, [True] * 3 + [False]])
    pins = PinnedSurface(SurfaceMesh(CUBE, FACES), mesh, embed(CUBE, mesh), np.arange(4), track, held)
    schedule = pins.schedule()
    assert schedule.corners.tolist() == [0, 1, 2, 3] and schedule.held_corners(1).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(schedule.targets, track)
    assert len(pins.anchors(0).factors) == len(pins.anchors(1).factors) == 0
    assert PinSprings(pins, np.ones(6), None).holding(1, 1.0) is None


def test_what_lies_between_the_tets_vertices_hangs_on_firmer_springs():
    """On tets that end at the surface: they need not give way."""
    mesh = TetMesh(CUBE, np.array([[0, 3, 6, 5]])[:, [1, 0, 2, 3]])
    mesh = mesh if mesh.volumes[0] > 0 else TetMesh(CUBE, np.array([[0, 3, 6, 5]]))
    assert mesh.fill.min() == 1.0
    centre = SurfaceMesh(CUBE.mean(axis=0) + 0.1 * (CUBE - CUBE.mean(axis=0)), FACES)
    pins = np.arange(4)
    found = anchors(centre, mesh, embed(centre.positions, mesh), pins, np.ones(4, dtype=bool))
    area, h = (0.1 * SIDE) ** 2, cell_sides(mesh)[0]
    narrow = 1.0 - area / (0.5 * h**2)
    assert found.factors.sum() == pytest.approx(CONFORMING * area / h + LOOSE * h * narrow, rel=1e-9)


def test_nothing_is_held_without_pins():
    mesh, found, surface, embedding = body([])
    assert len(found.factors) == 0
    pins = PinnedSurface(surface, mesh, embedding, np.zeros(0, int), np.zeros((3, 0, 3)), np.zeros((3, 0), bool))
    assert PinSprings(pins, np.ones(len(mesh.tets)), None).holding(1, 1.0) is None and len(pins.schedule().corners) == 0


def test_ends_of_an_edge_are_held():
    """Whatever tets they lie in: all that a pinned vertex is embedded in have a spring at it."""
    for cells in (5, 7, 8, 11):
        mesh, found, _surface, embedding = body([0, 1], cells)
        assert np.isin(embedding.tet_indices[[0, 1]], found.embedding.tet_indices).all()
