"""The mass of tets that the body fills in part: how much it is, where it is, and that it is never negative."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.assembly.mass import element_mass, mass_matrix
from sinew.core.methods.model.model import build_model

CORNERS = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def box(sides, place) -> SurfaceMesh:
    """Eight corners, twelve triangles."""
    triangles = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]
    return SurfaceMesh(np.array(CORNERS) * sides + place, triangles)


def test_a_full_tet_has_the_consistent_mass():
    np.testing.assert_allclose(element_mass(np.full((1, 4), 0.5))[0], 2.0 * (np.ones((4, 4)) + np.eye(4)) / 20.0)


@pytest.mark.parametrize("middle", [(0.25, 0.25, 0.25, 0.25), (0.97, 0.01, 0.01, 0.01), (0.499, 0.499, 1e-3, 1e-3)])
def test_mass_and_its_centre_are_those_of_the_body(middle):
    M = element_mass(3.0 * np.array([middle]))[0]
    np.testing.assert_allclose(M.sum(axis=1), 3.0 * np.array(middle), rtol=1e-14)
    assert np.array_equal(M, M.T) and np.linalg.eigvalsh(M)[0] > 0.0
    assert not element_mass(np.zeros((1, 4))).any()


@pytest.mark.parametrize("cells", [8, 30])
def test_parts_of_a_body_weigh_what_they_should_where_they_are(cells):
    """Two thin bars beside each other: mass, and place to a hundredth of a cell, from the matrix alone."""
    bars = (((1.0, 0.05, 0.05), (0.0, 0.0, 0.0)), ((0.9, 0.03, 0.04), (0.0, 0.33, 0.41)))
    parts = [box(*bar) for bar in bars]
    positions = np.vstack([part.positions for part in parts])
    mesh = lattice_tets(SurfaceMesh(positions, np.vstack([parts[0].triangles, parts[1].triangles + 8])), cells)
    model = build_model(mesh, 1e5, 0.3, 1000.0)
    nodal = mass_matrix(mesh.tets, model.masses, model.unknowns) @ np.ones(model.unknowns)
    for (sides, place), mine in zip(
        bars, (mesh.rest_positions[:, 1] < 0.2, mesh.rest_positions[:, 1] > 0.2), strict=True
    ):
        assert nodal[mine].sum() == pytest.approx(1000.0 * np.prod(sides), rel=0.01)
        centre = nodal[mine] @ mesh.rest_positions[mine] / nodal[mine].sum()
        assert np.abs(centre - np.array(place) - 0.5 * np.array(sides)).max() < 0.01 / cells
