"""Matrices, stresses and modes against closed forms, differences and an assembly of the textbook's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
import sinew as sw
from sinew.benchmarks.bodies import block, mirrored_block

E, NU, RHO = 2e5, 0.3, 900.0
MU, LAM = E / (2 + 2 * NU), E * NU / ((1 + NU) * (1 - 2 * NU))
F = np.array([[1.2, 0.1, 0.0], [-0.05, 0.9, 0.2], [0.0, 0.1, 1.1]])


def solid(cells=(3, 2, 2), size=(0.3, 0.2, 0.2), energy="stable_neo_hookean", nu=NU, make=block, **fields):
    mesh = make(cells, size)
    material = sw.Material(youngs_modulus=E, poissons_ratio=nu, density=RHO, energy=energy)
    return sw.Solid.of(sw.Body.of_tets(mesh.rest_positions, mesh.tets, materials=material, **fields))


DENSITIES = {
    "linear": lambda F: MU * np.sum((e := 0.5 * (F + F.T) - np.eye(3)) ** 2) + 0.5 * LAM * np.trace(e) ** 2,
    "stvk": lambda F: MU * np.sum((e := 0.5 * (F.T @ F - np.eye(3))) ** 2) + 0.5 * LAM * np.trace(e) ** 2,
    "neo_hookean": lambda F: (
        0.5 * MU * (np.sum(F * F) - 3) - MU * np.log(np.linalg.det(F)) + 0.5 * LAM * np.log(np.linalg.det(F)) ** 2
    ),
}


@pytest.mark.parametrize("energy", DENSITIES)
def test_stresses_of_a_block_are_those_of_the_formula(energy):
    psi, body = DENSITIES[energy], solid(energy=energy)
    x = body.rest @ F.T
    np.testing.assert_allclose(body.energy_density(x), psi(F), rtol=1e-10)
    P = np.array([(psi(F + d) - psi(F - d)) / 2e-6 for d in 1e-6 * np.eye(9).reshape(9, 3, 3)]).reshape(3, 3)
    np.testing.assert_allclose(body.first_piola(x), np.tile(P, (len(body.tets), 1, 1)), atol=1e-6 * np.abs(P).max())
    cauchy = P @ F.T / np.linalg.det(F)
    np.testing.assert_allclose(body.cauchy(x), np.tile(cauchy, (len(body.tets), 1, 1)), atol=1e-6 * np.abs(P).max())
    if energy != "linear":  # whose Cauchy stress is symmetric at small strains alone
        a, b, c = np.linalg.eigvalsh(cauchy)
        mises = np.sqrt(0.5 * ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2))
        np.testing.assert_allclose(body.von_mises(x), mises, rtol=1e-6)


def test_a_bar_in_tension_has_its_pull_as_von_mises_stress():
    body = solid(energy="linear")
    strain = 1e-6
    x = body.rest * (1.0 + strain * np.array([1.0, -NU, -NU]))
    np.testing.assert_allclose(body.von_mises(x), E * strain, rtol=1e-5)
    np.testing.assert_allclose(body.at_surface(body.von_mises(x)), E * strain, rtol=1e-5)
    with pytest.raises(sw.SinewError, match="one number per tet"):
        body.at_surface(x)
    assert body.energy_density(x) @ body.volumes == pytest.approx(0.5 * E * strain**2 * 0.3 * 0.2 * 0.2, rel=1e-5)


def test_K_is_the_derivative_of_the_forces():
    body = solid((2, 1, 1))
    x = body.rest @ F.T + 0.005 * np.random.default_rng(1).normal(size=body.rest.shape)
    shifts = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    numeric = np.array([(body.forces(x - d) - body.forces(x + d)).ravel() / 2e-6 for d in shifts])
    K = body.K(x)
    np.testing.assert_allclose(K.toarray(), numeric, atol=1e-6 * np.abs(numeric).max())
    assert K.shape == (x.size, x.size) and abs(K - K.T).max() == 0.0


def test_positions_of_another_mesh_are_refused():
    body = solid((2, 1, 1))
    for ask in (body.K, body.cauchy, body.forces):
        with pytest.raises(sw.SinewError, match=r"shape \(5, 3\), not \(12, 3\).*frame.vertices"):
            ask(np.zeros((5, 3)))


def textbook_stiffness(rest, tets):
    """Return the stiffness of linear tetrahedra: the sum of ``V B^T C B``, with strains xx, yy, zz, yz, xz, xy."""
    C = np.diag([2 * MU] * 3 + [MU] * 3)
    C[:3, :3] += LAM
    K = np.zeros((3 * len(rest), 3 * len(rest)))
    for tet in tets:
        inverse = np.linalg.inv(np.column_stack([np.ones(4), rest[tet]]))
        B = np.zeros((6, 12))
        for a, (x, y, z) in enumerate(inverse[1:].T):
            B[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [0, z, y], [z, 0, x], [y, x, 0]]
        rows = (3 * tet[:, None] + np.arange(3)).ravel()
        K[np.ix_(rows, rows)] += B.T @ C @ B / abs(6.0 * np.linalg.det(inverse))
    return K


@pytest.mark.parametrize("energy", ["linear", "stable_neo_hookean", "fung"])
def test_K_at_rest_is_that_of_linear_elasticity(energy):
    body = solid(energy=energy, resolution=sw.Resolution(elements="plain"))
    expected = textbook_stiffness(body.rest, body.tets)
    np.testing.assert_allclose(body.K().toarray(), expected, atol=1e-10 * np.abs(expected).max())


def test_M_is_the_integral_of_density():
    body = solid()
    x, M = body.rest[:, 0], body.M()
    along = np.kron(x, [1.0, 0, 0])
    assert along @ M @ along == pytest.approx(RHO * 0.2 * 0.2 * 0.3**3 / 3, rel=1e-12)
    assert M.sum() / 3 == pytest.approx(RHO * 0.3 * 0.2 * 0.2, rel=1e-12)


def test_modes_solve_the_generalised_problem_of_K_and_M():
    body = solid(pinned_vertices=block((3, 2, 2), (0.3, 0.2, 0.2)).rest_positions[:, 0] == 0.0)
    frequencies, shapes = body.modes(6)
    with pytest.raises(sw.SinewError, match="at least one"):
        body.modes(0)
    free = np.setdiff1d(np.arange(body.rest.size), 3 * body.pinned[:, None] + np.arange(3))
    K, M = body.K().toarray()[np.ix_(free, free)], body.M().toarray()[np.ix_(free, free)]
    np.testing.assert_allclose((2 * np.pi * frequencies) ** 2, scipy.linalg.eigvalsh(K, M)[:6], rtol=1e-9)
    assert not shapes[:, body.pinned].any()
    u = shapes.reshape(6, -1)
    np.testing.assert_allclose(u @ body.M() @ u.T, np.eye(6), atol=1e-9)


def test_a_beam_swings_as_euler_and_bernoulli_say():
    """From above, the nearer the finer its tets are: those of constant strain are too stiff in bending."""
    length, side, off = 1.0, 0.05, []
    expected = 1.8751**2 / (2 * np.pi * length**2) * np.sqrt(E * side**2 / (12 * RHO))
    for cells in ((20, 1, 1), (40, 2, 2), (80, 4, 4)):
        held = mirrored_block(cells, (length, side, side)).rest_positions[:, 0] == 0.0
        plain = sw.Resolution(elements="plain")
        body = solid(cells, (length, side, side), nu=0.0, make=mirrored_block, pinned_vertices=held, resolution=plain)
        frequencies, _shapes = body.modes(2)
        off.append(frequencies[0] / expected - 1.0)
    assert off[0] > off[1] > off[2] > 0.0
    assert off[2] - (off[1] - off[2]) / 3.0 == pytest.approx(0.0, abs=0.01)  # where halved cells leave a quarter of it


def test_pins_inside_tets_are_springs_that_modes_know():
    bar = sw.Surface.of_faces(*_box())
    body = sw.Solid.of(sw.Body(surface=bar, materials=sw.Material(), pinned_vertices=bar.positions[:, 0] == 0.0))
    assert not len(body.pinned) and body.pin_springs().nnz
    frequencies, shapes = body.modes(1)
    u = shapes[0].ravel()
    assert u @ (body.K() + body.pin_springs()) @ u == pytest.approx((2 * np.pi * frequencies[0]) ** 2, rel=1e-9)
    np.testing.assert_allclose(body.on_surface(body.rest), bar.positions, atol=1e-12)


def _box():
    X = np.array([[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.1)])
    return X, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
