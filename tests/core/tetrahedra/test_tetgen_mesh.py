"""TetGen's tets keep the surface's vertices; what it cannot take is refused with the reason."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

import numpy as np
import pytest
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.quality import mesh_quality
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.intersections import intersecting_triangles
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.geometry.tetrahedra.tetgen_mesh import clean_tets
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize

from ..surfaces import box, joined, sphere

installed = pytest.mark.skipif(PathFinder.find_spec("tetgen") is None, reason="TetGen is not installed")


@installed
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_every_vertex_of_the_surface_is_a_vertex_of_the_tets(scale, capfd):
    surface = SurfaceMesh(scale * sphere().positions + 3.0 * scale, sphere().triangles)
    mesh = tetrahedralize(surface, ResolutionSettings("clean", 6))
    exact = embed(surface.positions, mesh)
    assert exact.barycentric.max(axis=1) == pytest.approx(np.ones(len(surface.positions)), abs=1e-9)
    assert (mesh.volumes > 0.0).all() and (mesh.fill == 1.0).all()
    corners = surface.positions[surface.triangles] - surface.positions.mean(axis=0)
    enclosed = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert mesh.volumes.sum() == pytest.approx(enclosed, rel=1e-9)
    assert mesh_quality(mesh).min_dihedral > 2.0
    assert capfd.readouterr().out == "" and "tetgen" not in sys.modules


@installed
def test_cells_across_mean_about_as_many_tets_as_in_the_lattice():
    clean, draft = (make(box(), 12) for make in (clean_tets, lattice_tets))
    assert 0.6 * len(draft.tets) < len(clean.tets) < 1.4 * len(draft.tets)


@installed
def test_a_hollow_stays_hollow_and_a_body_within_is_filled():
    inner = sphere(2, 0.5)
    outer = sphere(2)
    hollow = clean_tets(joined(outer, SurfaceMesh(inner.positions, inner.triangles[:, ::-1])), 8)
    filled = clean_tets(joined(outer, inner), 8)
    whole = clean_tets(outer, 8)
    assert filled.volumes.sum() == pytest.approx(whole.volumes.sum(), rel=1e-9)
    assert hollow.volumes.sum() == pytest.approx(whole.volumes.sum() * 7.0 / 8.0, rel=1e-9)


@installed
def test_vertices_at_the_same_place_are_one():
    b = box()
    split = SurfaceMesh(b.positions[b.triangles].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert clean_tets(split, 4).volumes.sum() == pytest.approx(1.0)


@installed
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("open", "open"),
        ("flat_sheet", "open"),
        ("triangle", "open"),
        ("non_manifold", "open"),
        ("soup", "open"),
        ("self_intersecting", "passes through itself"),
    ],
)
def test_bad_surfaces_are_refused_with_the_reason(make_body, name, said):
    with pytest.raises(MeshError, match=said) as caught:
        clean_tets(make_body(name), 6)
    assert "Draft or Robust" in caught.value.remedy


@installed
def test_what_tetgen_itself_refuses_has_its_words(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sinew.core.geometry.tetrahedra.tetgen_mesh.intersecting_triangles", lambda *_: np.empty(0, dtype=np.int64)
    )
    with pytest.raises(MeshError, match="TetGen failed: .*self-intersections") as caught:
        clean_tets(joined(sphere(), sphere(centre=(0.8, 0.1, 0.0))), 6)
    assert not list(tmp_path.iterdir())
    assert "Draft or Robust" in caught.value.remedy


@installed
def test_doubled_faces_are_told():
    b = box()
    with pytest.raises(MeshError, match="coincide with other faces"):
        clean_tets(SurfaceMesh(b.positions, np.vstack([b.triangles, b.triangles[:1]])), 4)


def test_crossings_are_those_that_a_search_of_all_pairs_finds():
    """Against the definition on random triangles: an edge's line hits the plane between its ends, inside."""
    rng = np.random.default_rng(3)
    corners = rng.random((60, 1, 3)) + 0.5 * rng.random((60, 3, 3))
    found = np.zeros(60, dtype=bool)
    for i in range(60):
        for j in range(60):
            for k in range(3):
                p, q = corners[i, k], corners[i, (k + 1) % 3]
                a, b, c = corners[j]
                s, u, v = np.linalg.solve(np.column_stack([p - q, b - a, c - a]), p - a) if i != j else (2, 0, 0)
                if 0 < s < 1 and u > 0 and v > 0 and u + v < 1:
                    found[i] = found[j] = True
    triangles = np.arange(180).reshape(-1, 3)
    assert 0 < found.sum() < 60
    assert np.array_equal(intersecting_triangles(corners.reshape(-1, 3), triangles), np.flatnonzero(found))


def test_neighbours_do_not_cross():
    s = sphere()
    assert len(intersecting_triangles(s.positions, s.triangles)) == 0
