"""Fibre laws: derivatives, no pushing, and the closed form of fibres in a free block."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.schema.muscle_settings import MuscleSettings
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.energies.kinematics import Deformation
from sinew.core.mechanics.fibres.fibre_potential import FibrePotential
from sinew.core.mechanics.fibres.independent_fibres import IndependentFibres
from sinew.core.mechanics.fibres.registry import LAWS, fibre_law
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers.registry import make_solver
from sinew.core.methods.subspaces.reduced_model import skinning_subspace

STILL = (0.0, 0.0, 0.0)


def law_at(name, activation, **settings):
    """The terms of a law as a function of the stretch."""
    chosen = MuscleSettings(law=name, **{"strength": 3e4, "passive": 0.3, "stiffening": 1.5} | settings)
    return lambda stretch: fibre_law(name).terms(stretch, np.full(len(stretch), activation), chosen)


def fibres_of(model, law, direction=(1.0, 0.0, 0.0), space=None):
    count = len(model.elastic.weights)
    along = np.tile(np.asarray(direction) / np.linalg.norm(direction), (count, 1))
    vectors = model.fibre_vectors(np.arange(count), along)
    return FibrePotential(space.fibre_vectors(vectors, along) if space else vectors, model.elastic.weights, law)


def small_block(cells=(3, 2, 2), E=1e5, **options):
    return build_model(block(cells, tuple(0.1 * k for k in cells)), E, 0.45, 1e3, smoothed=True, **options)


@pytest.mark.parametrize("activation", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("name", LAWS)
def test_slope_and_curvature_are_derivatives(name, activation):
    law, stretch, step = law_at(name, activation), np.linspace(0.02, 3.0, 777), 1e-6
    middle, above, below = law(stretch), law(stretch + step), law(stretch - step)
    # The curvature jumps where tension begins and where a polynomial continues a law.
    smooth = np.abs(above.curvature - below.curvature) <= 1e-3 * np.abs(middle.curvature).max()
    assert smooth.mean() > 0.95
    for found, of in ((middle.slope, "density"), (middle.curvature, "slope")):
        numeric = (getattr(above, of) - getattr(below, of)) / (2.0 * step)
        assert np.abs(found - numeric)[smooth].max() <= 1e-8 * np.abs(found).max()


@pytest.mark.parametrize("name", LAWS)
def test_fibres_never_push_and_activation_pulls(name):
    stretch = np.linspace(0.0, 3.0, 301)
    relaxed, active = law_at(name, 0.0)(stretch), law_at(name, 1.0)(stretch)
    assert min(relaxed.slope.min(), active.slope.min(), relaxed.density.min(), active.density.min()) >= 0.0
    assert np.isfinite(active).all()
    assert (active.slope >= relaxed.slope - 1e-9 * relaxed.slope.max()).all()
    assert (law_at(name, 0.0)(np.linspace(0.0, 1.0, 11)).slope == 0.0).all()


def product(space, potential, x, dx):
    """The product of the potential's Hessian with dx."""
    if space.is_reduced:
        r = space.unknowns
        matrix = np.zeros((3, r, 3, r))
        potential.add_stiffness(x, 1.0, matrix)
        for i, j in ((1, 0), (2, 0), (2, 1)):
            matrix[i, :, j, :] = matrix[j, :, i, :].T
        return np.einsum("iajb,bj->ai", matrix, dx)
    nodes = space.elements.nodes
    blocks, out = np.zeros((int(nodes.block_starts[-1]), 3, 3)), np.zeros_like(dx)
    potential.add_stiffness(x, 1.0, blocks)
    rows, columns = nodes.vertex_pairs
    off = rows != columns
    np.add.at(out, rows, np.einsum("bij,bj->bi", blocks, dx[columns]))
    np.add.at(out, columns[off], np.einsum("bji,bj->bi", blocks[off], dx[rows[off]]))
    return out


@pytest.mark.parametrize("kind", ["full", "subspace", "inverted", "flat"])
def test_gradient_and_hessian(kind):
    """Central differences; flat: some fibres have no length, and stay without tension."""
    model = small_block()
    space = skinning_subspace(model, 2, 10**6).model if kind == "subspace" else model
    potential = fibres_of(model, law_at("astvk", 0.7), (1.0, 0.4, -0.2), space if kind == "subspace" else None)
    rng, x = np.random.default_rng(3), space.rest_state().positions
    x = x + 0.02 * rng.standard_normal(x.shape)
    if kind == "inverted":
        x[:, 2] *= -1.0
    if kind == "flat":
        x[model.elements.nodes.vertices[: model.elements.nodes.starts[3]]] = 0.0
        assert (potential.stretches(x) == 0.0).any()
    dx, step = rng.standard_normal(x.shape), 1e-7
    g, dv = potential.gradient(x), [potential.value(x + sign * step * dx) for sign in (1.0, -1.0)]
    assert (g * dx).sum() == pytest.approx((dv[0] - dv[1]) / (2.0 * step), rel=1e-6)
    bend = (potential.gradient(x + step * dx) - potential.gradient(x - step * dx)) / (2.0 * step)
    assert np.abs(product(space, potential, x, dx) - bend).max() <= 1e-6 * np.abs(bend).max()


def test_independent_stretches_condense_to_the_potential():
    """At the stretches of the positions, they have the potential's energy, gradient and stiffness."""
    model = small_block()
    potential = fibres_of(model, law_at("astvk", 0.7), (1.0, 0.4, -0.2))
    rng = np.random.default_rng(5)
    x, dx = model.mesh.rest_positions + 0.03 * rng.standard_normal((2, len(model.mesh.rest_positions), 3))
    own = IndependentFibres(potential, x, potential.stretches(x))
    own.bends = True
    assert own.value(x) == pytest.approx(potential.value(x), rel=1e-12)
    assert own.gradient(x) == pytest.approx(potential.gradient(x), rel=1e-12, abs=1e-12)
    assert product(model, own, x, dx) == pytest.approx(product(model, potential, x, dx), rel=1e-9, abs=1e-9)
    ahead = (potential.stretches(x + 1e-7 * dx) - potential.stretches(x - 1e-7 * dx)) / 2e-7
    assert own.step_by(dx).change == pytest.approx(ahead, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
@pytest.mark.parametrize("name", LAWS)
def test_a_free_block_contracts_as_two_equations_say(name, solver):
    """Along the fibres, the stress of the matrix balances their tension; across, it vanishes."""
    model, law = small_block((4, 2, 2), 3e4), law_at(name, 1.0)
    settings = SolverSettings(solver=solver, gravity=STILL, tolerance=1e-11, max_iterations=100)
    stepper, state = make_solver(model, settings), model.rest_state()
    for _ in range(12):
        state, report = stepper.step(state, state.positions[model.pinned], 1.0, [fibres_of(model, law)])
        state = model.state_at(state.positions)
    assert report.converged
    one = small_block((1, 1, 1), 3e4).elastic

    def stress(along, across):
        F = np.tile(np.diag([along, across, across]), (len(one.weights), 1, 1))
        return one.stress(Deformation.of(F))[0]

    def across(along):
        return brentq(lambda t: stress(along, t)[1, 1], 0.5, 2.0, xtol=1e-15)

    along = brentq(lambda a: stress(a, across(a))[0, 0] + law(np.array([a])).slope[0], 0.3, 1.0, xtol=1e-15)
    assert along < 0.95
    # Singular values: the free body may have turned.
    sides = model.elastic.deformation(state.positions).sigma
    assert sides == pytest.approx(np.tile([across(along), across(along), along], (len(sides), 1)), rel=1e-8)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_squeezed_fibres_do_nothing(solver):
    X = block((6, 2, 2), (0.6, 0.2, 0.2)).rest_positions
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > 0.6 - 1e-9))
    model = small_block((6, 2, 2), 3e4, pinned=ends)
    targets = X[model.pinned] * [0.85, 1.0, 1.0]
    settings = SolverSettings(solver=solver, gravity=STILL, tolerance=1e-13, max_iterations=100)
    fibres, found = fibres_of(model, law_at("astvk", 0.0, strength=3e7, passive=1.0)), []
    for loads in ([], [fibres]):
        state, report = make_solver(model, settings).step(model.rest_state(), targets, 1.0, loads)
        assert report.converged
        found.append(state.positions)
    assert np.abs(found[1] - found[0]).max() <= 1e-12


@pytest.mark.parametrize("name", LAWS)
def test_solvers_reach_one_state(name):
    """Contraction by helical fibres: Mixed FEM takes fewer iterations than Newton."""
    mesh = block((8, 3, 3), (0.8, 0.3, 0.3))
    model = build_model(mesh, 3e4, 0.45, 1e3, pinned=held_end(mesh), smoothed=True)
    centres = model.elements.mean(mesh.rest_positions[mesh.tets].mean(axis=1)) - [0.0, 0.15, 0.15]
    around = np.cross([1.0, 0.0, 0.0], centres)
    along = np.eye(3)[0] + around / np.maximum(np.linalg.norm(around, axis=1, keepdims=True), 1e-9)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    vectors, is_hill = model.fibre_vectors(np.arange(len(along)), along), name == "hill"
    own = {"strength": 3e4, "passive": 0.1} if is_hill else {"strength": 3e5, "passive": 1.0}
    found, counts = [], []
    for solver in ("newton", "mixed_fem"):
        settings = SolverSettings(solver=solver, tolerance=1e-8, max_iterations=200)
        stepper, state, total = make_solver(model, settings), model.rest_state(), 0
        for activation in (0.25, 0.5, 0.75, 1.0):
            fibres = FibrePotential(vectors, model.elastic.weights, law_at(name, activation, stiffening=1.0, **own))
            state, report = stepper.step(state, state.positions[model.pinned], 1.0 / 24.0, [fibres])
            assert report.converged
            total += report.iterations
        found.append(state.positions)
        counts.append(total)
    assert np.abs(found[1] - found[0]).max() <= 1e-6 * model.size
    assert counts[1] < counts[0]
