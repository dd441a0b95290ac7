"""Energies of one's own: against built-in ones, differences, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import sinew as sw
from sinew.benchmarks.bodies import block
from sinew.benchmarks.dense_energies import hessian
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.mechanics.energies.kinematics import Deformation

P = np.array([3.0, 7.0])


def neo_hookean(a, b, c, mu, lam):
    J = a * b * c
    return mu / 2 * (a**2 + b**2 + c**2 - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2


def stvk(a, b, c, mu, lam):
    strains = [(s * s - 1) / 2 for s in (a, b, c)]
    return mu * sum(e * e for e in strains) + lam / 2 * np.square(sum(strains))


def ogden(a, b, c, mu, lam, alpha=-2.5):
    J = a * b * c
    return (
        2 * mu / alpha**2 * (a**alpha + b**alpha + c**alpha - 3) - 2 * mu / alpha * np.log(J) + lam / 2 * (J - 1) ** 2
    )


@pytest.fixture(autouse=True)
def _leave_nothing():
    before = dict(ENERGIES)
    yield
    for name in ENERGIES.keys() - before.keys():
        del ENERGIES[name]


def states(rng, n, spread):
    return np.eye(3) + spread * rng.normal(size=(n, 3, 3))


@pytest.mark.parametrize(("psi", "built_in"), [(neo_hookean, "neo_hookean"), (stvk, "stvk")])
def test_it_is_the_built_in_one_where_the_formula_is(psi, built_in):
    sw.register_energy("mine", psi)
    own, known = ENERGIES["mine"], ENERGIES[built_in]
    at = Deformation.of(
        np.concatenate([np.eye(3)[None], 1.2 * np.eye(3)[None], states(np.random.default_rng(1), 99, 0.15)])
    )
    assert (at.sigma > 0.1).all()
    p = np.tile(P, (101, 1))
    np.testing.assert_allclose(own.value(at, p), known.value(at, p), atol=1e-12)
    np.testing.assert_allclose(own.gradient(at, p), known.gradient(at, p), atol=1e-11)
    for projected in (False, True):
        expected = hessian(known, at, p, projected)
        np.testing.assert_allclose(hessian(own, at, p, projected), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("psi", "everywhere"), [(ogden, False), (neo_hookean, False), (stvk, True)])
def test_its_derivatives_are_those_of_differences_inside_out_too(psi, everywhere):
    sw.register_energy("mine", psi, everywhere=everywhere)
    own, rng = ENERGIES["mine"], np.random.default_rng(2)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    diagonals = [[1.3, 0.9, 0.08], [1.2, 0.8, -0.05], [1.4, 1.4, 0.7], [0.09, 0.07, 0.05]]
    F = np.array([turn @ np.diag(d) @ turn.T for d in diagonals])
    p = np.tile(P, (len(F), 1))
    H, g = hessian(own, Deformation.of(F), p, projected=False), own.gradient(Deformation.of(F), p).reshape(-1, 9)
    first, second = np.empty_like(g), np.empty_like(H)
    for k, d in enumerate(1e-7 * np.eye(9).reshape(9, 3, 3)):
        more, less = Deformation.of(F + d), Deformation.of(F - d)
        first[:, k] = (own.value(more, p) - own.value(less, p)) / 2e-7
        second[:, :, k] = (own.gradient(more, p) - own.gradient(less, p)).reshape(-1, 9) / 2e-7
    for k in range(len(F)):
        np.testing.assert_allclose(g[k], first[k], atol=1e-6 * np.abs(g[k]).max())
        np.testing.assert_allclose(H[k], second[k], atol=1e-5 * np.abs(H[k]).max())


def test_what_is_inside_out_is_driven_back():
    sw.register_energy("mine", stvk)
    sigma = np.array([[1.0, 1.0, s] for s in (0.05, 0.0, -0.5, -1.0)])
    assert (ENERGIES["mine"].principal.gradient(sigma, np.tile(P, (4, 1)))[:, 2] < 0.0).all()


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_solvers_step_it_as_the_built_in_one(solver):
    sw.register_energy("mine", neo_hookean)
    mesh, found = block((4, 1, 1), (0.4, 0.1, 0.1)), []
    for energy in ("mine", "neo_hookean"):
        body = sw.Body.of_tets(
            mesh.rest_positions,
            mesh.tets,
            materials=sw.Material(youngs_modulus=3e4, energy=energy),
            pinned_vertices=mesh.rest_positions[:, 0] == 0.0,
            solver=sw.Solver(solver=solver, tolerance=1e-9),
        )
        (*_, last) = sw.simulate(sw.Job(bodies=body, frame_end=4))
        assert last.converged
        found.append(last.positions)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0] - mesh.rest_positions).max() > 0.01


@pytest.mark.parametrize(
    ("psi", "words"),
    [
        (lambda a, b, c, mu, lam: mu * (a - 1) ** 2, "not symmetric"),
        (lambda a, b, c, mu, lam: mu * (a + b + c), "under stress at rest"),
        (lambda a, b, c, mu, lam: -mu * ((a - 1) ** 2 + (b - 1) ** 2 + (c - 1) ** 2), "not resist every deformation"),
        (lambda a, b, c, mu, lam: np.log(0 * a), "not a number"),
        (lambda a, b, c, mu, lam: np.arctan(a) * mu, "cannot use numpy.arctan.*log1p"),
        (lambda a, b: a, "cannot be evaluated"),
        (lambda a, b, c, mu, lam: 1.0, "cannot be evaluated"),
    ],
)
def test_what_is_no_energy_is_refused(psi, words):
    with pytest.raises(sw.SinewError, match=words):
        sw.register_energy("mine", psi)
    assert "mine" not in ENERGIES


def test_a_built_in_name_is_kept_and_ones_own_is_replaced():
    with pytest.raises(sw.SinewError, match="built in"):
        sw.register_energy("arap", stvk)
    sw.register_energy("mine", stvk)
    sw.register_energy("mine", neo_hookean)
    assert ENERGIES["mine"].principal.value(np.array([[1.1, 1, 1]]), P[None]) == pytest.approx(
        neo_hookean(1.1, 1, 1, *P)
    )
