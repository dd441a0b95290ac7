"""The cheap count of tetrahedra against real ones."""

from __future__ import annotations

from importlib.machinery import PathFinder

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tet_count import expected_tets, measure_surface
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize

from ..surfaces import BODIES, box

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
    assert 0.7 * real < expected_tets(measure_surface(surface), "lattice", cells) < 1.3 * real


@pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")
@pytest.mark.parametrize("cells", [2, 12, 20])
@pytest.mark.parametrize("name", ["sphere", "cube", "two_islands", "thin plate"])
def test_clean_tets_are_counted_within_a_factor_of_two(name, cells):
    surface = SHAPES[name]()
    real = len(tetrahedralize(surface, ResolutionSettings("clean", cells)).tets)
    expected = expected_tets(measure_surface(surface), "clean", cells)
    assert 0.5 * real < expected + 100 and expected < 2.0 * real + 100


def rod(length: float, sides: int = 32) -> SurfaceMesh:
    """A closed cylinder of radius 0.2, whose faces reach from end to end."""
    turn = 2.0 * np.pi * np.arange(sides) / sides
    ring = 0.2 * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    k = np.arange(sides)
    after, low, high = (k + 1) % sides, 2 * sides, 2 * sides + 1
    triangles = np.concatenate(
        [
            np.column_stack([k, after, k + sides]),
            np.column_stack([after, after + sides, k + sides]),
            np.column_stack([after, k, np.full(sides, low)]),
            np.column_stack([k + sides, after + sides, np.full(sides, high)]),
        ]
    )
    far = np.array([0.0, 0.0, length])
    return SurfaceMesh(np.concatenate([ring, ring + far, [np.zeros(3), far]]), triangles)


@pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")
@pytest.mark.parametrize("length", [4.0, 8.0])
def test_narrow_faces_are_filled_with_tets_as_narrow(length):
    surface = rod(length)
    real = len(tetrahedralize(surface, ResolutionSettings("clean", 12)).tets)
    assert real > 5_000 and 0.5 * real < expected_tets(measure_surface(surface), "clean", 12) < 2.0 * real


def test_fTetWild_makes_fewer_of_them_and_needles_have_an_end():
    """7,606 and 4,649 tets were counted of a rod 4 m long (fTetWild takes minutes for these)."""
    assert [expected_tets(measure_surface(rod(4.0)), "robust", cells) for cells in (12, 25)] == pytest.approx(
        [4.6e3] * 2, rel=0.1
    )
    needle = SurfaceMesh(
        [[0, 0, 0], [1, 0, 0], [1, 1e-9, 0], [1, 0, 1e-9]], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    )
    assert expected_tets(measure_surface(needle), "robust", 12) < 1e4


def test_neither_size_nor_place_nor_orientation_matters():
    surface = BODIES["open"]()
    other = SurfaceMesh(1e-3 * surface.positions + 5.0, surface.triangles[:, ::-1])
    one, two = (expected_tets(measure_surface(s), "lattice", 20) for s in (surface, other))
    assert one == pytest.approx(two, rel=1e-6)


def test_a_surface_without_area_has_no_figures():
    assert measure_surface(SurfaceMesh(np.zeros((3, 3)), [(0, 1, 2)])) is None
