"""Contact between the bodies of a group and all their colliders.

Bodies that overlap one another at the first frame are refused. Some colliders push by penalty springs
(``contact/penalty/penalty.py``) instead of a barrier, so bodies may cross them. These colliders overlap a body at the
first frame, or have a face whose area vanishes at times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...contact.barrier.barrier_set import BarrierSet, ContactPairParameters
from ...contact.barrier.collision_mesh import CollisionMesh, mean_edge
from ...contact.barrier.contact_load import ContactLoad
from ...contact.barrier.rest_contact_exclusions import initially_touching_pairs
from ...foundation.errors import OverlapError
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import faces_with_area
from ...jobs.job.job import Job
from ...numerics.optimization.step_report import StepReport
from ..preparation.prepare import Prepared
from .collision_surfaces import (
    OF_EDGES,
    OF_SHOWN,
    SLIP,
    CollisionSurface,
    collect_colliders,
    collision_surface,
    concatenate_surfaces,
    is_same,
    points_of_all,
    render_surface,
    surface_warnings,
)
from .contact_pairs import contact_distance, initial_gaps, pair_parameters, requested_pairs
from .glue_gaps import with_glue_gaps
from .initial_penetration import FirstFrameContact, offset_touching_colliders, overlaps_of
from .overlap_growth import grow_from_overlap, untangling_hint
from .tied_pairs import tied_pairs
from .tied_regions import tied_regions

ULPS = 4.0
"""Depth up to which a body in a collider counts as touching the collider.

The unit is the single-precision round-off of the largest coordinate.
"""
OF_SKIN = 0.15
"""Depth up to which a collision skin in a collider counts as touching, in mean edges of the skin.

The skin lies slightly outside the visible surface. So the skin of a body that stands on the floor begins below the
floor.
"""
NEARLY = 2.0
"""Largest normalized gap of a reported blocking pair, relative to the smallest normalized gap.

The normalized gap of a pair is its distance minus its contact gap, divided by its activation distance.
"""
RIGID = 1e-6
"""Relative change of the distances between vertices up to which the vertices count as displaced rigidly."""
STAYED = 0.99
"""Fraction of the prescribed path of pins and colliders from which on a blocked step counts as not converged.

The fraction is the part of the path that remains after the step.
"""
LEAST_AREA = 1e-9
"""Smallest vertex area for contact pressures, relative to the body's mean vertex area."""
MOST_NAMED = 4
"""Maximum number of blocking pairs that a report names."""
LEAPS = 2.0
"""Largest displacement of a collider between two samples without a warning, relative to its size."""


class ContactGroup:
    """Contact of the prepared bodies of several jobs, and of their colliders.

    Each job has one body.

    Attributes
    ----------
    names : names of the bodies, then of the colliders; the indices of bodies and colliders refer to this order
    owns : the collision surface of each body
    colliders : the colliders of all bodies, each once
    first : vertices of all surfaces at the first frame, (s,3), m
    growths : growth of each body that begins at reduced size, by the index of the body
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> None:
        self._jobs, self._prepared = jobs, prepared
        self._alone = len(jobs) == 1 and not jobs[0].body.contact.self_contact
        self.colliders = collect_colliders(jobs)
        pairs, meshes = list(tied_pairs(jobs, prepared, self.colliders)), [each.model.mesh for each in prepared]
        parting = {k for pair in pairs if pair.can_part for k in pair.bodies}
        self._as_shown = [self._alone or (k in parting and _can_be_shown(job)) for k, job in enumerate(jobs)]
        of_each = zip(jobs, prepared, (render_surface if each else collision_surface for each in self._as_shown))
        self.owns = [surface(job, each.model.mesh, each.store) for job, each, surface in of_each]
        finest = min(mean_edge(own.rest_positions, own.faces) for own in self.owns)
        self._distance = (OF_SHOWN if self._alone else OF_EDGES) * finest
        self.owns = with_glue_gaps(pairs, self.owns, meshes, self.colliders, self._distance)
        self.names = (*(job.body.name for job in jobs), *self.colliders.names)
        self._want = requested_pairs(jobs, self.colliders)
        selves = [k for k, job in enumerate(jobs) if job.body.contact.self_contact]
        self._points = points = [each.space.points(own.embedding) for each, own in zip(prepared, self.owns)]
        # Pins that are ever released are not prescribed: a vertex that becomes free must not have passed through
        # anything.
        last = jobs[0].frame_count - 1
        given = [_prescribed_vertices(each, own, at, last) for each, own, at in zip(prepared, self.owns, points)]
        bodies = [at.positions(each.first_state().positions) for at, each in zip(points, prepared)]
        near, rounded = (
            contact_distance(self._distance),
            float(np.finfo(np.float32).eps) * max(np.abs(x).max() for x in bodies),
        )
        deepest = max(near, ULPS * rounded, 0.0 if self._alone else OF_SKIN * finest)
        self.colliders = offset_touching_colliders(self._standpoint(bodies), self.colliders, near, deepest)
        self._surfaces = concatenate_surfaces(self.owns, given, self.colliders, selves)
        self._unshrunk = np.concatenate([*bodies, self.colliders.initial_positions])
        found = overlaps_of(self._standpoint(bodies), self.colliders, near)
        self.growths = grow_from_overlap(jobs, prepared, self._standpoint(bodies), self.colliders, found, near)
        self.overlaps = [each for (_, j), each in found.items() if j < len(jobs) and not self.growths]
        for k, growth in self.growths.items():
            bodies[k] = growth.placed(bodies[k], growth.begin)
        self.first = np.concatenate([*bodies, self.colliders.initial_positions])
        self._pushed_out = {pair: each for pair, each in found.items() if pair[1] >= len(jobs)}
        loosely = [*self._pushed_out, *((k, len(jobs) + c) for k in range(len(jobs)) for c in self._collapsing)]
        for k, c in loosely:
            self._want.can_collide[k, c] = self._want.can_collide[c, k] = False
        shapes = self._surfaces.rest_positions, self.first
        tied = tuple(tied_regions(pairs, self._surfaces, shapes, near))
        self._surfaces = self._surfaces._replace(tied_regions=tied)
        gaps = [each.bodies for each in tied if not each.vertices.any()]
        self._without_gap = [each.bodies for each in pairs if each.can_part and each.bodies not in gaps]
        for k, j in (each.bodies for each in tied):
            self._want.can_collide[k, j] = self._want.can_collide[j, k] = True

    @property
    def _collapsing(self) -> np.ndarray:
        """Indices of the colliders with a face whose area vanishes at times."""
        return np.flatnonzero(self.colliders.collapsing)

    @property
    def barrier_colliders(self) -> list[list[int]]:
        """Per body, the colliders without penalty springs, as indices in ``Body.colliders``.

        These colliders have an IPC barrier, so that bodies cannot cross them, or a tie to the body.
        """
        found, met = self.colliders.found, self._want.can_collide[:, len(self.owns) :]
        return [
            [
                n
                for n, own in enumerate(job.body.colliders)
                if own.name in job.body.attached or any(is_same(own, found[c]) for c in np.flatnonzero(row))
            ]
            for job, row in zip(self._jobs, met)
        ]

    def _standpoint(self, bodies: list[np.ndarray]) -> FirstFrameContact:
        return FirstFrameContact(self.names, [own.faces for own in self.owns], bodies, self._want, self._distance)

    @property
    def separation(self) -> tuple[str, tuple[float, ...]] | tuple[()]:
        """Displacement that moves the first body inside a collider out of the collider.

        The result is a tuple of the body's name and the displacement (x, y, z), m, as in ``errors.OverlapError.move``.
        The tuple is empty if no body begins inside a collider.
        """
        first = next(iter(self._pushed_out.values()), None)
        return () if first is None else (first.first, tuple(map(float, first.separation)))

    def check_overlaps(self) -> None:
        """Raise OverlapError if bodies overlap one another at the first frame."""
        if self.overlaps:
            first, *others = self.overlaps
            message, remedy = first.shown(self._jobs[0].length_factor).said(len(others))
            separation = first.first, tuple(map(float, first.separation))
            raise OverlapError(message, remedy + untangling_hint(self._jobs), separation)

    @cached_property
    def excluded_pairs(self) -> list[np.ndarray]:
        """Vertex pairs that are excluded from self-contact: one array (k,2) per body.

        At these vertices of its collision surface the body touches or intersects itself at rest or at the first frame.
        The array is empty for a body without self-contact.
        """
        found, start = [], 0
        for k, own in enumerate(self.owns):
            pairs = [np.zeros((0, 2), dtype=np.int64)]
            if k in self._surfaces.self_contact_bodies:
                shapes = (self._surfaces.rest_positions, self._unshrunk)
                pairs += [
                    initially_touching_pairs(
                        self._surfaces, k, OF_EDGES * mean_edge(own.rest_positions, own.faces), each
                    )
                    - start
                    for each in shapes
                ]
            pieces, pairs = own.embedding.pieces(self._prepared[k].model.mesh), np.concatenate(pairs)
            # Pieces of a split body begin apart.
            found.append(np.unique(pairs[pieces[pairs[:, 0]] == pieces[pairs[:, 1]]], axis=0))
            start += len(own.rest_positions)
        return found

    @cached_property
    def barriers(self) -> BarrierSet:
        """IPC barriers of all bodies and colliders.

        Raises OverlapError if bodies overlap one another at the first frame.
        """
        self.check_overlaps()
        starts = np.cumsum([0, *(len(own.rest_positions) for own in self.owns)])
        through = np.concatenate([pairs + start for pairs, start in zip(self.excluded_pairs, starts)])
        surfaces = self._surfaces._replace(excluded_pairs=through)
        smallest_size = min(each.model.size for each in self._prepared)
        return BarrierSet(surfaces, self._between(surfaces), self._want.can_collide, SLIP * smallest_size)

    def contact_load(self, whole: Any, bodies: Sequence[int]) -> ContactLoad:
        """Return the contact load of some bodies with each other and with all colliders.

        ``whole``: merged space with the unknowns of all these bodies.
        ``bodies``: indices of these bodies.

        Raises OverlapError if any bodies overlap at the first frame.
        """
        owns = [self.owns[k] for k in bodies]
        firsts = np.cumsum([0, *(len(self._prepared[k].model.mesh.tets) for k in bodies)])
        points = points_of_all(whole, owns, [int(first) for first in firsts[:-1]])
        barriers = self.barriers.of_bodies([*bodies, *range(len(self.owns), len(self.names))])
        return ContactLoad(barriers, points, self.colliders.initial_positions)

    def surface_at(self, body: int, unknowns: np.ndarray) -> np.ndarray:
        """Return the vertices (s,3), m, of a body's collision surface.

        ``body``: index of the body.
        ``unknowns`` (n,3): unknowns of the body.
        """
        return self._points[body].positions(unknowns)

    def _between(self, surfaces: CollisionMesh) -> ContactPairParameters:
        # The geometric mean over the tets at the surface: stiff armour on soft joints does not count as soft.
        each = zip(self._prepared, self.owns)
        moduli = [math.exp(np.log(body.model.youngs_modulus[own.embedding.tet_indices]).mean()) for body, own in each]
        softest = np.array([*moduli, *([np.inf] * len(self.colliders.names))])
        apart = initial_gaps(surfaces, self.first, self._want, self._distance)
        found = pair_parameters(self._want, apart, self._distance, softest)
        for k, (job, own) in enumerate(zip(self._jobs, self.owns)):
            found.distance[k, k] = OF_EDGES * mean_edge(own.rest_positions, own.faces)
            found.friction[k, k] = job.body.contact.friction
        return found

    def report_contacts(
        self, report: StepReport, meeting: ContactLoad, positions: np.ndarray, displacement: np.ndarray
    ) -> None:
        """Add the contacts of a step, and the objects that blocked it, to the report of the step.

        The report gets the number of contacts at the end of the step, their smallest distance, and the pairs of
        blocking objects.

        ``meeting``: contact load of the step.
        ``positions`` (n,3): unknowns at the end of the step.
        ``displacement`` (n,3), m: part of the pins' prescribed motion that remains after the step.
        """
        y = meeting.surface_positions(positions)
        report.contacts = meeting.barrier.collision_count(y)
        report.distance = meeting.barrier.smallest_distance(y) if report.contacts else None
        if report.blocked:
            missing = np.concatenate([meeting.points.moved(displacement), meeting.targets - meeting.collider_positions])
            report.blocked_by = self._stopping(meeting, y, missing)
        if report.blocked >= STAYED:
            report.converged = False
            one, other = report.blocked_by[0]
            report.reason = f"“{one}” and “{other}” block each other, and {report.blocked:.0%} of the motion is left"

    def pressures(
        self, meeting: ContactLoad, positions: np.ndarray, bodies: Sequence[int], shown: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Return the contact pressures at the render vertices: one array (n,), Pa, per body.

        The pressure is the contact force divided by a third of the area of the vertex's triangles. So the integral of
        the pressure over the surface is the force.

        ``meeting``: contact load of the bodies.
        ``positions``: unknowns of the space that joins the bodies.
        ``bodies``: indices of the bodies.
        ``shown``: for each body, the positions (n,3), m, of the render vertices.
        """
        forces = np.linalg.norm(meeting.barrier.gradient(meeting.surface_positions(positions)), axis=1)
        found, start = [], 0
        for k, x in zip(bodies, shown):
            own, carried = self.owns[k], self._carried[k]
            area = SurfaceMesh(x, self._jobs[k].body.surface.triangles).vertex_areas
            least = max(LEAST_AREA * float(area.mean()), np.finfo(np.float32).tiny)
            pressed = carried @ forces[start : start + len(own.rest_positions)]
            found.append((pressed / np.maximum(area, least)).astype(np.float32))
            start += len(own.rest_positions)
        return found

    @cached_property
    def _carried(self) -> list[sp.csr_matrix]:
        """Per body, the matrix (n,s) that distributes forces on collision vertices to render vertices."""
        return [_shared_forces(own, job.body.surface) for job, own in zip(self._jobs, self.owns)]

    def _stopping(self, meeting: ContactLoad, y: np.ndarray, missing: np.ndarray) -> list[tuple[str, str]]:
        """Return the pairs of names of the objects that collide first on the missing displacements (s,3), m."""
        free = meeting.barrier.collision_free_step_size(y, missing)
        at = y if free == 1.0 else y + free * missing
        corners, away = meeting.barrier.collision_stencils(at)
        surfaces = meeting.barrier.surfaces
        own = np.array([_is_rigid(surfaces, each[each >= 0], y, missing) for each in corners], dtype=bool)
        corners, away = corners[~own], away[~own]
        order = np.argsort(away)
        near = order[away[order] <= NEARLY * away[order[0]]] if len(order) else []
        names = dict.fromkeys(self._named(surfaces, corners[k][corners[k] >= 0]) for k in near)
        return list(names)[:MOST_NAMED] or [self._nearest_to(surfaces, int((missing**2).sum(axis=1).argmax()), at)]

    def _nearest_to(self, surfaces: CollisionMesh, vertex: int, y: np.ndarray) -> tuple[str, str]:
        others = np.flatnonzero(surfaces.body_ids != surfaces.body_ids[vertex])
        if not len(others):  # one body with self-collision only
            return self._named(surfaces, np.array([vertex, vertex]))
        return self._named(surfaces, np.array([vertex, others[np.linalg.norm(y[others] - y[vertex], axis=1).argmin()]]))

    def _named(self, surfaces: CollisionMesh, corners: np.ndarray) -> tuple[str, str]:
        """Return the names of the two objects in a contact pair: colliders, bodies or pins."""
        bodies = surfaces.body_ids[corners]
        names = []
        for k in (bodies[0], bodies[-1]):
            pinned = k < len(self.owns) and surfaces.is_prescribed[corners[bodies == k]].any()
            names.append(f"pins of {self.names[k]}" if pinned else self.names[k])
        return min(names), max(names)

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about contact at the first frame and about colliders, each with a remedy.

        They concern bodies that begin in colliders, colliders with collapsing faces, collision surfaces that differ
        from the visible surface, and colliders that move far between two samples.
        """
        each = zip(self._jobs, self._prepared, self.owns, self._as_shown)
        factor = self._jobs[0].length_factor
        said = [found.shown(factor).pushed_out() for found in self._pushed_out.values()]
        said += [
            f"A face of “{self.colliders.names[c]}” collapses at times: contact is softer there, and bodies may "
            "cross it. Keep the areas of its faces above zero."
            for c in self._collapsing
        ]
        said += [
            words
            for job, body, own, is_shown in each
            if not is_shown
            for words in surface_warnings(job, body.model.mesh, own, body.store)
        ]
        said += [
            f"“{self.names[a]}” and “{self.names[b]}” will not collide where their glue lets go: their surfaces are "
            "too close for a gap. Turn off Self under Collisions, or move their surfaces apart."
            for a, b in self._without_gap
        ]
        return said + [words for words in map(self._leap, range(len(self.colliders.names))) if words]

    def _leap(self, number: int) -> str:
        track = self.colliders.tracks[number]
        size = float(np.ptp(track, axis=1).max())
        displacements = np.linalg.norm(np.diff(track, axis=0), axis=2).min(axis=1, initial=np.inf)
        if len(track) < 2 or displacements.max() <= LEAPS * size:
            return ""
        steps = max((len(track) - 1) // max(self._jobs[0].frame_count - 1, 1), 1)
        frame = self._jobs[0].frame_start + -(-(int(displacements.argmax()) + 1) // steps)
        name = self.names[len(self.owns) + number]
        return (
            f"The collider “{name}” moves {displacements.max():.3g} m in one frame, before frame {frame}. Bodies in "
            "the path of the collider are carried along, or stop the collider. Move it over more frames, or clear its "
            "path."
        )


def _can_be_shown(job: Job) -> bool:
    """Return True if a body with glue that can let go collides by its render surface.

    The rounded skins of two lattices would overlap beside the glue.
    """
    return job.body.is_lattice and job.body.seams is None and not job.body.contact.self_contact


def _is_rigid(surfaces: CollisionMesh, corners: np.ndarray, y: np.ndarray, missing: np.ndarray) -> bool:
    """Return True if vertices cannot block each other, since they move rigidly together."""
    if len(set(surfaces.body_ids[corners])) > 1 or not surfaces.is_prescribed[corners].all():
        return False
    x, end = (each[corners] - each[corners[0]] for each in (y, y + missing))
    before, after = np.linalg.norm(x, axis=1), np.linalg.norm(end, axis=1)
    return bool((np.abs(after - before) <= RIGID * before.max()).all())


def _shared_forces(own: CollisionSurface, render: SurfaceMesh) -> sp.csr_matrix:
    """Return the matrix (n,s) that distributes forces on collision vertices to the nearest render vertices by area."""

    def weights(points: np.ndarray, surface: SurfaceMesh) -> sp.csr_matrix:
        triangles = faces_with_area(surface)
        at = NearestPointSearch(surface.positions, triangles).nearest(points)
        rows = np.repeat(np.arange(len(points)), 3)
        shape = len(points), len(surface.positions)
        return sp.csr_matrix((at.weights.ravel(), (rows, triangles[at.triangles].ravel())), shape=shape)

    colliding = SurfaceMesh(own.rest_positions, own.faces)
    around = weights(render.positions, colliding).T @ sp.diags(render.vertex_areas)
    area = np.asarray(around.sum(axis=1)).ravel()
    is_fine = area >= 0.5 * np.maximum(colliding.vertex_areas, np.finfo(np.float64).tiny)
    shares = sp.diags(is_fine / np.where(is_fine, area, 1.0)) @ around
    return (shares + sp.diags(1.0 - is_fine) @ weights(own.rest_positions, render)).T.tocsr()


def _prescribed_vertices(prepared: Prepared, own: CollisionSurface, points: Any, frame: int) -> np.ndarray:
    """Return the mask (s,) bool of the collision vertices that pins hold until a frame."""
    in_springs = np.isin(own.embedding.tet_indices, prepared.pin_springs.pinned.pinned_tets(frame))
    return in_springs | points.held(prepared.pins.held_corners(frame))
