"""Tets of every method are smaller where the refinement is painted, and the meshers' sizing field."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

import numpy as np
import pytest
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.quality import mesh_quality
from sinew.core.geometry.mesh.surface_depth import SurfaceDepth
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import FACES
from sinew.core.geometry.tetrahedra.sizing_field import SizingField, background_mesh, is_finer
from sinew.core.geometry.tetrahedra.tet_count import expected_tets, measure_surface
from sinew.core.geometry.tetrahedra.tetgen_mesh import clean_tets
from sinew.core.geometry.tetrahedra.tetrahedralize import METHODS, tetrahedralize

from ..surfaces import box, sphere

PACKAGES = {"robust": "pytetwild", "clean": "tetgen"}
CELLS = 9
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]

REFINABLE = [method for method in METHODS if method != "rigid"]
"""Methods with more than one tetrahedron."""


def needs(method):
    if method in PACKAGES and PathFinder.find_spec(PACKAGES[method]) is None:
        pytest.skip(f"{PACKAGES[method]} is not installed")


def cap(surface):
    """1 in the upper quarter of a surface, 0 elsewhere."""
    z = surface.positions[:, 2]
    return (z > z.min() + 0.75 * np.ptp(z)).astype(float)


@pytest.mark.parametrize("finest", [2.0, 4.0])
@pytest.mark.parametrize("method", REFINABLE)
def test_painted_edges_are_shorter_by_as_much(method, finest):
    """The median in the first layer of painted cells, and that in the lower third, by the factor within 15 %."""
    needs(method)
    surface = sphere(3)
    mesh = tetrahedralize(surface, ResolutionSettings(method, CELLS, finest), cap(surface))
    pairs = np.unique(np.sort(mesh.tets[:, EDGES].reshape(-1, 2), axis=1), axis=0)
    ends = mesh.rest_positions[pairs]
    lengths, middles = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), ends.mean(axis=1)
    fine = (middles[:, 2] > 0.7) & (SurfaceDepth(surface).at(middles) < 0.5 * 2.0 / CELLS / finest)
    ratio = np.median(lengths[middles[:, 2] < -0.4]) / np.median(lengths[fine])
    assert ratio == pytest.approx(finest, rel=0.15)
    assert mesh_quality(mesh).min_dihedral > 1.0 and (mesh.volumes > 0.0).all()
    expected = expected_tets(measure_surface(surface, cap(surface)), method, CELLS, finest)
    assert 0.6 * len(mesh.tets) < expected < 1.5 * len(mesh.tets)


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (3.0, 3.0, 0.1)])
def test_clean_keeps_every_vertex_of_what_is_painted(size):
    """The plate, finer by 3 at 9 cells, crashes TetGen where one run does all."""
    needs("clean")
    surface = box(size)
    mesh = clean_tets(surface, 9, np.ones(8), 3.0)
    assert embed(surface.positions, mesh).barycentric.max(axis=1) == pytest.approx(np.ones(8), abs=1e-9)
    assert mesh.volumes.sum() == pytest.approx(np.prod(size), rel=1e-9)


def test_paint_without_weight_changes_nothing():
    """Neither does paint at vertices of no face."""
    surface = sphere(1)
    surface = SurfaceMesh(np.vstack([surface.positions, [(0.0, 0.0, 0.0)]]), surface.triangles)
    n = len(surface.positions)
    assert not is_finer(np.zeros(n), 4.0) and not is_finer(np.ones(n), 1.0) and not is_finer(None, 4.0)
    plain = tetrahedralize(surface, ResolutionSettings("lattice", 3))
    for paint, finest in ((np.zeros(n), 4.0), (np.ones(n), 1.0), (np.eye(n)[-1], 4.0)):
        mesh = tetrahedralize(surface, ResolutionSettings("lattice", 3, finest), paint)
        assert np.array_equal(mesh.rest_positions, plain.rest_positions)
    assert (background_mesh(surface, np.eye(n)[-1], 4.0, 1000).sizes == 1.0).all()


def test_the_field_fills_its_box_and_holds_the_wanted_sizes():
    surface = sphere()
    surface = SurfaceMesh(4.0 * surface.positions, surface.triangles)
    field = background_mesh(surface, cap(surface), 3.0, 100_000)
    corners = field.points[field.tets]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    assert volumes.sum() == pytest.approx(np.ptp(field.points, axis=0).prod())
    assert (field.points.min(axis=0) <= -5.0).all() and (field.points.max(axis=0) >= 5.0).all()
    counts = np.unique(np.sort(field.tets[:, FACES].reshape(-1, 3), axis=1), axis=0, return_counts=True)[1]
    assert counts.max() == 2
    wanted = SizingField.on(surface, cap(surface), 3.0)
    assert np.array_equal(field.sizes, wanted.at(field.points))
    middles = wanted.at(corners.mean(axis=1))
    assert (6.0 * volumes <= middles**3 + 1e-12).all()
    between = field.sizes[field.tets].mean(axis=1)
    assert np.abs(between / middles - 1.0).max() < 0.5


@pytest.mark.parametrize("method", REFINABLE)
def test_too_many_are_refused_before_they_are_made(method, monkeypatch):
    needs(method)
    surface = sphere(1)
    monkeypatch.setattr(sys.modules[METHODS[method].__module__], "MAX_TETS", 20_000)
    with pytest.raises(MeshError, match="Painted refinement") as caught:
        METHODS[method](surface, 10, np.ones(len(surface.positions)), 8.0)
    assert "Refine Factor" in caught.value.remedy
