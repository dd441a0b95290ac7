"""Tracks go straight from sample to sample, are shortened and prolonged, and forget what is straight anyway."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.tracks import (
    at_frames,
    extend,
    fits,
    interleave,
    resample,
    samples_at,
    steps_of,
    truncate,
)

from .jobs import at_steps

FRAMES = 4


def circle(steps: int, points: int = 1) -> np.ndarray:
    """Points that turn by 90 degrees a frame, on circles of radius 1, 2 ..."""
    angle = 0.5 * np.pi * np.arange((FRAMES - 1) * steps + 1) / steps
    turn = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)
    return turn[:, None] * np.arange(1, points + 1)[:, None]


def split(track: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples at the frames and those between them."""
    return track[::steps], track[np.arange(len(track)) % steps > 0]


@pytest.mark.parametrize("steps", [*range(1, 12), 49, 1000])
def test_every_step_meets_its_sample(steps):
    track = np.arange((FRAMES - 1) * steps + 1.0)
    for frame in range(1, FRAMES):
        for k in range(1, steps + 1):
            _before, after, part = samples_at(track, FRAMES, frame, k / steps)
            assert (after, part) == ((frame - 1) * steps + k, 1.0)
        assert samples_at(track, FRAMES, frame, 0.0)[::2] == ((frame - 1) * steps, 0.0)


def test_between_samples_it_goes_straight():
    track = np.array([0.0, 1.0, 4.0, 5.0, 9.0])
    before, after, part = samples_at(track, 3, 2, 0.75)
    assert (before, after, part) == (5.0, 9.0, 0.5)
    assert at_steps(track, 3, 4).tolist() == [0.0, 0.5, 1.0, 2.5, 4.0, 4.5, 5.0, 7.0, 9.0]
    assert at_steps(track, 3, 1).tolist() == at_frames(track, 3).tolist() == [0.0, 4.0, 9.0]
    assert at_steps(track, 3, 2) is track


@pytest.mark.parametrize("steps", [1, 3])
def test_other_frames(steps):
    track = circle(steps)
    assert fits(track, FRAMES) and steps_of(track, FRAMES) == steps and not fits(track[:-1], FRAMES)
    assert np.array_equal(truncate(track, FRAMES, 3), track[: 2 * steps + 1]) and fits(truncate(track, FRAMES, 1), 1)
    longer = extend(track, FRAMES)
    assert fits(longer, FRAMES + 1) and (longer[-steps:] == track[-1]).all()


def test_one_sample_for_many_frames_stays_one():
    still = np.ones((1, 5, 3))
    assert [len(a) for a in (truncate(still, 9, 4), extend(still, 9), at_frames(still, 9))] == [1, 1, 1]
    assert fits(still, 1) and not fits(still, 9) and len(extend(still, 1)) == 2


def test_a_circle_is_kept():
    track = circle(5, points=2)
    assert np.array_equal(interleave(*split(track, 5)), track)


def test_what_single_precision_takes_for_a_straight_line_is_kept_at_frames():
    whole = circle(1, points=3)
    between = split(at_steps(whole, FRAMES, 3), 3)[1]
    assert interleave(whole, between.astype(np.float32).astype(float)) is whole
    assert (
        len(interleave(whole, between + 1e-5)) == 10
        and interleave(whole, []) is whole
        and len(interleave(whole[:1], [])) == 1
    )


def test_what_jumps_at_a_frame_goes_there_straight():
    """One point of two turns; the other has constant keys."""
    track = circle(4, points=2)
    whole, between = split(track, 4)
    between[:, 1] = np.repeat(whole[:-1, 1], 3, axis=0)
    made = interleave(whole, between)
    assert np.array_equal(made[:, 0], track[:, 0]) and np.array_equal(made[::4], whole)
    assert np.allclose(made[2, 1], 0.5 * (whole[0, 1] + whole[1, 1]), atol=1e-15)
    assert len(interleave(whole[:, 1:], between[:, 1:])) == FRAMES


def test_matrices_are_tracks_too():
    angles = 0.5 * np.pi * np.arange(10) / 3
    matrices = np.tile(np.eye(4), (10, 1, 1))
    matrices[:, 0, 0] = matrices[:, 1, 1] = np.cos(angles)
    matrices[:, 1, 0] = np.sin(angles)
    matrices[:, 0, 1] = -np.sin(angles)
    assert np.array_equal(interleave(*split(matrices, 3)), matrices)


def test_resampled_tracks_keep_frames_and_lines():
    track = np.random.default_rng(0).normal(size=(4, 2, 3))
    fine = resample(track, 4, 3)
    assert np.array_equal(fine[::3], track) and np.allclose(fine[1], (2.0 * track[0] + track[1]) / 3.0)
    assert np.allclose(resample(resample(track, 4, 2), 4, 6), resample(track, 4, 6))
    assert np.array_equal(resample(track[:1], 4, 2), np.repeat(track[:1], 7, axis=0))
    assert resample(track[:1], 1, 5).shape == (1, 2, 3)
