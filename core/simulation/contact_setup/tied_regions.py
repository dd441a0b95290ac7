"""Contact of tied bodies away from their tie: the vertices at which two of them touch at rest, and do not collide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...contact.barrier.barrier_potential import Barrier
from ...contact.barrier.collision_mesh import CollisionMesh, TiedRegion
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...jobs.job.groups import can_collide, has_joint
from ...jobs.job.job import Job
from ...jobs.job.tie import SLIDE, Tie
from ..preparation.prepare import Prepared
from .collision_surfaces import ColliderSet, is_same


class _TiedPair(NamedTuple):
    """Indices of two tied bodies, or of a body and a collider, largest distance of tied points, m, and whether any of
    their ties slides.
    """

    pair: tuple[int, int]
    reach: float
    slides: bool


def tied_regions(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    colliders: ColliderSet,
    surfaces: CollisionMesh,
    shapes: Sequence[np.ndarray],
) -> Iterator[TiedRegion]:
    """Yield the region without contact of each pair of tied bodies, or of a body and a collider, that can collide.

    The region holds the vertices of all vertices, edges and faces that are as near to the other surface as tied points
    may be, in any of the ``shapes``. Pairs of which one is partly inside the other elsewhere are left out, as are pairs
    with a joint: they do not collide anywhere.

    ``colliders``: colliders of all bodies. ``surfaces``: surfaces of all bodies and colliders. ``shapes``: positions
    (s,3), m, of their vertices, at rest and at the first frame.
    """
    for pair, reach, slides in _tied_pairs(jobs, prepared, colliders):
        both = np.isin(surfaces.body_ids, pair)
        own = surfaces._replace(self_contact_bodies=()).of_vertices(both)
        near = np.zeros(len(own.rest_positions), dtype=bool)
        placed = [each[both] for each in shapes]
        for y in placed:
            stencils = Barrier(own, reach, 1.0, 0.0, 1.0).collision_stencils(y)[0]
            near[stencils[stencils >= 0]] = True
        region = np.zeros(len(both), dtype=bool)
        region[both] = near
        found = TiedRegion(pair, region, slides)
        apart = Barrier(own._replace(tied_regions=(found._replace(vertices=near),)), reach, 1.0, 0.0, 1.0)
        if not any(apart.has_intersections(y) or _is_inside(own, y, pair, ~near) for y in placed):
            yield found


def _tied_pairs(jobs: Sequence[Job], prepared: Sequence[Prepared], colliders: ColliderSet) -> Iterator[_TiedPair]:
    bodies, edges = [job.body for job in jobs], [each.model.mesh.mean_edge for each in prepared]
    for k, body in enumerate(bodies):
        for j in range(k):
            ties = [*_ties(body.ties, bodies[j].name), *_ties(bodies[j].ties, body.name)]
            if ties and can_collide(body, bodies[j]):
                yield _pair((j, k), ties, min(edges[j], edges[k]))
        for c, found in enumerate(colliders.found):
            ties = _ties(body.ties, found.name)
            if ties and any(is_same(found, each) for each in body.colliders) and not has_joint(body, found.name):
                yield _pair((k, len(bodies) + c), ties, edges[k])


def _ties(ties: Sequence[Tie], other: str) -> list[Tie]:
    return [tie for tie in ties if tie.other == other]


def _pair(pair: tuple[int, int], ties: Sequence[Tie], edge: float) -> _TiedPair:
    return _TiedPair(pair, max(tie.reach(edge) for tie in ties), any(tie.kind == SLIDE for tie in ties))


def _is_inside(own: CollisionMesh, y: np.ndarray, pair: tuple[int, int], away: np.ndarray) -> bool:
    """Return True if a vertex in the mask ``away`` (s,) of one of two surfaces is inside the other one."""
    for a, b in (pair, pair[::-1]):
        faces = own.faces[own.body_ids[own.faces[:, 0]] == b]
        points = y[away & (own.body_ids == a)]
        if len(points) and (SurfaceDepth(SurfaceMesh(y, faces)).at(points) > 0.0).any():
            return True
    return False
