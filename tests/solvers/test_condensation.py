"""The kernels that make element matrices without 9 x 9 matrices, against the dense products that define them."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.dense_energies import hessian, stretch_gradient, stretch_hessian
from sinew.core.foundation.kernels.small_matrix import SMALLEST_SUM, batch_stretch, batch_svd
from sinew.core.mechanics.assembly.tangent_blocks import tangent_blocks
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.mechanics.energies.kinematics import Deformation, Stretch
from sinew.core.methods.solvers.condensation import Mixed, PolarHessianTerms, condense, local_update
from sinew.core.methods.solvers.mixed_element_trial import mixed_element_trial

ENERGY = pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES)
TWISTS = pytest.mark.parametrize(
    "turning", [PolarHessianTerms.NOTHING, PolarHessianTerms.TENSION, PolarHessianTerms.ALL], ids=str
)
COUNT = 300
WEIGHTS = np.random.default_rng(5).uniform(1.0, 2.0, COUNT)


@pytest.fixture(scope="module")
def tets():
    """Deformation gradients (some inverted), independent stretches that differ from theirs, shape gradients, mu,
    lambda and a further number.
    """
    rng = np.random.default_rng(3)
    F = np.eye(3) + 0.3 * rng.normal(size=(COUNT, 3, 3))
    s = np.array([1.0, 1, 1, 0, 0, 0]) + 0.1 * rng.normal(size=(COUNT, 6))
    return Deformation.of(F), Stretch.of(s), rng.uniform(1.0, 2.0, (COUNT, 3))


def dense(H):
    """Blocks of a Hessian by F for pairs of its columns a >= b, times the weights."""
    H = WEIGHTS[:, None, None, None, None] * H.reshape(COUNT, 3, 3, 3, 3)
    return np.stack([H[:, :, a, :, b] for a in range(3) for b in range(a + 1)], axis=1)


@ENERGY
@pytest.mark.parametrize("projected", [True, False])
def test_tangent_blocks(energy, projected, tets):
    """The blocks of the 9 x 9 Hessian."""
    deformation, _stretch, parameters = tets
    wanted = dense(hessian(energy, deformation, parameters, projected))
    blocks = np.empty_like(wanted)
    tangent_blocks(energy.tangent(deformation, parameters, projected), WEIGHTS, blocks)
    np.testing.assert_allclose(blocks, wanted, atol=1e-12 * np.abs(wanted).max())


@ENERGY
def test_stress_change(energy, tets):
    """The Hessian times a change of F."""
    deformation, _stretch, parameters = tets
    dF = np.random.default_rng(8).normal(size=(COUNT, 3, 3))
    wanted = np.einsum("nij,nj->ni", hessian(energy, deformation, parameters), dF.reshape(-1, 9)).reshape(-1, 3, 3)
    change = energy.tangent(deformation, parameters).stress_change(dF)
    np.testing.assert_allclose(change, wanted, atol=1e-12 * np.abs(wanted).max())


def derivatives(deformation):
    """Derivatives of the polar stretch by the deformation gradient, (n,6,9), one direction at a time."""
    _F, U, sigma, V = deformation
    total = sigma[:, :, None] + sigma[:, None, :]
    total = np.where(np.abs(total) < SMALLEST_SUM, np.where(total >= 0.0, SMALLEST_SUM, -SMALLEST_SUM), total)
    J = np.empty((COUNT, 6, 9))
    for column, direction in enumerate(np.eye(9).reshape(9, 3, 3)):
        D = U.transpose(0, 2, 1) @ direction @ V
        turned = sigma[:, :, None] * D / total
        S = turned + turned.transpose(0, 2, 1)
        S[:, range(3), range(3)] = D[:, range(3), range(3)]
        S = V @ S @ V.transpose(0, 2, 1)
        J[:, :, column] = S[:, (0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1)]
    return J


def test_derivative_of_the_polar_stretch(tets):
    """By central differences, inverted too, where no two stretches cancel."""
    deformation = tets[0]
    apart = (np.abs(deformation.sigma[:, :2] + deformation.sigma[:, 2:]) > 2 * SMALLEST_SUM).all(axis=1)
    assert apart.sum() > 100 and (deformation.sigma[apart, 2] < 0).any()

    def stretch(F):
        _U, sigma, V = batch_svd(np.ascontiguousarray(F))
        return batch_stretch(sigma, V)

    steps = 1e-6 * np.eye(9).reshape(9, 3, 3)
    differences = [(stretch(deformation.F + d) - stretch(deformation.F - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(derivatives(deformation)[apart], np.stack(differences, -1)[apart], atol=1e-6)


def twists(deformation, g_s, turning):
    """``sum over i<j of tau q q^T`` of ``docs/design/mixed_fem.md``, (n,9,9), with all tau or the positive ones."""
    _F, U, sigma, V = deformation
    G = np.empty((COUNT, 3, 3))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
        G[:, i, j] = G[:, j, i] = g_s[:, k] * (1.0 if i == j else 0.5)
    t = np.einsum("nai,nab,nbi->ni", V, G, V)
    total = np.zeros((COUNT, 9, 9))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        tau = (t[:, i] + t[:, j]) / np.maximum(sigma[:, i] + sigma[:, j], SMALLEST_SUM)
        if turning == PolarHessianTerms.TENSION:
            tau = np.maximum(tau, 0.0)
        turn = np.zeros((3, 3))
        turn[i, j], turn[j, i] = 1.0, -1.0
        q = np.einsum("nai,ij,nbj->nab", U, turn, V).reshape(COUNT, 9) / np.sqrt(2.0)
        total += tau[:, None, None] * q[:, :, None] * q[:, None, :]
    return total


@ENERGY
@TWISTS
def test_condense(energy, turning, tets):
    """``J^T H_s J``, ``J^T (g_s + H_s c)`` and ``w c . H_s c`` with the dense J and H_s."""
    deformation, stretch, parameters = tets
    tangent, stress = energy.stretch_tangent(stretch, parameters), energy.stretch_stress(stretch, parameters)
    g_s, H_s = stretch_gradient(energy, stretch, parameters), stretch_hessian(energy, stretch, parameters)
    polar, J = deformation.stretch(), derivatives(deformation)
    c = polar - stretch.s
    H = np.einsum("nak,nab,nbl->nkl", J, H_s, J)
    if turning:
        H += twists(deformation, g_s, turning)
    wanted = dense(H)
    blocks = np.empty_like(wanted)
    mixed = Mixed(*deformation[1:], polar, stretch.s, stretch.Q, stress, tangent.curvature, tangent.flip)
    P, disagreement = condense(mixed, turning, WEIGHTS, blocks)
    np.testing.assert_allclose(blocks, wanted, atol=1e-11 * np.abs(wanted).max())
    stresses = np.einsum("nak,na->nk", J, g_s + np.einsum("nab,nb->na", H_s, c)).reshape(-1, 3, 3)
    np.testing.assert_allclose(P, stresses, atol=1e-11 * np.abs(stresses).max())
    wanted = WEIGHTS * np.einsum("na,nab,nb->n", c, H_s, c)
    np.testing.assert_allclose(disagreement, wanted, atol=1e-11 * np.abs(wanted).max())


def test_all_twists_of_rigid_elements(tets):
    """Only theirs, also in the work of a local update."""
    deformation, stretch, parameters = tets
    energy = ENERGIES["stable_neo_hookean"]
    tangent, stress = energy.stretch_tangent(stretch, parameters), energy.stretch_stress(stretch, parameters)
    s = deformation.stretch(), stretch.s, stretch.Q
    mixed = Mixed(*deformation[1:], *s, stress, tangent.curvature, tangent.flip)
    rigid, dF = np.arange(3, COUNT, 7), np.random.default_rng(2).standard_normal((COUNT, 3, 3))
    few, nothing, everything = np.empty((3, COUNT, 6, 3, 3))
    condense(mixed, PolarHessianTerms.NOTHING, WEIGHTS, few, rigid)
    condense(mixed, PolarHessianTerms.NOTHING, WEIGHTS, nothing)
    condense(mixed, PolarHessianTerms.ALL, WEIGHTS, everything)
    nothing[rigid] = everything[rigid]
    assert np.array_equal(few, nothing)
    found = local_update(mixed, PolarHessianTerms.NOTHING, dF, WEIGHTS, rigid)
    work = local_update(mixed, PolarHessianTerms.NOTHING, dF, WEIGHTS)[2]
    work[rigid] = local_update(mixed, PolarHessianTerms.ALL, dF, WEIGHTS)[2][rigid]
    assert np.array_equal(found[2], work)


def test_the_exact_second_derivative(tets):
    """``T : d²s/dF²`` with the stress ``T = g_s + H_s c``, by central differences of the first derivative; none where a
    tet is flat or inverted.
    """
    deformation, stretch, parameters = tets
    energy = ENERGIES["stable_neo_hookean"]
    tangent, stress = energy.stretch_tangent(stretch, parameters), energy.stretch_stress(stretch, parameters)
    polar = deformation.stretch()
    H_s = stretch_hessian(energy, stretch, parameters)
    T = stretch_gradient(energy, stretch, parameters) + np.einsum("nab,nb->na", H_s, polar - stretch.s)
    H = np.empty((COUNT, 9, 9))
    for k, step in enumerate(1e-5 * np.eye(9).reshape(9, 3, 3)):
        J = [derivatives(Deformation.of(deformation.F + each)) for each in (step, -step)]
        H[:, k] = np.einsum("na,nak->nk", T, J[0] - J[1]) / 2e-5
    H[deformation.sigma[:, 2] <= SMALLEST_SUM] = 0.0
    mixed = Mixed(*deformation[1:], polar, stretch.s, stretch.Q, stress, tangent.curvature, tangent.flip)
    exact, without = np.empty((2, COUNT, 6, 3, 3))
    condense(mixed, PolarHessianTerms.EXACT, WEIGHTS, exact)
    condense(mixed, PolarHessianTerms.NOTHING, WEIGHTS, without)
    wanted = dense(H)
    clear = deformation.sigma[:, 2] != np.clip(deformation.sigma[:, 2], 0.9 * SMALLEST_SUM, 1.1 * SMALLEST_SUM)
    assert clear.sum() > 250 and np.abs(wanted).max() > 1.0
    np.testing.assert_allclose((exact - without)[clear], wanted[clear], atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "energy", [energy for energy in ENERGIES.values() if energy.rotation_invariant], ids=lambda e: e.name
)
def test_turns_under_stress(energy, tets):
    """A turn of what is stretched a little meets the curvature of the energy itself, under tension and pressure."""
    parameters = tets[-1]
    rng = np.random.default_rng(4)
    deformation = Deformation.of(np.eye(3) + 0.001 * rng.normal(size=(COUNT, 3, 3)))
    stretch = Stretch.of(deformation.stretch(), deformation.V)
    tangent, stress = energy.stretch_tangent(stretch, parameters), energy.stretch_stress(stretch, parameters)
    mixed = Mixed(*deformation[1:], stretch.s, stretch.s, stretch.Q, stress, tangent.curvature, tangent.flip)
    turn = rng.normal(size=(COUNT, 3, 3))
    turn = deformation.U @ (turn - turn.transpose(0, 2, 1)) @ deformation.V.transpose(0, 2, 1)
    wanted = np.einsum(
        "na,nab,nb->n", turn.reshape(-1, 9), hessian(energy, deformation, parameters, False), turn.reshape(-1, 9)
    )
    assert (wanted < -1e-3).any() and (wanted > 1e-3).any()
    ours = local_update(mixed, PolarHessianTerms.ALL, turn, WEIGHTS)[2] / WEIGHTS
    np.testing.assert_allclose(ours, wanted, atol=0.01 * np.abs(wanted).max())


@ENERGY
@TWISTS
def test_local_update(energy, turning, tets):
    """``ds = c + J dF``, ``lambda = g_s + H_s ds``, ``w ds . H_s ds`` and the work of all turns, ``w lambda . c``."""
    deformation, stretch, parameters = tets
    tangent, stress = energy.stretch_tangent(stretch, parameters), energy.stretch_stress(stretch, parameters)
    g_s, H_s = stretch_gradient(energy, stretch, parameters), stretch_hessian(energy, stretch, parameters)
    polar, J = deformation.stretch(), derivatives(deformation)
    dF = np.random.default_rng(9).normal(size=(COUNT, 3, 3))
    ds = polar - stretch.s + np.einsum("nak,nk->na", J, dF.reshape(-1, 9))
    multiplier = g_s + np.einsum("nab,nb->na", H_s, ds)
    mixed = Mixed(*deformation[1:], polar, stretch.s, stretch.Q, stress, tangent.curvature, tangent.flip)
    work = WEIGHTS * np.einsum("na,na->n", multiplier, polar - stretch.s)
    bend = np.einsum("na,nab,nb->n", ds, H_s, ds)
    if turning == PolarHessianTerms.ALL:
        D = dF.reshape(-1, 9)
        bend += np.einsum("na,nab,nb->n", D, twists(deformation, g_s, turning), D)
    wanted = ds, multiplier, WEIGHTS * bend, work
    for value, expected in zip(local_update(mixed, turning, dF, WEIGHTS), wanted, strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_local_trial(alpha, tets):
    """The same numbers as by one decomposition after the other."""
    deformation, stretch, _parameters = tets
    rng = np.random.default_rng(10)
    dF, ds, multiplier = rng.normal(size=(COUNT, 3, 3)), rng.normal(size=(COUNT, 6)), rng.normal(size=(COUNT, 6))
    moved, other, polar, work = mixed_element_trial(alpha, deformation, stretch, dF, ds, multiplier, WEIGHTS)
    wanted = Deformation.of(deformation.F + alpha * dF, deformation.V)
    for value, expected in zip(moved, wanted, strict=True):
        np.testing.assert_array_equal(value, expected)
    for value, expected in zip(other, Stretch.of(stretch.s + alpha * ds, moved.V), strict=True):
        np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(polar, wanted.stretch())
    apart = WEIGHTS * np.einsum("na,na->n", multiplier, polar - other.s)
    np.testing.assert_allclose(work, apart, atol=1e-13 * np.abs(apart).max())
