"""Material fields: bounded, constant where paint is constant, sharp where paint is sharp, overridden by regions."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError
from sinew.core.foundation.schema.settings import MaterialSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.rigid_clamp import KAPPA_PER_CELL, WIDEST
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.materials.fields import blend, material_fields, normalize_weights
from sinew.core.mechanics.materials.harmonic import extend_harmonically
from sinew.core.mechanics.materials.layer import Layer
from sinew.core.mechanics.materials.soft_stiff_interface import GIVE, _cells_along, soften_at_interface
from sinew.core.mechanics.materials.surface_to_tet_transfer import _sharpened

SOFT = MaterialSettings("soft", youngs_modulus=1e4, poissons_ratio=0.45, density=1000.0, energy="stable_neo_hookean")
STIFF = MaterialSettings("stiff", youngs_modulus=1e8, poissons_ratio=0.25, density=2000.0, energy="fixed_corotated")
MATERIALS = (SOFT, STIFF)


@pytest.fixture(scope="module")
def mesh(bar):
    return lattice_tets(bar, 24)


@pytest.fixture(scope="module")
def embedding(bar, mesh):
    return embed(bar.positions, mesh)


def halves(bar):
    """The left half soft, the right half stiff."""
    right = (bar.positions[:, 0] > 2.0).astype(float)
    return np.column_stack([1.0 - right, right])


@pytest.mark.parametrize("with_triangles", [True, False])
def test_random_paint_stays_within_its_bounds(bar, mesh, embedding, with_triangles):
    paint = np.random.default_rng(0).random((len(bar.positions), 2))
    part = normalize_weights(paint)[:, 1]
    fields = material_fields(mesh, embedding, paint, MATERIALS, (), bar if with_triangles else None)
    np.testing.assert_allclose(fields.weights.sum(axis=1), 1.0)
    assert fields.weights[:, 1].min() >= part.min() - 1e-9
    assert fields.weights[:, 1].max() <= part.max() + 1e-9
    assert fields.youngs_modulus.min() >= 1e4 and fields.youngs_modulus.max() <= 1e8
    assert np.ptp(fields.weights[:, 1]) > 0.1


@pytest.mark.parametrize("paint", [(1.0, 0.0), (0.0, 1.0), (0.25, 0.75), (3.0, 9.0)])
def test_constant_paint_gives_exactly_that_constant(bar, mesh, embedding, paint):
    fields = material_fields(mesh, embedding, np.tile(paint, (len(bar.positions), 1)), MATERIALS, (), bar)
    assert (fields.weights == np.array(paint) / sum(paint)).all()
    if max(paint) == 1.0:
        assert (fields.youngs_modulus == MATERIALS[int(paint[1])].youngs_modulus).all()


def test_vertices_without_paint_are_of_the_first_material(bar, mesh, embedding):
    fields = material_fields(mesh, embedding, np.zeros((len(bar.positions), 2)), MATERIALS)
    assert (fields.weights == (1.0, 0.0)).all()
    assert (fields.youngs_modulus == 1e4).all()


def test_stiffness_blends_in_the_logarithm_and_density_by_volume():
    fields = blend(np.array([(0.5, 0.5), (1.0, 0.0), (0.4, 0.6)]), MATERIALS)
    assert fields.youngs_modulus[0] == pytest.approx(np.sqrt(1e4 * 1e8))
    assert fields.density[0] == pytest.approx(1500.0)
    assert fields.poissons_ratio[0] == pytest.approx(0.35)
    assert fields.energies == ("stable_neo_hookean", "fixed_corotated")
    assert fields.energy.tolist() == [0, 0, 1]


def test_a_sharp_border_is_as_sharp_as_the_tets(bar, mesh, embedding):
    fields = material_fields(mesh, embedding, halves(bar), MATERIALS, (), bar)
    corners = mesh.rest_positions[mesh.tets]
    centroid, cell = corners.mean(axis=1), 4.0 / 23.5
    shallow = (mesh.fill < 1.0) & (np.abs(centroid[:, 0] - 2.0) > cell)
    right = centroid[:, 0] > 2.0
    # Tets joined to the surface by an edge alone take the harmonic value.
    assert np.median(np.abs(fields.weights[shallow, 1] - right[shallow])) == 0.0
    assert np.abs(fields.weights[shallow, 1] - right[shallow]).max() < 0.2
    far = np.abs(centroid[:, 0] - 2.0) > 1.0
    assert np.abs(fields.weights[far, 1] - right[far]).max() < 0.05


def test_a_sharp_border_is_as_sharp_inside(bar, mesh, embedding):
    """Harmonic shares alone are up to 0.37 off there."""
    fields = material_fields(mesh, embedding, halves(bar), MATERIALS, (), bar)
    x, cell = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0], 4.0 / 23.5
    beside = (mesh.fill == 1.0) & (np.abs(x - 2.025) > 0.75 * cell)
    assert beside.any()
    np.testing.assert_allclose(fields.weights[beside, 1], x[beside] > 2.025, atol=0.06)


def test_a_gradient_stays_one_inside(bar, mesh, embedding):
    part = np.clip(bar.positions[:, 0] - 1.5, 0.0, 1.0)
    fields = material_fields(mesh, embedding, np.column_stack([1.0 - part, part]), MATERIALS, (), bar)
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    inner = (mesh.fill == 1.0) & (np.abs(x - 2.0) < 0.3)
    slope = np.polyfit(x[inner], fields.weights[inner, 1], 1)[0]
    assert 0.7 < slope < 1.2


def test_pure_shares_are_sharpened_and_a_blend_is_not():
    mixed = np.full((1, 4, 3), (0.5, 0.3, 0.2))
    weights, sharp = _sharpened(mixed, np.ones(1))
    np.testing.assert_array_equal(weights, [(1.0, 0.0, 0.0)])
    weights, smooth = _sharpened(mixed, (mixed[:, 0] ** 2).sum(axis=1))
    np.testing.assert_allclose(weights, mixed[:, 0])
    assert sharp[0] == 1.0 and smooth[0] == 0.0
    np.testing.assert_allclose(_sharpened(np.eye(4)[None], np.ones(1))[0].sum(axis=1), 1.0)


def test_what_hangs_on_rigid_tets_gives_way_and_nothing_else_does(mesh):
    x, cell = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0], 4.0 / 23.5
    sharp = np.where(x < 2.0, 1e9, 1e6)
    gives = soften_at_interface(mesh, sharp) / sharp
    assert (gives[(x < 2.0) | (x > 2.0 + 1.5 * cell)] == 1.0).all()
    assert gives.min() == pytest.approx(
        1.0 / (1.0 + 0.75 * GIVE / (KAPPA_PER_CELL * WIDEST)), rel=0.02
    )  # three corners of four
    smooth = 1e6 * 10.0 ** (x / (2.0 * cell))
    np.testing.assert_array_equal(soften_at_interface(mesh, smooth), smooth)


@pytest.mark.parametrize("width", [0.2, 0.5, 1.0])
def test_each_border_is_as_large_as_its_area(make_box, width):
    """Across a bar with bone at both ends; edges of tets stand a little askew on it. A lone soft tet has none."""
    block, cell = make_box((4.0, width, width)), 4.0 / 23.5
    mesh = lattice_tets(block, 24)
    x = mesh.rest_positions[:, 0]
    hangs = ((x < 1.0) | (x > 3.0))[mesh.tets].sum(axis=1)
    cells = _cells_along(mesh, np.flatnonzero(hangs % 4), np.where((x < 1.0) | (x > 3.0), 5.0, 0.0))
    assert (cells > 0.98 * width / cell).all() and (cells < 1.25 * width / cell).all()
    lone = np.full(len(mesh.tets), 1e9)
    lone[np.argmax(mesh.fill)] = 1e6
    assert (soften_at_interface(mesh, lone) == lone).mean() == 1.0 - 1.0 / len(lone)


def test_paint_is_linear_over_coarse_triangles(make_box):
    block = make_box((4.0, 1.0, 1.0))
    mesh = lattice_tets(block, 16)
    part = block.positions[:, 0] / 4.0
    paint = np.column_stack([1.0 - part, part])
    fields = material_fields(mesh, embed(block.positions, mesh), paint, MATERIALS, (), block)
    centroid = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] / 4.0
    assert np.abs(fields.weights[:, 1] - np.clip(centroid, 0.0, 1.0)).max() < 0.06


def test_regions_override_and_the_later_one_wins(bar, mesh, embedding, make_box):
    outer, inner = make_box((3.0, 0.5, 0.5), (0.5, 0.25, 0.25)), make_box((1.0, 0.5, 0.5), (1.5, 0.25, 0.25))
    bone, marrow = Layer(1, (outer,)), Layer(0, (inner,))
    inside_out = Layer(1, (SurfaceMesh(outer.positions, outer.triangles[:, ::-1]),))
    paint = np.tile((1.0, 0.0), (len(bar.positions), 1))
    corners = mesh.rest_positions[mesh.tets]

    def inside(box, grown):
        low, high = box.positions.min(axis=0) - grown, box.positions.max(axis=0) + grown
        return ((corners > low) & (corners < high)).all(axis=(1, 2))

    fields = material_fields(mesh, embedding, paint, MATERIALS, (bone, marrow))
    apart = np.abs(corners - corners.mean(axis=1, keepdims=True)).max()
    whole_bone, in_marrow = inside(outer, 0.0) & ~inside(inner, 2.0 * apart), inside(inner, 0.0)
    assert in_marrow.any() and whole_bone.any()
    assert (fields.youngs_modulus[whole_bone] == 1e8).all() and (fields.youngs_modulus[in_marrow] == 1e4).all()
    assert (fields.youngs_modulus[~inside(outer, 2.0 * apart)] == 1e4).all()
    turned = material_fields(mesh, embedding, paint, MATERIALS, (inside_out, marrow))
    np.testing.assert_allclose(turned.weights, fields.weights, atol=1e-9)
    assert fields.empty_layers == ()


def test_a_region_that_holds_no_tet_is_told(bar, mesh, embedding, make_box):
    away = Layer(1, (make_box((1.0, 1.0, 1.0), (9.0, 0.0, 0.0)),))
    fields = material_fields(mesh, embedding, halves(bar), MATERIALS, (away,))
    assert fields.empty_layers == (0,)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_size_and_place_do_not_matter(bar, mesh, embedding, scale):
    moved = TetMesh(mesh.rest_positions * scale + 5.0 * scale, mesh.tets, mesh.fill)
    paint = np.random.default_rng(1).random((len(bar.positions), 2))
    plain, other = (material_fields(m, embedding, paint, MATERIALS) for m in (mesh, moved))
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-8)


def test_the_same_input_gives_the_same_bits(bar, mesh, embedding):
    first, second = (material_fields(mesh, embedding, halves(bar), MATERIALS, (), bar) for _ in range(2))
    assert first.youngs_modulus.tobytes() == second.youngs_modulus.tobytes()


def test_linear_functions_are_harmonic(mesh):
    x = mesh.rest_positions
    value = x @ [0.3, -0.2, 0.9]
    known = np.zeros(len(x), dtype=bool)
    known[np.abs(x - x.mean(axis=0)).max(axis=1) > 0.45] = True
    filled, reached = extend_harmonically(mesh, known, np.where(known, value, 0.0)[:, None])
    assert reached.all() and (~known).any()
    np.testing.assert_allclose(filled[:, 0], value, atol=1e-8)


def test_parts_without_paint_are_not_reached():
    corner = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    two = TetMesh(np.vstack([corner, corner + 3.0]), [(0, 1, 2, 3), (4, 5, 6, 7)])
    known = np.arange(8) == 0
    values, reached = extend_harmonically(two, known, np.full((8, 1), 0.5))
    assert reached.tolist() == [True] * 4 + [False] * 4
    np.testing.assert_allclose(values[:4, 0], 0.5)


@pytest.mark.parametrize(
    ("painted", "shares"),
    [
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ((0.0, 1e-320, 0.0), (1.0, 0.0, 0.0)),
        ((0.0, 0.5, 0.0), (0.5, 0.5, 0.0)),
        ((0.1, 0.25, 0.15), (0.6, 0.25, 0.15)),
        ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        ((0.0, 1.0 - 1e-7, 0.0), (0.0, 1.0, 0.0)),
        ((0.0, 0.0, 1.0 + 1e-7), (0.0, 0.0, 1.0)),
        ((0.0, 0.75, 0.75), (0.0, 0.5, 0.5)),
        ((0.5, 2.0, 0.0), (0.2, 0.8, 0.0)),
        ((-1.0, 0.5, 0.0), (0.5, 0.5, 0.0)),
        ((1e308, 1e308, 0.0), (0.5, 0.5, 0.0)),
    ],
)
def test_what_is_missing_is_the_first_material_and_more_is_scaled_down(bar, mesh, embedding, painted, shares):
    """One rule, which the fields of a library's job follow as the interface's do."""
    assert normalize_weights(np.array([painted]))[0] == pytest.approx(shares, abs=1e-15)
    paint = np.tile(painted, (len(bar.positions), 1))
    weights = material_fields(mesh, embedding, paint, (*MATERIALS, MATERIALS[0]), (), bar).weights
    np.testing.assert_allclose(weights, np.tile(shares, (len(weights), 1)), atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_named(bad):
    with pytest.raises(MaterialError, match="vertex 1 "):
        normalize_weights(np.array([(1.0, 0.0), (0.0, bad)]))


@pytest.mark.parametrize("paint", [np.full((4, 2), np.nan), np.ones((3, 2))])
def test_paint_that_does_not_fit_is_refused(bar, mesh, embedding, paint):
    with pytest.raises(MaterialError):
        material_fields(mesh, embedding, paint, MATERIALS)


def test_a_region_of_no_material_is_refused(bar, mesh, embedding):
    with pytest.raises(MaterialError, match="uses material 2"):
        material_fields(mesh, embedding, halves(bar), MATERIALS, (Layer(2, (bar,)),))


def test_a_flat_tet_is_left_to_the_model():
    """The model names it; here it would have no gradient."""
    X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=float)
    moduli = np.array([1e9, 1e4])
    assert soften_at_interface(TetMesh(X, np.array([[0, 1, 2, 3], [0, 1, 2, 4]])), moduli).tolist() == moduli.tolist()
