"""Overlaps of surfaces at the first frame, and the search for the shortest displacement that separates them.

The search tries straight displacements: along face normals of both surfaces where their bounding boxes overlap, and
along coordinate axes and diagonals. Bisection finds the shortest separating length per direction, to 1 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from ...contact.barrier.barrier_potential import Barrier
from ...contact.barrier.collision_mesh import CollisionMesh
from ...foundation.unit_words import length_words
from ...geometry.mesh.farthest_points import farthest_points
from ...geometry.mesh.vertex_normals import face_normals
from ...geometry.mesh.winding_number import WindingNumber
from ...jobs.job.environment import Ground
from .collision_surfaces import ColliderSet
from .contact_pairs import PairRequests

HAIR = 0.1
"""Clearance that touching colliders get at the first frame, as a fraction of the activation distance."""
MOST_NORMALS, FEW_NORMALS = 12, 4
"""Maximum numbers of face normals per surface along which a displacement is tried.

MOST_NORMALS is for a solid second surface, and FEW_NORMALS for an open surface.
"""
HALVINGS, ABOUT = 30, 0.01
"""Limits of the bisection for the separating length along a direction.

HALVINGS is the maximum number of bisections. ABOUT is the relative precision of the length at which the bisection ends.
"""
SAMPLES, LONGER = 2000, 0.01
"""Largest number of points per surface in the fast test for overlap.

If the exact test that follows finds an overlap that the points missed, the separating displacement is lengthened by the
fraction LONGER.
"""
BETTER = 0.98
"""Fraction of the shortest separating length found so far at which a further direction is tried first.

If the surfaces overlap after this displacement, the direction is skipped.
"""
BEYOND = 1.05
"""Clearance between two surfaces after a separation, relative to the largest distance with contact forces.

Contact forces act on two surfaces that are closer than their gap plus the activation distance.
"""


class Overlap(NamedTuple):
    """Overlap of a body with another body or a collider at the first frame.

    Attributes
    ----------
    first, second : names of the body, and of the other body or collider
    depth : m, length of the shortest separating displacement found, or depth below a ground's height; 0 if the surfaces
        only touch
    separation : (3,), m, displacement of the first body that separates the two with an additional clearance
    is_below : True if ``second`` is a ground and the body extends below the ground
    """

    first: str
    second: str
    depth: float
    separation: np.ndarray
    is_below: bool = False

    def shown(self, factor: float) -> Overlap:
        """Return the overlap in the user's lengths.

        ``factor``: simulation scale, by which the simulated lengths are divided.
        """
        return self._replace(depth=self.depth / factor, separation=self.separation / factor)

    def said(self, others: int = 0) -> tuple[str, str]:
        """Return the error message and its remedy.

        ``others``: number of other overlapping pairs.
        """
        more = "" if others == 0 else f" {others} other {'pair overlaps' if others == 1 else 'pairs overlap'}, too."
        if self.is_below:
            return (
                f"“{self.first}” starts {length_words(self.depth)} below “{self.second}”.{more}",
                f"Raise it by {length_words(self.separation[2])}.",
            )
        how = f"by {length_words(self.depth)}" if self.depth > 0.0 else "or touch"
        shift = ", ".join(f"{0.0 if abs(part) < 1e-9 else part:.4g}" for part in self.separation)
        return (
            f"“{self.first}” and “{self.second}” overlap {how} at the first frame.{more}",
            f"Move “{self.first}” by ({shift}) m, or farther.",
        )

    def pushed_out(self) -> str:
        """Return the warning that the body begins inside a collider, with a remedy."""
        deep, remedy = length_words(self.depth) if self.depth > 0.0 else "slightly", self.said()[1]
        body = f"“{self.first}”" if self.first else "The body"
        return (
            f"{body} starts inside “{self.second}”, {deep} deep: contact pushes it out, but it may still pass "
            f"through. {remedy}"
        )


class FirstFrameContact(NamedTuple):
    """Bodies and contact parameters at the first frame.

    Attributes
    ----------
    names : names of the bodies, then of the colliders
    faces : triangles (f,3) of each body's collision surface
    positions : vertices (s,3), m, of each body's collision surface
    requests : contact parameters per pair of bodies and colliders, as the settings define them
    distance : activation distance, m; contact forces act on two surfaces closer than their gap plus this distance
    """

    names: tuple[str, ...]
    faces: list[np.ndarray]
    positions: list[np.ndarray]
    requests: PairRequests
    distance: float


class _SurfacePair:
    """Search for the displacement that separates a surface a from a surface b."""

    def __init__(
        self, a: np.ndarray, faces_a: np.ndarray, b: np.ndarray, faces_b: np.ndarray, is_body: bool, distance: float
    ) -> None:
        self._a, self._faces_a, self._b, self._faces_b = a, faces_a, b, faces_b
        n, rest = len(a), np.concatenate([a, b])
        body = (np.arange(len(rest)) >= n).astype(np.int64)
        surfaces = CollisionMesh(rest, np.concatenate([faces_a, faces_b + n]), body, np.zeros(len(rest), dtype=bool))
        self._barrier = Barrier(surfaces, distance, 1.0, 0.0, 1.0)
        self._is_body = is_body

    @property
    def nearest(self) -> float:
        """Smallest distance between the two surfaces, m, or inf."""
        return self._barrier.smallest_distance(np.concatenate([self._a, self._b]))

    def overlaps(self, shift: np.ndarray) -> bool:
        """Return True if the two surfaces overlap after a displacement of the first by ``shift`` (3,), m."""
        a = self._a + shift
        if (a.min(axis=0) > self._b.max(axis=0)).any() or (self._b.min(axis=0) > a.max(axis=0)).any():
            return False
        if self._barrier.has_intersections(np.concatenate([a, self._b])):
            return True
        inside = self._is_body and self._winding_b.contains(a[:1])[0]
        return bool(inside or self._winding_a.contains(self._b[:1] - shift)[0])

    @cached_property
    def _winding_a(self) -> WindingNumber:
        return WindingNumber(self._a, self._faces_a)

    @cached_property
    def _winding_b(self) -> WindingNumber:
        return WindingNumber(self._b, self._faces_b)

    @cached_property
    def _samples(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Sample points (p,3) and (q,3), m, of the two surfaces, or None if the second is not solid.

        A closed collider is solid, unless it contains at least half of the first surface's sample points. Such a
        collider counts as a room.
        """
        a, b = (points[:: -(-len(points) // SAMPLES)] for points in (self._a, self._b))
        edges = np.sort(self._faces_b[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        is_closed = (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
        solid = self._is_body or (is_closed and self._winding_b.contains(a).mean() < 0.5)
        return (a, b) if solid else None

    def _roughly(self, shift: np.ndarray) -> bool:
        """Return True if the surfaces overlap after a displacement of the first, tested at sample points."""
        if self._samples is None:
            return self.overlaps(shift)
        a, b = self._samples
        return bool(self._winding_b.contains(a + shift).any() or self._winding_a.contains(b - shift).any())

    def _directions(self) -> np.ndarray:
        """Return the unit directions (d,3) along which the search displaces the first surface."""
        low = np.maximum(self._a.min(axis=0), self._b.min(axis=0))
        high = np.minimum(self._a.max(axis=0), self._b.max(axis=0))
        sides = [(self._b, self._faces_b, 1.0), (self._a, self._faces_a, -1.0)]
        found = []
        for points, faces, sign in sides[: 1 if self._samples is None else 2]:
            corners = points[faces]
            near = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
            own = np.unique(np.round(sign * face_normals(corners[near]), 3), axis=0)
            own = own[np.linalg.norm(own, axis=1) > 0.5]
            most = MOST_NORMALS if self._samples is not None else FEW_NORMALS
            if len(own) > most:
                own = own[farthest_points(own, most).points]
            found += [own, -own]
        if self._samples is not None:
            found.append(np.array([each for each in product((-1.0, 0.0, 1.0), repeat=3) if any(each)]))
            found.append(self._a.mean(axis=0, keepdims=True) - self._b.mean(axis=0))
        directions = np.concatenate(found)
        lengths = np.linalg.norm(directions, axis=1)
        return directions[lengths > 0.0] / lengths[lengths > 0.0, None]

    def freeing(self, least: float) -> tuple[float, np.ndarray]:
        """Return the length, m, and the unit direction (3,) of the shortest separating displacement found."""
        best, found = np.inf, np.zeros(3)
        for along in self._directions():
            most = float((self._b @ along).max() - (self._a @ along).min())
            high = min(most, BETTER * best)
            if most <= 0.0 or (high < most and self._roughly(high * along)):
                continue
            low = 0.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self._roughly(middle * along) else (low, middle)
                if high - low <= ABOUT * high or high < least:
                    break
            best, found = high, along
            if best < least:
                break
        # The sample points may have missed an overlap: lengthen the displacement until the surfaces are separate.
        more = max(LONGER * best, 0.5 * least)
        while self._samples is not None and self.overlaps(best * found):
            best, more = best + more, 1.5 * more
        return best, found


def crossing(at: FirstFrameContact, colliders: ColliderSet, near: np.ndarray) -> set[tuple[int, int]]:
    """Return the pairs of bodies and colliders that overlap or nearly touch.

    Pairs that cannot collide are left out. The result holds pairs (i, j) of indices, which count the bodies first, then
    the colliders.

    ``near`` (b,b), m: distances below which pairs nearly touch.
    """
    return {pair for pair in _pairs(at) if _meeting(at, colliders, *pair, near[pair])}


def overlaps_of(at: FirstFrameContact, colliders: ColliderSet, touching: float) -> dict[tuple[int, int], Overlap]:
    """Return the overlap of each pair of bodies and colliders that overlap or nearly touch.

    Pairs that cannot collide are left out. The keys are pairs (i, j) of indices, which count the bodies first, then the
    colliders.

    ``touching``, m: distance below which a pair nearly touches.
    """
    found = {pair: _overlap(at, colliders, *pair, touching) for pair in _pairs(at)}
    return {pair: each for pair, each in found.items() if each is not None}


def offset_touching_colliders(
    at: FirstFrameContact, colliders: ColliderSet, touching: float, deepest: float
) -> ColliderSet:
    """Return the colliders, moved away from bodies that they merely touch at the first frame.

    An example is a floor on which a body stands exactly. A collider touches a body if the two are closer than
    ``touching``, m, or overlap by at most ``deepest``, m. The collider is moved in all frames by the depth of the
    overlap plus a clearance.

    A ground has its own rule. Its surface lies at the ground's height plus its thickness. The surface is lowered, if
    necessary, below every body that extends at most ``deepest``, m, below the ground's height.
    """
    n = len(at.positions)
    for c in range(n, len(at.names)):
        shifts, met = [], np.flatnonzero(at.requests.can_collide[c, :n])
        if isinstance(colliders.found[c - n], Ground):
            height, level = colliders.found[c - n].height, float(colliders.tracks[c - n][0, 0, 2])
            lowest = [low for k in met if height - (low := float(at.positions[k][:, 2].min())) <= deepest]
            lower = min(min(lowest, default=np.inf) - HAIR * at.distance - level, 0.0)
            colliders = colliders.moved(c - n, np.array([0.0, 0.0, lower]))
            continue
        for k in met:
            found = _overlap(at, colliders, int(k), c, touching)
            if found is not None and found.depth <= deepest:
                length = float(np.linalg.norm(found.separation))
                deep = length - BEYOND * (at.requests.gap[k, c] + at.distance)
                shifts.append((max(deep, 0.0) + HAIR * at.distance) * found.separation / length)
        if shifts:
            colliders = colliders.moved(c - n, -np.mean(shifts, axis=0))
    return colliders


def _pairs(at: FirstFrameContact) -> Sequence[tuple[int, int]]:
    n = len(at.positions)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(at.requests.can_collide, 1)) if i < n]


def _meeting(
    at: FirstFrameContact, colliders: ColliderSet, i: int, j: int, touching: float
) -> _SurfacePair | float | None:
    """Return the two surfaces if they overlap or touch, the depth of body i below a ground, m, or None."""
    n = len(at.positions)
    if j < n:
        b, faces = at.positions[j], at.faces[j]
    elif isinstance(found := colliders.found[j - n], Ground):
        lacking = found.height - float(at.positions[i][:, 2].min())
        return lacking if lacking > touching else None
    else:
        b, faces = colliders.tracks[j - n][0], colliders.triangles[j - n]
    a, reach = at.positions[i], max(at.distance, touching)
    if (a.min(axis=0) > b.max(axis=0) + reach).any() or (b.min(axis=0) > a.max(axis=0) + reach).any():
        return None
    two = _SurfacePair(a, at.faces[i], b, faces, j < n, touching)
    return two if two.overlaps(np.zeros(3)) or two.nearest < touching else None


def _overlap(at: FirstFrameContact, colliders: ColliderSet, i: int, j: int, touching: float) -> Overlap | None:
    clear, found = BEYOND * (at.requests.gap[i, j] + at.distance), _meeting(at, colliders, i, j, touching)
    if found is None:
        return None
    if isinstance(found, float):
        up = found + colliders.found[j - len(at.positions)].thickness + clear
        return Overlap(at.names[i], at.names[j], found, np.array([0.0, 0.0, up]), True)
    depth, along = found.freeing(0.5 * touching)
    return Overlap(at.names[i], at.names[j], depth if depth > touching else 0.0, (depth + clear) * along)
