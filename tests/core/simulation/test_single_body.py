"""Jobs stepped from frame to frame: pins that let go, pins that cross, very long steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import DivergenceError, SettingsError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.numerics.integrators.registry import INTEGRATORS
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import changed, shaken_bar

SOLVER = pytest.mark.parametrize("solver", SOLVER_KINDS)


def released_bar(frames=10, last_held=4, **settings):
    """The shaken bar whose pins let go after a frame, one after the other."""
    job = shaken_bar(frames=frames, **settings)
    held = np.ones((frames, len(job.body.pinned_vertices)), dtype=bool)
    held[last_held:] = False
    held[last_held - 1, ::2] = False
    return job.with_body(pin_held=held)


@SOLVER
def test_a_body_let_go_in_the_air_falls_freely(solver):
    """From the release on its momentum changes by its weight times the time, and by nothing else."""
    # Each direction of an exact linear solver preserves the momentum, approximate ones preserve it at convergence.
    job = released_bar(solver=solver, substeps=2)
    if solver == "multilevel_published":
        job = job.with_body(solver=replace(job.body.solver, max_iterations=200, tolerance=1e-8))
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    momenta = [prepared.space.lumped_masses @ frame.state.velocities for frame in frames]
    weight = prepared.model.masses.sum() * np.array(job.body.solver.gravity)
    assert np.linalg.norm(momenta[2] - momenta[1] - weight / job.frame_rate) > 0.1 * np.linalg.norm(weight) / 24
    for before, after in zip(momenta[4:], momenta[5:], strict=False):
        np.testing.assert_allclose(after - before, weight / job.frame_rate, atol=1e-7 * np.linalg.norm(weight))


def test_pins_let_go_one_by_one():
    """Fewer and fewer springs hold; what is still held is shown on its target, and what is let go where it goes."""
    job = released_bar()
    prepared = prepare(job)
    counts = [len(prepared.pin_springs.pinned.anchors(k).factors) for k in range(job.frame_count)]
    assert counts[0] > counts[3] > counts[4] == 0
    for k, frame in enumerate(simulate_body(job, prepared)):
        shown, held = prepared.surface(frame.state.positions, k)[job.body.pinned_vertices], job.body.pin_held[k]
        np.testing.assert_allclose(shown[held], job.body.pin_positions[k][held], atol=1e-14)
    assert np.abs(shown - job.body.pin_positions[-1]).max() > 0.01


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_bake_resumed_around_a_release_has_the_same_bits(tmp_path, integrator):
    """Stopped before the pins let go, and after."""
    job = released_bar(integrator=integrator)
    whole = FrameStore.create(tmp_path / "whole", job)
    bake(job, whole)
    for stop in (3, 7):
        store = FrameStore.create(tmp_path / f"stopped at {stop}", job)
        done = []
        on_event = lambda event, done=done: done.append(event) if event.kind == "frame" else None  # noqa: E731
        assert bake(job, store, on_event, lambda done=done, stop=stop: len(done) >= stop) == "stopped"
        assert bake(job, store, resume=True) == "done"
        assert all(np.array_equal(store.read(k), whole.read(k)) for k in whole.frames())


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_pins_that_cross(solver):
    """The two ends change places through each other: the body folds, every number stays finite, the pins are met."""
    job = shaken_bar(frames=9, solver=solver)
    X = job.body.surface.positions
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > 0.4 - 1e-9))
    way = np.linspace(0.0, 1.0, 9)[:, None]
    positions = np.tile(X[ends], (9, 1, 1))
    positions[:, :, 0] += way * np.where(X[ends, 0] < 0.2, 0.4, -0.4)
    job = job.with_body(pinned_vertices=ends, pin_positions=positions, pin_held=np.ones((9, len(ends)), dtype=bool))
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    assert all(np.isfinite(frame.state.positions).all() for frame in frames)
    np.testing.assert_allclose(prepared.surface(frames[-1].state.positions, 8)[ends], positions[-1], atol=1e-12)
    assert np.abs(frames[-1].state.positions).max() < 2.0


@SOLVER
def test_a_step_of_ten_seconds(solver):
    """The pinned body ends its steps at rest, or the error says to take more substeps."""
    job = shaken_bar(frames=4, solver=solver)
    still = np.tile(job.body.pin_positions[:1], (4, 1, 1))
    options = SolverSettings(solver=solver, max_iterations=400)
    job = changed(job, frame_rate=0.1, pin_positions=still, solver=options)
    if solver == "linearly_implicit":
        with pytest.raises(DivergenceError, match="substeps"):
            list(simulate_body(job, prepare(job)))
        return
    frames = list(simulate_body(job, prepare(job)))
    if solver != "conjac_published":  # whose step is one correction, whatever is left
        assert all(report.converged for frame in frames for report in frame.reports)
    assert np.abs(frames[-1].state.velocities).max() < 1e-3


def test_zero_steps_are_refused():
    with pytest.raises(SettingsError, match="substeps"):
        SolverSettings(substeps=0)


def prepare_warns(points: int) -> bool:
    """Return True if so many cubature points are too few for the bar."""
    said = []
    prepare(shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4, cubature_points=points), on_event=said.append)
    return any(getattr(event, "points_warning", "") for event in said)


def test_too_few_cubature_points_are_told():
    """The event of the tetrahedra says it, with a number to set."""
    said = []
    for points in (9, 0):
        prepare(
            shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4, cubature_points=points), on_event=said.append
        )
    few, enough = (event for event in said if event.kind == "mesh")
    assert few.points_warning in few.warnings and "Too few cubature points (9)" in few.points_warning
    number = few.points_that_suffice
    assert number in (18, 36, 72) and f"Set Cubature Points to {number}, or fewer Modes" in few.points_warning
    assert not enough.warnings and not enough.points_warning and not enough.points_that_suffice
    job = shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4, cubature_points=number)
    prepare(job, on_event=said.append)
    (again,) = (event for event in said[said.index(enough) + 1 :] if event.kind == "mesh")
    assert not again.points_warning, "the number suffices"
    assert number == 18 or prepare_warns(number // 2), "and half of it does not"
