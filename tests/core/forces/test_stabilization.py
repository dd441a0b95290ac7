"""Elements of several tets, and their stabilization as a potential of positions."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.assembly.elements import joined_elements
from sinew.core.mechanics.forces.stabilization import KAPPA, ONSET, THETA, THIN_THETA
from sinew.core.methods.eigenfit.vibrations import vibrations
from sinew.core.methods.model.model import Model, build_model

from ..surfaces import box
from .test_stretch_damping import turned


def body(mesh: TetMesh | None = None, **options) -> Model:
    return build_model(mesh or lattice_tets(box((0.3, 0.2, 0.2)), 3), 1e4, 0.3, 1e3, smoothed=True, **options)


def moved(model: Model, by: float = 0.01) -> np.ndarray:
    X = model.mesh.rest_positions
    return X + by * np.random.default_rng(5).standard_normal(X.shape)


def dense(model: Model, blocks: np.ndarray) -> np.ndarray:
    """The sum (3n,3n) of all element matrices."""
    n = model.unknowns
    out = np.zeros((n, 3, n, 3))
    for row, column, K in zip(*model.elements.nodes.vertex_pairs, blocks):
        out[row, :, column] += K
        if row != column:
            out[column, :, row] += K.T
    return out.reshape(3 * n, -1)


@pytest.mark.parametrize("mesh", [None, block((2, 1, 1), (0.2, 0.1, 0.1))], ids=["lattice", "thin"])
def test_derivatives(mesh, differences):
    model = body(mesh)
    potential, x = model.elastic.stabilization, moved(model)
    g = potential.gradient(x)
    along = np.random.default_rng(6).standard_normal(x.shape)
    slope = (potential.value(x + 1e-6 * along) - potential.value(x - 1e-6 * along)) / 2e-6
    assert slope == pytest.approx(float(np.sum(g * along)), rel=1e-7)
    blocks = np.zeros((int(model.elements.nodes.block_starts[-1]), 3, 3))
    potential.add_stiffness(x, 2.0, blocks)
    K = dense(model, blocks)
    numeric = (potential.gradient(x + 1e-6 * along) - potential.gradient(x - 1e-6 * along)).ravel() / 2e-6
    np.testing.assert_allclose(K @ along.ravel(), 2.0 * numeric, atol=1e-6 * np.abs(numeric).max())
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.abs(K).max()


def test_it_is_zero_for_affine_motion_and_does_not_see_rotations():
    model = body()
    potential, X = model.elastic.stabilization, model.mesh.rest_positions
    A = np.array([[1.3, 0.2, 0.0], [-0.1, 0.8, 0.3], [0.0, 0.2, 1.1]])
    F = model.elastic.gradients(X @ A.T + 3.0)
    np.testing.assert_allclose(F, np.tile(A, (len(model.elements), 1, 1)), atol=1e-12)
    scale = 1e4 * float(model.elements.volumes.sum())
    assert abs(potential.value(X @ A.T + 3.0)) < 1e-14 * scale
    x = moved(model)
    assert potential.value(x) > 1e-4 * scale
    assert potential.value(turned(x)) == pytest.approx(potential.value(x), rel=1e-9)
    g = potential.gradient(x)
    assert np.abs(g.sum(axis=0)).max() < 1e-12 * np.abs(g).sum()
    assert np.abs(np.cross(x, g).sum(axis=0)).max() < 1e-12 * np.abs(np.cross(x, g)).sum()


def test_where_no_node_is_inside_a_conforming_mesh_it_is_stronger():
    thin, thick = body(block((3, 1, 1), (0.3, 0.1, 0.1))), body(block((4, 4, 4), (0.4, 0.4, 0.4)))
    assert thin.elements.is_thin.all() and not thick.elements.is_thin.all() and not body().elements.is_thin.any()
    x = moved(thin)
    K = thin.elastic.stabilization.matrix()
    quadratic = 0.5 * float(np.sum(x * (K @ x)))
    small = thin.mesh.rest_positions + 1e-4 * (x - thin.mesh.rest_positions)
    assert thin.elastic.stabilization.value(small) == pytest.approx(1e-8 * quadratic, rel=1e-4)
    assert THIN_THETA > 5.0 * THETA


def test_the_large_term_is_negligible_below_its_onset_and_quadratic_in_q_above():
    model = body()
    potential, X, V = model.elastic.stabilization, model.mesh.rest_positions, model.elements.volumes

    def energies(by: float) -> np.ndarray:
        return potential.energies(X + by * (moved(model) - X)) / (potential.shear_modulus * V)

    for scale, is_large in ((1e-2, False), (1e3, True)):
        q, found = energies(1e-4) * (scale / 1e-4) ** 2 / (0.5 * THETA), energies(scale)
        assert q.min() > 1e3 * ONSET if is_large else q.max() < 1e-2 * ONSET
        expected = 0.5 * THETA * q + (0.25 * KAPPA * q**2 if is_large else 0.0)
        np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_element_matrices_are_sums_of_the_formula():
    """``N_a^T H N_b`` over the nodes, with the second derivative H by F."""
    model = body()
    e, rng = model.elements, np.random.default_rng(1)
    H = rng.standard_normal((len(e), 3, 3, 3, 3))
    H = H + H.transpose(0, 3, 4, 1, 2)
    hessians = np.stack([H[:, :, a, :, b] for a in range(3) for b in range(a + 1)], axis=1)
    blocks = e.matrices(hessians)
    for k in (0, len(e) // 2, len(e) - 1):
        N = e.N[e.nodes.starts[k] : e.nodes.starts[k + 1]]
        K = np.einsum("pa,iajb,qb->pqij", N, H[k], N)
        expected = [K[p, q] for p in range(len(N)) for q in range(p + 1)]
        own = blocks[e.nodes.block_starts[k] : e.nodes.block_starts[k + 1]]
        np.testing.assert_allclose(own, expected, atol=1e-12 * np.abs(K).max())
    x = moved(model)
    P = rng.standard_normal((len(e), 3, 3))
    work = float(np.sum(model.elastic.weights[:, None, None] * P * e.gradients(x)))
    assert float(np.sum(e.nodal_forces(P, model.elastic.weights) * x)) == pytest.approx(work)


def test_joined_and_scaled_elements_are_those_of_each_body():
    one, other = body(), body(block((2, 1, 1), (0.2, 0.1, 0.1)))
    both = joined_elements([one.elements, other.elements])
    x, y = moved(one), moved(other)
    F = both.gradients(np.concatenate([x, y]))
    np.testing.assert_array_equal(F, np.concatenate([one.elements.gradients(x), other.elements.gradients(y)]))
    small = one.scaled_down(0.5)
    assert small.elastic.stabilization.value(0.5 * x) == pytest.approx(one.elastic.stabilization.value(x) / 8.0)
    np.testing.assert_allclose(small.elements.gradients(0.5 * x), one.elements.gradients(x))


@pytest.mark.parametrize("ratio", [0.3, 0.499])
@pytest.mark.parametrize("smoothed", [True, False])
def test_a_free_bar_of_two_cells_twists_as_it_should(ratio, smoothed):
    """Torsional stiffness from the first torsional vibration, ``f = sqrt(G J / (rho I_p)) / (2 L)`` (St Venant)."""
    E, rho = 1e5, 1e3
    mesh = lattice_tets(box((8.0, 1.0, 1.0)), 16)
    model = build_model(mesh, E, ratio, rho, smoothed=smoothed)
    found = vibrations(model, 14)
    X = mesh.rest_positions - [4.0, 0.5, 0.5]
    twist = np.column_stack([0.0 * X[:, 0], -X[:, 2], X[:, 1]]) * np.sin(np.pi * X[:, :1] / 8.0)
    share = [np.sum(twist * (model.mass @ u)) / np.sqrt(np.sum(twist * (model.mass @ twist))) for u in found.modes]
    (first, *_) = np.flatnonzero((np.abs(share) > 0.9) & (found.frequencies > 1e-2))
    expected = np.sqrt(E / (2.0 + 2.0 * ratio) * 0.140577 / (rho / 6.0)) / 16.0
    stiffness = (found.frequencies[first] / expected) ** 2
    assert 1.0 < stiffness < 1.19 if smoothed else stiffness > 1.4
