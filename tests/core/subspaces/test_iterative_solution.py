"""Conjugate gradients for a subspace's system with fibres, against the factor of each matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.errors import FactorizationError
from sinew.core.foundation.schema.muscle_settings import MuscleSettings
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.mechanics.fibres.fibre_potential import FibrePotential
from sinew.core.mechanics.fibres.registry import fibre_law
from sinew.core.mechanics.forces.springs import Springs
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.subspaces import iterative_solution
from sinew.core.methods.subspaces.reduced_model import skinning_subspace

SCALE = 1e-3


@pytest.fixture(scope="module")
def body():
    """A subspace of a pinned block, helical fibres in all its elements, and a spring."""
    mesh = block((8, 3, 3), (0.8, 0.3, 0.3))
    model = build_model(mesh, 3e4, 0.45, 1e3, pinned=held_end(mesh), smoothed=True)
    space = skinning_subspace(model, 6, 120).model
    centres = model.elements.mean(mesh.rest_positions[mesh.tets].mean(axis=1)) - [0.0, 0.15, 0.15]
    along = np.eye(3)[0] + np.cross([1.0, 0.0, 0.0], centres) / 0.1
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    vectors = space.fibre_vectors(model.fibre_vectors(np.arange(len(along)), along), along)
    settings = MuscleSettings(law="target_length", strength=3e5, passive=0.5)

    def law(stretch):
        return fibre_law("target_length").terms(stretch, np.full(len(stretch), 0.8), settings)

    end = space.points(embed(mesh.rest_positions[-1:], mesh))
    springs = Springs(end, np.array([50.0]), mesh.rest_positions[-1:] + 0.1)
    return space, (FibrePotential(vectors, model.elastic.weights, law), springs)


def assembled(system, space, x, potentials, projected=True):
    system.assemble_tangent(space.elastic.tangent(space.elastic.deformation(x), projected), SCALE, x, potentials)
    assert system.try_factorize()


def positions(space, seed, size=2e-3):
    x = size * np.random.default_rng(seed).standard_normal((space.unknowns, 3))
    x[space.pinned] = 0.0
    return x


@pytest.mark.parametrize("accuracy", [1e-2, 1e-10])
def test_solutions_are_those_of_the_factor(body, monkeypatch, accuracy):
    monkeypatch.setattr(iterative_solution, "RELATIVE_RESIDUAL", accuracy)
    monkeypatch.setattr(iterative_solution, "MOST_ITERATIONS", 60)
    space, potentials = body
    systems = [space.linear_system(SolverSettings()) for _ in range(2)]
    for seed in range(4):
        for system in systems:
            assembled(system, space, positions(space, seed), potentials)
        if seed == 1:
            systems[1].begin_step(0)
    b = positions(space, 9)
    iterated, exact = (system.solve(b) for system in systems)
    assert (iterated != exact).any()
    assert np.sum((iterated - exact) * b) <= (2.0 * accuracy) ** 2 * np.sum(exact * b) + 1e-13 * np.sum(exact * b)
    assert (iterated[space.pinned] == 0.0).all()
    # A new step begins with a factor, so its results do not depend on the step before.
    for system in systems:
        system.begin_step(0)
        assembled(system, space, positions(space, 5), potentials)
    np.testing.assert_array_equal(*(system.solve(b) for system in systems))


def test_an_indefinite_matrix_is_reported_and_the_next_one_factorised(body):
    space, potentials = body
    system = space.linear_system(SolverSettings())
    for seed in range(2):
        assembled(system, space, positions(space, seed), potentials)
    crushed = positions(space, 3, 0.3)
    b = positions(space, 9)
    assembled(system, space, crushed, potentials, projected=False)
    with pytest.raises(FactorizationError):
        system.solve(b)
    assembled(system, space, positions(space, 0), potentials)
    first = system.solve(b)
    system.begin_step(0)
    assembled(system, space, positions(space, 0), potentials)
    np.testing.assert_array_equal(system.solve(b), first)


@pytest.mark.parametrize("solver", ["subspace_mixed_fem", "subspace_fem"])
def test_a_step_ends_where_factors_of_every_iteration_end(body, monkeypatch, solver):
    """The forces are exact: only the path to the equilibrium depends on the linear solver."""
    space, potentials = body
    ends, counts = [], []
    for most in (0, iterative_solution.MOST_ITERATIONS):
        monkeypatch.setattr(iterative_solution, "MOST_ITERATIONS", most)
        settings = SolverSettings(solver=solver, tolerance=1e-7, max_iterations=100)
        stepper, state = make_solver(space, settings), space.rest_state()
        for _ in range(3):
            state, report = stepper.step(state, state.positions[space.pinned], 1.0 / 24.0, potentials)
            assert report.converged
            counts.append(report.iterations)
        ends.append(space.vertices(state.positions))
    assert max(counts) > 3
    assert np.abs(ends[1] - ends[0]).max() <= 1e-6 * space.size
