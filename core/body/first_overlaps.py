"""What overlaps at the first frame, where nothing may: how deep, and the shortest way found by which one gets out of
the other.

Ways are straight. Of a few directions, those in which faces of either look where both are and those of the axes and
their diagonals, each is gone until the two are free of each other, to a hundredth of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ..contact.ipc import Barrier, Surfaces
from ..job.surroundings import Ground
from ..lengths import length_words
from ..mesh.farthest_points import farthest_points
from ..mesh.vertex_normals import face_normals
from ..mesh.winding_number import WindingNumber
from .between_bodies import Wanted
from .meeting_surfaces import Standing

HAIR = 0.1
"""Of the distance from which surfaces push, by how much what touches at first is moved."""
MOST_NORMALS = 12
"""Directions of faces that are tried."""
HALVINGS, ABOUT = 30, 0.01
"""Of a way's length at most, until it is known to a part of itself."""
BETTER = 0.98
"""Of the shortest way so far, what another has to be free at."""
BEYOND = 1.05
"""Of the gap and the distance from which surfaces push, how much farther a way leads."""


class Overlap(NamedTuple):
    """``first`` gets out of ``second`` by ``way`` (3,) m, of which ``depth`` m overlap; by their names. The rest of the
    way is the distance that they keep. It is under a ground where it ``lacks`` height.
    """

    first: str
    second: str
    depth: float
    way: np.ndarray
    lacks: bool = False

    def said(self, others: int = 0) -> tuple[str, str]:
        """What is wrong, and what to do about it; how many ``others`` there are."""
        more = "" if others == 0 else f" So {'does another pair' if others == 1 else f'do {others} other pairs'}."
        if self.lacks:
            return (
                f"“{self.first}” begins {length_words(self.depth)} under “{self.second}”.{more}",
                f"Raise it by {length_words(self.way[2])}.",
            )
        how = f"by {length_words(self.depth)}" if self.depth > 0.0 else "or touch"
        way = ", ".join(f"{0.0 if abs(part) < 1e-9 else part:.4g}" for part in self.way)
        return (
            f"“{self.first}” and “{self.second}” overlap {how} at the first frame.{more}",
            f"Move “{self.first}” by ({way}) m, or farther.",
        )


class Standpoint(NamedTuple):
    """Names of bodies and then colliders; ``faces`` (f,3) and ``places`` (s,3) m of the bodies; what is wanted between
    each two, and the ``distance`` m from which surfaces push beyond that.
    """

    names: tuple[str, ...]
    faces: list[np.ndarray]
    places: list[np.ndarray]
    want: Wanted
    distance: float


class _Two(NamedTuple):
    """Two surfaces, of which the first can be moved; ``solid``: which of them nothing may lie in."""

    a: np.ndarray
    faces_a: np.ndarray
    b: np.ndarray
    faces_b: np.ndarray
    solid: tuple[bool, bool]

    def crosses(self, way: np.ndarray) -> bool:
        a = self.a + way
        if (a.min(axis=0) > self.b.max(axis=0)).any() or (self.b.min(axis=0) > a.max(axis=0)).any():
            return False
        y = np.concatenate([a, self.b])
        if self._pair().crosses(y):
            return True
        inside = self.solid[1] and WindingNumber(self.b, self.faces_b).contains(a[:1])[0]
        around = self.solid[0] and WindingNumber(a, self.faces_a).contains(self.b[:1])[0]
        return bool(inside or around)

    def nearest(self, distance: float) -> float:
        """m; inf where nothing is nearer than a distance."""
        return self._pair(distance).smallest_distance(np.concatenate([self.a, self.b]))

    def _pair(self, distance: float = 1.0) -> Barrier:
        n = len(self.a)
        rest = np.concatenate([self.a, self.b])
        faces = np.concatenate([self.faces_a, self.faces_b + n])
        body = (np.arange(len(rest)) >= n).astype(np.int64)
        return Barrier(Surfaces(rest, faces, body, np.zeros(len(rest), dtype=bool)), distance, 1.0, 0.0, 1.0)

    def directions(self) -> np.ndarray:
        """In which the first may get out of the second, (d,3) unit."""
        low = np.maximum(self.a.min(axis=0), self.b.min(axis=0))
        high = np.minimum(self.a.max(axis=0), self.b.max(axis=0))
        normals = []
        for points, faces, sign in ((self.a, self.faces_a, -1.0), (self.b, self.faces_b, 1.0)):
            corners = points[faces]
            near = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
            own = np.unique(np.round(sign * face_normals(corners[near]), 3), axis=0)
            own = own[np.linalg.norm(own, axis=1) > 0.5]
            if len(own) > MOST_NORMALS:
                own = own[farthest_points(own, MOST_NORMALS).points]
            normals += [own, -own]
        axes = np.array([each for each in product((-1.0, 0.0, 1.0), repeat=3) if any(each)])
        found = np.concatenate([*normals, axes, self.a.mean(axis=0, keepdims=True) - self.b.mean(axis=0)])
        lengths = np.linalg.norm(found, axis=1)
        return found[lengths > 0.0] / lengths[lengths > 0.0, None]

    def freeing(self, least: float) -> tuple[float, np.ndarray]:
        """The length of the shortest way found, m, and its direction; one under ``least`` is short enough."""
        best, found = np.inf, np.zeros(3)
        for along in self.directions():
            most = float((self.b @ along).max() - (self.a @ along).min())
            high = min(most, BETTER * best)
            if most <= 0.0 or (high < most and self.crosses(high * along)):
                continue
            low = 0.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self.crosses(middle * along) else (low, middle)
                if high - low <= ABOUT * high or high < least:
                    break
            best, found = high, along
            if best < least:
                break
        return best, found


def overlaps_of(at: Standpoint, colliders: Standing, touching: float) -> list[Overlap]:
    """Each two that meet and overlap, or are nearer than ``touching`` m."""
    return [found for pair in _pairs(at) if (found := _overlap(at, colliders, *pair, touching)) is not None]


def shifted_off(at: Standpoint, colliders: Standing, touching: float) -> Standing:
    """Colliders, of which those that merely touch bodies at the first frame are moved off them by a hair for good: what
    is put on a floor is exactly at its height.
    """
    for c in range(len(at.places), len(at.names)):
        ways = []
        for k in np.flatnonzero(at.want.meets[c, : len(at.places)]):
            found = _overlap(at, colliders, int(k), c, touching)
            if found is not None and found.depth <= touching:
                ways.append(found.way / np.linalg.norm(found.way))
        if ways:
            colliders = colliders.moved(c - len(at.places), -HAIR * at.distance * np.mean(ways, axis=0))
    return colliders


def _pairs(at: Standpoint) -> Sequence[tuple[int, int]]:
    n = len(at.places)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(at.want.meets, 1)) if i < n]


def _two(at: Standpoint, colliders: Standing, i: int, j: int) -> _Two | None:
    """A body and a body or collider; None where they are far apart."""
    n = len(at.places)
    if j < n:
        b, faces = at.places[j], at.faces[j]
    else:
        b, faces = colliders.tracks[j - n][0], colliders.triangles[j - n]
    a = at.places[i]
    if (a.min(axis=0) > b.max(axis=0) + at.distance).any() or (b.min(axis=0) > a.max(axis=0) + at.distance).any():
        return None
    return _Two(a, at.faces[i], b, faces, (True, j < n))


def _overlap(at: Standpoint, colliders: Standing, i: int, j: int, touching: float) -> Overlap | None:
    n, clear = len(at.places), BEYOND * (at.want.gap[i, j] + at.distance)
    if j >= n and isinstance(colliders.found[j - n], Ground):
        height = float(colliders.tracks[j - n][0, 0, 2])
        lacking = height - float(at.places[i][:, 2].min())
        if lacking <= -touching:
            return None
        return Overlap(at.names[i], at.names[j], max(lacking, 0.0), np.array([0.0, 0.0, lacking + clear]), True)
    two = _two(at, colliders, i, j)
    if two is None:
        return None
    if not two.crosses(np.zeros(3)):
        if two.nearest(touching) >= touching:
            return None
    depth, along = two.freeing(0.5 * touching)
    return Overlap(at.names[i], at.names[j], depth if depth > touching else 0.0, (depth + clear) * along)
