"""Cells are smaller where it is painted so, and all that holds of a lattice holds of what they become."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.quality import mesh_quality
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import FACES, components
from sinew.core.geometry.tetrahedra.adaptive_refinement import _hanging_together, _stars
from sinew.core.geometry.tetrahedra.lattice import lattice_tets

from ..surfaces import BODIES, box, joined, sphere

CELLS = 6


def painted_at_top(surface):
    """1 in the highest quarter, 0 from the middle down."""
    z = surface.positions[:, 2]
    return np.clip(2.0 * (z - z.mean()) / (z.max() - z.mean()), 0.0, 1.0)


def faces_of(mesh):
    return np.unique(np.sort(mesh.tets[:, FACES].reshape(-1, 3), axis=1), axis=0, return_counts=True)


def assert_conforming(mesh):
    """No vertex lies within an edge of another tet: middles of edges, at which halved neighbours would have theirs."""
    pairs = np.unique(np.sort(mesh.tets[:, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]].reshape(-1, 2)), axis=0)
    size = mesh.size
    middles = np.round(mesh.rest_positions[pairs].mean(axis=1) / size, 9) + 0.0
    corners = set(map(tuple, np.round(mesh.rest_positions / size, 9) + 0.0))
    assert not corners & set(map(tuple, middles))
    assert faces_of(mesh)[1].max() == 2


@pytest.mark.parametrize("finest", [2.0, 4.0])
@pytest.mark.parametrize("name", ["sphere", "cube", "open", "self_intersecting", "flat_sheet", "two_islands"])
def test_finer_lattices_are_whole(name, finest):
    surface = BODIES[name]()
    paint = np.ones(len(surface.positions)) if name == "flat_sheet" else painted_at_top(surface)
    plain, finer = lattice_tets(surface, CELLS), lattice_tets(surface, CELLS, paint, finest)
    figures = mesh_quality(finer)
    assert (
        figures.inverted == 0 and figures.min_dihedral > 44.9 and figures.components == mesh_quality(plain).components
    )
    assert_conforming(finer)
    assert not embed(surface.positions, finer).outside.any()
    assert len(np.unique(_stars(finer.tets))) == len(_stars(finer.tets))
    assert len(finer.tets) > len(plain.tets)
    assert finer.volumes.min() < 1.4 * plain.volumes.min() / finest**3
    assert ((finer.fill > 0.0) & (finer.fill <= 1.0)).all()
    if name == "sphere":
        assert abs(finer.body_volumes.sum() / (4.0 / 3.0 * np.pi) - 1.0) < 0.05


def test_only_the_painted_side_is_finer():
    surface = sphere()
    finer = lattice_tets(surface, 12, painted_at_top(surface), 4.0)
    plain = lattice_tets(surface, 12).volumes.min()
    z = finer.rest_positions[finer.tets].mean(axis=1)[:, 2]
    assert finer.volumes[z > 0.95].max() < 0.1 * plain
    assert finer.volumes[z < -0.3].min() > 0.99 * plain


def test_nothing_painted_changes_nothing():
    surface = sphere()
    plain = lattice_tets(surface, CELLS)
    for paint, finest in ((np.zeros(len(surface.positions)), 4.0), (painted_at_top(surface), 1.0)):
        other = lattice_tets(surface, CELLS, paint, finest)
        assert np.array_equal(other.tets, plain.tets) and np.array_equal(other.fill, plain.fill)
        assert np.array_equal(other.rest_positions, plain.rest_positions)


def test_what_a_coarse_cell_joined_comes_apart():
    """Two bars with a gap of two thirds of a cell are one body, and two when they are painted."""
    bar = box((1.0, 0.2, 0.2))
    bars = joined(bar, SurfaceMesh(bar.positions + [0, 0, 0.35], bar.triangles))
    plain = lattice_tets(bars, 5)
    finer = lattice_tets(bars, 5, np.ones(16), 8.0)
    parts = [int(components(m.tets, len(m.rest_positions)).max()) + 1 for m in (plain, finer)]
    assert parts == [1, 2]


def test_what_would_dangle_is_held_together():
    """Two tets with a common edge alone: the third, left away, is taken back."""
    tets = np.array([(0, 1, 2, 3), (0, 1, 3, 4), (0, 1, 4, 5)])
    assert _hanging_together(tets, np.array([True, False, True])).all()
    assert _hanging_together(tets, np.array([True, True, False])).tolist() == [True, True, False]


def test_the_same_paint_gives_the_same_bits():
    surface = BODIES["self_intersecting"]()
    one, two = (lattice_tets(surface, CELLS, painted_at_top(surface), 3.0) for _ in range(2))
    assert one.tets.tobytes() == two.tets.tobytes() and one.rest_positions.tobytes() == two.rest_positions.tobytes()
