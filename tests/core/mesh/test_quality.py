"""Quality figures and topology against bodies whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.quality import dihedral_angles, mesh_quality, radius_ratios
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.geometry.tetrahedra.lattice import lattice_tets

REGULAR = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], dtype=float)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
def test_a_regular_tet_is_perfect(scale):
    mesh = TetMesh(REGULAR * scale, [(0, 1, 3, 2)] if np.linalg.det(REGULAR[1:] - REGULAR[0]) < 0 else [(0, 1, 2, 3)])
    np.testing.assert_allclose(dihedral_angles(mesh), np.degrees(np.arccos(1.0 / 3.0)))
    np.testing.assert_allclose(radius_ratios(mesh), 1.0)
    assert mesh_quality(mesh).volume == pytest.approx(8.0 / 3.0 * scale**3)
    assert mesh_quality(mesh).inverted == 0


def test_a_right_corner_has_known_angles():
    mesh = TetMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)])
    angles = np.sort(dihedral_angles(mesh)[0])
    np.testing.assert_allclose(angles, [np.degrees(np.arccos(1 / np.sqrt(3)))] * 3 + [90.0] * 3)
    inner, outer = 1.0 / (3.0 + np.sqrt(3.0)), np.sqrt(3.0) / 2.0
    np.testing.assert_allclose(radius_ratios(mesh), 3.0 * inner / outer)


def test_flat_and_inverted_tets_are_told():
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)], dtype=float)
    figures = mesh_quality(TetMesh(points, [(0, 1, 2, 3), (0, 2, 1, 4)]))
    assert figures.inverted == 2
    assert figures.worst_radius_ratio == 0.0
    assert figures.min_volume == pytest.approx(-1.0 / 6.0)


def test_the_boundary_is_closed_and_points_outwards(make_sphere):
    mesh = lattice_tets(make_sphere(2), 8)
    triangles = boundary_triangles(mesh.tets)
    corners = mesh.rest_positions[triangles]
    enclosed = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert enclosed == pytest.approx(mesh.volumes.sum())
    edges = np.sort(triangles[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all()


def test_fill_weighs_volume_but_not_geometry():
    mesh = TetMesh(REGULAR[[0, 2, 1, 3]], [(0, 1, 2, 3)], np.array([0.25]))
    assert mesh_quality(mesh).body_volume == pytest.approx(0.25 * mesh_quality(mesh).volume)
