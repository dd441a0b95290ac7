"""Pairs of tied bodies, or of a body and a collider, that can collide away from their tie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...jobs.job.groups import can_collide, has_joint
from ...jobs.job.job import Job
from ...jobs.job.tie import SLIDE, Tie
from ..preparation.prepare import Prepared
from .collision_surfaces import ColliderSet, is_same


class TiedPair(NamedTuple):
    """Tied bodies, or a body and a collider.

    Attributes
    ----------
    bodies : indices of the two; colliders follow the bodies
    reach : largest distance of tied points, m
    slides : True if any of their ties slides
    can_part : True if they are glued, and any of their ties can let go or break
    """

    bodies: tuple[int, int]
    reach: float
    slides: bool
    can_part: bool


def tied_pairs(jobs: Sequence[Job], prepared: Sequence[Prepared], colliders: ColliderSet) -> Iterator[TiedPair]:
    """Yield the tied pairs that can collide. Pairs with a joint are left out: they do not collide anywhere."""
    bodies, edges = [job.body for job in jobs], [each.model.mesh.mean_edge for each in prepared]
    for k, body in enumerate(bodies):
        for j in range(k):
            ties = [*_ties(body.ties, bodies[j].name), *_ties(bodies[j].ties, body.name)]
            if ties and can_collide(body, bodies[j]):
                yield _pair((j, k), ties, min(edges[j], edges[k]))
        for c, found in enumerate(colliders.found):
            ties = _ties(body.ties, found.name)
            if ties and any(is_same(found, each) for each in body.colliders) and not has_joint(body, found.name):
                yield _pair((k, len(bodies) + c), ties, edges[k])


def _ties(ties: Sequence[Tie], other: str) -> list[Tie]:
    return [tie for tie in ties if tie.other == other]


def _pair(bodies: tuple[int, int], ties: Sequence[Tie], edge: float) -> TiedPair:
    slides = any(tie.kind == SLIDE for tie in ties)
    can_part = not slides and any(tie.breaking_stress > 0.0 or tie.strength.min() < tie.strength.max() for tie in ties)
    return TiedPair(bodies, max(tie.reach(edge) for tie in ties), slides, can_part)
