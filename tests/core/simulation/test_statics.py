"""Statics of jobs: each frame is the equilibrium of its pins and loads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import PinError, SettingsError
from sinew.core.jobs.job.environment import Collider, Ground
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, shaken_bar
from .test_muscles import FLESH, arm

HARD = replace(FLESH, name="Hard", youngs_modulus=3e8)


def statics_job(**options):
    job = shaken_bar(6, integrator="statics", **options)
    return job.with_body(solver=replace(job.body.solver, max_iterations=60))


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "subspace_mixed_fem"])
def test_frames_are_equilibria(solver):
    """The frame after a still one is the same, whatever the motion before."""
    job = statics_job(solver=solver, modes=6)
    still = job.body.pin_positions.copy()
    still[3:] = still[2]
    found = baked(job.with_body(pin_positions=still))
    assert np.abs(found[5] - found[3]).max() <= 1e-5
    assert np.abs(found[2] - found[1]).max() > 1e-4


def test_a_body_rests_on_the_ground():
    job = statics_job()
    job = job.with_body(pin_positions=job.body.surface.positions[job.body.pinned_vertices])
    low = job.body.surface.positions[:, 2].min() - 0.01
    job = job.with_body(colliders=(Ground(height=low, thickness=0.001),))
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    assert all(report.converged for frame in frames for report in frame.reports)
    found = baked(job)[-1]
    assert low - 0.002 < found[:, 2].min() < low + 0.01
    assert baked(job.with_body(colliders=()))[-1][:, 2].min() < low - 0.003


def test_bodies_without_an_equilibrium_are_refused():
    job = statics_job()
    with pytest.raises(PinError, match="fewer than 3 pins"):
        job.with_body(pinned_vertices=(), pin_positions=None, pin_held=None).check()
    with pytest.raises(SettingsError, match="does not find an equilibrium"):
        statics_job(solver="linearly_implicit").check()


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_friction_holds_the_tip_on_a_plate_that_slides(friction):
    """A plate presses the free end up, then moves sideways a little: the end goes along, or stays."""
    frames = 10
    job = shaken_bar(frames, integrator="statics")
    X = job.body.surface.positions
    corners = np.array([[0.3, -0.2, 0.0], [0.6, -0.2, 0.0], [0.6, 0.3, 0.0], [0.3, 0.3, 0.0]])
    path = np.zeros((frames, 1, 3))
    path[:, 0, 2] = X[:, 2].min() - 0.02 + 0.05 * np.minimum(np.arange(frames) / 5.0, 1.0)
    path[:, 0, 1] = 0.004 * np.maximum(np.arange(frames) - 5.0, 0.0) / 4.0
    plate = Collider("plate", np.array([[0, 1, 2], [0, 2, 3]]), corners + path, friction=friction)
    job = job.with_body(
        colliders=(plate,),
        pin_positions=X[job.body.pinned_vertices],
        solver=replace(job.body.solver, max_iterations=60, gravity=(0.0, 0.0, 0.0)),
    )
    prepared = prepare(job, collides=True)
    found = [prepared.surface(body.state.positions) for (body,) in simulate_group([job], [prepared])]
    tip = np.flatnonzero(X[:, 0] > 0.4 - 1e-6)
    moved = (found[9] - found[5])[tip, 1].mean()
    assert found[5][tip, 2].mean() > X[tip, 2].mean() + 0.01
    assert moved > 0.003 if friction else abs(moved) < 0.0005


def test_contrast_fibres_and_contact_converge_to_one_equilibrium():
    """Flesh and a part 1e4 times stiffer, a muscle that pulls at half activation, and a ground on which the end rests.

    Mixed FEM and Newton end within 1e-9 of the size, and a further frame changes nothing. In the first two frames at
    rest, the lagged forces of pins and contact still change by 1e-8.
    """
    frames = 8
    job = arm(activation=np.minimum(np.arange(frames) / 3.0, 1.0) * 0.5, frames=frames, materials=(FLESH, HARD))
    X = job.body.surface.positions
    weights = np.zeros((len(X), 2))
    weights[X[:, 0] > 0.3, 1] = 1.0
    far = np.flatnonzero((X[:, 0] > 0.2) & (X[:, 0] < 0.3))
    job = job.with_body(muscles=(replace(job.body.muscles[0], insertion=far),))
    low = X[:, 2].min() - 0.01
    found = {}
    for solver in ("mixed_fem", "newton"):
        settings = replace(
            job.body.solver,
            solver=solver,
            integrator="statics",
            gravity=(0.0, 0.0, -9.81),
            tolerance=1e-11,
            max_iterations=200,
        )
        own = job.with_body(
            solver=settings, material_weights=weights, colliders=(Ground(height=low, thickness=0.001, friction=0.0),)
        )
        frames_of = list(simulate_body(own, prepare(own)))
        assert all(report.converged for frame in frames_of for report in frame.reports)
        found[solver] = [frame.state.positions for frame in frames_of]
    size = job.body.surface.size
    last, before = found["mixed_fem"][-1], found["mixed_fem"][-2]
    assert np.abs(last - before).max() <= 1e-9 * size
    assert np.abs(last - found["newton"][-1]).max() <= 1e-9 * size
    assert np.abs(last - found["mixed_fem"][0]).max() > 0.05 * size
    assert last[:, 2].min() < low + 0.01, "it rests on the ground"
