"""A body that begins in another shape than that at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.errors import SettingsError
from sinew.core.simulation.frame_store import FrameStore
from sinew.core.simulation.job import Job
from sinew.core.simulation.prepare import prepare

from .jobs import baked, free_box, shaken_bar

WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


def turned(points, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return points @ np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)])


@pytest.mark.parametrize("degrees", [0.0, 70.0, 180.0])
def test_a_stretched_body_goes_back_to_its_rest_shape(degrees):
    job = free_box(8, solver=WEIGHTLESS)
    rest = job.surface.positions
    start = turned(rest * [1.3, 1.0, 1.0], degrees)
    frames = baked(replace(job, start=start))
    assert np.abs(frames[0] - start).max() < 1e-3 * job.surface.size
    lengths = [np.linalg.norm(np.ptp(turned(frame, -degrees), axis=0)[0]) for frame in frames]
    assert min(lengths) < 0.23 < 0.259 < lengths[0]


def test_a_body_that_only_lies_elsewhere_has_no_stress():
    job = free_box(4, solver=WEIGHTLESS)
    start = turned(job.surface.positions, 50.0) + 3.0
    frames = baked(replace(job, start=start))
    assert max(np.abs(frame - start).max() for frame in frames) < 1e-6


def test_pins_begin_where_they_are_held():
    job = shaken_bar(3)
    start = turned(job.surface.positions, 30.0)
    pins = turned(job.pin_positions.reshape(-1, 3), 30.0).reshape(job.pin_positions.shape)
    prepared = prepare(replace(job, start=start, pin_positions=pins))
    held = prepared.pins.corners
    assert prepared.first_state().positions[held] == pytest.approx(prepared.pins.targets[0], abs=1e-12)
    assert np.abs(prepared.surface(prepared.first_state().positions) - start).max() < 1e-3 * job.surface.size


def test_it_is_part_of_the_animation_and_of_the_file(tmp_path):
    job = shaken_bar()
    other = replace(job, start=job.surface.positions + 0.1)
    other.save(tmp_path / "job.npz")
    back = Job.load(tmp_path / "job.npz")
    assert np.array_equal(back.start, other.start) and back.fingerprints() == other.fingerprints()
    store = FrameStore.create(tmp_path / "store", other)
    assert store.outdated_by(job) == ["animation"]
    with pytest.raises(SettingsError, match="first frame"):
        replace(job, start=job.surface.positions[1:])


def test_a_subspace_is_refused():
    job = shaken_bar(2, solver="subspace_mixed_fem", modes=4)
    with pytest.raises(SettingsError, match="begins at its rest shape"):
        prepare(replace(job, start=job.surface.positions + 0.1))
