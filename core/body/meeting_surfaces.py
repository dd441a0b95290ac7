"""Which surfaces meet: those of bodies that are stepped as one, and of what they run into.

A body's is the skin of its draft lattice, or the boundary of other tetrahedra; of one that runs into colliders alone
its render surface, which may cross itself. Colliders and the ground are triangles that go where they are told; those
that several bodies have are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..contact.collision_mesh import CollisionMesh, mean_edge
from ..contact.ipc import Barrier
from ..contact.meeting import ContactLoad
from ..errors import ColliderError
from ..job.job import Job
from ..job.surroundings import Collider, Ground
from ..mesh.embedding import Embedding, embed
from ..mesh.subdivided import subdivided
from ..mesh.tet_mesh import TetMesh
from ..mesh.topology import boundary_triangles
from ..model.model import Model
from ..store.frame_store import FrameStore
from ..subspaces.space import Space
from ..tracks import steps_of
from .cached_skin import Skin, cached_skin, cached_skin_warnings
from .loads import track_at

OF_EDGES = 0.1
"""Of the shortest mean edge of what meets, from which surfaces push."""

OF_SHOWN = 0.03
"""The same of a surface that is shown, for the gap is seen there: a third of it for a tenth more iterations."""

FLAT = 1e-12
"""Area of a face, of its longest edge's square, under which it has none."""

REACH = 1e4
"""Sizes of all bodies together that the ground's triangles reach."""

SLIP = 1e-3
"""Sizes of the smallest body a second, under which what slips may be at rest."""


class ColliderSet(NamedTuple):
    """Colliders and grounds, ``found``, each once: triangles and the track of its vertices over the frames,
    (samples,k,3) m. Of what is ``collapsing`` some face has no area at times.
    """

    names: tuple[str, ...]
    triangles: tuple[np.ndarray, ...]
    tracks: tuple[np.ndarray, ...]
    found: tuple[Ground | Collider, ...] = ()
    collapsing: tuple[bool, ...] = ()

    @property
    def initial_positions(self) -> np.ndarray:
        """Where all are at the first frame, (c,3) m."""
        return np.concatenate([np.zeros((0, 3)), *(track[0] for track in self.tracks)])

    def positions_at(self, frames: int, frame: int, part: float) -> np.ndarray:
        """Where all are at a part (0 to 1) of the way to a frame, counted from the first as 0, (c,3) m."""
        moved = (track[0] if len(track) == 1 else track_at(track, frames, frame, part) for track in self.tracks)
        return np.concatenate([np.zeros((0, 3)), *moved])

    def moved(self, number: int, way: np.ndarray) -> ColliderSet:
        """The same with one of them displaced all the time, by (3,) m."""
        tracks = tuple(track + way if k == number else track for k, track in enumerate(self.tracks))
        return self._replace(tracks=tracks)


def collect_colliders(jobs: Sequence[Job]) -> ColliderSet:
    """What the bodies of jobs run into, a ground as high as its thickness reaches. ColliderError names what shrinks to
    nothing, and when.
    """
    found: list[Ground | Collider] = []
    for each in (own for job in jobs for own in job.body.colliders):
        if not any(is_same(each, other) for other in found):
            found.append(each)
    points = np.concatenate([job.body.surface.positions for job in jobs])
    middle, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    triangles, tracks, collapsing = [], [], []
    for each in found:
        collapsing.append(False)
        if isinstance(each, Collider):
            kept, collapsing[-1] = _with_area(each, jobs[0])
            used, numbered = np.unique(kept, return_inverse=True)
            triangles.append(numbered.reshape(-1, 3))
            tracks.append(each.positions[:, used])
        else:
            # One triangle: whatever lay across an edge would be pushed by that as well.
            corners = REACH * size * np.array([[0.0, 2.0], [-(3.0**0.5), -1.0], [3.0**0.5, -1.0]]) + middle[:2]
            triangles.append(np.array([[0, 1, 2]]))
            tracks.append(np.column_stack([corners, np.full(3, each.height + each.thickness)])[None])
    names = tuple(each.name for each in found)
    return ColliderSet(names, tuple(triangles), tuple(tracks), tuple(found), tuple(collapsing))


def is_same(one: Ground | Collider, other: Ground | Collider) -> bool:
    """Whether two bodies that were given these run into the same thing."""
    if one is other or isinstance(one, Ground) or isinstance(other, Ground):
        return one is other or one == other
    told = (one.name, one.friction, one.thickness) == (other.name, other.friction, other.thickness)
    return told and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("triangles", "positions"))


def _with_area(collider: Collider, job: Job) -> tuple[np.ndarray, bool]:
    """The faces (t,3) of a collider but those without area, which nothing touches, and whether others have none at
    times.
    """
    longest, always = np.zeros(len(collider.triangles)), np.ones(len(collider.triangles), dtype=bool)
    for places in collider.positions:  # sample by sample: a track may be as large as the memory
        longest = np.maximum(longest, _sides_and_areas(places, collider.triangles)[0])
    least = FLAT * np.maximum(longest**2, np.finfo(float).tiny)
    ever = np.zeros_like(always)
    for sample, places in enumerate(collider.positions):
        flat = _sides_and_areas(places, collider.triangles)[1] <= least
        if flat.all():
            steps = max(steps_of(collider.positions, job.frame_count), 1)
            raise ColliderError(
                f"The collider “{collider.name}” shrinks to nothing at frame {job.frame_start + sample // steps}.",
                "Keep its scale above zero, or move it away instead.",
            )
        always, ever = always & flat, ever | flat
    return collider.triangles[~always].astype(np.int64), bool((ever & ~always).any())


def _sides_and_areas(places: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of faces (t,3), the longest side, m, and twice the area, m², (t,) each."""
    corners = places[triangles]
    sides = np.roll(corners, 1, axis=1) - corners
    return np.linalg.norm(sides, axis=2).max(axis=1), np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)


class CollisionSurface(NamedTuple):
    """What of a body touches: ``faces`` (f,3) of points that its tets carry, ``rest`` (s,3) m."""

    rest_positions: np.ndarray
    faces: np.ndarray
    embedding: Embedding


def _boundary(mesh: TetMesh, of: slice = slice(None)) -> CollisionSurface:
    """The boundary of tets, whose vertices are the tets' own."""
    first, tets = of.start or 0, mesh.tets[of]
    faces = boundary_triangles(tets)
    kept, corner = np.unique(tets, return_index=True)
    used = np.isin(kept, faces)
    kept, corner = kept[used], corner[used]
    own = Embedding(first + corner // 4, np.eye(4)[corner % 4], np.zeros(len(kept), dtype=bool))
    return CollisionSurface(mesh.rest_positions[kept], np.searchsorted(kept, faces), own)


def collision_surface(job: Job, mesh: TetMesh, store: FrameStore | None = None) -> CollisionSurface:
    """The skin of a draft lattice, whose boundary overhangs the body, kept in a store where there is one; of other tets
    their boundary, which is the body's surface. MeshError where cells are too coarse for a skin.
    """
    if not job.body.is_lattice:
        return _boundary(mesh)
    return CollisionSurface(*cached_skin(job, mesh, store))


def render_surface(job: Job, mesh: TetMesh, _store: FrameStore | None = None) -> CollisionSurface:
    """What is seen of a body, its faces no larger than its tets': it bends between them."""
    whole = subdivided(job.body.surface, mesh.mean_edge)
    return CollisionSurface(whole.positions, whole.triangles.astype(np.int64), embed(whole.positions, mesh))


def surface_warnings(job: Job, mesh: TetMesh, own: CollisionSurface, store: FrameStore | None = None) -> list[str]:
    """Sentences about what of a body does not meet others as it looks; empty where all does."""
    if not job.body.is_lattice:
        return []
    return [f"“{job.body.name}”: {words}" for words in cached_skin_warnings(job, mesh, Skin(*own), store)]


def concatenate_surfaces(
    owns: Sequence[CollisionSurface], given: Sequence[np.ndarray], colliders: ColliderSet, selves: Sequence[int] = ()
) -> CollisionMesh:
    """The surfaces of bodies, of which ``selves`` meet themselves, whose vertices are ``given`` (s,) bool, and of
    colliders, numbered in that order.
    """
    rest = [*(own.rest_positions for own in owns), *(track[0] for track in colliders.tracks)]
    faces = [*(own.faces for own in owns), *colliders.triangles]
    starts = np.cumsum([0, *(len(each) for each in rest)])
    all_given = [*given, *(np.ones(track.shape[1], dtype=bool) for track in colliders.tracks)]
    return CollisionMesh(
        np.concatenate(rest),
        np.concatenate([each + start for each, start in zip(faces, starts)]),
        np.repeat(np.arange(len(rest)), np.diff(starts)),
        np.concatenate(all_given),
        tuple(selves),
    )


def points_of_all(space: Space, owns: Sequence[CollisionSurface], firsts: Sequence[int]) -> Any:
    """The vertices of bodies' surfaces, each embedded in tets that begin at one of ``firsts`` in the space's."""
    return space.points(
        Embedding(
            np.concatenate([own.embedding.tet_indices + first for own, first in zip(owns, firsts)]),
            np.concatenate([own.embedding.barycentric for own in owns]),
            np.concatenate([own.embedding.outside for own in owns]),
        )
    )


def meeting(whole: Model, colliders: ColliderSet, friction: float, selves: Sequence[int] = ()) -> ContactLoad:
    """Of the bodies of a model, by the boundaries of their tets, of which ``selves`` meet themselves, and what they run
    into, all with one friction and no gap that is kept.
    """
    owns = [_boundary(whole.mesh, each.tets) for each in whole.slices]
    points = points_of_all(whole, owns, [0] * len(owns))
    held, ends = points.held(whole.pinned), np.cumsum([len(own.rest_positions) for own in owns])
    met = concatenate_surfaces(owns, np.split(held, ends[:-1]), colliders, selves)
    distance = OF_EDGES * min(mean_edge(own.rest_positions, own.faces) for own in owns)
    barrier = Barrier(met, distance, float(whole.elastic.youngs_modulus.min()), friction, SLIP * whole.size)
    return ContactLoad(barrier, points, colliders.initial_positions)
