"""Which surfaces meet: those of bodies that are stepped as one, and of what they run into.

A body's is the boundary of its tetrahedra. Colliders and the ground are triangles that go where they are told; those
that several bodies have are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..contact.ipc import Barrier, Surfaces
from ..contact.meeting import Meeting
from ..errors import ColliderError
from ..job.job import Job
from ..job.surroundings import Collider, Ground
from ..mesh.embedding import Embedding
from ..mesh.topology import boundary_triangles
from ..model.model import Model
from .loads import track_at

OF_EDGES = 0.1
"""Of the shortest mean edge of what meets, from which surfaces push."""

REACH = 100.0
"""Sizes of all bodies together that the ground's triangles reach."""

SLIP = 1e-3
"""Sizes of the smallest body a second, under which what slips may be at rest."""


class Standing(NamedTuple):
    """Colliders, each once: triangles and the track of its vertices over the frames, (samples,k,3) m."""

    names: tuple[str, ...]
    triangles: tuple[np.ndarray, ...]
    tracks: tuple[np.ndarray, ...]

    @property
    def first(self) -> np.ndarray:
        """Where all are at the first frame, (c,3) m."""
        return np.concatenate([np.zeros((0, 3)), *(track[0] for track in self.tracks)])

    def places(self, frames: int, frame: int, part: float) -> np.ndarray:
        """Where all are at a part (0 to 1) of the way to a frame, counted from the first as 0, (c,3) m."""
        moved = (track[0] if len(track) == 1 else track_at(track, frames, frame, part) for track in self.tracks)
        return np.concatenate([np.zeros((0, 3)), *moved])


def standing(jobs: Sequence[Job]) -> Standing:
    """What the bodies of jobs run into."""
    each = {id(found): found for job in jobs for found in job.body.colliders}
    named = {(found.name, found.height) if isinstance(found, Ground) else id(found): found for found in each.values()}
    points = np.concatenate([job.body.surface.positions for job in jobs])
    middle, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    names, triangles, tracks = [], [], []
    for found in named.values():
        names.append(found.name)
        if isinstance(found, Collider):
            triangles.append(found.triangles.astype(np.int64))
            tracks.append(found.positions)
        else:
            corners = REACH * size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) + middle[:2]
            triangles.append(np.array([[0, 1, 2], [0, 2, 3]]))
            tracks.append(np.column_stack([corners, np.full(4, found.height + found.thickness)])[None])
    return Standing(tuple(names), tuple(triangles), tuple(tracks))


def meeting(whole: Model, colliders: Standing, friction: float, selves: Sequence[int] = ()) -> Meeting:
    """Of the bodies of a model, of which ``selves`` meet themselves, and what they run into."""
    faces = boundary_triangles(whole.mesh.tets)
    kept = np.unique(faces)
    corner = np.unique(whole.mesh.tets, return_index=True)[1][kept]
    points = whole.points(Embedding(corner // 4, np.eye(4)[corner % 4], np.zeros(len(kept), dtype=bool)))
    ends = [each.vertices.stop for each in whole.slices]
    body = [np.searchsorted(ends, kept, side="right")]
    rest, triangles = [whole.mesh.rest_positions[kept]], [np.searchsorted(kept, faces)]
    given, count = [np.isin(kept, whole.pinned)], len(kept)
    for k, (own, track) in enumerate(zip(colliders.triangles, colliders.tracks)):
        triangles.append(own + count)
        rest.append(track[0])
        body.append(np.full(track.shape[1], len(ends) + k))
        given.append(np.ones(track.shape[1], dtype=bool))
        count += track.shape[1]
    surfaces = Surfaces(*(np.concatenate(parts) for parts in (rest, triangles, body, given)), tuple(selves))
    corners = rest[0][triangles[0]]
    edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
    softest = float(whole.elastic.youngs_modulus.min())
    barrier = Barrier(surfaces, OF_EDGES * edge, softest, friction, SLIP * whole.size)
    return Meeting(barrier, points, colliders.first)


def check_apart(surfaces: Surfaces, positions: np.ndarray, names: Sequence[str]) -> None:
    """ColliderError where bodies or colliders, by the numbers of ``surfaces.body``, cross at positions (s,3)."""
    of_face = surfaces.body[surfaces.faces[:, 0]]
    own = [positions[surfaces.body == k] for k in range(len(names))]
    boxes = [(points.min(axis=0), points.max(axis=0)) for points in own]
    for k, name in enumerate(names):
        for other in range(k):
            far = (boxes[k][0] > boxes[other][1]).any() or (boxes[other][0] > boxes[k][1]).any()
            both = np.isin(surfaces.body, (k, other))
            if far or surfaces.given[both].all():
                continue
            number = np.cumsum(both) - 1
            faces = number[surfaces.faces[np.isin(of_face, (k, other))]]
            pair = Surfaces(surfaces.rest[both], faces, surfaces.body[both], surfaces.given[both])
            if Barrier(pair, 1.0, 1.0, 0.0, 1.0).crosses(positions[both]):
                raise ColliderError(
                    f"“{names[other]}” and “{name}” overlap at the first frame.", "Move one of them out of the other."
                )
