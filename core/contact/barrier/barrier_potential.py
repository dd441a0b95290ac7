"""Incremental potential contact (IPC) by ipctk [Li et al. 2020, "Incremental Potential Contact"].

The module contains the barrier, tangential collisions, the broad phase and continuous collision detection (CCD). No
other file imports ipctk. The barrier is in physical units (Huang et al. 2024): its ``stiffness`` is a pressure, Pa,
independent of the mesh and of dhat. ipctk runs on one thread, since results on two are not bitwise reproducible.
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

from ...foundation.errors import ColliderError
from ...geometry.mesh.face_boxes import mark_faces, swept_boxes
from ...mechanics.assembly.stencils import Stencils
from ..friction import TangentialCollisions, no_tangential_collisions
from .barrier_hessian import EDGE_POINT, EDGES, FACE_POINT, POINTS, hessian_stencils, normal_force_magnitudes
from .collision_mesh import NO_PAIRS, CollisionMesh, mean_edge

CCD_MAX_ITERATIONS = 1000
"""Maximum number of iterations of additive CCD per pair. Without a limit, a pair that hardly moved took minutes."""

CCD_CONSERVATIVE_RESCALING = 0.9
"""Length of the largest step, as a fraction of the path up to the first collision."""

CANDIDATE_INFLATION = 0.25
"""Margin around the boxes of vertex paths for which collision candidates are valid, as a fraction of dhat.

The candidates are reused while all vertices stay in these enlarged boxes, as in the last, short iterations of a step.
"""

MOLLIFIED = 1e-3
"""Ratio ``|u x v|² / (|U|² |V|²)`` below which ipctk takes two edges as nearly parallel.

u and v are the edge vectors, U and V the edge vectors at rest.
"""

try:
    import ipctk
except ImportError as error:  # bodies without contact need no ipctk
    ipctk, MISSING = None, str(error)
else:
    MISSING = ""
    """Reason why ipctk cannot be loaded; empty if it is loaded."""
    ipctk.set_num_threads(1)
    ipctk.set_logger_level(ipctk.error)


class _ActiveSubmesh(NamedTuple):
    """Part of the collision mesh that ipctk processes, with k vertices and e edges.

    Attributes
    ----------
    kept : (k,), index of each vertex among all s surface vertices
    inner : (s,) bool, surface vertices all of whose faces are in the submesh
    surfaces : CollisionMesh of the submesh
    mesh : the submesh as an ``ipctk.CollisionMesh``
    edges : (e,2), vertex indices in the submesh
    mollified : (e,) m²
        Factor of each edge in the mollifier threshold of edge pairs. The threshold of a pair (m⁴) is the product of the
        factors of both edges.
    """

    kept: np.ndarray
    inner: np.ndarray
    surfaces: CollisionMesh
    mesh: Any
    edges: np.ndarray
    mollified: np.ndarray

    def at(self, y: np.ndarray) -> np.ndarray:
        """Return the positions (k,3) of the submesh's vertices from the positions y (s,3) of all vertices."""
        return np.asfortranarray(y[self.kept], dtype=np.float64)


class Barrier:
    """IPC barrier between surfaces, which repels vertices, edges and faces at small distances.

    Methods take the positions y (s,3), m, of the vertices of ``surfaces``. The potential is undefined if surfaces
    intersect or are closer than ``dmin``. Two primitives (vertices, edges or faces) are an active pair at distances
    from ``dmin`` to ``dmin + dhat``. Raises ColliderError if ipctk cannot be loaded.

    Parameters
    ----------
    surfaces : CollisionMesh
    dhat : m, activation distance
    stiffness : Pa
    mu : friction coefficient; one number, or (b,b), one per pair of bodies
    eps_v : m/s, slip velocity at which friction reaches mu times the normal force
    dmin : m, smallest permitted distance
    can_collide : (b,b) bool, pairs of different bodies that collide; None for all pairs
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
                f"Contact needs ipctk, which cannot be loaded: {MISSING}.",
                "Install Sinew again, or turn off all contact: Ground, Colliders and Collide With under Collisions.",
            )
        surfaces = surfaces._replace(rest_positions=_clamp_obstacle_area_weights(surfaces))
        self.surfaces, self.dhat, self.eps_v, self._dmin = surfaces, dhat, eps_v, dmin
        self._friction, self.mu, self._can_collide = mu, float(np.max(mu)), can_collide
        self.stiffness = stiffness
        self._reach = 0.5 * (dhat + dmin) + CANDIDATE_INFLATION * dhat
        self._barrier = ipctk.BarrierPotential(dhat, stiffness, use_physical_barrier=True)
        self._ccd = ipctk.AdditiveCCD(CCD_MAX_ITERATIONS, CCD_CONSERVATIVE_RESCALING)
        bodies = np.unique(surfaces.body_ids)
        self._self_contact_faces = np.isin(surfaces.body_ids[surfaces.faces[:, 0]], surfaces.self_contact_bodies)
        of_faces = {k: np.flatnonzero(surfaces.body_ids[surfaces.faces[:, 0]] == k) for k in bodies}
        self._faces_of = {k: own for k, own in of_faces.items() if len(own)}
        prescribed = {k: surfaces.is_prescribed[surfaces.body_ids == k].all() for k in bodies}
        self._body_pairs = [
            (a, b)
            for a, b in combinations(self._faces_of, 2)
            if (can_collide is None or can_collide[a, b]) and not (prescribed[a] and prescribed[b])
        ]
        self.clear_candidates()

    def of_vertices(self, chosen: np.ndarray) -> Barrier:
        """Return a barrier restricted to the bodies with the vertices ``chosen`` (s,) bool."""
        settings = self.dhat, self.stiffness, self._friction, self.eps_v, self._dmin, self._can_collide
        return Barrier(self.surfaces.of_vertices(chosen), *settings)

    @property
    def is_empty(self) -> bool:
        """True if no pair of bodies can collide and no body has self-contact."""
        return not self._body_pairs and not self._self_contact_faces.any()

    @cached_property
    def _whole(self) -> _ActiveSubmesh:
        everything = np.ones(len(self.surfaces.rest_positions), dtype=bool)
        return self._submesh(everything, everything)

    def _submesh(self, chosen: np.ndarray, inner: np.ndarray) -> _ActiveSubmesh:
        own = self.surfaces.of_vertices(chosen)
        faces = own.faces.astype(np.int32)
        edges = ipctk.edges(faces) if len(faces) else NO_PAIRS.astype(np.int32)  # ipctk would return billions
        mesh = ipctk.CollisionMesh(np.asfortranarray(own.rest_positions), edges, faces)
        mesh.can_collide = _can_collide_filter(own, self._can_collide)
        edges = np.array(mesh.edges, dtype=np.int64)
        edge_vectors = own.rest_positions[edges[:, 1]] - own.rest_positions[edges[:, 0]]
        mollified = math.sqrt(MOLLIFIED) * np.sum(edge_vectors * edge_vectors, axis=1)
        return _ActiveSubmesh(np.flatnonzero(chosen), inner, own, mesh, edges, mollified)

    def clear_candidates(self) -> None:
        """Clear the cached collision candidates.

        Their order depends on earlier calls and affects the round-off of sums. So steps with reproducible results begin
        without candidates.
        """
        self._submesh_in_use: _ActiveSubmesh | None = None
        self._candidates: Any = None
        self._collisions: tuple[np.ndarray, Any] | None = None
        self._stencils: tuple[Any, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None

    def has_intersections(self, y: np.ndarray) -> bool:
        """Return True if any surfaces intersect at vertex positions y (s,3), m."""
        return ipctk.has_intersections(self._whole.mesh, self._whole.at(y))

    def collision_free_step_size(self, y: np.ndarray, dy: np.ndarray) -> float:
        """Return a step size along displacements, at most 1, that is free of collisions.

        A step size below 1 ends slightly before the first collision. If the displacements are too short to close the
        smallest gap between surfaces, CCD is skipped and the result is 1. Later calls along the same displacements
        reuse the collision candidates.

        ``y`` (s,3), m: surface vertices.
        ``dy`` (s,3), m: displacements.
        """
        both = 2.0 * math.sqrt(np.einsum("ij,ij->i", dy, dy).max(initial=0.0))
        if (
            both <= CCD_CONSERVATIVE_RESCALING * self.dhat
            and both <= CCD_CONSERVATIVE_RESCALING * self.dhat * self.normalized_gap(y)
        ):
            return 1.0
        self._build_candidates(y, y + dy)
        active = self._submesh_in_use
        return self._candidates.compute_collision_free_stepsize(
            active.mesh, active.at(y), active.at(y + dy), self._dmin, self._ccd
        )

    def normal_collisions(self, y: np.ndarray) -> Any:
        """Return ipctk's normal collisions: primitives closer than dmin + dhat, at vertex positions y (s,3), m."""
        if self._collisions is None or not np.array_equal(self._collisions[0], y):
            self._build_candidates(y, y)
            collisions = ipctk.NormalCollisions()
            collisions.use_area_weighting = True
            collisions.build(
                self._candidates, self._submesh_in_use.mesh, self._submesh_in_use.at(y), self.dhat, self._dmin
            )
            self._collisions = y.copy(), collisions
        return self._collisions[1]

    def _build_candidates(self, y: np.ndarray, y_end: np.ndarray) -> None:
        """Build the collision candidates (broad phase) for paths from y to ``y_end``, or keep valid ones."""
        low, high = np.minimum(y, y_end), np.maximum(y, y_end)
        if (
            self._candidates is not None
            and (low >= self._candidate_boxes[0]).all()
            and (high <= self._candidate_boxes[1]).all()
        ):
            return
        before, self._submesh_in_use = self._submesh_in_use, self._submesh_along(y, y_end)
        self._candidates, active = ipctk.Candidates(), self._submesh_in_use
        self._collisions = self._collisions if active is before else None
        self._candidates.build(active.mesh, active.at(y), active.at(y_end), self._reach)
        self._candidate_boxes = low - CANDIDATE_INFLATION * self.dhat, high + CANDIDATE_INFLATION * self.dhat

    def _submesh_along(self, y: np.ndarray, y_end: np.ndarray) -> _ActiveSubmesh:
        """Return a submesh with all faces that may collide on paths from y to ``y_end``."""
        faces, needed = self.surfaces.faces, np.zeros(len(y), dtype=bool)
        needed[faces[self._within_reach(y, y_end)]] = True
        if self._submesh_in_use is not None and not (needed & ~self._submesh_in_use.inner).any():
            return self._submesh_in_use
        # The first ring of faces is a margin for later displacements, the second completes the vertex areas in it.
        for _ in range(2):
            inner = needed.copy()
            needed[faces[inner[faces].any(axis=1)]] = True
        return self._whole if needed.all() else self._submesh(needed, inner)

    def _within_reach(self, y: np.ndarray, y_end: np.ndarray) -> np.ndarray:
        """Return the mask (f,) of the faces that may collide on paths from y to ``y_end``."""
        return self._self_contact_faces | self._near_boxes(self._body_pairs, y, y_end)

    def _near_boxes(self, body_pairs: Sequence[tuple[int, int]], y: np.ndarray, y_end: np.ndarray) -> np.ndarray:
        """Return the mask (f,) of the faces near another body's bounding box on paths from y to ``y_end``."""
        near, low, high = np.zeros_like(self._self_contact_faces), *np.empty((2, len(self._self_contact_faces), 3))
        if not body_pairs:
            return near
        swept_boxes(self.surfaces.faces, y, y_end, self._reach, low, high)
        boxes = {k: (low[own].min(axis=0), high[own].max(axis=0)) for k, own in self._faces_of.items()}
        for pair in body_pairs:
            first, last = np.maximum(*(boxes[k][0] for k in pair)), np.minimum(*(boxes[k][1] for k in pair))
            if (first <= last).all():
                for k in pair:
                    mark_faces(self._faces_of[k], low, high, first, last, near)
        return near

    def near_pairs(self, y: np.ndarray, y_end: np.ndarray, island: np.ndarray) -> set[tuple[int, int]]:
        """Return the pairs of ids of bodies that may collide on straight paths from y to ``y_end``.

        Pairs of bodies in the same island are omitted. Bodies with a negative label are omitted, too.

        ``y``, ``y_end`` (s,3), m: surface vertices at the beginning and the end.
        ``island`` (b,): per body, the label of its island, a group of bodies that are solved together.
        """
        body_pairs = [(a, b) for a, b in self._body_pairs if island[a] != island[b] and min(island[a], island[b]) >= 0]
        near = self._near_boxes(body_pairs, y, y_end)
        if not near.any():
            return set()
        faces, broad_phase = self.surfaces.faces[near], ipctk.LBVH()
        broad_phase.can_vertices_collide = ipctk.make_vertex_patches_filter(self.surfaces.body_ids.astype(np.int32))
        ends = (np.asfortranarray(each, dtype=np.float64) for each in (y, y_end))
        no_edges, triangles = (np.asfortranarray(each, dtype=np.int32) for each in (NO_PAIRS, faces))
        broad_phase.build(*ends, no_edges, triangles, self._reach)
        found = broad_phase.detect_face_face_candidates()
        body = self.surfaces.body_ids[faces[:, 0]]
        both = np.column_stack([body[_numbers(found, "face0_id")], body[_numbers(found, "face1_id")]])
        return set(map(tuple, np.unique(np.sort(both, axis=1), axis=0).tolist())).intersection(body_pairs)

    def value(self, y: np.ndarray) -> float:
        """Return the barrier potential, J, at vertex positions y (s,3), m."""
        return self._barrier(self.normal_collisions(y), self._submesh_in_use.mesh, self._submesh_in_use.at(y))

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the barrier potential's gradient, (s,3), N, at vertex positions y (s,3), m."""
        found, out = self.normal_collisions(y), np.zeros_like(y)
        out[self._submesh_in_use.kept] = self._barrier.gradient(
            found, self._submesh_in_use.mesh, self._submesh_in_use.at(y)
        ).reshape(-1, 3)
        return out

    def hessian(self, y: np.ndarray, projected: bool = True) -> Stencils:
        """Return the barrier's Hessian, N/m, at vertex positions y (s,3), m.

        ``projected``: True to make the block of each pair positive semi-definite.
        """
        return hessian_stencils(*self._stencil_arrays(y), y, self.dhat, self.stiffness, projected)

    def _stencil_arrays(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the active pairs as the first three arguments of :func:`hessian_stencils`, cached."""
        near = self.normal_collisions(y)
        if self._stencils is None or self._stencils[0] is not near:
            self._stencils = near, self._stencils_of(near, self._submesh_in_use)
        return self._stencils[1]

    def _stencils_of(self, near: Any, active: _ActiveSubmesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ipctk's normal collisions as the first three arguments of :func:`hessian_stencils`."""
        edges, faces = active.edges, active.surfaces.faces
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
        points = np.where(points >= 0, active.kept[points], -1)
        of_edges = EDGES + _numbers(ee, "dtype")
        parts = np.concatenate([np.repeat([POINTS, EDGE_POINT, FACE_POINT], [len(one) for one in kinds[:3]]), of_edges])
        areas = active.mesh.vertex_areas, active.mesh.edge_areas()
        of_pairs = 0.25 * areas[0][vertices], 0.25 * (areas[1][first] + areas[1][second])
        pair_parameters = np.zeros((len(points), 3))
        pair_parameters[:, 0] = np.concatenate([*(_numbers(one, "weight", np.float64) for one in (vv, ev)), *of_pairs])
        pair_parameters[:, 1] = self._dmin
        pair_parameters[len(points) - len(ee) :, 2] = active.mollified[first] * active.mollified[second]
        return points, parts, pair_parameters

    def tangential_collisions(self, y: np.ndarray) -> TangentialCollisions:
        """Return the friction data of active pairs with a normal force, at vertex positions y (s,3), m."""
        if self.mu == 0.0:
            return no_tangential_collisions(len(y))
        seen = self._stencil_arrays(y)
        parts, forces, slopes = normal_force_magnitudes(*seen, y, self.dhat, self.stiffness)
        points, parts, forces, slopes = (each[forces > 0.0] for each in (seen[0], parts, forces, slopes))
        used = points >= 0
        counts = used.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        interpolation = sp.csr_matrix((parts[used], points[used], starts), shape=(len(points), len(y)))
        ends = np.column_stack([points[:, 0], points[np.arange(len(points)), counts - 1]])  # one per primitive
        bodies = np.sort(self.surfaces.body_ids[ends], axis=1)
        mu = self._friction[tuple(bodies.T)] if np.ndim(self._friction) else self.mu
        # The vector between the nearest points is parallel to the contact normal.
        vectors = interpolation @ y
        normals = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return TangentialCollisions(interpolation, mu * forces, mu * slopes, normals, bodies)

    def collision_count(self, y: np.ndarray) -> int:
        """Return the number of active pairs, closer than dmin + dhat. ``y`` (s,3), m: vertex positions."""
        return len(self.normal_collisions(y))

    def smallest_distance(self, y: np.ndarray) -> float:
        """Return the smallest distance of active pairs, m, or inf without pairs. ``y`` (s,3), m: vertex positions."""
        found = self.normal_collisions(y)
        return (
            float(np.sqrt(found.compute_minimum_distance(self._submesh_in_use.mesh, self._submesh_in_use.at(y))))
            if len(found)
            else np.inf
        )

    def normalized_gap(self, y: np.ndarray) -> float:
        """Return the smallest normalized gap of active pairs, or inf without pairs. ``y`` (s,3), m: vertex positions.

        The normalized gap is (distance - dmin) / dhat, from 0 to 1, with the minimum distance dmin and the activation
        distance dhat.
        """
        return (self.smallest_distance(y) - self._dmin) / self.dhat

    def collision_stencils(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertex indices and the normalized gaps of the k active pairs. ``y`` (s,3), m: vertex positions.

        The vertex indices are (k,4), -1 if unused. The vertices of the first primitive come first. The normalized gaps
        (k,) are (distance - dmin) / dhat, with the minimum distance dmin and the activation distance dhat.
        """
        seen = self._stencil_arrays(y)
        shares = normal_force_magnitudes(*seen, y, self.dhat, self.stiffness)[0]
        away = np.linalg.norm(np.einsum("ki,kij->kj", shares, y[seen[0]]), axis=1)
        return seen[0], (away - self._dmin) / self.dhat


def _clamp_obstacle_area_weights(surfaces: CollisionMesh) -> np.ndarray:
    """Return rest positions (s,3), m, with obstacles scaled down to the finest dynamic body's edge length.

    Otherwise the area weights of a ground's long edges would make it push a million times as hard as other contacts.
    """
    owner = surfaces.body_ids[surfaces.faces[:, 0]]
    bodies = np.unique(owner)
    prescribed = [bool(surfaces.is_prescribed[surfaces.body_ids == k].all()) for k in bodies]
    edges = [mean_edge(surfaces.rest_positions, surfaces.faces[owner == k]) for k in bodies]
    finest = min((edge for edge, is_held in zip(edges, prescribed) if not is_held), default=np.inf)
    rest = surfaces.rest_positions.copy()
    for k, edge, is_held in zip(bodies, edges, prescribed):
        if is_held:
            rest[surfaces.body_ids == k] *= min(1.0, finest / edge)
    return rest


def _can_collide_filter(surfaces: CollisionMesh, can_collide: np.ndarray | None) -> Any:
    """Return ipctk's filter of the vertex pairs that can collide.

    The filter combines label filters: two vertices do not collide if any label filter gives them equal labels.
    """
    alone = len(surfaces.body_ids) + np.arange(len(surfaces.body_ids))
    numbers = [
        np.where(np.isin(surfaces.body_ids, surfaces.self_contact_bodies), alone, surfaces.body_ids),
        np.where(surfaces.is_prescribed, 0, alone),
    ]
    for group in _non_colliding_groups(np.unique(surfaces.body_ids), can_collide):
        numbers.append(np.where(np.isin(surfaces.body_ids, group), 0, alone))
    first, *others = (ipctk.make_vertex_patches_filter(each.astype(np.int32)) for each in numbers)
    for other in others:
        first = first & other
    is_same_body = ~ipctk.make_vertex_patches_filter(surfaces.body_ids.astype(np.int32))
    for region in surfaces.tied_regions:
        for labels in region.labels(surfaces.body_ids):
            first = first & (is_same_body | ipctk.make_vertex_patches_filter(labels.astype(np.int32)))
    if len(surfaces.excluded_pairs):
        blocked = {(int(min(pair)), int(max(pair))): False for pair in surfaces.excluded_pairs}
        first = first & ipctk.make_sparse_filter(blocked, True)
    return first


def _non_colliding_groups(bodies: np.ndarray, can_collide: np.ndarray | None) -> list[list[int]]:
    """Return groups of body ids that contain all pairs of bodies that cannot collide, and no others."""
    if can_collide is None:
        return []
    left = {(int(a), int(b)) for a in bodies for b in bodies if a < b and not can_collide[a, b]}
    groups = []
    while left:
        group = list(min(left))
        for c in bodies:
            if int(c) not in group and not any(can_collide[c, other] for other in group):
                group.append(int(c))
        left -= {(a, b) for a in group for b in group}
        groups.append(group)
    return groups


def _numbers(pairs: list[Any], name: str, kind: type = np.int64) -> np.ndarray:
    return np.fromiter(map(attrgetter(name), pairs), kind, len(pairs))
