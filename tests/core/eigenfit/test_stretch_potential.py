"""The potential of the stretches: at rest, its derivatives in any state, and that it knows nothing of turns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.mechanics.energies.kinematics import Stretch
from sinew.core.methods.eigenfit.stretch_potential import StretchLoad, StretchModes
from sinew.core.methods.eigenfit.vibrations import stiffness_lower_triangle, vibrations
from sinew.core.methods.solvers import make_solver

from .bodies import bar, matched, modes_of, reduced, still

HOLDS = ("free", "clamped")


def turn(degrees: float = 200.0) -> np.ndarray:
    axis, angle = np.array([1.0, 2.0, -2.0]) / 3.0, np.radians(degrees)
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def strained(model, amount=0.008, seed=3):
    return model.mesh.rest_positions + amount * np.random.default_rng(seed).standard_normal((model.unknowns, 3))


def a_core(k, seed=0):
    """Symmetric, of both signs."""
    A = np.random.default_rng(seed).standard_normal((k, k))
    return 30.0 * (A + A.T)


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("energy", ENERGIES)
def test_at_rest_coordinates_change_as_modes_do(energy, hold):
    """``dq/dx = K u / lambda``, which is ``M u`` of a mode.

    The product ``K u`` is compared entry by entry, within ten times its own rounding, eps |K| |u| / lambda. Against
    ``M u`` the residual of the eigensolver would be amplified by the body's stiffest over its slowest vibration, which
    differs from processor to processor; between modes it is not amplified: ``dq_i/dx . u_j`` is one or zero.
    """
    model = bar(energy, hold)
    values, modes, stretch = modes_of(model)
    rest = model.mesh.rest_positions
    lower, pattern = stiffness_lower_triangle(
        model, model.elastic.tangent(model.elastic.deformation(rest)), model.pinned
    )
    K = lower + sp.tril(lower, -1).T
    Y = stretch.gradients[pattern.free].reshape(-1, len(values))
    u = modes[:, pattern.free].reshape(len(values), -1).T
    rounding = np.finfo(np.float64).eps * (abs(K) @ np.abs(u)).max(axis=0) / values
    assert (np.abs(Y - K @ u / values) <= 10.0 * rounding).all()
    assert np.abs(u.T @ Y - np.eye(len(values))).max() <= 1e-9
    assert np.abs(stretch.at(rest)).max() <= 1e-12


@pytest.mark.parametrize("hold", HOLDS)
def test_the_same_in_a_subspace(hold):
    model, space = reduced(hold=hold)
    matching = matched(hold=hold)
    free, rest = np.setdiff1d(np.arange(space.unknowns), space.pinned), np.zeros((space.unknowns, 3))
    modes = matching.spectra.modes
    stretch = StretchModes(space.elastic, rest, matching.spectra.coarse, modes)
    Y = stretch.gradients
    expected = np.stack([space.mass @ u for u in modes], axis=-1)
    assert np.abs(Y - expected)[free].max() <= 1e-10 * np.abs(expected).max()


def test_derivatives_of_coordinates_in_a_strained_and_turned_state(differences):
    model = bar()
    _values, _modes, stretch = modes_of(model, 3)
    x = strained(model) @ turn().T
    for k, by in enumerate(np.eye(3)):
        at = model.elastic.deformation(x)
        stress = stretch.forces(stretch.measure.at(at.polar()), at, by)
        coordinate = type("Coordinate", (), {"value": staticmethod(lambda at, k=k: stretch.at(at)[k])})
        numeric = differences.numeric_gradient(coordinate, x, 1e-6)
        assert np.abs(model.elastic.nodal_forces(stress) - numeric).max() <= 1e-7 * np.abs(numeric).max()


class Whole:
    """V of a body in a step, as a potential of positions."""

    def __init__(self, model, beta: float) -> None:
        _values, _modes, stretch = modes_of(model, 4)
        load = StretchLoad(stretch, a_core(4), beta)
        self._potential = load.begin(still(strained(model, 0.004, seed=8)))
        self._elastic = model.elastic

    def value(self, x: np.ndarray) -> float:
        return self._potential.value(self._elastic.strained(self._elastic.deformation(x))[1])

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self._elastic.nodal_forces(self._potential.forces(*self._elastic.strained(self._elastic.deformation(x))))


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize("beta", (0.0, 0.02))
def test_forces_are_the_derivative_of_the_value(beta, energy, differences):
    body, x = Whole(bar(energy), beta), strained(bar())
    numeric = differences.numeric_gradient(body, x, 1e-6)
    assert np.abs(body.gradient(x) - numeric).max() <= 1e-7 * np.abs(numeric).max()


@pytest.mark.parametrize("solver", ("newton", "linearly_implicit"))
def test_of_linear_elasticity_it_is_a_quadratic_of_positions(solver):
    """[EigenFit19] Eq. 15, however far it goes: a step of implicit Euler is one linear solve with ``K + Y C Y^T``."""
    model = bar("linear", "clamped")
    values, modes, stretch = modes_of(model, 4)
    X, core, h = model.mesh.rest_positions, np.diag([-0.6, 2.0, -0.3, 0.5]) * values, 0.05
    v = 8.0 * X[:, :1] * [0.0, 1.0, 0.5] + 3.0 * np.cross([5.0, 0.0, 0.0], X - X.mean(axis=0)) * X[:, :1]
    stepper = make_solver(model, SolverSettings(solver=solver, gravity=(0.0, 0.0, 0.0)))
    end, report = stepper.step(model.state_at(X, v), X[model.pinned], h, (StretchLoad(stretch, core),))
    assert report.converged and report.iterations <= 2
    q = np.array([(u * (model.mass @ v)).sum() for u in modes])
    expected = h * q / (1.0 + h**2 * (values + np.diag(core)))
    moved = end.positions - X
    found = [(u * (model.mass @ moved)).sum() for u in modes]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    assert np.linalg.norm(moved, axis=1).max() > 0.1


@pytest.mark.parametrize("energy", ("stable_neo_hookean", "arap"))
def test_multipliers_are_the_derivative_by_independent_stretches(energy):
    """Step in Mixed FEM: without and with the curvature at its end, which is exact where V is quadratic."""
    model = bar(energy)
    _values, _modes, stretch = modes_of(model, 4)
    potential = StretchLoad(stretch, a_core(4), 0.0).begin(still(model.mesh.rest_positions))
    rng, shape = np.random.default_rng(4), (len(model.mesh.tets), 6)
    s = model.elastic.deformation(strained(model)).stretch() + 0.05 * rng.standard_normal(shape)
    ds, apart = 0.01 * rng.standard_normal(shape), 0.02 * rng.standard_normal(shape)
    at, there = Stretch.of(s), Stretch.of(s + ds)
    slope, straight, _ = potential.step_by(at, apart, ds, bends=False)
    bent, curvature, condensed = potential.step_by(at, apart, ds, bends=True)
    work = model.elastic.weights[:, None] * slope * ds
    step = 1e-5
    ends = [potential.value(Stretch.of(s + sign * step * ds)) for sign in (1.0, -1.0)]
    assert straight == 0.0 and (ends[0] - ends[1]) / (2.0 * step) == pytest.approx(work.sum(), rel=1e-7)
    assert potential.step_by(at, 0.0 * ds, ds - apart, bends=True).curvature == pytest.approx(condensed, rel=1e-9)
    if energy == "arap":
        assert potential.value(there) - potential.value(at) == pytest.approx(work.sum() + 0.5 * curvature, rel=1e-9)
        at_end, *_ = potential.step_by(there, apart, 0.0 * ds, bends=True)
        np.testing.assert_allclose(bent, at_end, rtol=0.0, atol=1e-10 * np.abs(at_end).max())


SHARES = 0.05, 8.0


@pytest.mark.parametrize("amount", (1e-7, 1e-3, 0.02, 0.06))
@pytest.mark.parametrize("energy", ENERGIES)
def test_the_energy_stays_between_what_modes_are_scaled_by(energy, amount):
    """``r W <= W + V <= R W``, from strains of round-off to several; elements inside out among them, where the energy
    is a number there.
    """
    model = bar(energy)
    values, _modes, stretch = modes_of(model)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
        root, shares = np.sqrt(values), np.exp(rng.uniform(*np.log(SHARES), len(values)))
        core = root[:, None] * (Q * (shares - 1.0)) @ Q.T * root
        potential = StretchLoad(stretch, core).begin(still(model.mesh.rest_positions))
        at = model.elastic.deformation(strained(model, amount, seed)).polar()
        W = model.elastic.stretch_value(at)
        if np.isfinite(W):
            assert SHARES[0] * W <= W + potential.value(at) <= SHARES[1] * W
    assert amount > 0.02 or np.isfinite(W)


def test_one_mode_alone_is_scaled_by_all_that_it_is():
    """The bounds are met: a body that a linear mode strains a little."""
    model = bar("arap")
    values, modes, stretch = modes_of(model)
    at = model.elastic.deformation(model.mesh.rest_positions + 1e-6 * modes[0]).polar()
    core = np.diag((SHARES[0] - 1.0) * values)
    V = StretchLoad(stretch, core).begin(still(model.mesh.rest_positions)).value(at)
    assert V == pytest.approx((SHARES[0] - 1.0) * model.elastic.stretch_value(at), rel=1e-3)


def test_it_knows_nothing_of_turns():
    model = bar()
    _values, _modes, stretch = modes_of(model)
    x = strained(model)
    before, after = stretch.at(x), stretch.at(x @ turn().T + [3.0, -1.0, 2.0])
    assert np.abs(after - before).max() <= 1e-11 * np.abs(before).max()


def test_its_stiffness_turns_with_the_body():
    model = bar()
    _values, _modes, stretch = modes_of(model)
    at = model.elastic.deformation(model.mesh.rest_positions @ turn().T)
    Y = stretch.turned_gradients(at)
    assert np.abs(Y - stretch.gradients_at(at)).max() <= 1e-10 * np.abs(Y).max()


def test_forces_on_a_free_body_have_neither_sum_nor_torque():
    model = bar()
    x = strained(model) @ turn().T
    g = Whole(model, 0.0).gradient(x)
    assert np.abs(g.sum(axis=0)).max() <= 1e-12 * np.abs(g).max()
    assert np.abs(np.cross(x, g).sum(axis=0)).max() <= 1e-12 * np.abs(g).max()


def softened(model, values, modes, ratio=0.2):
    """A load that leaves a ratio of the eigenvalues, with its modes."""
    stretch = StretchModes(model.elastic, model.mesh.rest_positions, values, modes)
    return StretchLoad(stretch, (ratio - 1.0) * np.diag(values)), stretch


@pytest.mark.parametrize("factor", (1e-3, 0.1, 10.0, 1e3))
@pytest.mark.parametrize("energy", ("arap", "stable_neo_hookean", "linear"))
def test_half_of_a_body_keyed_stiffer_or_softer_keeps_its_shares(energy, factor):
    """Nowhere more is taken than of any vibration at rest, which is met there: also at the vibrations of the body as it
    is keyed, which by the mean of the scale took 30 times its energy away.
    """
    model = bar(energy, "clamped")
    values, modes, _stretch = modes_of(model, 12)
    load, stretch = softened(model, values, modes)
    X, half = model.mesh.rest_positions, model.mesh.rest_positions[model.mesh.tets].mean(axis=1)[:, 0] < 0.2
    for scale in (np.where(half, factor, 1.0), np.full(len(half), factor)):
        keyed, L = model.elastic.scaled(scale), stretch.scaled(scale)
        scaled = StretchLoad(stretch, L @ (-0.8 * np.diag(values)) @ L.T)
        softest = vibrations(replace(model, elastic=keyed), 3).modes
        places = [X + amount * u / np.abs(u).max() for u in [*softest, modes[0]] for amount in (1e-4, 0.1)]
        places += [X * [by, by**-0.45, by**-0.45] for by in (0.5, 2.0, 5.0)]
        taken = [scaled.energy_fraction_removed(keyed, x) for x in places]
        assert 0.1 < max(taken) <= 1.0 + 1e-9
        energies = [keyed.value(keyed.deformation(x)) for x in places]
        potential = scaled.begin(still(X))
        left = [W + potential.value(keyed.deformation(x).polar()) for W, x in zip(energies, places, strict=True)]
        # That of linear elasticity is one of positions, not of polar stretches.
        assert energy == "linear" or all(end >= 0.19 * W for end, W in zip(left, energies, strict=True))
    little = X + 1e-4 * modes[0] / np.abs(modes[0]).max()
    assert load.energy_fraction_removed(model.elastic, little) == pytest.approx(1.0, abs=0.01)
    assert (
        energy == "linear" or load.energy_fraction_removed(model.elastic, X @ turn().T) == 0.0
    )  # which takes turns for strains
    assert softened(model, values, modes, 2.0)[0].energy_fraction_removed(model.elastic, little) == 0.0
