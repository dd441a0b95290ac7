"""The skin of the draft lattice: closed, free of itself, near the body, carried by at most four vertices each."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.skin_measures import measured, recorded_surface
from sinew.benchmarks.thin_bodies import ball, hand, hollow_ball, joined, plate, square
from sinew.core.contact.proxy.collision_proxy import collision_proxy
from sinew.core.contact.proxy.lattice_bridged_parts import bridged_parts
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize

CELL, COARSE = 1.0 / 11.5, 1.0 / 6.5
"""Cell sides of bodies of 1 m at 12 and at 7 cells, m."""


def lattice(surface, cells, fineness=None, finest=1.0):
    return tetrahedralize(
        surface, ResolutionSettings(method="lattice", cells_across=cells, refine_factor=finest), fineness
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: ball(16, 0.5),
        hand,
        lambda: plate(0.3 * CELL),
        lambda: plate(0.3 * CELL, tilted=True),
        lambda: plate(CELL, tilted=True),
        lambda: ball(16, 0.5, 0.0),
        square,
    ],
    ids=["ball", "hand", "thin", "thin_tilted", "plate", "bowl", "sheet"],
)
def test_skins_are_closed_free_of_themselves_and_near(make):
    m = measured(make(), 12)
    assert m.unpaired == m.pinched == m.crossings == m.touching == 0
    assert m.volume > 0.0 and m.lost <= 0.005 and not m.near > 0.1


@pytest.mark.parametrize("name", ["coarse_bunny", "arm_fine", "armadillo_coarse", "boat"])
def test_skins_of_the_papers_bodies(reference_bodies, name):
    m = measured(recorded_surface(reference_bodies, name), 12)
    assert m.unpaired == m.pinched == m.crossings == m.touching == 0
    assert m.lost <= 0.005 and m.near <= 0.1


def test_a_thin_shell_has_an_inner_side():
    m = measured(hollow_ball(0.3 * COARSE), 7)
    assert m.unpaired == m.pinched == m.crossings == m.touching == 0 and m.lost == 0.0
    assert m.volume < 0.6 * np.pi / 6.0 / COARSE**3


def test_bad_meshes_have_closed_skins(body):
    m = measured(body, 8)
    assert m.unpaired == m.pinched == m.crossings == 0 and m.volume > 0.0


def test_few_vertices_of_the_lattice_carry_each():
    mesh = lattice(hand(), 12)
    skin = collision_proxy(hand(), mesh)
    assert np.diff(skin.carried.indptr).max() <= 4
    np.testing.assert_allclose(skin.carried.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(skin.carried @ mesh.rest_positions, skin.rest, atol=1e-14)
    assert skin.carried.data.min() > 0.0  # nothing is extrapolated


def test_where_cells_are_painted_finer_the_skin_is():
    surface = ball(16, 0.5)
    fineness = (surface.positions[:, 0] > 0.1).astype(float)
    mesh = lattice(surface, 8, fineness, 3.0)
    skin = collision_proxy(surface, mesh)
    p = skin.rest[skin.faces]
    areas = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    right = p.mean(axis=1)[:, 0] > 0.1
    assert np.median(areas[right]) < 0.3 * np.median(areas[p.mean(axis=1)[:, 0] < -0.2])
    off = np.abs(np.linalg.norm(skin.rest, axis=1) - 0.5)
    assert off[skin.rest[:, 0] > 0.2].max() < off[skin.rest[:, 0] < -0.2].max()


@pytest.mark.parametrize("gap, moving", [(0.8, 1), (4.0, 2)])
def test_parts_that_the_lattice_holds_together_are_told(gap, moving):
    one = ball(16, 0.25)
    other = SurfaceMesh(one.positions + (0.5 + gap * COARSE, 0.0, 0.0), one.triangles)
    inside = SurfaceMesh(0.5 * one.positions, one.triangles)
    both = joined([one, other, inside])
    found = bridged_parts(both, lattice(both, 7), 7)
    assert (found.surface_parts, found.lattice_parts) == (2, moving)
    if moving == 1:
        assert found.gap == pytest.approx(gap * COARSE, rel=0.05)
        assert bridged_parts(both, lattice(both, found.cells), found.cells).lattice_parts == 2
    else:
        assert found.cells == 0


def test_a_needle_within_one_row_of_tets_is_told():
    needle = SurfaceMesh(plate(1e-3).positions * (1.0, 1e-3, 1.0), plate(1e-3).triangles)
    with pytest.raises(MeshError, match="too small for its cells"):
        collision_proxy(needle, lattice(needle, 12))


def test_what_crosses_is_one_part():
    found = bridged_parts(hand(), lattice(hand(), 12), 12)
    assert found == (1, 1, np.inf, 0)


def test_both_sides_of_a_shell_are_one_part():
    shell = hollow_ball(0.12)
    assert bridged_parts(shell, lattice(shell, 8), 8) == (1, 1, np.inf, 0)
