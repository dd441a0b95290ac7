"""Loads of a job's body: interpolated within frames, the same bits when resumed, felt by the body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import ColliderError
from sinew.core.foundation.schema.settings import MaterialSettings, SolverSettings
from sinew.core.jobs.job.environment import Collider, Ground, Spring
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, box_surface, free_box, surrounded_bar

SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


def test_everything_that_acts_is_interpolated_within_a_frame():
    job = surrounded_bar().with_body(solver=SolverSettings(substeps=4))
    prepared = prepare(job)
    x = prepared.model.mesh.rest_positions
    spring = prepared.loads.loads_at(3, 2)[-1].begin(Motion(x, x, 0.01))
    surface = job.body.surface.positions[job.body.springs[0].vertices]
    targets = 0.5 * (job.body.springs[0].targets[2] + job.body.springs[0].targets[3])
    expected = 0.5 * 50.0 * np.mean(np.sum((surface - targets) ** 2, axis=1))
    assert spring.value(x) == pytest.approx(expected)
    assert prepared.loads.loads_at(6, 2)[-1].begin(Motion(x, x, 0.01)).value(x) > 0.0
    assert prepared.loads.loads_at(7, 4)[-1].begin(Motion(x, x, 0.01)).value(x) == 0.0
    field = prepared.loads.loads_at(3, 2)[0].begin(Motion(x, x, 0.01))
    assert -field.gradient(x).sum(axis=0) == pytest.approx(2.5 * prepared.model.masses.sum() * np.ones(3))
    plate = prepared.loads.loads_at(3, 2)[2].obstacle
    assert plate.before.corners[0, 0, 2] == pytest.approx(-0.5 + 0.0225)
    assert plate.after.corners[0, 0, 2] == pytest.approx(-0.5 + 0.025)
    assert prepared.loads.loads_at(3, 3)[2].obstacle.before is plate.after


def test_a_dropped_box_rests_on_the_ground():
    frames = baked(free_box(30, colliders=(Ground(height=-0.1, friction=0.5, thickness=1e-4),)))
    heights = np.array([frame[:, 2].min() for frame in frames])
    assert heights.min() > -0.1 - 1e-3
    assert heights[-1] == pytest.approx(-0.1, abs=1e-3)
    assert np.abs(frames[-1][:, 2].max() + 0.1 - 0.2) < 0.01


@pytest.mark.parametrize("stiffness", [1e6, 1e8, 1e11])
@pytest.mark.parametrize("on", ["ground", "sheet"])
def test_what_pins_press_down_is_squeezed_however_stiff_it_is(stiffness, on):
    frames = 8
    surroundings = {
        "ground": Ground(height=-0.006, thickness=1e-3, friction=0.0),
        "sheet": Collider("Sheet", FACES, SQUARE[None] - [0.0, 0.0, 0.006], friction=0.0, thickness=1e-3),
    }
    job = free_box(frames, colliders=(surroundings[on],))
    x = job.body.surface.positions
    pins = np.flatnonzero(x[:, 2] > 0.2 - 1e-9)
    pressed = x[pins] - np.linspace(0.0, 0.04, frames)[:, None, None] * np.array([0.0, 0.0, 1.0])
    held = np.ones((frames, len(pins)), dtype=bool)
    stiff = (MaterialSettings("Stiff", stiffness),)
    job = job.with_body(materials=stiff, pinned_vertices=pins, pin_positions=pressed, pin_held=held)
    bottom = baked(job)[-1][:, 2].min()
    assert -0.005 - 0.004 * 0.2 < bottom < -0.005


def test_a_rising_plate_lifts_the_box_and_thickness_holds_it_off():
    rise = np.linspace(0.0, 0.5, 12)[:, None, None] * np.array([0.0, 0.0, 1.0])
    plate = Collider("Plate", FACES, SQUARE - [0.0, 0.0, 0.05] + rise, thickness=0.03)
    frames = baked(free_box(12, colliders=(plate,)))
    assert frames[-1][:, 2].min() == pytest.approx(0.45 + 0.03, abs=0.02)


def test_a_turntable_takes_the_box_along_and_ice_does_not():
    turn = np.linspace(0.0, 0.4, 16)
    square = SQUARE - [0.0, 0.0, 0.001]  # the default thickness: it touches
    spun = np.array(
        [square @ np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]]) for a in turn]
    )
    centre = np.array([0.1, 0.1, 0.0])
    angles = {}
    for friction in (0.9, 0.0):
        frames = baked(free_box(16, colliders=(Collider("Table", FACES, spun + centre, friction=friction),)))
        arm = frames[-1] - frames[-1].mean(axis=0)
        rest = frames[0] - frames[0].mean(axis=0)
        sine = np.sum(rest[:, 0] * arm[:, 1] - rest[:, 1] * arm[:, 0])
        angles[friction] = np.arctan2(sine, np.sum(rest[:, :2] * arm[:, :2]))
    assert angles[0.9] == pytest.approx(0.4, rel=0.1)
    assert abs(angles[0.0]) < 0.01


def test_a_spring_draws_the_box_to_its_target_and_lets_go():
    surface = box_surface((0.2, 0.2, 0.2), (2, 2, 2)).positions
    n, frames = len(surface), 40
    targets = np.tile(surface + [0.1, 0.0, 0.0], (frames, 1, 1))
    strength = np.full(frames, 2000.0)
    solver = {"gravity": (0.0, 0.0, 0.0)}
    job = free_box(frames, springs=(Spring("Pull", np.arange(n), np.ones(n), targets, strength),), solver=solver)
    assert np.abs(baked(job)[-1] - targets[-1]).max() < 5e-3
    released = job.with_body(springs=(replace(job.body.springs[0], stiffness=np.zeros(frames)),))
    assert np.abs(baked(released)[-1] - surface).max() < 1e-9


@pytest.mark.parametrize("is_uniform", [False, True])
def test_an_acceleration_field_of_minus_gravity_leaves_the_box_afloat(is_uniform):
    frames = 8
    n = 1 if is_uniform else len(box_surface((0.2, 0.2, 0.2), (2, 2, 2)).positions)
    job = free_box(frames, accelerations=np.tile([0.0, 0.0, 9.81], (frames, n, 1)))
    results = baked(job)
    assert np.abs(results[-1] - results[0]).max() < 1e-9


def test_resumed_with_the_same_bits():
    job = surrounded_bar(8).with_body(solver=SolverSettings(max_iterations=3, substeps=2))
    prepared = prepare(job)
    whole = list(simulate_body(job, prepared))
    middle = whole[4]
    again = list(simulate_body(job, prepare(job), start=(middle.number, middle.state)))
    assert np.array_equal(again[-1].state.positions, whole[-1].state.positions)
    assert np.array_equal(again[-1].state.velocities, whole[-1].state.velocities)


def test_a_collider_of_lines_is_refused_by_name():
    lines = Collider("Wire", np.array([[0, 1, 1]]), SQUARE[None])
    with pytest.raises(ColliderError, match="Wire"):
        prepare(free_box(2, colliders=(lines,)))
