"""Walls thinner than a cell are found, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.wall_thickness import measure_thickness, thin_parts

from ..surfaces import BODIES, box, joined


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_a_plate_is_thin_by_its_faces(scale):
    plate = box((scale, scale, 0.05 * scale))
    found = thin_parts(plate, 0.1 * scale)
    assert found.share == pytest.approx(2.0 / 2.2, rel=0.03)  # both faces, none of the rim
    assert found.thickness == pytest.approx(0.05 * scale, rel=1e-3)
    assert set(found.vertices) == set(range(8))
    assert thin_parts(plate, 0.04 * scale).share == 0.0


def test_only_the_thin_part_of_a_body_is_named():
    cube = box()
    fin = SurfaceMesh(box((1.0, 0.02, 0.5)).positions + [1.5, 0.0, 0.0], box().triangles)
    found = thin_parts(joined(cube, fin), 0.1)
    assert set(found.vertices) == set(range(8, 16))
    assert found.share == pytest.approx(1.0 / (6.0 + 1.0 + 0.06), rel=0.03)


def test_one_search_answers_for_every_length_within_its_reach():
    """Two plates that taper by a fifth, one twice as thick, and a cube."""
    plates = [box((1.0, 1.0, 0.05)), box((1.0, 1.0, 0.1)), box((0.6, 0.6, 0.6))]
    for k, plate in enumerate(plates):
        plate.positions[:, 2] *= 1.0 - 0.2 * plate.positions[:, 0]
        plate.positions[:, 0] += 2.0 * k
    body = joined(*plates)
    found = measure_thickness(body, 0.06, reach=2.0)
    for length in (0.02, 0.045, 0.06):
        near, alone = found.below(length), measure_thickness(body, 0.06).below(length)
        assert near.share == alone.share and near.thickness == alone.thickness
        assert np.array_equal(near.vertices, alone.vertices)
    assert set(found.below(0.06).vertices) == set(range(8)) and set(found.below(0.12).vertices) == set(range(16))
    assert found.below(0.06).share < found.below(0.09).share < found.below(0.12).share


@pytest.mark.parametrize("name", ["sphere", "cube", "two_islands", "flat_sheet", "tilted_sheet", "inside_out"])
def test_thick_bodies_sharp_edges_and_sheets_are_not_thin(name):
    assert thin_parts(BODIES[name](), 0.2).share == 0.0


def test_a_wedge_is_thin_at_its_edge_only_where_it_is_pointed():
    """Angles of 60 degrees are no thin parts, of 10 degrees they are."""
    for angle, thin in ((60.0, False), (10.0, True)):
        rise = 0.5 / np.tan(np.radians(0.5 * angle))
        points = [(0, 0, 0), (1, 0, 0), (0.5, 0, rise), (0, 1, 0), (1, 1, 0), (0.5, 1, rise)]
        faces = [(0, 1, 2), (3, 5, 4), (0, 3, 4), (0, 4, 1), (0, 2, 5), (0, 5, 3), (1, 4, 5), (1, 5, 2)]
        found = thin_parts(SurfaceMesh(points, [f[::-1] for f in faces]), 0.1)
        assert (found.share > 0.0) == thin


def test_a_body_turned_inside_out_is_as_thin():
    plate = box((1.0, 1.0, 0.05))
    turned = SurfaceMesh(plate.positions, plate.triangles[:, ::-1])
    assert thin_parts(turned, 0.1).share == pytest.approx(thin_parts(plate, 0.1).share, rel=0.01)
