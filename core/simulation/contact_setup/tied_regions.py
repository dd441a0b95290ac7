"""Contact of tied bodies away from their tie: the vertices at which two of them touch at rest, and do not collide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...contact.barrier.barrier_potential import Barrier
from ...contact.barrier.collision_mesh import CollisionMesh, TiedRegion
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from .tied_pairs import TiedPair


def tied_regions(
    pairs: Sequence[TiedPair], surfaces: CollisionMesh, shapes: Sequence[np.ndarray], closest: float
) -> Iterator[TiedRegion]:
    """Yield the region without contact of each pair of tied bodies, or of a body and a collider, that can collide.

    The region holds the vertices of all vertices, edges and faces that are as near to the other surface as tied points
    may be, in any of the ``shapes``. It is empty for glue that can let go, if the gap along it (:mod:`.glue_gaps`) is
    larger than ``closest``, m. Pairs of which one is partly inside the other elsewhere are left out: they do not
    collide anywhere.

    ``pairs``: tied pairs that can collide. ``surfaces``: surfaces of all bodies and colliders. ``shapes``: positions
    (s,3), m, of their vertices, at rest and at the first frame.
    """
    for pair, reach, slides, can_part in pairs:
        both = np.isin(surfaces.body_ids, pair)
        own = surfaces._replace(self_contact_bodies=()).of_vertices(both)
        near = np.zeros(len(own.rest_positions), dtype=bool)
        placed = [each[both] for each in shapes]
        for y in placed:
            stencils = Barrier(own, reach, 1.0, 0.0, 1.0).collision_stencils(y)[0]
            near[stencils[stencils >= 0]] = True
        if slides:
            # A side face that is nearest by its lower edge is near wherever it slides, so all its vertices belong here.
            near[own.faces[near[own.faces].any(axis=1)]] = True
        if can_part and all(_are_apart(own, y, pair, closest) for y in placed):
            near[:] = False
        region = np.zeros(len(both), dtype=bool)
        region[both] = near
        found = TiedRegion(pair, region, slides)
        apart = Barrier(own._replace(tied_regions=(found._replace(vertices=near),)), reach, 1.0, 0.0, 1.0)
        if not any(apart.has_intersections(y) or _is_inside(own, y, pair, ~near) for y in placed):
            yield found


def _are_apart(own: CollisionMesh, y: np.ndarray, pair: tuple[int, int], closest: float) -> bool:
    """Return True if two surfaces are farther apart than ``closest``, m."""
    barrier = Barrier(own, closest, 1.0, 0.0, 1.0)
    everywhere = np.ones(len(y), dtype=bool)
    return not (barrier.collision_count(y) or barrier.has_intersections(y) or _is_inside(own, y, pair, everywhere))


def _is_inside(own: CollisionMesh, y: np.ndarray, pair: tuple[int, int], away: np.ndarray) -> bool:
    """Return True if a vertex in the mask ``away`` (s,) of one of two surfaces is inside the other one."""
    for a, b in (pair, pair[::-1]):
        faces = own.faces[own.body_ids[own.faces[:, 0]] == b]
        points = y[away & (own.body_ids == a)]
        if len(points) and (SurfaceDepth(SurfaceMesh(y, faces)).at(points) > 0.0).any():
            return True
    return False
