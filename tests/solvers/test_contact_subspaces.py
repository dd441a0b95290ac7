"""Bodies that meet in subspaces: as in all their vertices, and each in one of its own."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.model.merged_model import merge_models, merge_states, split_state
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.subspaces.merged_subspaces import merge_subspaces
from sinew.core.methods.subspaces.reduced_model import skinning_subspace

from .test_contact_load import MEET, RULES, STILL, H, box, meeting, moved, plate

SUBSPACES = pytest.mark.parametrize("solver", [kind.name for kind in MEET if kind.takes_modes])


def test_its_derivatives_in_a_subspace():
    """The matrix is what :meth:`pull` is by differences of the gradient, at the end of a step and of a part of it."""
    model = merge_models([box(), box((0.01, 0.02, 0.1005))])
    space = skinning_subspace(model, 6, 0).model
    meet, rng = meeting(model, [plate(-0.0004)], space=space), np.random.default_rng(0)
    still = np.zeros((space.unknowns, 3))
    du, eps = rng.standard_normal(still.shape), 1e-8
    for theta in (1.0, 0.6):
        acting = meet.begin(Motion(still, still, theta * H, theta=theta))
        slope = (acting.value(eps * du) - acting.value(-eps * du)) / (2.0 * eps)
        assert slope == pytest.approx(float(np.sum(acting.gradient(still) * du)), rel=1e-4)
        K = np.zeros((3, space.unknowns, 3, space.unknowns))
        acting.add_stiffness(still, 1.0, K)
        # The upper blocks alone are written.
        blocks = [[K[min(i, p), :, max(i, p), :].T if i > p else K[i, :, p, :] for p in range(3)] for i in range(3)]
        pulled = (np.block(blocks) @ du.T.ravel()).reshape(3, -1).T
        np.testing.assert_allclose(pulled, acting.hessian_product(still, du), atol=1e-9 * abs(pulled).max())


@SUBSPACES
def test_a_body_in_a_subspace_falls_and_rests(solver):
    """On what carries its weight."""
    model = box((0.0, 0.0, 0.02), cells=5)
    space = skinning_subspace(model, 8, 0).model
    meet = meeting(model, [plate(0.0)], space=space)
    states, reports = moved(space, meet, 50, solver)
    pushed = meet.barrier.gradient(meet.surface_positions(states[-1].positions))[-4:].sum(axis=0)
    assert pushed[2] == pytest.approx(9.81 * model.lumped_masses.sum(), rel=1e-3)
    assert max(report.iterations for report in reports) <= 25 and reports[-1].iterations <= 2


@SUBSPACES
def test_bodies_in_a_subspace_collide(solver):
    """And keep their momentum."""
    model = merge_models([box(cells=4), box((0.104, 0.05, 0.03), cells=4)])
    space = skinning_subspace(model, 8, 0).model
    meet, thrown = meeting(model, space=space), np.zeros(model.mesh.rest_positions.shape)
    thrown[model.slices[0].vertices, 0] = 1.5
    velocities = np.linalg.solve(space.mass, space.generalized_force(thrown))
    states, _ = moved(space, meet, 8, solver, space.state_at(0.0 * velocities, velocities), gravity=STILL)
    first = space.lumped_masses @ states[0].velocities
    for state in states:
        assert np.linalg.norm(space.lumped_masses @ state.velocities - first) <= 1e-9 * np.linalg.norm(first)
    share = model.mass @ space.basis @ states[-1].velocities
    assert share[model.slices[1].vertices, 0].sum() >= 0.3 * first[0]


@SUBSPACES
def test_bodies_collide_each_in_a_subspace_of_its_own(solver):
    """Before they meet each moves as it does alone; afterwards both move."""
    models = [box(cells=3), box((0.13, 0.05, 0.03), cells=4)]
    subspaces = [skinning_subspace(model, modes, 0) for model, modes in zip(models, (4, 8))]
    model = merge_models(models)
    space = merge_subspaces(model, subspaces)
    meet = meeting(model, space=space)
    lone = subspaces[0].model
    spun = np.linalg.solve(
        lone.mass, lone.generalized_force(np.cross([3.0, 0.0, 0.0], models[0].mesh.rest_positions) + [1.5, 0, 0])
    )
    starts = [lone.state_at(0.0 * spun, spun), subspaces[1].model.rest_state()]
    states, _ = moved(space, meet, 12, solver, merge_states(starts), gravity=STILL, tolerance=1e-8)
    stepper = make_solver(lone, SolverSettings(solver=solver, gravity=STILL, tolerance=1e-8))
    alone, _ = stepper.step(starts[0], np.zeros((0, 3)), H)
    np.testing.assert_allclose(split_state(space, states[1])[0].positions, alone.positions, atol=1e-9)
    speeds = [space.lumped_masses @ states[k].velocities for k in (0, -1)]
    np.testing.assert_allclose(*speeds, atol=1e-6)
    last = split_state(space, states[-1])[1]
    assert subspaces[1].model.lumped_masses @ last.velocities[:, 0] >= 0.3 * speeds[0][0]


@SUBSPACES
def test_a_crusher_arrives_at_a_body_in_a_subspace(solver):
    model = box((0.0, 0.0, 0.002), cells=4)
    space = skinning_subspace(model, 8, 0).model
    meet = meeting(model, [plate(0.0), plate(0.104)], space=space)
    first, lowered = meet.collider_positions, np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.005])
    states, reports = moved(space, meet, 12, solver, targets=lambda k: first - (k + 1) * lowered)
    assert np.array_equal(meet.collider_positions, first - 12 * lowered) and not any(
        report.blocked for report in reports
    )
    assert np.ptp(meet.surface_positions(states[-1].positions)[:-8, 2]) <= 0.044


@RULES
@SUBSPACES
def test_pinned_handles_arrive(solver, rule):
    """Given unknowns of a subspace are pins: they push what is free, and stop where a plate stops them."""
    model = merge_models([box(cells=4, pinned=lambda X: X[:, 0] < 1e-9), box((0.102, 0.0, 0.0), cells=4)])
    subspace = skinning_subspace(model, 8, 0)
    X = model.mesh.rest_positions[model.pinned]

    def at(*moved) -> np.ndarray:
        return subspace.pins.unknowns(np.tile(moved, (len(X), 1)))

    free = meeting(model, space=subspace.model)
    pushed = dict(pins=lambda k: at(0.02 * (k + 1), 0.0, 0.0), gravity=STILL, integrator=rule)
    states, reports = moved(subspace.model, free, 3, solver, **pushed)
    assert np.array_equal(states[-1].positions[subspace.model.pinned], at(0.06, 0.0, 0.0))
    assert not any(report.blocked for report in reports)
    walled = meeting(model, [plate(-0.002)], space=subspace.model)
    lowered = dict(pins=lambda k: at(0.0, 0.0, -0.02), gravity=STILL, integrator=rule)
    states, reports = moved(subspace.model, walled, 2, solver, **lowered)
    assert all(report.blocked > 0.5 for report in reports)
