"""Groups of bodies that are stepped together, since they can collide directly or through other bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...foundation.errors import SettingsError
from ...foundation.files.digest import digest
from ...foundation.schema.solver_kinds import SOLVER_KINDS
from .body import Body
from .job import Job
from .job_changes import details
from .pair import GroupMember

Thing = TypeVar("Thing")

OF_EACH = (
    "subspace_basis",
    "modes",
    "cubature_points",
    "match_full_space",
    "match_resolution",
    "match_cells",
    "match_modes",
    "match_method",
)
"""Solver settings that may differ between bodies of a group, since they only affect the preparation of a body."""


CLOCK = "frame_start", "frame_end", "pre_roll", "frame_rate"
"""Fields of a job, besides its solver settings, that must be equal for colliding bodies."""


def groups_of(bodies: Sequence[Body]) -> list[list[int]]:
    """Return the groups of bodies that can collide or are tied, as lists of indices into ``bodies``.

    Bodies are connected directly or through other bodies. A body without contact and ties is a group by itself. The
    indices in each group are sorted by the bodies' names.
    """
    left, groups = list(range(len(bodies))), []
    while left:
        group = all_in_contact(left[0], left[1:], lambda j, k: are_coupled(bodies[j], bodies[k]))
        left = [k for k in left if k not in group]
        groups.append(sorted(group, key=lambda k: bodies[k].name))
    return groups


def all_in_contact(first: Thing, others: Sequence[Thing], connected: Callable[[Thing, Thing], bool]) -> list[Thing]:
    """Return the connected component of ``first``: itself and all ``others`` that a chain of connections links to it.

    ``connected`` returns True for two directly connected things.
    """
    group, left = [first], list(others)
    for each in group:  # the list grows meanwhile
        group += [other for other in left if connected(each, other)]
        left = [other for other in left if other not in group]
    return group


def are_coupled(a: Body, b: Body) -> bool:
    """Return True if two bodies can collide, are tied or share a chamber."""
    shared = [body.chamber.shared for body in (a, b) if body.chamber is not None]
    return are_tied(a, b) or can_collide(a, b) or (len(shared) == 2 and shared[0] == shared[1] != "")


def are_tied(a: Body, b: Body) -> bool:
    """Return True if one of two bodies has a tie to the other, or a joint with it."""
    return any(y.name in x.attached for x, y in ((a, b), (b, a)))


def has_joint(body: Body, other: str) -> bool:
    """Return True if the body has a joint with the body or collider of the name ``other``."""
    return any(joint.other == other for joint in body.joints)


def can_collide(a: Body, b: Body) -> bool:
    """Return True if the contact settings of each of the two bodies allow contact with the other.

    Bodies with a joint between them do not collide with each other. Tied bodies collide away from the tie.
    """
    return not any(
        has_joint(x, y.name) or not x.contact.bodies or (x.contact_with is not None and y.name not in x.contact_with)
        for x, y in ((a, b), (b, a))
    )


def split_jobs(job: Job) -> list[Job]:
    """Return one job for each body of ``job``, with the other bodies as ``group_members``.

    The bodies of ``job`` must form a group (bodies that are baked together).
    """
    bodies = job.bodies
    met = [[b.name for b in bodies if b is not a and can_collide(a, b)] for a in bodies]
    contact_lists = [None if len(names) == len(bodies) - 1 else tuple(names) for names in met]
    alone = [
        job.alone(k).with_body(contact_with=each, group_members=(), group_index=0)
        for k, each in enumerate(contact_lists)
    ]
    if len(alone) == 1:
        return alone
    members = [GroupMember(each.body.name, _digest(each)) for each in alone]
    return [
        each.with_body(group_members=(*members[:k], *members[k + 1 :]), group_index=k) for k, each in enumerate(alone)
    ]


def grouped_jobs(job: Job) -> list[list[Job]]:
    """Return the jobs of :func:`split_jobs` for each group of the bodies that are baked together."""
    return [split_jobs(replace(job, bodies=tuple(job.bodies[k] for k in group))) for group in groups_of(job.bodies)]


def _digest(job: Job) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digest(*sorted(job.fingerprints().values()))), dtype=np.uint8)


def check_group(jobs: Sequence[Job]) -> None:
    """Check that the bodies of ``jobs`` can be stepped together. Each job has one body.

    Raises SettingsError for bodies that cannot.
    """
    check_pairs(jobs)
    lead = jobs[0]
    off = "turn off contact with bodies for one body (Collide With > Soft Bodies)"
    both, mend = "collide", f"Give both equal settings, or {off}."
    if any(job.body.ties or job.body.joints for job in jobs):
        both, mend = "are baked together", f"Give both equal settings, remove what ties or joins them, or {off}."
    for job in jobs:
        name, other = job.body.name, lead.body.name
        if not job.body.solver.kind.supports_contact:
            raise _unsupported(job, jobs)
        if any(getattr(job, clock) != getattr(lead, clock) for clock in CLOCK):
            raise SettingsError(
                f"“{other}” and “{name}” {both}, but differ in frame range, frame rate or pre-roll.", mend
            )
        if job.body.solver.kind.takes_modes != lead.body.solver.kind.takes_modes:
            first, second = (name, other) if job.body.solver.kind.takes_modes else (other, name)
            raise SettingsError(
                f"“{first}” and “{second}” {both}, but one is in a subspace and the other is not.",
                mend.replace("equal settings", "the same Solver"),
            )
        same = {field: getattr(lead.body.solver, field) for field in OF_EACH}
        if replace(job.body.solver, **same) != lead.body.solver:
            differ = "; ".join(details("solver", lead, job))
            raise SettingsError(f"“{other}” and “{name}” {both}, but differ in solver settings ({differ}).", mend)


def _unsupported(job: Job, jobs: Sequence[Job]) -> SettingsError:
    """Return the error for a body whose solver computes neither contact nor ties."""
    labels = " or ".join(kind.label for kind in SOLVER_KINDS.values() if kind.supports_contact)
    uses = "self-contact" if len(jobs) == 1 else "contact with bodies"
    off = "turn off its contact settings (Collisions > Collide With in Blender)"
    if any(each.body.ties or each.body.joints for each in jobs):
        uses, off = "ties or joints", "remove its ties and joints"
    elif job.body.seams is not None and job.body.seams.tears:
        uses, off = "seams that tear", "let its seams never tear"
    return SettingsError(
        f"“{job.body.name}” uses {uses}, which {job.body.solver.kind.label} cannot compute.",
        f"Choose {labels} for it, or {off}.",
    )


def check_pairs(jobs: Sequence[Job]) -> None:
    """Check that no two bodies set different values for their contact pair. Each of the ``jobs`` has one body.

    Raises SettingsError for different values.
    """
    overrides = {(job.body.name, pair.other): pair.overrides for job in jobs for pair in job.body.pairs}
    for (one, other), ours in overrides.items():
        theirs = overrides.get((other, one), {})
        for setting in (name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]):
            label = "distance" if setting == "thickness" else setting
            raise SettingsError(
                f"“{one}” and “{other}” set different values for their pair: a {label} of {ours[setting]:g} and of "
                f"{theirs[setting]:g}.",
                "Set it in the pairs of only one of the two (Collisions > Pairs).",
            )


def pair_warnings(jobs: Sequence[Job]) -> list[str]:
    """Return warnings, each with a remedy, about contact settings of pairs that never collide.

    Each of the ``jobs`` has one body.
    """
    return [
        f"“{job.body.name}” has a pair with “{name}”, with which it never collides, so the pair has no effect: "
        "remove the pair, or let the two collide."
        for job in jobs
        for name in _missing(job)
    ]


def _missing(job: Job) -> Iterator[str]:
    body = job.body
    met = body.contact_with if body.contact_with is not None else [fellow.name for fellow in body.group_members]
    there = {*met, *(each.name for each in body.colliders)}
    return (pair.other for pair in body.pairs if pair.other not in there)
