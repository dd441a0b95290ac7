"""Layers: so much of the body as geometry says, the later one over the earlier, mixed where they fade."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError
from sinew.core.foundation.schema.settings import DepthSettings, MaterialSettings, moduli
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.surface_depth import SurfaceDepth
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.materials.fields import material_fields
from sinew.core.mechanics.materials.layer import Layer
from sinew.core.mechanics.materials.layers import fraction_at_depth

FLESH = MaterialSettings("flesh", youngs_modulus=1e4, density=1000.0)
SKIN = MaterialSettings("skin", youngs_modulus=1e6, density=1200.0)
BONE = MaterialSettings("bone", youngs_modulus=1e9, density=2000.0)
RANGED = MaterialSettings("ranged", youngs_modulus=1e4, painted_modulus=1e8)


@pytest.fixture(scope="module")
def mesh(bar):
    return lattice_tets(bar, 24)


@pytest.fixture(scope="module")
def fields_of(bar, mesh):
    embedding, plain = embed(bar.positions, mesh), np.zeros(len(bar.positions))

    def fields(materials, layers=(), maps=None):
        paint = np.column_stack([plain] * len(materials))
        return material_fields(mesh, embedding, paint, materials, layers, bar, maps)

    return fields


def deeper_volume(depth):
    """Volume of the bar of 4 x 1 x 1 that lies deeper."""
    return (4.0 - 2.0 * depth) * (1.0 - 2.0 * depth) ** 2


def test_depth_below_a_box(bar):
    points = np.array([(2.0, 0.5, 0.5), (2.0, 0.1, 0.5), (3.75, 0.5, 0.6), (2.0, 0.5, 1.3), (-3.0, -4.0, 0.5)])
    for shift in (0.0, 1e4):
        moved = type(bar)(bar.positions + shift, bar.triangles)
        depths = SurfaceDepth(moved).at(points + shift)
        np.testing.assert_allclose(depths, [0.5, 0.1, 0.25, -0.3, -5.0], atol=1e-9)


@pytest.mark.parametrize(("depth", "fade"), [(0.2, 0.0), (0.05, 0.0), (0.1, 0.3)])
def test_shell_and_core_have_the_volume_that_geometry_gives_them(bar, mesh, depth, fade):
    below = SurfaceDepth(bar)
    shell, core = (fraction_at_depth(mesh, below, DepthSettings(kind, depth, fade)) for kind in ("shell", "core"))
    np.testing.assert_allclose(shell + core, 1.0, atol=1e-12)
    t = np.linspace(depth, depth + fade, 1001)
    expected = deeper_volume(t).mean()
    # Twenty probes a tet, and the fill of the lattice, each miss a hundredth of the body at most.
    assert core @ mesh.body_volumes == pytest.approx(expected, abs=0.02 * 4.0)
    assert 0.0 <= core.min() and core.max() == 1.0


def test_a_sharp_border_is_mixed_in_the_tets_that_it_crosses_alone(bar, mesh):
    part = fraction_at_depth(mesh, SurfaceDepth(bar), DepthSettings("shell", 0.2))
    corners = SurfaceDepth(bar).at(mesh.rest_positions)[mesh.tets]
    assert (part[(corners > 0.2).all(axis=1)] == 0.0).all()
    shallow = (corners < 0.2).all(axis=1)
    # A tet in the bar's edge may reach deeper than its corners.
    assert (part[shallow] > 0.9).all() and (part[shallow] == 1.0).mean() > 0.95


def test_the_later_layer_wins_and_covers_where_all_its_conditions_hold(bar, mesh, fields_of, make_box):
    left = make_box((2.51, 3.0, 3.0), (-0.5, -1.0, -1.0))
    skin, core = Layer(1, (), DepthSettings("shell", 0.2)), Layer(2, (left,), DepthSettings("core", 0.1))
    fields = fields_of((FLESH, SKIN, BONE), (skin, core))
    np.testing.assert_allclose(fields.weights.sum(axis=1), 1.0)
    centroids = mesh.rest_positions[mesh.tets].mean(axis=1)
    deep = SurfaceDepth(bar).at(mesh.rest_positions)[mesh.tets].min(axis=1)
    along = mesh.rest_positions[mesh.tets][:, :, 0]
    in_left, beyond = (along < 2.01).all(axis=1), (along > 2.01).all(axis=1)
    assert (fields.weights[in_left & (deep > 0.1), 2] == 1.0).all(), "bone lies over the skin"
    assert (fields.weights[beyond, 2] == 0.0).all()
    assert (fields.weights[beyond & (deep > 0.2), 0] == 1.0).all()
    turned = fields_of((FLESH, SKIN, BONE), (core, skin))
    between = in_left & (SurfaceDepth(bar).at(centroids) < 0.1)
    assert (turned.weights[between, 1] > 0.5).all()


def test_the_map_of_a_layer_says_how_much_it_covers(bar, mesh, fields_of):
    half = np.full(len(bar.positions), 0.5)
    fields = fields_of((FLESH, SKIN), (Layer(1, (), DepthSettings("core", 0.2), half),))
    deep = SurfaceDepth(bar).at(mesh.rest_positions)[mesh.tets].min(axis=1) > 0.2
    np.testing.assert_allclose(fields.youngs_modulus[deep], 1e5)
    np.testing.assert_allclose(fields.density[deep], 1100.0)


def test_layers_that_cover_nothing_are_told(fields_of):
    fields = fields_of((FLESH, SKIN), (Layer(1, (), DepthSettings("core", 0.7)), Layer(1, (), DepthSettings())))
    assert fields.empty_layers == (0,)


def test_a_range_is_straight_in_the_logarithm(bar, mesh, fields_of):
    along = bar.positions[:, 0] / 4.0
    fields = fields_of((RANGED,), (), along[:, None])
    centroids = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] / 4.0
    # A cell is 1/24 of the bar; tets in the surface take the mean of what of it lies in them.
    assert np.abs(np.log10(fields.youngs_modulus) - (4.0 + 4.0 * np.clip(centroids, 0.0, 1.0))).max() < 4.0 / 24.0
    assert (fields.weights == 1.0).all()
    np.testing.assert_allclose(np.exp(fields.modulus_blend.weights @ np.log(moduli((RANGED,)))), fields.youngs_modulus)


def test_ranges_blend_with_other_materials(bar, fields_of):
    full = np.column_stack([np.zeros(len(bar.positions)), np.ones(len(bar.positions))])
    half = np.full(len(bar.positions), 0.5)
    fields = fields_of((FLESH, RANGED), (Layer(1, (), None, half),), full)
    np.testing.assert_allclose(fields.youngs_modulus, np.sqrt(1e4 * 1e8))
    assert moduli((FLESH, RANGED)) == [1e4, 1e4, 1e8]
    unpainted = fields_of((RANGED,))
    assert (unpainted.youngs_modulus == 1e4).all()


@pytest.mark.parametrize(
    ("kind", "depth", "fade"), [("skin", 0.1, 0.0), ("shell", -0.1, 0.0), ("shell", 0.1, np.nan), ("core", "x", 0.0)]
)
def test_depths_that_are_none_are_refused(kind, depth, fade):
    with pytest.raises(MaterialError):
        DepthSettings(kind, depth, fade)


@pytest.mark.parametrize("modulus", [0.0, np.nan, "stiff", 1e16, True])
def test_a_painted_modulus_is_one(modulus):
    with pytest.raises(MaterialError):
        MaterialSettings(painted_modulus=modulus)
