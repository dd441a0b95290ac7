"""Contact surface of a body, stored for display."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..job.job import Job
from .cached_arrays import sides_of
from .frame_store import FrameStore


class ContactSurface(NamedTuple):
    """Contact surface of a body at rest, in world space.

    ``rest`` (s,3), m: vertices.
    ``faces`` (f,3): triangles.
    ``through`` (k,): indices of the vertices that are too close to another vertex at rest, so that contact between the
        two is switched off.
    ``object_to_world`` (4,4): the object's matrix at the first frame.
    """

    rest: np.ndarray
    faces: np.ndarray
    through: np.ndarray
    object_to_world: np.ndarray


def cache_contact_surface(
    store: FrameStore, job: Job, rest: np.ndarray, faces: np.ndarray, through: np.ndarray
) -> None:
    """Store the contact surface of a job's body.

    ``rest`` (s,3), m: vertices.
    ``faces`` (f,3): triangles.
    ``through`` (k,2): pairs of vertices that never collide with each other.
    """
    arrays = {
        "rest": np.ascontiguousarray(rest, dtype=np.float64),
        "faces": np.ascontiguousarray(faces, dtype=np.int32),
        "through": np.unique(through).astype(np.int32),
        "object_to_world": np.ascontiguousarray(job.frame_matrices[0]),
    }
    store.write_cached("meeting", arrays, {"job": store.key()})


def cached_contact_surface(store: FrameStore) -> ContactSurface | None:
    """Return the contact surface from :func:`cache_contact_surface`, or None.

    None means that the surface is missing, invalid, or of another job.
    """
    cached = store.read_cached("meeting")
    shapes = {"rest": "float s 3", "faces": "int f 3 <s", "through": "int k <s", "object_to_world": "float 4 4"}
    if cached is None or sides_of(cached[0], shapes) is None or cached[1].get("job") != store.key():
        return None
    if np.linalg.det(cached[0]["object_to_world"][:3, :3]) == 0.0:
        return None
    return ContactSurface(**cached[0])
