"""Surfaces that collide: their vertices, faces and bodies, and the pairs that never do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


class CollisionMesh(NamedTuple):
    """What touches: ``rest`` (s,3) m, ``faces`` (f,3); ``body`` (s,), a number a body, of which those in ``selves``
    meet themselves; ``given`` (s,), whether a vertex is where it is told, which two of such never meet for; ``through``
    (k,2), pairs of vertices that never meet.
    """

    rest_positions: np.ndarray
    faces: np.ndarray
    body_ids: np.ndarray
    is_prescribed: np.ndarray
    self_contact_bodies: tuple[int, ...] = ()
    excluded_pairs: np.ndarray = NO_PAIRS

    def of_vertices(self, chosen: np.ndarray) -> CollisionMesh:
        """Those of some of the bodies, whose vertices are ``chosen`` (s,) bool."""
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
    """Of faces (f,3) of vertices (s,3), m."""
    corners = rest[faces]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
