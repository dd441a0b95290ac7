"""Volume fractions of tets, against clipped convex bodies, counted points, and the divergence theorem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.winding_number import WindingNumber
from sinew.core.geometry.tetrahedra.cut_cell_volume import volume_fractions
from sinew.core.geometry.tetrahedra.enclosed_volume import enclosed_volume
from sinew.core.geometry.tetrahedra.lattice import LEAST_FILL, SHEET_FILL, lattice_tets

LOW, HIGH = np.array([0.1, 0.2, 0.0]), np.array([0.8, 1.0, 0.6])


def enclosed(surface: SurfaceMesh) -> float:
    """Volume of a closed surface by the divergence theorem."""
    corners = surface.positions[surface.triangles] - surface.positions[0]
    return abs(np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0


@pytest.mark.parametrize("name", ["sphere", "cube", "inside_out", "two_islands", "touching_islands", "zero_area_faces"])
def test_a_closed_surface_encloses_what_the_divergence_theorem_says(make_body, name):
    body = make_body(name)
    moved = SurfaceMesh(1e-3 * body.positions + 7.0, body.triangles)
    assert enclosed_volume(body) == pytest.approx(enclosed(body), rel=1e-12)
    assert enclosed_volume(moved) == pytest.approx(1e-9 * enclosed(body), rel=1e-9)


def test_overlaps_count_once_and_sheets_not_at_all(make_body):
    points = np.random.default_rng(3).uniform((-1.0, -1.0, -1.0), (1.8, 1.1, 1.0), (200_000, 3))
    body = make_body("self_intersecting")
    counted = WindingNumber(body.positions, body.triangles).contains(points).mean() * 2.8 * 2.1 * 2.0
    assert enclosed_volume(body) == pytest.approx(counted, rel=0.01)
    assert enclosed_volume(make_body("flat_sheet")) == pytest.approx(0.0, abs=1e-12)


def clipped(corners: np.ndarray) -> tuple[float, np.ndarray | None]:
    """Volume and middle of a tet within the box from LOW to HIGH, by SciPy's half-spaces."""
    inverse = np.linalg.inv(np.column_stack([corners[1:] - corners[0]]).T)
    barycentric = np.vstack([-inverse.sum(axis=0), inverse])
    offsets = -barycentric @ corners[0] + [1.0, 0.0, 0.0, 0.0]
    sides = np.vstack(
        [
            np.column_stack([-barycentric, -offsets]),
            np.column_stack([np.vstack([-np.eye(3), np.eye(3)]), np.concatenate([LOW, -HIGH])]),
        ]
    )
    points = np.random.default_rng(0).dirichlet(np.ones(4), 20_000) @ corners
    inside = points[((points > LOW) & (points < HIGH)).all(axis=1)]
    if len(inside) < 10:
        return len(inside) / 20_000, None
    points = HalfspaceIntersection(sides, inside.mean(axis=0)).intersections
    hull = ConvexHull(points)
    middle, total = np.zeros(3), 0.0
    for face in hull.simplices:
        piece = points[face] - inside.mean(axis=0)
        volume = abs(np.linalg.det(piece)) / 6.0
        middle += volume * (0.25 * piece.sum(axis=0) + inside.mean(axis=0))
        total += volume
    return hull.volume / (abs(np.linalg.det(corners[1:] - corners[0])) / 6.0), middle / total


def random_tets(count: int) -> np.ndarray:
    """Positive tets about the box; the last ones have corners, edges and faces on its sides."""
    corners = np.random.default_rng(5).uniform(-0.2, 1.2, (count, 4, 3))
    corners[-9:, 0] = LOW
    corners[-6:, 1] = [HIGH[0], LOW[1], LOW[2]]
    corners[-3:, 2] = HIGH * [1, 1, 0]
    flipped = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
    corners[flipped] = corners[flipped][:, [0, 1, 3, 2]]
    return corners


@pytest.mark.parametrize("way", [1, -1])
def test_a_box_is_clipped_exactly(make_box, way):
    box = make_box(tuple(HIGH - LOW))
    winding = WindingNumber(box.positions + LOW, box.triangles[:, ::way])
    corners = random_tets(40)
    parts = volume_fractions(corners, winding)
    for tet, fill, middle in zip(corners, parts.fill, parts.middle, strict=True):
        expected, centre = clipped(tet)
        assert fill == pytest.approx(expected, abs=1e-9 if centre is not None else 1e-3)
        if centre is not None:
            np.testing.assert_allclose(middle @ tet, centre, atol=1e-9)
    assert not parts.sheet.any()


@pytest.mark.parametrize("name", ["self_intersecting", "open", "non_manifold", "inside_out", "touching_islands"])
def test_other_surfaces_as_points_are_counted(make_body, name):
    body = make_body(name)
    winding = WindingNumber(body.positions, body.triangles)
    mesh = lattice_tets(body, 6)
    corners = mesh.rest_positions[mesh.tets]
    parts = volume_fractions(corners, winding)
    spread = np.random.default_rng(1).dirichlet(np.ones(4), (len(corners), 600))
    counted = winding.contains(np.einsum("tpc,tci->tpi", spread, corners).reshape(-1, 3)).reshape(-1, 600)
    assert parts.fill.sum() == pytest.approx(counted.mean() * len(corners), rel=0.005)
    off = parts.fill - counted.mean(axis=1)
    # Of 600 points the counted part has a standard deviation of 0.02 itself.
    assert np.sqrt(np.mean(off**2)) < 0.025


def test_sheets_are_told_from_thin_walls(make_body, make_box):
    sheet, wall = lattice_tets(make_body("tilted_sheet"), 10), lattice_tets(make_box((1.0, 1.0, 0.002)), 10)
    assert set(sheet.fill) <= {SHEET_FILL, LEAST_FILL}
    assert wall.body_volumes.sum() == pytest.approx(0.002, rel=0.05) and wall.fill.max() < SHEET_FILL


@pytest.mark.parametrize("across", [8, 20])
@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_thin_bars_have_their_volume_and_stay_in_place(make_box, across, turn):
    """From 8 cells along on, wherever they lie in the lattice; also finer where painted."""
    rotation = np.array([(np.cos(turn), -np.sin(turn), 0), (np.sin(turn), np.cos(turn), 0), (0, 0, 1)])
    rotation = rotation @ rotation[[2, 0, 1]][:, [2, 0, 1]]
    bar = make_box((1.0, 1.0 / across, 1.0 / across))
    bar = SurfaceMesh(bar.positions @ rotation.T, bar.triangles)
    paint = (bar.positions @ rotation)[:, 0]
    for cells, fineness, finest in ((8, None, 1), (12, None, 1), (20, None, 1), (30, None, 1), (8, paint, 2.0)):
        mesh = lattice_tets(bar, cells, fineness, finest)
        assert mesh.body_volumes.sum() == pytest.approx(1.0 / across**2, rel=0.01)
        middle = np.einsum("tc,tci->i", mesh.corner_volumes, mesh.rest_positions[mesh.tets]) / mesh.body_volumes.sum()
        assert np.abs(middle - bar.positions.mean(axis=0)).max() < 0.1 / cells


def test_reference_bodies_have_their_volume(reference_bodies):
    from sinew.core.geometry.mesh.topology import boundary_triangles

    for path in sorted(reference_bodies.glob("*.npz")):
        data = np.load(path)
        surface = SurfaceMesh(data["vertices"], boundary_triangles(data["tets"]))
        assert lattice_tets(surface, 8).body_volumes.sum() == pytest.approx(enclosed(surface), rel=0.01), path.stem
