"""Bodies that dynamic nodes carry, each its own, and that meet: as others do, and apart each as alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.contact.kinds import carried
from sinew.benchmarks.contact.scenes import crusher, hairpin
from sinew.benchmarks.meetings import watch
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.model.merged_model import merge_models, merge_states, split_state
from sinew.core.methods.solvers import make_solver
from sinew.core.numerics.integrators import bdf2

from .test_contact_load import STILL, H, box, meeting, momentum, moved, plate, pulled


def test_a_stack_falls_and_rests():
    """On what carries its weight, and the change of its momentum, in each step."""
    boxes = [box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)]
    model = merge_models([carried(each, count) for each, count in zip(boxes, (3, 5))])
    meet, weight, touched = meeting(model, [plate(0.0)], mu=0.0), 9.81 * model.lumped_masses.sum(), 0
    states, _ = moved(model, meet, 40, "conjac", tolerance=1e-9)
    for before, after in zip(states, states[1:]):
        pushed = meet.barrier.gradient(meet.surface_positions(after.positions))[-4:].sum(axis=0)[2]
        if pushed:
            assert abs(pushed - weight - pulled(model, before, after, bdf2)[2]) <= 1e-6 * weight
            touched += 1
    assert touched >= 20
    moved(model, meet, 3, "conjac", states[-1], tolerance=1e-9, mass_damping=40.0)  # all of whose matrix is known


def test_a_box_rests_on_its_weight():
    """Once drag has taken its motion."""
    model = carried(box((0.0, 0.0, 0.0015)), 8)
    meet, weight = meeting(model, [plate(0.0)]), 9.81 * model.lumped_masses.sum()
    states, reports = moved(model, meet, 120, "conjac", tolerance=1e-9, mass_damping=10.0)
    pushed = meet.barrier.gradient(meet.surface_positions(states[-1].positions))[-4:].sum(axis=0)[2]
    assert pushed == pytest.approx(weight, rel=1e-6)
    assert reports[-1].iterations <= 3


@pytest.mark.parametrize("count", (1, 4))
def test_what_slides_is_slowed_as_coulomb_has_it(count):
    model = carried(box((-0.4, 0.0, 0.00095)), count)
    meet = meeting(model, [plate(0.0)], mu=0.2)
    state = model.state_at(model.mesh.rest_positions, np.tile([1.5, 0.0, 0.0], (model.unknowns, 1)))
    states, _ = moved(model, meet, 40, "conjac", state, tolerance=1e-7)
    forces = np.sum([pulled(model, *each, bdf2) for each in zip(states[20:], states[21:])], axis=0)
    pushed = sum(
        meet.barrier.gradient(meet.surface_positions(each.positions))[-4:].sum(axis=0)[2] for each in states[21:]
    )
    assert momentum(model, states[-1])[0] > 0.1 and pushed > 0.0
    assert forces[0] == pytest.approx(-0.2 * pushed, rel=0.01)
    assert forces[2] == pytest.approx(pushed - 20 * 9.81 * model.lumped_masses.sum(), abs=0.01)


def test_what_collides_keeps_momentum():
    """Momentum of steps with contact, and of steps in which nodes carry the bodies freely."""
    model = merge_models([carried(box(), 4), carried(box((0.104, 0.05, 0.03), cells=4), 5)])
    meet, X = meeting(model, mu=0.0), model.mesh.rest_positions
    thrown = np.where(np.arange(model.unknowns) < model.slices[0].vertices.stop, 1.5, 0.0)
    state = model.state_at(X, thrown[:, None] * [1.0, 0.0, 0.0])
    states, reports = moved(model, meet, 12, "conjac", state, gravity=STILL, tolerance=1e-10)
    first = momentum(model, states[0])
    for after in states:
        assert np.linalg.norm(momentum(model, after) - first) <= 1e-9 * np.linalg.norm(first)
    assert (model.mass @ states[-1].velocities)[model.slices[1].vertices, 0].sum() >= 0.3 * first[0]
    touching = [
        bool(len(meet.barrier.normal_collisions(meet.surface_positions(each.positions)))) for each in states[1:]
    ]
    assert any(touching) and not all(touching)


@pytest.mark.parametrize("scene", (crusher, hairpin))
def test_scenes_of_bodies_that_nodes_carry(scene):
    """A block between plates that close on it, and arms of one body that meet: nothing crosses, all settles."""
    whole = scene(H, 30)
    seen = watch(replace(whole, bodies=[carried(each, 4) for each in whole.bodies]), 30, H, "conjac")
    assert not seen.crossed and not seen.inverted
    assert all(report.converged and not report.blocked for report in seen.reports)


@pytest.mark.parametrize("held", (False, True))
def test_far_apart_each_moves_as_alone(held):
    """In free flight, and where they swing: what one has too much of energy is not taken from the other."""

    def below(X: np.ndarray) -> np.ndarray:
        return (X[:, 2] < 1e-9) & held

    models = [carried(box(pinned=below), 3), carried(box((1.0, 0.0, 0.0), cells=4), 5)]
    starts = []
    for model, turn, bent in zip(models, (0.0, 2.0), (0.5, 1.0)):
        X = model.mesh.rest_positions
        wave = np.column_stack([np.sin(30.0 * X[:, 1]), 0.0 * X[:, 0], np.cos(20.0 * X[:, 0])])
        starts.append(model.state_at(X, np.cross([3.0, 1.0, turn], X - X.mean(axis=0)) + bent * wave))
    together, settings = merge_models(models), SolverSettings(solver="conjac", max_iterations=30, tolerance=1e-9)
    states = [starts]
    stepper, meet = make_solver(together, settings), meeting(together)
    for _ in range(20):
        joint = merge_states(states[-1])
        after, _ = stepper.step(joint, joint.positions[together.pinned], 0.5 * H, (meet,))
        states.append(split_state(together, after))
    for k, model in enumerate(models):
        stepper, alone = make_solver(model, settings), starts[k]
        for now in states[1:]:
            alone, _ = stepper.step(alone, alone.positions[model.pinned], 0.5 * H)
            np.testing.assert_allclose(now[k].positions, alone.positions, atol=1e-9)
