"""Distances between two bakes of one surface, frame by frame, and the mean computing time per frame."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from ...foundation.errors import StoreError
from ...foundation.files.digest import digest
from ..store.cached_arrays import sides_of
from ..store.frame_store import FrameStore

Times = tuple[float, float]


class Difference(NamedTuple):
    """Distances between the surfaces of two bakes.

    Attributes
    ----------
    frames : (f,) int32, numbers of the frames that both bakes have
    largest, mean : (f,) float64, m, largest and mean distance of corresponding vertices per frame
    size : size of the body at rest, m
    seconds : mean computing time per frame, s, of the first and of the second bake; 0 if unknown
    words : description of the settings that differ in the second bake
    """

    frames: np.ndarray
    largest: np.ndarray
    mean: np.ndarray
    size: float
    seconds: Times
    words: str

    @property
    def worst(self) -> int:
        """Index into ``frames`` of the frame with the largest distance."""
        return int(self.largest.argmax())

    def at(self, frame: int) -> tuple[float, float] | None:
        """Return the largest and the mean distance, m, at the frame number ``frame``.

        The result is None if the frame was not compared.
        """
        found = np.flatnonzero(self.frames == frame)
        return (float(self.largest[found[0]]), float(self.mean[found[0]])) if len(found) else None


def distances(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the largest and the mean distance of corresponding vertices, m.

    ``first``, ``second`` (n,3), m: vertex positions.
    """
    apart = np.linalg.norm(second - first, axis=1)
    return float(apart.max()), float(apart.mean())


def find_difference(first: FrameStore, second: FrameStore, words: str) -> Difference:
    """Return the distances between two bakes in all visible frames of both, and cache them in the store ``second``.

    ``words``: description of the settings that differ.

    Raises StoreError if no frame is common, or if the numbers of vertices differ.
    """
    job, other = first.job(), second.job()
    if len(job.body.surface.positions) != len(other.body.surface.positions):
        raise StoreError("The two bakes have different numbers of vertices.", "Compare again.")
    start = max(job.first_shown, other.first_shown)
    frames = [frame for frame in second.frames() if frame >= start and frame in set(first.frames())]
    if not frames:
        raise StoreError("The two bakes share no frame.", "Compare again.")
    apart = np.array([distances(first.read(frame), second.read(frame)) for frame in frames])
    seconds = _seconds_a_frame(first, frames), _seconds_a_frame(second, frames)
    found = Difference(
        np.array(frames, dtype=np.int32), apart[:, 0].copy(), apart[:, 1].copy(), job.body.surface.size, seconds, words
    )
    arrays = {"frames": found.frames, "largest": found.largest, "mean": found.mean}
    about = {"key": _key(first, second), "size": found.size, "seconds": list(seconds), "words": words}
    second.write_cached("difference", arrays, about)
    return found


def cached_difference(first: FrameStore, second: FrameStore) -> Difference | None:
    """Return the distances between two bakes that :func:`find_difference` has cached in the store ``second``.

    The result is None without valid distances, or if a bake has changed since.
    """
    cached = second.read_cached("difference")
    if cached is None or cached[1].get("key") != _key(first, second):
        return None
    arrays, about = cached
    sides = sides_of(arrays, {"frames": "i4 f", "largest": "f8 f", "mean": "f8 f"})
    if sides is None or sides["f"] == 0:
        return None
    numbers = [about.get("size"), *_listed(about.get("seconds"))]
    if len(numbers) != 3 or not all(_is_length(value) for value in numbers) or not isinstance(about.get("words"), str):
        return None
    size, *seconds = (float(value) for value in numbers)
    return Difference(**arrays, size=size, seconds=(seconds[0], seconds[1]), words=about["words"])


def _seconds_a_frame(store: FrameStore, frames: list[int]) -> float:
    """Return the mean computing time, s, of the ``frames`` except the first, or 0 if unknown."""
    spent = [float(store.about(frame).get("seconds", 0.0)) for frame in frames]
    spent = [seconds for seconds in spent[1:] if seconds > 0.0]
    return float(np.mean(spent)) if spent else 0.0


def _key(first: FrameStore, second: FrameStore) -> str:
    return digest(*(json.dumps(store.fingerprints(), sort_keys=True) for store in (first, second)))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_length(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value < float("inf")
