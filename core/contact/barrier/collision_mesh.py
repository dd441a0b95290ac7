"""Collision mesh: the surfaces of all bodies and colliders that collide, in one mesh.

The surface vertices of a body are interpolated from the vertices of its tets (``contact/proxy/collision_proxy.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


class TiedRegion(NamedTuple):
    """Part of the surfaces of two tied bodies in which these do not collide with each other.

    Attributes
    ----------
    bodies : ids of the two bodies, or of a body and a collider
    vertices : (s,) bool, vertices of the region
    slides : True if the region of each body slides along all of the other one; otherwise, along the other region only
    """

    bodies: tuple[int, int]
    vertices: np.ndarray
    slides: bool

    def labels(self, body_ids: np.ndarray) -> list[np.ndarray]:
        """Return labels (s,) of vertices: vertices with an equal label in all of these do not collide.

        ``body_ids`` (s,): body of each vertex.
        """
        own = [self.vertices & (body_ids == body) for body in self.bodies]
        others = [body_ids == body for body in self.bodies] if self.slides else own
        return [np.where(own[a] | others[1 - a], 0, 1 + np.arange(len(body_ids))) for a in range(1 + self.slides)]


class CollisionMesh(NamedTuple):
    """Surfaces that collide.

    Attributes
    ----------
    rest_positions : (s,3), m, vertices at rest
    faces : (f,3), vertex indices
    body_ids : (s,), body or collider of each vertex
    is_prescribed : (s,) bool, vertices with prescribed positions; they never collide with one another
    self_contact_bodies : ids of the bodies that collide with themselves
    excluded_pairs : (k,2), vertex pairs that are excluded from self-contact
    tied_regions : regions in which pairs of tied bodies do not collide
    """

    rest_positions: np.ndarray
    faces: np.ndarray
    body_ids: np.ndarray
    is_prescribed: np.ndarray
    self_contact_bodies: tuple[int, ...] = ()
    excluded_pairs: np.ndarray = NO_PAIRS
    tied_regions: tuple[TiedRegion, ...] = ()

    def of_vertices(self, chosen: np.ndarray) -> CollisionMesh:
        """Return the collision mesh restricted to some vertices.

        Faces and excluded pairs are kept if all of their vertices are selected. Vertices are renumbered.

        ``chosen`` (s,) bool: mask of the selected vertices.
        """
        number = np.cumsum(chosen) - 1
        faces, pairs = (number[each[chosen[each].all(axis=1)]] for each in (self.faces, self.excluded_pairs))
        return CollisionMesh(
            self.rest_positions[chosen],
            faces,
            self.body_ids[chosen],
            self.is_prescribed[chosen],
            self.self_contact_bodies,
            pairs,
            tuple(each._replace(vertices=each.vertices[chosen]) for each in self.tied_regions),
        )


def mean_edge(rest: np.ndarray, faces: np.ndarray) -> float:
    """Return the mean edge length of triangles, m.

    ``rest`` (s,3), m: of the vertices.
    ``faces`` (f,3): vertex indices.
    """
    corners = rest[faces]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
