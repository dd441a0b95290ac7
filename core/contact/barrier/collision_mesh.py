"""Collision mesh: vertices, faces and body ids of the surfaces that collide, and vertex pairs excluded from contact.

Bodies and colliders share one mesh. The surface vertices of a body are interpolated from the vertices of its tets
(``contact/proxy/collision_proxy.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


class CollisionMesh(NamedTuple):
    """Surfaces that collide: vertices with ``rest_positions`` (s,3) m and ``body_ids`` (s,), and ``faces`` (f,3).
    ``is_prescribed`` (s,) bool marks vertices with prescribed positions, which never collide with one another.
    Bodies with ids in ``self_contact_bodies`` collide with themselves, except for the vertex pairs
    ``excluded_pairs`` (k,2).
    """

    rest_positions: np.ndarray
    faces: np.ndarray
    body_ids: np.ndarray
    is_prescribed: np.ndarray
    self_contact_bodies: tuple[int, ...] = ()
    excluded_pairs: np.ndarray = NO_PAIRS

    def of_vertices(self, chosen: np.ndarray) -> CollisionMesh:
        """Return the collision mesh restricted to the vertices that the mask ``chosen`` (s,) selects. Faces and
        excluded pairs are kept if all of their vertices are selected; vertices are renumbered.
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
        )


def mean_edge(rest: np.ndarray, faces: np.ndarray) -> float:
    """Return the mean edge length, m, of triangles ``faces`` (f,3) with vertices at ``rest`` (s,3) m."""
    corners = rest[faces]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
