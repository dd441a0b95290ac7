"""Tracks: animated values as arrays of samples along the first axis.

A track of f frames has one sample per frame, or ``steps`` of them, evenly spaced, from each frame to the next: ``(f -
1) * steps + 1`` in all. Samples are interpolated linearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

ROUNDING = 8.0 * 2.0**-24
"""Relative error of single-precision coordinates, in which animation is evaluated."""

MIN_SAMPLE_FRACTION = 1e-9
"""Fraction of the interval between two samples that is treated as zero."""


def collapse_constant(values: np.ndarray) -> np.ndarray:
    """Return samples as contiguous float64; equal ones are collapsed to one."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    return values[:1] if len(values) > 1 and (values == values[0]).all() else values


def steps_of(track: np.ndarray, frames: int) -> int:
    """Return the number of samples from one frame to the next; 0 for a single sample over several frames."""
    return (len(track) - 1) // (frames - 1) if frames > 1 else 1


def fits(track: np.ndarray, frames: int) -> bool:
    """Return True if an array is a track of this many frames."""
    return len(track) >= frames and len(track) == (frames - 1) * steps_of(track, frames) + 1


def samples_at(track: np.ndarray, frames: int, frame: int, part: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the two samples around a fraction ``part`` (0 to 1) of the interval that ends at ``frame``, and the
    fraction (0 to 1) between them. Frames are counted from 0.
    """
    steps = steps_of(track, frames)
    interval = part * steps
    interval = round(interval) if abs(interval - round(interval)) < MIN_SAMPLE_FRACTION else interval
    step = max(int(np.ceil(interval)) - 1, 0)
    first = (frame - 1) * steps + step
    return track[first], track[first + 1], interval - step


def at_frames(track: np.ndarray, frames: int) -> np.ndarray:
    """Return the samples at the frames themselves."""
    return track[:: max(steps_of(track, frames), 1)]


def truncate(track: np.ndarray, frames: int, count: int) -> np.ndarray:
    """Return the track of the first ``count`` frames."""
    return track[: (count - 1) * steps_of(track, frames) + 1]


def extend(track: np.ndarray, frames: int) -> np.ndarray:
    """Return the track extended by one frame with constant values."""
    return np.concatenate([track, np.repeat(track[-1:], steps_of(track, frames), axis=0)])


def interleave(whole: np.ndarray, between: Sequence[np.ndarray]) -> np.ndarray:
    """Return the track of points sampled at the frames, (f,...,c), and evenly between them: (f-1) * (steps-1) samples
    (...,c), in order.

    Paths that are straight from one frame to the next within single precision are made exactly straight. So are those
    of points that stay still until the next frame and then jump (constant interpolation, data of whole frames only),
    since they would jump within a single step. If all paths are straight, the result is ``whole``.
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
