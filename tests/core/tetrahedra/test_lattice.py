"""The draft lattice covers any surface with one congruent, face-connected kind of tet."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.quality import mesh_quality
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import components, used_vertices
from sinew.core.geometry.tetrahedra import lattice_cells
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.geometry.tetrahedra.tet_count import MAX_TETS
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize

CELLS = 9


def parts_by_vertex(tets):
    """Number of parts when a common vertex is enough to connect."""
    m = len(tets)
    graph = coo_matrix(
        (np.ones(4 * m), (np.repeat(np.arange(m), 4), tets.ravel() + m)), shape=(m + tets.max() + 1,) * 2
    )
    return len(np.unique(connected_components(graph, directed=False)[1][:m]))


def test_every_body_is_covered_by_congruent_tets_joined_by_faces(body):
    mesh = tetrahedralize(body, ResolutionSettings("lattice", CELLS))
    cell = body.size / (CELLS - 0.5)
    np.testing.assert_allclose(mesh.volumes, cell**3 / 12.0, rtol=1e-9)
    assert not embed(body.positions, mesh).outside.any()
    assert np.array_equal(used_vertices(mesh.tets), np.arange(len(mesh.rest_positions)))
    figures = mesh_quality(mesh)
    assert figures.inverted == 0
    assert (figures.min_dihedral, figures.max_dihedral) == pytest.approx((60.0, 90.0), abs=1e-6)
    assert figures.components == parts_by_vertex(mesh.tets)
    assert (mesh.fill > 0.0).all() and (mesh.fill <= 1.0).all()


@pytest.mark.parametrize(
    ("name", "parts"), [("two_islands", 2), ("touching_islands", 1), ("self_intersecting", 1), ("flat_sheet", 1)]
)
def test_islands_stay_apart_unless_they_touch(make_body, name, parts):
    assert mesh_quality(lattice_tets(make_body(name), 12)).components == parts


@pytest.mark.parametrize("name", ["sphere", "cube"])
def test_volume_converges_to_the_body(make_body, name):
    exact = {"sphere": 4.0 / 3.0 * np.pi, "cube": 1.0}[name]
    body = make_body(name)
    if name == "sphere":  # of the triangles, not of the ball
        corners = body.positions[body.triangles]
        exact = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    meshes = [lattice_tets(body, n) for n in (6, 12, 24)]
    covers = [mesh.volumes.sum() / exact - 1.0 for mesh in meshes]
    fills = [abs(mesh.body_volumes.sum() / exact - 1.0) for mesh in meshes]
    assert covers[0] > covers[1] > covers[2] > 0.0
    assert covers[2] < 0.6 * covers[1] < 0.36 * covers[0]
    assert fills[2] < 0.02 and fills[0] < 0.1


def test_an_opening_does_not_empty_the_body(make_body):
    whole, opened = (lattice_tets(make_body(name), 16) for name in ("sphere", "open"))
    assert opened.volumes.sum() > 0.85 * whole.volumes.sum()


def test_a_body_turned_inside_out_is_the_same(make_body):
    plain, turned = (lattice_tets(make_body(name), 12) for name in ("sphere", "inside_out"))
    assert turned.volumes.sum() == pytest.approx(plain.volumes.sum(), rel=0.01)
    assert turned.body_volumes.sum() == pytest.approx(plain.body_volumes.sum(), rel=0.01)


def test_a_sheet_is_one_layer(make_body):
    mesh = lattice_tets(make_body("flat_sheet"), 20)
    assert np.ptp(mesh.rest_positions[:, 2]) < 2.1 / 19.5


def test_collapsed_faces_change_nothing(make_body):
    plain, spoilt = (lattice_tets(make_body(name), 10) for name in ("sphere", "zero_area_faces"))
    assert np.array_equal(plain.tets, spoilt.tets)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_size_and_place_do_not_matter(make_body, scale):
    body = make_body("self_intersecting")
    moved = SurfaceMesh(body.positions * scale + 10.0 * scale, body.triangles)
    plain, other = lattice_tets(body, CELLS), lattice_tets(moved, CELLS)
    # Points on the border of two cells may fall to either by round-off.
    assert abs(len(other.tets) - len(plain.tets)) <= 0.01 * len(plain.tets)
    assert other.volumes.sum() / scale**3 == pytest.approx(plain.volumes.sum(), rel=0.01)
    assert not embed(moved.positions, other).outside.any()


def test_the_same_input_gives_the_same_bits(make_body):
    first, second = (lattice_tets(make_body("soup"), 10) for _ in range(2))
    assert first.rest_positions.tobytes() == second.rest_positions.tobytes()
    assert first.tets.tobytes() == second.tets.tobytes()
    assert first.fill.tobytes() == second.fill.tobytes()


def test_a_mirror_symmetric_body_gets_mirror_symmetric_tets(make_sphere):
    body = make_sphere(3, 1.0, (0.3, 0.0, 0.0))
    mesh = lattice_tets(body, 10)
    centroids = np.round(mesh.rest_positions[mesh.tets].mean(axis=1) - [0.3, 0.0, 0.0], 9) + 0.0
    mirrored = np.round(centroids * [-1.0, 1.0, 1.0], 9) + 0.0
    common = set(map(tuple, centroids)) & set(map(tuple, mirrored))
    assert len(common) >= 0.98 * len(centroids)


def test_too_many_cells_are_refused_with_a_number_that_works(make_sphere):
    body = make_sphere(1)
    with pytest.raises(MeshError) as caught:
        lattice_tets(body, 400)
    proposed = int(re.search(r"(\d+) or less", caught.value.remedy)[1])
    cell = body.size / (proposed - 0.5)
    assert 20 < proposed < 400
    assert 12.0 * (4.0 / 3.0 * np.pi) / cell**3 < 1.5 * MAX_TETS


@pytest.mark.parametrize(
    ("positions", "triangles"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.zeros((1, 3)), np.zeros((0, 3))),
        (np.zeros((3, 3)), [(0, 1, 2)]),
        ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]),
        ([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)], [(0, 1, 2)]),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)]),
    ],
)
def test_what_cannot_be_filled_is_refused_with_a_remedy(positions, triangles):
    with pytest.raises(MeshError) as caught:
        tetrahedralize(SurfaceMesh(positions, triangles), ResolutionSettings("lattice", CELLS))
    assert caught.value.remedy


def test_location_is_analytic():
    rng = np.random.default_rng(3)
    corners, cell = np.empty((4, 3), dtype=np.int64), np.empty(3, dtype=np.int64)
    for p in 5.0 + 4.0 * rng.random((300, 3)):
        slot = lattice_cells.locate(*p, cell)
        lattice_cells.tet_corners(*cell, slot, corners)
        x = corners / 2.0
        inner = np.linalg.solve((x[1:] - x[0]).T, p - x[0])
        assert inner.min() >= -1e-12 and inner.sum() <= 1.0 + 1e-12
        assert np.linalg.det(x[1:] - x[0]) == pytest.approx(0.5)


def test_around_every_vertex_are_24_tets_with_three_neighbours_each():
    adjacent = lattice_cells.star_adjacency()
    assert (adjacent.sum(axis=1) == 3).all()
    corners, cell = np.empty((4, 3), dtype=np.int64), np.empty(3, dtype=np.int64)
    for vertex in (np.array([8, 8, 8]), np.array([9, 9, 9])):
        found = set()
        for member in range(24):
            slot = lattice_cells.star_tet(vertex, member, cell)
            lattice_cells.tet_corners(*cell, slot, corners)
            assert (corners == vertex).all(axis=1).any()
            found.add((*cell, slot))
        assert len(found) == 24


def test_neighbours_share_the_face():
    corners, other = np.empty((2, 4, 3), dtype=np.int64)
    cell = np.empty(3, dtype=np.int64)
    for slot in range(12):
        lattice_cells.tet_corners(5, 5, 5, slot, corners)
        for opposite in range(4):
            beyond = lattice_cells.face_neighbour(corners, opposite, cell)
            lattice_cells.tet_corners(*cell, beyond, other)
            shared = set(map(tuple, corners)) & set(map(tuple, other))
            assert shared == set(map(tuple, np.delete(corners, opposite, axis=0)))


def test_components_are_counted_by_faces():
    hinge = np.array([(0, 1, 2, 3), (0, 1, 4, 5), (4, 5, 6, 0)])
    assert components(hinge, 7).tolist() == [0, 1, 1]
