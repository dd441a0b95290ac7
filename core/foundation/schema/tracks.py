"""Tracks: animated values as arrays of samples along the first axis.

The samples are evenly spaced in time, with ``steps`` >= 1 sample intervals per frame interval. A track of f frames thus
has ``(f - 1) * steps + 1`` samples. Values between samples are interpolated linearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

ROUNDING = 8.0 * 2.0**-24
"""Relative round-off of animated coordinates, which are evaluated in single precision."""

MIN_SAMPLE_FRACTION = 1e-9
"""Largest distance in time from a sample, relative to the sample interval, at which the sample is not interpolated."""


def collapse_constant(values: np.ndarray) -> np.ndarray:
    """Return samples as contiguous float64; only the first sample if all are equal."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    return values[:1] if len(values) > 1 and (values == values[0]).all() else values


def steps_of(track: np.ndarray, frames: int) -> int:
    """Return the number of samples per interval between two frames.

    ``frames``: number of frames of the track.

    The result is 1 for a single frame. The result is 0 if a track of several frames has a single sample.
    """
    return (len(track) - 1) // (frames - 1) if frames > 1 else 1


def fits(track: np.ndarray, frames: int) -> bool:
    """Return True if an array has a valid number of samples for a track of ``frames`` frames.

    Valid numbers are ``(frames - 1) * steps + 1`` with an integer ``steps`` >= 1.
    """
    return len(track) >= frames and len(track) == (frames - 1) * steps_of(track, frames) + 1


def samples_at(track: np.ndarray, frames: int, frame: int, part: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the two samples around a time, and the weight of the second sample for linear interpolation, 0 to 1.

    ``frames``: number of frames of the track.
    ``frame``: index of the first frame at or after the time, from 0.
    ``part``: time since the frame ``frame - 1``, as a fraction of the frame interval, 0 to 1.
    """
    steps = steps_of(track, frames)
    interval = part * steps
    interval = round(interval) if abs(interval - round(interval)) < MIN_SAMPLE_FRACTION else interval
    step = max(int(np.ceil(interval)) - 1, 0)
    first = (frame - 1) * steps + step
    return track[first], track[first + 1], interval - step


def resample(track: np.ndarray, frames: int, steps: int) -> np.ndarray:
    """Return a track with ``steps`` sample intervals per frame interval, by linear interpolation.

    ``frames``: number of frames of the track, which may have a single sample.
    ``steps``: a multiple of the track's number of sample intervals per frame interval.
    """
    count, last = (frames - 1) * steps + 1, len(track) - 1
    if last + 1 == count:
        return track
    times = np.arange(count) * (last / max(count - 1, 1))
    before = np.floor(times + MIN_SAMPLE_FRACTION).astype(np.int64)
    part = np.maximum(times - before, 0.0).reshape(-1, *[1] * (track.ndim - 1))
    return track[before] + part * (track[np.minimum(before + 1, last)] - track[before])


def at_frames(track: np.ndarray, frames: int) -> np.ndarray:
    """Return only the samples at whole frames. ``frames`` is the number of frames of the track."""
    return track[:: max(steps_of(track, frames), 1)]


def truncate(track: np.ndarray, frames: int, count: int) -> np.ndarray:
    """Return the first ``count`` frames of a track. ``frames`` is the number of frames of the track."""
    return track[: (count - 1) * steps_of(track, frames) + 1]


def extend(track: np.ndarray, frames: int) -> np.ndarray:
    """Return a track of ``frames`` frames extended by one frame, in which the last sample repeats."""
    return np.concatenate([track, np.repeat(track[-1:], steps_of(track, frames), axis=0)])


def interleave(whole: np.ndarray, between: Sequence[np.ndarray]) -> np.ndarray:
    """Return a track from the samples at frames and the samples between frames.

    ``whole`` (f,...,c): samples at the f frames. A point has c coordinates.
    ``between``: samples between the frames, (f-1) * (steps-1) arrays (...,c) in order of time.

    The samples of a point between two frames are replaced by linear interpolation in either of two cases. In the first
    case, the point's path is straight within single precision. In the second case, the point stays still until the next
    frame and then jumps. Such jumps result from constant interpolation between keyframes, or from data that exist at
    whole frames only. Without the replacement, the jump would take place within a single time step.

    If all samples between frames are replaced, the result is ``whole``.
    """
    steps = len(between) // max(len(whole) - 1, 1) + 1
    if steps == 1:
        return whole
    track, bent = np.empty(((len(whole) - 1) * steps + 1, *whole.shape[1:])), False
    track[::steps] = whole
    parts = (np.arange(1, steps) / steps).reshape(-1, *[1] * (whole.ndim - 1))
    for frame, (before, after) in enumerate(pairwise(whole)):
        sampled = np.array(between[frame * (steps - 1) : (frame + 1) * (steps - 1)])
        line = before + parts * (after - before)
        allowed = ROUNDING * np.maximum(np.abs(before), np.abs(after)).max(axis=-1, keepdims=True)
        straight = (np.abs(sampled - line) <= allowed).all(axis=(0, -1), keepdims=True)
        straight |= (sampled == before).all(axis=(0, -1), keepdims=True)
        bent = bent or not straight.all()
        track[frame * steps + 1 : (frame + 1) * steps] = np.where(straight, line, sampled)
    return track if bent else whole
