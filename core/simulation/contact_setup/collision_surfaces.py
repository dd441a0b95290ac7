"""Collision surfaces of bodies that are stepped together, and of their colliders.

A body meshed with the draft method has a lattice of tets. The collision surface of such a body is its skin, a closed
surface near the render surface (:mod:`.cached_collision_proxy`). The collision surface of a body with other tets is the
boundary of the tets. A body that collides with colliders alone uses its render surface, which may intersect itself.
Colliders and the ground are triangles on prescribed paths. A collider that several bodies share appears once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...contact.barrier.barrier_potential import Barrier
from ...contact.barrier.collision_mesh import CollisionMesh, mean_edge
from ...contact.barrier.contact_load import ContactLoad
from ...foundation.errors import ColliderError
from ...foundation.schema.tracks import steps_of
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.face_subdivision import subdivide_faces
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import boundary_triangles
from ...jobs.job.environment import Collider, Ground
from ...jobs.job.job import Job
from ...jobs.store.frame_store import FrameStore
from ...methods.model.model import Model
from ...methods.subspaces.space import Space
from ..preparation.loads import track_at
from .cached_collision_proxy import Skin, cached_skin, cached_skin_warnings
from .seam_gaps import split_render_surface

OF_EDGES = 0.1
"""Ratio of the barriers' activation distance to the smallest mean edge length of the collision surfaces."""

OF_SHOWN = 0.03
"""Ratio of the activation distance to the mean edge length for a body that collides by its render surface.

The ratio is smaller than OF_EDGES, since the distance is visible as a gap. The smaller ratio takes 10 % more
iterations.
"""

FLAT = 1e-12
"""Dimensionless area below which the area of a face counts as zero.

The dimensionless area is twice the area over the longest edge squared.
"""

REACH = 1e4
"""Ratio of the extent of the ground's triangle to the size of all bodies together."""

SLIP = 1e-3
"""Slip speed below which friction is smoothed, relative to the size of the smallest body, 1/s."""


class ColliderSet(NamedTuple):
    """All colliders and grounds of a group of bodies, each once.

    The fields have one entry per collider.

    Attributes
    ----------
    triangles : (t,3), indices of the vertices of each face; faces whose area is always zero are left out
    tracks : (samples,k,3), m, positions of the vertices sampled over time; one sample for a static collider
    found : the colliders as the bodies define them
    collapsing : True if the area of a face of the collider is zero at some times, but not always
    """

    names: tuple[str, ...]
    triangles: tuple[np.ndarray, ...]
    tracks: tuple[np.ndarray, ...]
    found: tuple[Ground | Collider, ...] = ()
    collapsing: tuple[bool, ...] = ()

    @property
    def initial_positions(self) -> np.ndarray:
        """Positions (c,3), m, of the vertices of all colliders at the first frame."""
        return np.concatenate([np.zeros((0, 3)), *(track[0] for track in self.tracks)])

    def positions_at(self, frames: int, frame: int, part: float) -> np.ndarray:
        """Return the positions (c,3), m, of the vertices of all colliders at a time.

        The positions are interpolated between frames ``frame`` - 1 and ``frame`` by the fraction ``part`` (0 to 1).
        Frames are counted from 0.

        ``frames``: number of frames.
        """
        moved = (self.surface_at(number, frames, frame, part) for number in range(len(self.tracks)))
        return np.concatenate([np.zeros((0, 3)), *moved])

    def surface_at(self, number: int, frames: int, frame: int, part: float) -> np.ndarray:
        """Return the positions (k,3), m, of the vertices of one collider, by its index, as :meth:`positions_at`."""
        track = self.tracks[number]
        return track[0] if len(track) == 1 else track_at(track, frames, frame, part)

    def moved(self, number: int, displacement: np.ndarray) -> ColliderSet:
        """Return the set with one collider displaced in all frames.

        ``number``: index of the collider.
        ``displacement`` (3,), m.
        """
        tracks = tuple(track + displacement if k == number else track for k, track in enumerate(self.tracks))
        return self._replace(tracks=tracks)


def collect_colliders(jobs: Sequence[Job]) -> ColliderSet:
    """Return the colliders of all bodies, each once.

    Grounds are raised by their thickness. Raises ColliderError if all faces of a collider have zero area at some time.
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
            # One triangle, not two: a body that lies across a shared edge would also be pushed by that edge.
            corners = REACH * size * np.array([[0.0, 2.0], [-(3.0**0.5), -1.0], [3.0**0.5, -1.0]]) + middle[:2]
            triangles.append(np.array([[0, 1, 2]]))
            tracks.append(np.column_stack([corners, np.full(3, each.height + each.thickness)])[None])
    names = tuple(each.name for each in found)
    return ColliderSet(names, tuple(triangles), tuple(tracks), tuple(found), tuple(collapsing))


def is_same(one: Ground | Collider, other: Ground | Collider) -> bool:
    """Return True if colliders of two bodies count as one collider.

    Such colliders are equal in geometry, motion and settings.
    """
    if one is other or isinstance(one, Ground) or isinstance(other, Ground):
        return one is other or one == other
    same = (one.name, one.friction, one.thickness) == (other.name, other.friction, other.thickness)
    return same and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("triangles", "positions"))


def _with_area(collider: Collider, job: Job) -> tuple[np.ndarray, bool]:
    """Return the faces (t,3) of a collider that have an area at some time, and True if any of them collapses."""
    longest, always = np.zeros(len(collider.triangles)), np.ones(len(collider.triangles), dtype=bool)
    for positions in collider.positions:  # sample by sample: a track may be as large as the memory
        longest = np.maximum(longest, _sides_and_areas(positions, collider.triangles)[0])
    least = FLAT * np.maximum(longest**2, np.finfo(float).tiny)
    ever = np.zeros_like(always)
    for sample, positions in enumerate(collider.positions):
        flat = _sides_and_areas(positions, collider.triangles)[1] <= least
        if flat.all():
            steps = max(steps_of(collider.positions, job.frame_count), 1)
            raise ColliderError(
                f"The collider “{collider.name}” shrinks to a point at frame {job.frame_start + sample // steps}.",
                "Keep its scale above zero. To remove the collider, move it away from the body.",
            )
        always, ever = always & flat, ever | flat
    return collider.triangles[~always].astype(np.int64), bool((ever & ~always).any())


def _sides_and_areas(positions: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the longest side (t,), m, and twice the area (t,), m², of each triangle."""
    corners = positions[triangles]
    sides = np.roll(corners, 1, axis=1) - corners
    return np.linalg.norm(sides, axis=2).max(axis=1), np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)


class CollisionSurface(NamedTuple):
    """Collision surface of a body.

    Attributes
    ----------
    rest_positions : (s,3), m, vertices at rest
    faces : (f,3), triangles
    embedding : embedding of the vertices in the tets of the body, with which the vertices move
    """

    rest_positions: np.ndarray
    faces: np.ndarray
    embedding: Embedding


def _boundary(mesh: TetMesh, of: slice = slice(None)) -> CollisionSurface:
    """Return the boundary of the tets ``mesh.tets[of]`` as a collision surface."""
    first, tets = of.start or 0, mesh.tets[of]
    faces = boundary_triangles(tets)
    kept, corner = np.unique(tets, return_index=True)
    used = np.isin(kept, faces)
    kept, corner = kept[used], corner[used]
    own = Embedding(first + corner // 4, np.eye(4)[corner % 4], np.zeros(len(kept), dtype=bool))
    return CollisionSurface(mesh.rest_positions[kept], np.searchsorted(kept, faces), own)


def collision_surface(job: Job, mesh: TetMesh, store: FrameStore | None = None) -> CollisionSurface:
    """Return the collision surface of a body that collides with other bodies or with itself.

    The surface of a body on a lattice is its skin (:mod:`.cached_collision_proxy`), which is read from the store, or
    computed and stored. The surface of a rigid body is its render surface, and that of any other body the boundary of
    its tets. The boundary of a lattice would extend beyond the body, while the skin is close to the render surface.

    The pieces of a split body collide by their render surfaces, with gaps along the seams.

    Raises MeshError if the lattice is too coarse for a skin.
    """
    if job.body.seams is not None:
        return CollisionSurface(*split_render_surface(job.body, mesh, OF_EDGES))
    if job.body.is_rigid:
        return render_surface(job, mesh)
    if not job.body.is_lattice:
        return _boundary(mesh)
    return CollisionSurface(*cached_skin(job, mesh, store))


def render_surface(job: Job, mesh: TetMesh, _store: FrameStore | None = None) -> CollisionSurface:
    """Return the render surface of a body as a collision surface.

    Faces are subdivided until no edge is longer than the mean edge of the tets, so that the surface can follow the
    deformation of the tets. Those of a rigid body are not.
    """
    if job.body.seams is not None:
        return CollisionSurface(*split_render_surface(job.body, mesh, 0.0))
    whole = subdivide_faces(job.body.surface, np.inf if job.body.is_rigid else mesh.mean_edge)
    return CollisionSurface(whole.positions, whole.triangles.astype(np.int64), embed(whole.positions, mesh))


def surface_warnings(job: Job, mesh: TetMesh, own: CollisionSurface, store: FrameStore | None = None) -> list[str]:
    """Return warnings where the collision surface of a body differs from the visible surface.

    ``own``: collision surface of the body.
    """
    if not job.body.is_lattice or job.body.seams is not None:
        return []
    return [f"“{job.body.name}”: {words}" for words in cached_skin_warnings(job, mesh, Skin(*own), store)]


def concatenate_surfaces(
    owns: Sequence[CollisionSurface],
    given: Sequence[np.ndarray],
    colliders: ColliderSet,
    self_contact_ids: Sequence[int] = (),
) -> CollisionMesh:
    """Return one collision mesh of the surfaces of bodies and, after them, of colliders.

    The id of a body or collider is its index in this order.

    ``owns``: collision surfaces of the bodies.
    ``given``: for each body, a mask (s,) bool of the surface vertices with prescribed positions.
    ``self_contact_ids``: ids of the bodies with self-contact.
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
        tuple(self_contact_ids),
    )


def points_of_all(space: Space, owns: Sequence[CollisionSurface], firsts: Sequence[int]) -> Any:
    """Return the collision vertices of several bodies as functions of a solver's unknowns.

    ``space``: space with the unknowns of all bodies, and one mesh with the tets of all bodies.
    ``owns``: collision surfaces of the bodies.
    ``firsts``: per body, the index of its first tet in the mesh.
    """
    return space.points(Embedding.joined([own.embedding.shifted(first) for own, first in zip(owns, firsts)]))


def make_contact_load(
    whole: Model,
    colliders: ColliderSet,
    friction: float,
    self_contact_ids: Sequence[int] = (),
    skins: Sequence[CollisionSurface] = (),
) -> ContactLoad:
    """Return the contact load of a merged model.

    The bodies of the model are in contact with each other and with the colliders. All pairs have the
    same ``friction`` coefficient and no gap.

    ``whole``: merged model of several bodies.
    ``self_contact_ids``: ids of the bodies with self-contact.
    ``skins``: collision surfaces of the bodies, by default the boundaries of their tets.
    """
    owns = skins or [_boundary(whole.mesh, each.tets) for each in whole.slices]
    points = points_of_all(whole, owns, [each.tets.start if skins else 0 for each in whole.slices])
    held, ends = points.held(whole.pinned), np.cumsum([len(own.rest_positions) for own in owns])
    met = concatenate_surfaces(owns, np.split(held, ends[:-1]), colliders, self_contact_ids)
    distance = OF_EDGES * min(mean_edge(own.rest_positions, own.faces) for own in owns)
    barrier = Barrier(met, distance, float(whole.elastic.youngs_modulus.min()), friction, SLIP * whole.size)
    return ContactLoad(barrier, points, colliders.initial_positions)
