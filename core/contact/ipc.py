"""Surfaces that never cross: the barrier of incremental potential contact (Li et al. 2020, "Incremental Potential
Contact"), what rubs there, and how far surfaces may move, by ipctk. No other file knows that library.

The barrier is in physical units (Huang et al. 2024): ``stiffness`` is a pressure, Pa, whatever the mesh and the
distance from which surfaces push. One thread: with two the same step has other bits each time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..assembly.stencils import Stencils
from ..errors import ColliderError
from ..mesh.face_boxes import mark_faces, swept_boxes
from .barrier_curvature import EDGE_POINT, EDGES, FACE_POINT, POINTS, hessian_stencils, normal_force_magnitudes
from .collision_mesh import NO_PAIRS, CollisionMesh, mean_edge
from .friction import TangentialCollisions, no_tangential_collisions

CCD_MAX_ITERATIONS = 1000
"""Iterations of additive continuous collision detection for a pair: uncapped, one that hardly moves took minutes."""

CCD_CONSERVATIVE_RESCALING = 0.9
"""Of the way up to a touch, what is taken."""

CANDIDATE_INFLATION = 0.25
"""Of the distance from which surfaces push, by how much vertices may be off a way for which all that is near was found:
the ways of a step's later iterations are short, and lie beside.
"""

MOLLIFIED = 1e-3
"""Of the square of two edges' lengths' product, the square of their cross product under which ipctk takes them to be
nearly parallel.
"""

try:
    import ipctk
except ImportError as error:  # bodies that meet nothing do without
    ipctk, MISSING = None, str(error)
else:
    MISSING = ""
    """Why the library cannot be loaded; empty where it can."""
    ipctk.set_num_threads(1)
    ipctk.set_logger_level(ipctk.error)


class _ActiveSubmesh(NamedTuple):
    """What ipctk is asked of: the vertices ``kept`` (k,) of ``surfaces``, its ``mesh``, and of its ``edges`` (e,2) what
    makes two nearly parallel; of ``inner`` vertices (s,), of all, all faces are there.
    """

    kept: np.ndarray
    inner: np.ndarray
    surfaces: CollisionMesh
    mesh: Any
    edges: np.ndarray
    mollified: np.ndarray

    def at(self, y: np.ndarray) -> np.ndarray:
        """Its own of all positions (s,3)."""
        return np.asfortranarray(y[self.kept], dtype=np.float64)


class Barrier:
    """The potential of distances between surfaces that exceed ``gap`` m by less than ``distance`` m: they never come as
    near as the gap. What touches rubs with ``mu``, a number or one for each two bodies (b,b), fully from slips of
    ``slip`` m/s on. Of different bodies those meet that ``meets`` (b,b) tells, all by default.

    Positions (s,3) are those of the surfaces' vertices. Nothing is to be asked where they cross or are too near.
    """

    def __init__(
        self,
        surfaces: CollisionMesh,
        dhat: float,
        stiffness: float,
        mu: float | np.ndarray,
        eps_v: float,
        dmin: float = 0.0,
        can_collide: np.ndarray | None = None,
    ) -> None:
        if MISSING:
            raise ColliderError(
                f"What meets something needs ipctk, which cannot be loaded: {MISSING}.",
                "Install Sinew again, or turn off what the body meets and runs into under Collisions.",
            )
        surfaces = surfaces._replace(rest_positions=_clamp_obstacle_area_weights(surfaces))
        self.surfaces, self.dhat, self.eps_v, self._dmin = surfaces, dhat, eps_v, dmin
        self._friction, self.mu, self._can_collide = mu, float(np.max(mu)), can_collide
        self.stiffness = stiffness
        self._reach = 0.5 * (dhat + dmin) + CANDIDATE_INFLATION * dhat
        self._barrier = ipctk.BarrierPotential(dhat, stiffness, use_physical_barrier=True)
        self._ccd = ipctk.AdditiveCCD(CCD_MAX_ITERATIONS, CCD_CONSERVATIVE_RESCALING)
        bodies = np.unique(surfaces.body_ids)
        self._itself = np.isin(surfaces.body_ids[surfaces.faces[:, 0]], surfaces.self_contact_bodies)
        of_faces = {k: np.flatnonzero(surfaces.body_ids[surfaces.faces[:, 0]] == k) for k in bodies}
        self._faces_of = {k: own for k, own in of_faces.items() if len(own)}
        told = {k: surfaces.is_prescribed[surfaces.body_ids == k].all() for k in bodies}
        self._two = [
            (a, b)
            for a, b in combinations(self._faces_of, 2)
            if (can_collide is None or can_collide[a, b]) and not (told[a] and told[b])
        ]
        self.clear_candidates()

    def of_vertices(self, chosen: np.ndarray) -> Barrier:
        """The same barrier of some of the bodies, whose vertices are ``chosen`` (s,) bool."""
        numbers = self.dhat, self.stiffness, self._friction, self.eps_v, self._dmin, self._can_collide
        return Barrier(self.surfaces.of_vertices(chosen), *numbers)

    @property
    def is_empty(self) -> bool:
        """True if no two of the bodies can collide, and none with itself."""
        return not self._two and not self._itself.any()

    @cached_property
    def _whole(self) -> _ActiveSubmesh:
        everything = np.ones(len(self.surfaces.rest_positions), dtype=bool)
        return self._submesh(everything, everything)

    def _submesh(self, chosen: np.ndarray, inner: np.ndarray) -> _ActiveSubmesh:
        """Of vertices (s,) bool."""
        own = self.surfaces.of_vertices(chosen)
        faces = own.faces.astype(np.int32)
        edges = ipctk.edges(faces) if len(faces) else NO_PAIRS.astype(np.int32)  # of no faces there would be billions
        mesh = ipctk.CollisionMesh(np.asfortranarray(own.rest_positions), edges, faces)
        mesh.can_collide = _can_collide_filter(own, self._can_collide)
        edges = np.array(mesh.edges, dtype=np.int64)
        ways = own.rest_positions[edges[:, 1]] - own.rest_positions[edges[:, 0]]
        mollified = math.sqrt(MOLLIFIED) * np.sum(ways * ways, axis=1)
        return _ActiveSubmesh(np.flatnonzero(chosen), inner, own, mesh, edges, mollified)

    def clear_candidates(self) -> None:
        """Find all pairs anew: in which order they are known depends on what was asked before, and so do sums."""
        self._asked: _ActiveSubmesh | None = None
        self._near: Any = None
        self._found: tuple[np.ndarray, Any] | None = None
        self._read: tuple[Any, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    def has_intersections(self, y: np.ndarray) -> bool:
        """Whether surfaces cross."""
        return ipctk.has_intersections(self._whole.mesh, self._whole.at(y))

    def collision_free_step_size(self, y: np.ndarray, dy: np.ndarray) -> float:
        """The part of a way, at most 1, that is free; what is asked next along it is found quickly. Where two that go
        towards each other would not come near, as in a step's last iterations, nothing is looked at pair by pair.
        """
        both = 2.0 * math.sqrt(np.einsum("ij,ij->i", dy, dy).max(initial=0.0))
        if (
            both <= CCD_CONSERVATIVE_RESCALING * self.dhat
            and both <= CCD_CONSERVATIVE_RESCALING * self.dhat * self.normalized_gap(y)
        ):
            return 1.0
        self._build_candidates(y, y + dy)
        asked = self._asked
        return self._near.compute_collision_free_stepsize(
            asked.mesh, asked.at(y), asked.at(y + dy), self._dmin, self._ccd
        )

    def normal_collisions(self, y: np.ndarray) -> Any:
        """The pairs that are nearer than gap and distance together."""
        if self._found is None or not np.array_equal(self._found[0], y):
            self._build_candidates(y, y)
            found = ipctk.NormalCollisions()
            found.use_area_weighting = True
            found.build(self._near, self._asked.mesh, self._asked.at(y), self.dhat, self._dmin)
            self._found = y.copy(), found
        return self._found[1]

    def _build_candidates(self, y: np.ndarray, ahead: np.ndarray) -> None:
        """Have all that may be near on a way: what was found before where no vertex leaves its room."""
        low, high = np.minimum(y, ahead), np.maximum(y, ahead)
        if self._near is not None and (low >= self._room[0]).all() and (high <= self._room[1]).all():
            return
        before, self._asked = self._asked, self._submesh_along(y, ahead)
        self._near, asked = ipctk.Candidates(), self._asked
        self._found = self._found if asked is before else None
        self._near.build(asked.mesh, asked.at(y), asked.at(ahead), self._reach)
        self._room = low - CANDIDATE_INFLATION * self.dhat, high + CANDIDATE_INFLATION * self.dhat

    def _submesh_along(self, y: np.ndarray, ahead: np.ndarray) -> _ActiveSubmesh:
        """What holds all that may be near on a way, and what is around it: what was asked before where that does."""
        faces, needed = self.surfaces.faces, np.zeros(len(y), dtype=bool)
        needed[faces[self._within_reach(y, ahead)]] = True
        if self._asked is not None and not (needed & ~self._asked.inner).any():
            return self._asked
        # A ring more, so that what moves on is there already, and one for the areas of its faces.
        for _ in range(2):
            inner = needed.copy()
            needed[faces[inner[faces].any(axis=1)]] = True
        return self._whole if needed.all() else self._submesh(needed, inner)

    def _within_reach(self, y: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Faces (f,) bool that come near the box of another body that they meet, or are of a body that meets itself."""
        return self._itself | self._near_boxes(self._two, y, ahead)

    def _near_boxes(self, two: Sequence[tuple[int, int]], y: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Faces (f,) bool of pairs of bodies that come within reach of the other body's bounding box."""
        near, low, high = np.zeros_like(self._itself), *np.empty((2, len(self._itself), 3))
        if not two:
            return near
        swept_boxes(self.surfaces.faces, y, ahead, self._reach, low, high)
        boxes = {k: (low[own].min(axis=0), high[own].max(axis=0)) for k, own in self._faces_of.items()}
        for pair in two:
            first, last = np.maximum(*(boxes[k][0] for k in pair)), np.minimum(*(boxes[k][1] for k in pair))
            if (first <= last).all():
                for k in pair:
                    mark_faces(self._faces_of[k], low, high, first, last, near)
        return near

    def near_pairs(self, y: np.ndarray, ahead: np.ndarray, island: np.ndarray) -> set[tuple[int, int]]:
        """Pairs of bodies of which two faces come within reach of each other on the displacement from y to ahead, both
        (s,3) m. ``island`` (b,): a number of each body; pairs with the same number are left out, and negative ones.
        """
        two = [(a, b) for a, b in self._two if island[a] != island[b] and min(island[a], island[b]) >= 0]
        near = self._near_boxes(two, y, ahead)
        if not near.any():
            return set()
        faces, broad_phase = self.surfaces.faces[near], ipctk.LBVH()
        broad_phase.can_vertices_collide = ipctk.make_vertex_patches_filter(self.surfaces.body_ids.astype(np.int32))
        ends = (np.asfortranarray(each, dtype=np.float64) for each in (y, ahead))
        no_edges, triangles = (np.asfortranarray(each, dtype=np.int32) for each in (NO_PAIRS, faces))
        broad_phase.build(*ends, no_edges, triangles, self._reach)
        found = broad_phase.detect_face_face_candidates()
        body = self.surfaces.body_ids[faces[:, 0]]
        both = np.column_stack([body[_numbers(found, "face0_id")], body[_numbers(found, "face1_id")]])
        return set(map(tuple, np.unique(np.sort(both, axis=1), axis=0).tolist())).intersection(two)

    def value(self, y: np.ndarray) -> float:
        """Of the barrier, J."""
        return self._barrier(self.normal_collisions(y), self._asked.mesh, self._asked.at(y))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """(s,3), N."""
        found, out = self.normal_collisions(y), np.zeros_like(y)
        out[self._asked.kept] = self._barrier.gradient(found, self._asked.mesh, self._asked.at(y)).reshape(-1, 3)
        return out

    def hessian(self, y: np.ndarray, projected: bool = True) -> Stencils:
        """Its second derivatives, N/m, each pair's semi-definite where it is to be ``projected``."""
        return hessian_stencils(*self._collision_stencils(y), y, self.dhat, self.stiffness, projected)

    def _collision_stencils(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is near, as :func:`hessian_stencils` wants it; read once of what is found."""
        near = self.normal_collisions(y)
        if self._read is None or self._read[0] is not near:
            self._read = near, self._stencils_of(near, self._asked)
        return self._read[1]

    def _stencils_of(self, near: Any, asked: _ActiveSubmesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights of faces and edges are what ipctk makes them: to ask each pair for its own takes longer than all
        else.
        """
        edges, faces = asked.edges, asked.surfaces.faces
        kinds = near.vv_collisions, near.ev_collisions, near.fv_collisions, near.ee_collisions
        vv, ev, fv, ee = kinds
        first, second, vertices = _numbers(ee, "edge0_id"), _numbers(ee, "edge1_id"), _numbers(fv, "vertex_id")
        several = (
            (_numbers(vv, "vertex0_id")[:, None], _numbers(vv, "vertex1_id")[:, None]),
            (_numbers(ev, "vertex_id")[:, None], edges[_numbers(ev, "edge_id")]),
            (vertices[:, None], faces[_numbers(fv, "face_id")]),
            (edges[first], edges[second]),
        )
        none = np.full((max(map(len, kinds)), 2), -1)
        points = np.concatenate([np.hstack([*one, none[: len(one[0])]])[:, :4] for one in several])
        points = np.where(points >= 0, asked.kept[points], -1)
        of_edges = EDGES + _numbers(ee, "dtype")
        parts = np.concatenate([np.repeat([POINTS, EDGE_POINT, FACE_POINT], [len(one) for one in kinds[:3]]), of_edges])
        areas = asked.mesh.vertex_areas, asked.mesh.edge_areas()
        of_pairs = 0.25 * areas[0][vertices], 0.25 * (areas[1][first] + areas[1][second])
        numbers = np.zeros((len(points), 3))
        numbers[:, 0] = np.concatenate([*(_numbers(one, "weight", np.float64) for one in (vv, ev)), *of_pairs])
        numbers[:, 1] = self._dmin
        numbers[len(points) - len(ee) :, 2] = asked.mollified[first] * asked.mollified[second]
        return points, parts, numbers

    def tangential_collisions(self, y: np.ndarray) -> TangentialCollisions:
        """What rubs, with the normal forces, and the planes that things slide in, as they are at y."""
        if self.mu == 0.0:
            return no_tangential_collisions(len(y))
        seen = self._collision_stencils(y)
        parts, forces, slopes = normal_force_magnitudes(*seen, y, self.dhat, self.stiffness)
        points, parts, forces, slopes = (each[forces > 0.0] for each in (seen[0], parts, forces, slopes))
        used = points >= 0
        counts = used.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        shares = sp.csr_matrix((parts[used], points[used], starts), shape=(len(points), len(y)))
        ends = np.column_stack([points[:, 0], points[np.arange(len(points)), counts - 1]])  # one side's come first
        bodies = np.sort(self.surfaces.body_ids[ends], axis=1)
        mu = self._friction[tuple(bodies.T)] if np.ndim(self._friction) else self.mu
        # What is nearest to one another lies along the normal.
        apart = shares @ y
        normals = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        return TangentialCollisions(shares, mu * forces, mu * slopes, normals, bodies)

    def collision_count(self, y: np.ndarray) -> int:
        """How many pairs push."""
        return len(self.normal_collisions(y))

    def smallest_distance(self, y: np.ndarray) -> float:
        """Between what pushes, m; inf where nothing does."""
        found = self.normal_collisions(y)
        return (
            float(np.sqrt(found.compute_minimum_distance(self._asked.mesh, self._asked.at(y))))
            if len(found)
            else np.inf
        )

    def normalized_gap(self, y: np.ndarray) -> float:
        """By what the smallest distance exceeds the gap that is kept, of the distance from which surfaces push."""
        return (self.smallest_distance(y) - self._dmin) / self.dhat

    def collision_stencils(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The corners (k,4) of what pushes, those of one side first, -1 behind where there are fewer, and by what
        distances exceed the gap, of the distance from which they push (k,).
        """
        seen = self._collision_stencils(y)
        shares = normal_force_magnitudes(*seen, y, self.dhat, self.stiffness)[0]
        away = np.linalg.norm(np.einsum("ki,kij->kj", shares, y[seen[0]]), axis=1)
        return seen[0], (away - self._dmin) / self.dhat


def _clamp_obstacle_area_weights(surfaces: CollisionMesh) -> np.ndarray:
    """Rest positions (s,3) by which pairs are weighed: of what is where it is told as if its faces were no larger than
    those of what moves. A pair of edges weighs what both have of area, and the diagonal of a ground or a table's edge
    would push a million times as hard as all else that touches.
    """
    owner = surfaces.body_ids[surfaces.faces[:, 0]]
    bodies = np.unique(owner)
    told = [bool(surfaces.is_prescribed[surfaces.body_ids == k].all()) for k in bodies]
    edges = [mean_edge(surfaces.rest_positions, surfaces.faces[owner == k]) for k in bodies]
    finest = min((edge for edge, is_told in zip(edges, told) if not is_told), default=np.inf)
    rest = surfaces.rest_positions.copy()
    for k, edge, is_told in zip(bodies, edges, told):
        if is_told:
            rest[surfaces.body_ids == k] *= min(1.0, finest / edge)
    return rest


def _can_collide_filter(surfaces: CollisionMesh, meets: np.ndarray | None) -> Any:
    """What may meet: groups of vertices that share a number do not."""
    alone = len(surfaces.body_ids) + np.arange(len(surfaces.body_ids))
    numbers = [
        np.where(np.isin(surfaces.body_ids, surfaces.self_contact_bodies), alone, surfaces.body_ids),
        np.where(surfaces.is_prescribed, 0, alone),
    ]
    for group in _non_colliding_groups(np.unique(surfaces.body_ids), meets):
        numbers.append(np.where(np.isin(surfaces.body_ids, group), 0, alone))
    first, *others = (ipctk.make_vertex_patches_filter(each.astype(np.int32)) for each in numbers)
    for other in others:
        first = first & other
    if len(surfaces.excluded_pairs):
        blocked = {(int(min(pair)), int(max(pair))): False for pair in surfaces.excluded_pairs}
        first = first & ipctk.make_sparse_filter(blocked, True)
    return first


def _non_colliding_groups(bodies: np.ndarray, meets: np.ndarray | None) -> list[list[int]]:
    """Groups of bodies none of which meets another of the group, such that each two that do not meet share one."""
    if meets is None:
        return []
    left = {(int(a), int(b)) for a in bodies for b in bodies if a < b and not meets[a, b]}
    groups = []
    while left:
        group = list(min(left))
        for c in bodies:
            if int(c) not in group and not any(meets[c, other] for other in group):
                group.append(int(c))
        left -= {(a, b) for a in group for b in group}
        groups.append(group)
    return groups


def _numbers(pairs: list[Any], name: str, kind: type = np.int64) -> np.ndarray:
    return np.fromiter(map(attrgetter(name), pairs), kind, len(pairs))
