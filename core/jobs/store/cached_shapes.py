"""Vibrations of a body's surface, stored for display in user interfaces.

The simulation does not read these vibrations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..job.job import Job
from .cached_arrays import sides_of
from .frame_store import FrameStore

_SCHEMA = {"rest": "f4 n 3", "triangles": "i4 t 3 <n", "shapes": "f4 k n 3", "frequencies": "f8 k"}


class Shapes(NamedTuple):
    """Displacements of a body's surface in its k lowest vibrations, in the object's local coordinates.

    Attributes
    ----------
    rest : (n,3) float32, positions of the surface vertices at rest
    triangles : (t,3) int32
    shapes : (k,n,3) float32, displacements; each vibration is scaled so that its largest displacement equals the body's
        size in world space
    frequencies : (k,) float64, Hz, of the body without vibration matching
    """

    rest: np.ndarray
    triangles: np.ndarray
    shapes: np.ndarray
    frequencies: np.ndarray


def cache_shapes(store: FrameStore, job: Job, moved: Iterable[np.ndarray], frequencies: Sequence[float]) -> None:
    """Store the vibrations of a job's body.

    ``moved``: surface displacements of each of the k vibrations, (n,3), in world space, at any scale.
    ``frequencies`` (k,), Hz: frequencies of the vibrations.
    """
    surface, to_own = job.body.surface, np.linalg.inv(job.body.object_to_world[0])
    rest = surface.positions @ to_own[:3, :3].T + to_own[:3, 3]
    shapes = [_scaled(each, surface.size) @ to_own[:3, :3].T for each in moved]
    found = Shapes(
        rest.astype(np.float32),
        surface.triangles,
        np.array(shapes, dtype=np.float32).reshape(-1, *rest.shape),
        np.array(frequencies, dtype=np.float64),
    )
    store.write_cached("shapes", found._asdict(), {})


def _scaled(vectors: np.ndarray, length: float) -> np.ndarray:
    """Return vectors (n,3) multiplied by one factor, so that the longest vector has the length ``length``."""
    longest = np.linalg.norm(vectors, axis=1).max(initial=0.0)
    return vectors * (length / longest if longest > 0.0 else 0.0)


def cached_shapes(store: FrameStore) -> Shapes | None:
    """Return the stored vibrations, or None if they are missing or invalid."""
    cached = store.read_cached("shapes")
    return Shapes(**cached[0]) if cached is not None and sides_of(cached[0], _SCHEMA) is not None else None
