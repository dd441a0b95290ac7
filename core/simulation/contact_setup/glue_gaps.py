"""Gaps between collision surfaces along glue that can let go, so that no pair of primitives is left out of contact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...contact.barrier.collision_mesh import mean_edge
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import face_normals
from .collision_surfaces import ColliderSet, CollisionSurface
from .seam_gaps import least_displacements
from .tied_pairs import TiedPair

OPPOSED = -0.5
"""Largest cosine of the angle between the normals of a tied face and of the surface that it faces."""

GAP = 2.0
"""Gap along glue at rest, in contact distances: without contact forces until the flesh is compressed by half."""


def with_glue_gaps(
    pairs: Sequence[TiedPair],
    owns: Sequence[CollisionSurface],
    meshes: Sequence[TetMesh],
    colliders: ColliderSet,
    distance: float,
) -> list[CollisionSurface]:
    """Return the collision surfaces of bodies, moved inwards along their glue that can let go.

    Of two bodies, the surface with the shorter edges moves. Split bodies keep their surfaces.

    ``pairs``: tied pairs. ``meshes``: tets of the bodies. ``distance``, m: contact distance.
    """
    found = list(owns)
    edges = [mean_edge(own.rest_positions, own.faces) for own in owns]
    for pair in pairs:
        bodies = [k for k in pair.bodies if k < len(owns) and meshes[k].split is None]
        if not pair.can_part or not bodies:
            continue
        moved = min(bodies, key=lambda k: edges[k])
        other = sum(pair.bodies) - moved
        if other < len(owns):
            surface = found[other].rest_positions, found[other].faces
        else:
            surface = colliders.tracks[other - len(owns)][0], colliders.triangles[other - len(owns)]
        found[moved] = _moved(found[moved], meshes[moved], *surface, pair.reach, GAP * distance)
    return found


def _moved(
    own: CollisionSurface, mesh: TetMesh, positions: np.ndarray, triangles: np.ndarray, reach: float, gap: float
) -> CollisionSurface:
    """Return a surface whose tied faces are moved inwards, to a ``gap``, m, from another surface.

    ``positions`` (k,3), m, and ``triangles`` (t,3) of the other surface. ``reach``, m: largest distance of tied faces.
    """
    x, search = own.rest_positions, NearestPointSearch(positions, triangles)
    corners = x[own.faces]
    centres, normals = corners.mean(axis=1), face_normals(corners)
    near = search.nearest(centres)
    is_tied = np.linalg.norm(centres - near.points, axis=1) <= reach
    is_tied &= np.sum(normals * near.normals, axis=1) <= OPPOSED
    across = np.sum((centres - near.points) * near.normals, axis=1)
    tied = np.flatnonzero(is_tied & (across < gap))
    vertices, used = np.unique(own.faces[tied], return_inverse=True)
    sums, pulled = np.zeros((len(vertices), 3, 3)), np.zeros((len(vertices), 3))
    n, inwards = normals[tied, None], (gap - across[tied])[:, None, None]
    np.add.at(sums, used.reshape(-1, 3), n[..., None] * n[..., None, :])
    np.add.at(pulled, used.reshape(-1, 3), -inwards * n)
    kept = np.ones(len(x), dtype=bool)
    kept[vertices] = False
    moved = x.copy()
    moved[vertices] += least_displacements(sums, pulled)
    order = np.argsort(np.concatenate([np.flatnonzero(kept), vertices]))
    embedding = Embedding.joined([own.embedding.take(kept), embed(moved[vertices], mesh)]).take(order)
    return CollisionSurface(moved, own.faces, embedding)
