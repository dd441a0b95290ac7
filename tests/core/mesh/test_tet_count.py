"""The cheap count of tetrahedra against real ones."""

from __future__ import annotations

from importlib.machinery import PathFinder

import numpy as np
import pytest
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.mesh.tet_count import expected_tets, measured
from sinew.core.mesh.tetrahedralize import tetrahedralize
from sinew.core.model.settings import ResolutionSettings

from .conftest import BODIES, box

SHAPES = {
    **{name: BODIES[name] for name in ("sphere", "cube", "open", "two_islands", "flat_sheet", "tilted_sheet")},
    "beam": lambda: box((5.0, 1.0, 1.0)),
    "thin plate": lambda: box((3.0, 3.0, 0.02)),
}


@pytest.mark.parametrize("cells", [6, 12, 24])
@pytest.mark.parametrize("name", SHAPES)
def test_lattices_are_counted_within_thirty_percent(name, cells):
    surface = SHAPES[name]()
    real = len(tetrahedralize(surface, ResolutionSettings("lattice", cells)).tets)
    assert 0.7 * real < expected_tets(measured(surface), "lattice", cells) < 1.3 * real


@pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")
@pytest.mark.parametrize("cells", [2, 12, 20])
@pytest.mark.parametrize("name", ["sphere", "cube", "two_islands", "thin plate"])
def test_clean_tets_are_counted_within_a_factor_of_two(name, cells):
    surface = SHAPES[name]()
    real = len(tetrahedralize(surface, ResolutionSettings("clean", cells)).tets)
    expected = expected_tets(measured(surface), "clean", cells)
    assert 0.5 * real < expected + 100 and expected < 2.0 * real + 100


def test_neither_size_nor_place_nor_orientation_matters():
    surface = BODIES["open"]()
    other = SurfaceMesh(1e-3 * surface.positions + 5.0, surface.triangles[:, ::-1])
    one, two = (expected_tets(measured(s), "lattice", 20) for s in (surface, other))
    assert one == pytest.approx(two, rel=1e-6)


def test_a_surface_without_area_has_no_figures():
    assert measured(SurfaceMesh(np.zeros((3, 3)), [(0, 1, 2)])) is None
