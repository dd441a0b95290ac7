"""Methods by which a body swings as a finer one: each gives the frequencies that it says, the paper's own form is the
paper's, and none changes what it must not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.errors import SettingsError
from sinew.core.foundation.kernels.small_matrix import IDENTITY_STRETCH
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.energies.kinematics import Stretch
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.eigenfit import current_modes
from sinew.core.methods.eigenfit.matching import Pairs, Spectra, find_spectra, pair
from sinew.core.methods.eigenfit.methods import METHODS
from sinew.core.methods.eigenfit.vibrations import rigid_count, vibrations
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, shaken_bar
from .bodies import COUNT, bar, reduced, still
from .test_match_resolution import SAG, sag
from .test_match_resolution import job as held

LEFT = 0.04
"""Relative error of an eigenvalue that the regularisation of fitted materials leaves: 1/50 of a frequency."""


def finer(energy: str) -> Model:
    mesh = block((12, 4, 4), (0.4, 0.08, 0.1))
    return build_model(mesh, 1e5, 0.45, 1e3, energy, pinned=held_end(mesh))


@cache
def paired(kind: str, energy: str = "stable_neo_hookean"):
    """A clamped bar in a subspace against all its vertices, or on a coarse mesh against a finer one."""
    if kind == "subspace":
        model, space = reduced(energy, "clamped")
        spectra = find_spectra(model, space, COUNT)
    else:
        space = bar(energy, "clamped")
        spectra = find_spectra(space, space, COUNT, finer=finer(energy))
    return space, spectra, pair(spectra, COUNT)


def dense(space, x, stiffness=None):
    """Stiffness, mass (3f,3f) by what is free, and what is added to the stiffness by a method's load, at x."""
    elastic = space.elastic if stiffness is None else space.elastic.scaled(stiffness)
    free = np.setdiff1d(np.arange(space.unknowns), space.pinned)
    tangent, units = elastic.tangent(elastic.deformation(x)), np.zeros((3 * len(free), space.unknowns, 3))
    units[np.arange(3 * len(free)), np.repeat(free, 3), np.tile(np.arange(3), len(free))] = 1.0
    K = np.array([elastic.nodal_forces(tangent.stress_change(elastic.delta_F(u)))[free].ravel() for u in units])
    mass = space.mass.toarray() if hasattr(space.mass, "toarray") else space.mass
    return K, np.kron(mass[np.ix_(free, free)], np.eye(3)), free


def corrected(space, matching, scale=1.0):
    """The stiffness of a matched body at rest, and its mass."""
    rest, ones = space.rest_state().positions, np.ones(len(space.elastic.weights))
    by = scale * (ones if matching.stiffness is None else matching.stiffness)
    K, mass, free = dense(space, rest, by)
    if load := matching.load(scale * ones):
        potential, deformation = load.begin(still(rest)), space.elastic.deformation(rest)
        low = potential.low_rank if hasattr(potential, "gradient") else potential.low_rank(deformation)
        Y = low.of(free).vectors.reshape(-1, len(low.core))
        K = K + Y @ low.core @ Y.T
    return K, mass


@pytest.mark.parametrize("kind", ("subspace", "mesh"))
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("scale", (1.0, 100.0))
def test_each_gives_the_frequencies_that_it_says(name, kind, scale):
    """All that are paired, at any stiffness throughout; one stiffness the first alone."""
    space, spectra, pairs = paired(kind)
    matching = METHODS[name](space, spectra, pairs)
    assert len(pairs.coarse) >= COUNT - 1
    found = scipy.linalg.eigvalsh(*corrected(space, matching, scale))
    right = scale * spectra.fine[matching.pairs.fine]
    off = [np.abs(found / each - 1.0).min() for each in right]
    plain = [np.abs(spectra.coarse / each - 1.0).min() for each in right / scale]
    assert len(right) == (1 if name == "one_stiffness" else len(pairs.coarse))
    assert max(off) <= (LEFT if name == "fitted_materials" else 1e-9) and max(plain) > 0.05
    assert matching.stiffness is None or matching.stiffness.min() > 0.0


def test_the_two_moduli_are_scaled_each_by_its_own():
    """Twice lambda: a small change of volume costs ``(lambda + 2/3 mu) / 2 tr²`` more of it, and shear as much as
    before.
    """
    space, spectra, pairs = paired("subspace")
    m, e = len(space.elastic.weights), 1e-4
    other = space.elastic.scaled(np.tile([1.0, 2.0], (m, 1)))
    mu, lam = space.elastic.parameters[:, :2].T

    def density(elastic, strain):
        at = Stretch.of(np.tile(IDENTITY_STRETCH + strain, (m, 1)))
        return elastic.stretch_energies(at)

    swollen, sheared = e * np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), e * np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(density(other, swollen), 4.5 * e**2 * (2.0 * lam + 2.0 / 3.0 * mu), rtol=1e-3)
    np.testing.assert_allclose(density(other, sheared), 2.0 * mu * e**2, rtol=1e-3)
    fitted = METHODS["fitted_materials"](space, spectra, pairs).stiffness
    assert fitted.shape == (m, 2) and np.abs(np.log(fitted[:, 0] / fitted[:, 1])).max() > 0.1


def bent(space: Model) -> np.ndarray:
    """Positions of a bar that is bent by two fifths of its length and twisted, not by so much that modes cross."""
    X = space.mesh.rest_positions
    angle = 0.75 * X[:, :1]
    return X + np.hstack([0.0 * angle, -angle * (X[:, 2:] - 0.05), X[:, :1] ** 2 + angle * (X[:, 1:2] - 0.04)])


def papers(energy: str, ratio: float) -> tuple[Model, Spectra, Pairs]:
    """All ratios the same, so that which mode at rest is which now has no part."""
    space = bar(energy, "clamped")
    found = vibrations(space, COUNT + 1)
    spectra = Spectra(
        found.eigenvalues,
        found.modes,
        ratio * found.eigenvalues,
        np.eye(COUNT + 1),
        True,
        *2 * [np.zeros((COUNT + 1, 0))],
    )
    return space, spectra, Pairs(np.arange(COUNT), np.arange(COUNT), np.ones(COUNT))


@pytest.mark.parametrize("energy", ("stable_neo_hookean", "arap", "linear"))
def test_current_modes_add_the_papers_force_and_stiffness(energy):
    """Eqs. 15b, 15c, from all modes of the dense stiffness of a bent bar."""
    space, spectra, pairs = papers(energy, 0.7)
    x = bent(space)
    load = METHODS["current_modes"](space, spectra, pairs).load(np.ones(len(space.elastic.weights)))
    potential = load.begin(still(x))
    K, M, free = dense(space, x)
    values, U = scipy.linalg.eigh(K, M)
    values, MU = values[:COUNT], M @ U[:, :COUNT]
    f = -space.elastic.nodal_forces(space.elastic.stress(space.elastic.deformation(x)))[free].ravel()
    force = MU @ ((0.7 - 1.0) * (U[:, :COUNT].T @ f))
    np.testing.assert_allclose(-potential.gradient(x)[free].ravel(), force, atol=1e-3 * np.abs(force).max())
    Y = potential.low_rank.of(free).vectors.reshape(-1, COUNT)
    expected = (MU * (0.7 - 1.0) * values) @ MU.T
    np.testing.assert_allclose(Y @ potential.low_rank.core @ Y.T, expected, atol=1e-3 * np.abs(expected).max())


def test_current_modes_are_a_potential_in_a_step():
    """Its gradient is that of its value, and its stiffness that of its gradient, with friction."""
    space, spectra, pairs = paired("mesh")
    x, rng = bent(space), np.random.default_rng(0)
    load = METHODS["current_modes"](space, spectra, pairs).load(np.ones(len(space.elastic.weights)), 0.02)
    base = x + 1e-3 * rng.standard_normal(x.shape)
    potential = load.begin(Motion(x, base, 0.01))
    y, dx = x + 1e-3 * rng.standard_normal(x.shape), 1e-4 * rng.standard_normal(x.shape)
    slope = (potential.value(y + dx) - potential.value(y - dx)) / 2.0
    assert np.sum(potential.gradient(y) * dx) == pytest.approx(slope, rel=1e-8)
    change = potential.gradient(y + dx) - potential.gradient(y)
    np.testing.assert_allclose(potential.low_rank.times(dx), change, atol=1e-9 * np.abs(change).max())


def test_current_modes_turn_with_the_body():
    """The stiffness of a body at rest elsewhere is that at rest, turned."""
    space, spectra, pairs = papers("stable_neo_hookean", 0.5)
    space = replace(space, pinned=np.zeros(0, dtype=np.int64))
    rigid = rigid_count(space)
    found = vibrations(space, COUNT + 1 + rigid).after(rigid, COUNT + 1)
    fine = found.eigenvalues * np.linspace(0.5, 0.9, COUNT + 1)
    spectra = Spectra(found.eigenvalues, found.modes, fine, np.eye(COUNT + 1), True, *2 * [np.zeros((COUNT + 1, 0))])
    method = METHODS["current_modes"](space, spectra, pairs)
    X, ones = space.mesh.rest_positions, np.ones(len(space.elastic.weights))
    R = scipy.linalg.expm(np.cross(np.eye(3), [0.7, -2.0, 1.1]))
    at_rest, turned = (method.load(ones).begin(still(x)) for x in (X, X @ R.T + 3.0))
    assert np.abs(turned.gradient(X @ R.T + 3.0)).max() <= 1e-9 * np.abs(at_rest.gradient(X + found.modes[0])).max()
    for u in found.modes[:3]:
        np.testing.assert_allclose(turned.low_rank.times(u @ R.T), at_rest.low_rank.times(u) @ R.T, atol=1e-9)


SERVED = [
    (name, solver)
    for name in METHODS
    for solver, kind in SOLVER_KINDS.items()
    if not (METHODS[name].of_positions and kind.is_mixed) and not kind.takes_nodes
]


def moved(space, matching, steps=40, **settings):
    """Displacements of a bar that is thrown at a ``speed`` along its thinner side, and by ``across`` along the other,
    (steps+1,r,3).
    """
    settings = {"gravity": (0.0, 0.0, 0.0), "max_iterations": 100, "tolerance": 1e-9, **settings}
    speed, across = settings.pop("speed", 0.3), settings.pop("across", 0.4)
    if matching and matching.stiffness is not None:
        space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
    load = matching and matching.load(np.ones(len(space.elastic.weights)), settings.get("stiffness_damping", 0.0))
    X = space.mesh.rest_positions
    v = speed * X[:, :1] * [0.0, 1.0, across]
    if space.is_reduced:
        v = np.linalg.solve(space.mass, space.moved_mass.T @ v)
    start = space.rest_state()
    solver, state, seen = make_solver(space, SolverSettings(**settings)), replace(start, velocities=v), []
    for _ in range(steps):
        state, report = solver.step(state, start.positions[space.pinned], 0.01, (load,) if load else ())
        assert report.converged, report.reason
        seen.append(state.positions - start.positions)
    return np.array(seen)


@pytest.mark.parametrize(("name", "solver"), SERVED)
def test_each_moves_by_every_solver_that_it_serves_as_the_others_do(name, solver):
    """A small swing of the first mode, in which all of them mean the same: nearer to one another than to none."""
    kind = SOLVER_KINDS[solver]
    space, spectra, pairs = paired("subspace" if kind.takes_modes else "mesh")
    of_newton = "subspace_fem" if kind.takes_modes else "newton"
    thrown = {"speed": 0.05, "across": 0.0}
    right = moved(space, METHODS["stretch_potential"](space, spectra, pairs), solver=of_newton, **thrown)
    plain = moved(space, None, solver=solver, **thrown)
    found = moved(space, METHODS[name](space, spectra, pairs), solver=solver, **thrown)
    assert np.abs(found - right).max() <= 0.35 * np.abs(plain - right).max()


@pytest.mark.parametrize("kind", ("subspace", "mesh"))
@pytest.mark.parametrize("damping", (0.0, 0.01))
def test_current_modes_of_linear_elasticity_move_as_the_potential_and_are_found_once(kind, damping, monkeypatch):
    """By the midpoint rule, as the paper's; in small movements, as turns are nothing to the potential's stretches."""
    space, spectra, pairs = paired(kind, "linear")
    searches = []
    find = current_modes.track_modes
    monkeypatch.setattr(current_modes, "track_modes", lambda *given: searches.append(1) or find(*given))
    options = {"solver": "subspace_fem" if kind == "subspace" else "newton", "integrator": "theta_midpoint"}
    options |= {"theta": 0.5, "tolerance": 1e-13, "speed": 1e-5, "stiffness_damping": damping}
    one = moved(space, METHODS["stretch_potential"](space, spectra, pairs), **options)
    other = moved(space, METHODS["current_modes"](space, spectra, pairs), **options)
    assert np.abs(one - other).max() <= 1e-4 * np.abs(one).max()
    assert len(searches) == 1


def a_job(frames=8, **options) -> Job:
    job = shaken_bar(frames, "subspace_fem")
    return job.with_body(solver=replace(job.body.solver, modes=4, cubature_points=30, max_iterations=50, **options))


@cache
def last_of_plain() -> np.ndarray:
    """The last frame of the job without a match."""
    return baked(a_job(match_full_space=False))[-1]


@pytest.mark.parametrize("name", METHODS)
def test_a_bake_that_is_resumed_has_the_same_bits_and_another_has_others(name, tmp_path):
    job = a_job(match_method=name)
    whole, stopped = (FrameStore.create(tmp_path / each, job) for each in ("whole", "stopped"))
    assert bake(job, whole) == "done"
    bake(job, stopped, until=job.frame_start + 3)
    assert len(stopped.frames()) == 4 and bake(job, stopped, resume=True) == "done"
    assert all(np.array_equal(stopped.read(k), whole.read(k)) for k in whole.frames())
    assert np.abs(whole.read(job.frame_end) - last_of_plain()).max() > 1e-4


@pytest.mark.parametrize("name", METHODS)
def test_a_bar_of_eight_cells_on_springs_bends_as_a_beam_by_each(name, shared_store):
    """Fitted materials satisfy what ``test_match_resolution`` asks of the potential."""
    matched = held("newton", match_resolution=True, match_method=name)
    assert sag(matched, prepare(matched, shared_store)) == pytest.approx(SAG, rel=0.1)


def test_what_mixed_fem_cannot_bear_is_refused_at_once():
    job = shaken_bar(3, "subspace_mixed_fem", match_method="current_modes")
    with pytest.raises(SettingsError, match="Current Modes") as refused:
        prepare(job)
    assert "Match Method" in refused.value.remedy
    prepare(job.with_body(solver=replace(job.body.solver, match_full_space=False)))
    with pytest.raises(SettingsError, match="Unknown match method"):
        prepare(shaken_bar(3, match_method="magic"))
