"""A body that begins in another shape than that at rest."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import SettingsError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, free_box, shaken_bar

WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


def turned(points, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return points @ np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)])


@pytest.mark.parametrize("degrees", [0.0, 70.0, 180.0])
def test_a_stretched_body_goes_back_to_its_rest_shape(degrees):
    job = free_box(8, solver=WEIGHTLESS)
    rest = job.body.surface.positions
    start = turned(rest * [1.3, 1.0, 1.0], degrees)
    frames = baked(job.with_body(initial_shape=start))
    assert np.abs(frames[0] - start).max() < 1e-3 * job.body.surface.size
    lengths = [np.linalg.norm(np.ptp(turned(frame, -degrees), axis=0)[0]) for frame in frames]
    assert min(lengths) < 0.23 < 0.259 < lengths[0]


def test_a_body_that_only_lies_elsewhere_has_no_stress():
    job = free_box(4, solver=WEIGHTLESS)
    start = turned(job.body.surface.positions, 50.0) + 3.0
    frames = baked(job.with_body(initial_shape=start))
    assert max(np.abs(frame - start).max() for frame in frames) < 1e-6


def test_pins_begin_where_they_are_held():
    job = shaken_bar(3)
    start = turned(job.body.surface.positions, 30.0)
    pins = turned(job.body.pin_positions.reshape(-1, 3), 30.0).reshape(job.body.pin_positions.shape)
    prepared = prepare(job.with_body(initial_shape=start, pin_positions=pins))
    held = prepared.pins.corners
    assert prepared.first_state().positions[held] == pytest.approx(prepared.pins.targets[0], abs=1e-12)
    assert np.abs(prepared.surface(prepared.first_state().positions) - start).max() < 1e-3 * job.body.surface.size


def test_it_is_part_of_the_animation_and_of_the_file(tmp_path):
    job = shaken_bar()
    other = job.with_body(initial_shape=job.body.surface.positions + 0.1)
    other.save(tmp_path / "job.npz")
    back = Job.load(tmp_path / "job.npz")
    assert (
        np.array_equal(back.body.initial_shape, other.body.initial_shape)
        and back.fingerprints() == other.fingerprints()
    )
    store = FrameStore.create(tmp_path / "store", other)
    assert store.outdated_by(job) == ["animation"]
    with pytest.raises(SettingsError, match="initial shape"):
        job.with_body(initial_shape=job.body.surface.positions[1:])


SUBSPACE = {"solver": "subspace_mixed_fem", "modes": 4, "cubature_points": 60}


def carried(job):
    """A job in a subspace whose pins are turned, where it begins in a pose that its unknowns can take; and these."""
    pins = turned(job.body.pin_positions.reshape(-1, 3), 30.0).reshape(job.body.pin_positions.shape)
    job = job.with_body(pin_positions=pins)
    prepared = prepare(job)
    unknowns = np.random.default_rng(0).normal(0.0, 0.01, (prepared.space.unknowns, 3))
    held = prepared.pins.held[0]
    unknowns[prepared.pins.corners[held]] = prepared.pins.targets[0][held]
    return job.with_body(initial_shape=prepared.surface(unknowns)), unknowns


def told(job):
    """Return the warnings about a job's initial shape, and the prepared job."""
    events = []
    prepared = prepare(job, on_event=events.append)
    (about,) = (event for event in events if event.kind == "mesh")
    return [warning for warning in about.warnings if "initial shape" in warning], prepared


def test_a_subspace_begins_exactly_in_a_pose_that_it_can_take():
    job, unknowns = carried(shaken_bar(2, **SUBSPACE))
    said, prepared = told(job)
    size = job.body.surface.size
    first = prepared.first_state().positions
    assert said == [] and np.abs(prepared.surface(first) - job.body.initial_shape).max() <= 1e-10 * size
    assert first == pytest.approx(unknowns, abs=1e-9)


def test_a_subspace_begins_as_near_to_other_poses_as_it_can_and_says_so():
    job = shaken_bar(2, **SUBSPACE)
    X = job.body.surface.positions
    start = turned(X, 30.0) + 0.01 * np.sin(80.0 * X[:, [1, 2, 0]])
    said, prepared = told(
        job.with_body(initial_shape=start, pin_positions=start[job.body.pinned_vertices][None].repeat(2, axis=0))
    )
    first, points = prepared.first_state().positions, prepared.points
    assert first[prepared.pins.corners] == pytest.approx(prepared.pins.targets[0], abs=1e-12)
    areas = job.body.surface.vertex_areas
    assert areas.sum() == pytest.approx(job.body.surface.area)

    def off(unknowns):
        return np.linalg.norm(points.positions(unknowns) - start, axis=1)

    least = areas @ off(first) ** 2
    free = np.setdiff1d(np.arange(len(first)), prepared.pins.corners)
    for seed in range(20):
        other = first.copy()
        other[free] += np.random.default_rng(seed).normal(0.0, 1e-5, (len(free), 3))
        assert areas @ off(other) ** 2 > least
    (warning,) = said
    assert f"up to {1e3 * off(first).max():.3g} mm" in warning and "Raise Modes" in warning
    assert f"{1e3 * areas @ off(first) / areas.sum():.3g} mm on average" in warning


@pytest.mark.parametrize("solver", ["subspace_mixed_fem", "subspace_fem"])
def test_in_a_subspace_it_goes_back_to_its_rest_shape_too(solver):
    job = free_box(10, solver={**WEIGHTLESS, **SUBSPACE, "solver": solver})
    rest = job.body.surface.positions
    elsewhere = turned(rest, 70.0) + 3.0
    assert max(np.abs(frame - elsewhere).max() for frame in baked(job.with_body(initial_shape=elsewhere))) < 1e-9
    start = turned(rest * [1.3, 1.0, 1.0], 70.0)
    frames = baked(job.with_body(initial_shape=start))
    assert np.abs(frames[0] - start).max() < 1e-10 * job.body.surface.size
    lengths = [np.ptp(turned(frame, -70.0), axis=0)[0] for frame in frames]
    assert min(lengths) < 0.23 < 0.259 < lengths[0]


def test_tetrahedra_that_are_too_coarse_for_the_pose_are_told():
    job = shaken_bar(2).with_body(resolution=ResolutionSettings(cells_across=2))
    rest = job.body.surface.positions
    assert told(job.with_body(initial_shape=rest.copy()))[0] == []
    wavy = rest + 0.02 * np.sin(100.0 * rest[:, [1, 2, 0]])
    (warning,) = told(job.with_body(initial_shape=wavy))[0]
    assert "too coarse" in warning and "Cells Across" in warning
