"""Ties of the bodies of a group to each other and to colliders, as loads of their islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundation.errors import TieError
from ...geometry.mesh.embedding import Embedding
from ...jobs.job.job import Job
from ...jobs.job.tie import SLIDE, Tie
from ...mechanics.forces.springs import Springs
from ...mechanics.forces.step_potential import Load
from ...mechanics.ties.glue import Glue
from ...mechanics.ties.slide import Slide, signed_distances
from ...methods.model.state import State
from ...methods.subspaces.space import Space
from ..contact_setup.collision_surfaces import ColliderSet
from ..preparation.loads import track_at
from ..preparation.prepare import Prepared
from .collider_points import ColliderPoints
from .tie_samples import Side, TieSamples, samples_at_collider, samples_of_bodies


class _GroupTie(NamedTuple):
    """A tie with its samples.

    ``bodies``: index of the sampled body, and of the other body or None. ``collider``: index of the collider, or None.
    ``samples``: range of its samples among those of all ties. ``distances`` (s,), m: signed distances at rest of
    sliding samples. ``on_collider``: points of a collider to which samples are glued, or None.
    """

    tie: Tie
    bodies: tuple[int, int | None]
    collider: int | None
    at: TieSamples
    samples: slice
    distances: np.ndarray | None
    on_collider: ColliderPoints | None


class GroupTies:
    """Ties of the prepared bodies of several jobs.

    Each job has one body. Raises TieError for a tie without a partner in the group, and for one that joins nothing.

    Attributes
    ----------
    pairs : pairs (a, b), a < b, of indices of tied bodies
    count : number of samples of all ties
    """

    def __init__(self, jobs: Sequence[Job], prepared: Sequence[Prepared], colliders: ColliderSet) -> None:
        self._prepared, self._colliders, self._frames = prepared, colliders, jobs[0].frame_count
        self._ties: list[_GroupTie] = []
        self._surfaces = [job.body.surface for job in jobs]
        self._made: dict[Any, Glue] = {}
        start, names = 0, [job.body.name for job in jobs]
        for k, job in enumerate(jobs):
            for tie in job.body.ties:
                self._ties.append(self._found(tie, k, names, start))
                start = self._ties[-1].samples.stop
        self.count = start
        self.pairs = {tuple(sorted(each.bodies)) for each in self._ties if each.bodies[1] is not None}

    def _found(self, tie: Tie, k: int, names: Sequence[str], start: int) -> _GroupTie:
        own = self._side(k, tie.weights)
        if tie.other in names:
            j = names.index(tie.other)
            at = samples_of_bodies(tie, own, self._side(j))
            bodies, collider = ((k, j), (j, k))[at.sampled], None
            surface, triangles = self._surfaces[bodies[1]].positions, self._surfaces[bodies[1]].triangles
        elif tie.other in self._colliders.names:
            collider = self._colliders.names.index(tie.other)
            surface, triangles = self._colliders.tracks[collider][0], self._colliders.triangles[collider]
            at, bodies = samples_at_collider(tie, own, surface, triangles), (k, None)
        else:
            raise TieError(
                f"“{names[k]}” is tied to “{tie.other}”, which is neither a body in the bake nor one of its colliders.",
                f"Make “{tie.other}” a soft body or a collider of “{names[k]}”, or choose another partner.",
            )
        distances = follow = None
        if tie.kind == SLIDE:
            distances = signed_distances(at.points, surface, triangles)
        elif collider is not None:
            follow = ColliderPoints.of(at.points, surface, triangles)
        return _GroupTie(tie, bodies, collider, at, slice(start, start + len(at.points)), distances, follow)

    def _side(self, k: int, weights: np.ndarray | None = None) -> Side:
        model = self._prepared[k].model
        return Side(self._surfaces[k], model.mesh, model.youngs_modulus, weights)

    def loads(
        self, space: Space, bodies: Sequence[int], at: int, part: float, broken: np.ndarray | None
    ) -> Iterator[Load]:
        """Yield the loads of the ties of an island at a time.

        ``space``: merged space of the ``bodies`` (indices). ``at``, ``part``: the time, as in ``track_at``. ``broken``
        (count,): 1 for broken samples, or None.
        """
        firsts = np.cumsum([0, *(len(self._prepared[k].model.mesh.tets) for k in bodies)])
        start = {k: int(first) for k, first in zip(bodies, firsts)}
        for number, each in enumerate(self._ties):
            if each.bodies[0] in start:
                stiffness = self._stiffness(each, at, part, broken)
                yield self._load(number, space, start, stiffness, at, part)

    def _stiffness(self, each: _GroupTie, at: int, part: float, broken: np.ndarray | None) -> np.ndarray:
        strength = each.tie.strength
        factor = float(strength[0]) if len(strength) == 1 else float(track_at(strength, self._frames, at, part))
        whole = 1.0 if broken is None else 1.0 - broken[each.samples]
        return factor * whole * each.at.stiffness

    def _load(
        self, number: int, space: Space, start: dict[int, int], stiffness: np.ndarray, at: int, part: float
    ) -> Load:
        each = self._ties[number]
        own = each.at.first.shifted(start[each.bodies[0]])
        if each.on_collider is not None:
            return Springs(space.points(own), stiffness, self._targets(each, at, part))
        if each.tie.kind == SLIDE:
            if each.collider is not None:
                triangles, surface = self._colliders.triangles[each.collider], self._collider(each, at, part)
                return Slide(space.points(own), triangles, stiffness, each.distances, surface)
            other = each.bodies[1]
            vertices = self._prepared[other].embedding.shifted(start[other])
            triangles = self._surfaces[other].triangles
            return Slide(space.points(Embedding.joined([own, vertices])), triangles, stiffness, each.distances)
        key = number, tuple(start), stiffness.tobytes()
        if key not in self._made:
            self._made = {known: made for known, made in self._made.items() if known[:2] != key[:2]}
            second = each.at.second.shifted(start[each.bodies[1]])
            self._made[key] = Glue(space.points(Embedding.joined([own, second])), stiffness)
        return self._made[key]

    def _collider(self, each: _GroupTie, at: int, part: float) -> np.ndarray:
        return self._colliders.surface_at(each.collider, self._frames, at, part)

    def _targets(self, each: _GroupTie, at: int, part: float) -> np.ndarray:
        """Return the positions (s,3), m, of the samples that are glued to a collider."""
        return each.on_collider.positions(self._collider(each, at, part))

    def broken_after(
        self, states: Sequence[State], at: int, part: float, broken: np.ndarray | None
    ) -> np.ndarray | None:
        """Return the broken samples after a step, as in :meth:`loads`: those before, and those now overloaded.

        ``states``: state of each body at the end of the step, which is the time ``at``, ``part``.
        """
        breakable = [each for each in self._ties if each.tie.breaking_stress]
        if not breakable:
            return broken
        broken = np.zeros(self.count) if broken is None else broken.copy()
        for each in breakable:
            stress = self._stiffness(each, at, part, broken) * self._pull(each, states, at, part) / each.at.areas
            broken[each.samples][stress > each.tie.breaking_stress] = 1.0
        return broken

    def _pull(self, each: _GroupTie, states: Sequence[State], at: int, part: float) -> np.ndarray:
        """Return the elongation of each sample of a tie, (s,) m; that of sliding samples is 0 under pressure."""
        y = self._points_at(each.bodies[0], each.at.first, states)
        if each.tie.kind != SLIDE:
            other = self._targets(each, at, part) if each.on_collider else None
            z = self._points_at(each.bodies[1], each.at.second, states) if other is None else other
            return np.linalg.norm(y - z, axis=1)
        if each.collider is not None:
            surface, triangles = self._collider(each, at, part), self._colliders.triangles[each.collider]
        else:
            k = each.bodies[1]
            surface, triangles = self._prepared[k].surface(states[k].positions), self._surfaces[k].triangles
        return np.maximum(signed_distances(y, surface, triangles) - each.distances, 0.0)

    def _points_at(self, k: int, embedding: Embedding, states: Sequence[State]) -> np.ndarray:
        return self._prepared[k].space.points(embedding).positions(states[k].positions)
