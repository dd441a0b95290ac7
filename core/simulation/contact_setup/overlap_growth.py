"""Untangling of overlapping bodies: at the first frame they are smaller, and grow during the pre-roll.

A body begins shrunk about its centre, so that it overlaps nothing, and has its full size after the pre-roll. The rest
shape of the body grows, and the vertices move along with the growth. So the growth itself causes no strain, and only
obstacles strain the body, whether it is soft or stiff. Each step begins with the velocity of the growth alone, so that
no kinetic energy accumulates. The body ends at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...foundation.schema.tracks import steps_of
from ...jobs.job.job import Job
from ..preparation.prepare import Prepared
from .collision_surfaces import ColliderSet
from .initial_penetration import FirstFrameContact, Overlap, crossing

SMALLER, SMALLEST = 0.9, 0.2
"""Trials of the initial size of growing bodies, relative to their full size.

The first trial is SMALLER. Each further trial is SMALLER times the trial before. No trial is below SMALLEST.
"""


class Growth(NamedTuple):
    """Growth of a body about a point.

    Attributes
    ----------
    begin : initial size, as a fraction of the full size
    centre : (3,), m
    frames : number of frames after which the body has its full size
    """

    begin: float
    centre: np.ndarray
    frames: int

    def size(self, time: float | np.ndarray) -> float | np.ndarray:
        """Return the size of the body relative to its full size.

        ``time``: number of frames since the first.
        """
        return 1.0 - (1.0 - self.begin) * np.maximum(1.0 - time / self.frames, 0.0)

    def placed(self, positions: np.ndarray, size: float | np.ndarray) -> np.ndarray:
        """Return positions (...,3), m, scaled about the centre.

        ``size``: scale factor.
        """
        return positions - (1.0 - size) * (positions - self.centre)

    def velocities(self, positions: np.ndarray, masses: np.ndarray, time: float, step: float, h: float) -> np.ndarray:
        """Return the velocities (n,3), m/s, of the vertices of a body that grows in a step.

        ``positions`` (n,3), m, and ``masses`` (n,): of the vertices.
        ``time``: number of frames from the first frame to the beginning of the step.
        ``step``: duration of the step in frames.
        ``h``: duration of the step, s.
        """
        rate = (self.size(time + step) / self.size(time) - 1.0) / h
        return rate * (positions - _middle(positions, masses))

    def held(self, body: Prepared, frames: int) -> Prepared:
        """Return a copy of a prepared body whose pin targets scale with its size.

        ``frames``: number of frames of the body's job.
        """

        def carried(track: np.ndarray) -> np.ndarray:
            times = np.arange(len(track)) / max(steps_of(track, frames), 1)
            return self.placed(track, self.size(times)[:, None, None])

        pins = replace(body.pins, targets=carried(body.pins.targets))
        pinned = body.pin_springs.pinned.along(carried)
        return replace(body, pins=pins, pin_springs=body.pin_springs._replace(pinned=pinned))


def grow_from_overlap(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    at: FirstFrameContact,
    colliders: ColliderSet,
    found: dict[tuple[int, int], Overlap],
    touching: float,
) -> dict[int, Growth]:
    """Return the growths of overlapping bodies that have the setting Grow Apart on, by body index.

    All growing bodies begin at one relative size. It is the largest trial size at which no bodies overlap, the growing
    bodies keep their gaps to other bodies, and no additional collider is touched. The result is empty in three cases:
    no trial size meets these conditions, the job has no pre-roll, or the bodies are in a subspace.

    ``found``: overlaps at the first frame.
    ``touching``, m: distance below which surfaces touch.
    """
    n, frames = len(jobs), jobs[0].pre_roll
    grows = {k for pair in found if pair[1] < n for k in pair if jobs[k].body.contact.grow_apart}
    if not grows or not frames or prepared[0].space.is_reduced:
        return {}
    near = np.full(at.requests.gap.shape, touching)
    for k in grows:
        near[k, :n] = near[:n, k] = at.requests.gap[k, :n] + at.distance
    middles = {k: _middle(prepared[k].first_state().positions, prepared[k].model.lumped_masses) for k in grows}
    size = SMALLER
    while size >= SMALLEST:
        growths = {k: Growth(size, middles[k], frames) for k in sorted(grows)}
        positions = [growths[k].placed(x, size) if k in grows else x for k, x in enumerate(at.positions)]
        if crossing(at._replace(positions=positions), colliders, near) <= {pair for pair in found if pair[1] >= n}:
            return growths
        size *= SMALLER
    return {}


def untangling_hint(jobs: Sequence[Job]) -> str:
    """Return a sentence about Grow Apart as a remedy for overlapping bodies.

    The sentence follows the advice to move the bodies. Return "" if the bodies are in a subspace and do not use Grow
    Apart.
    """
    lead, wanted = jobs[0], any(job.body.contact.grow_apart for job in jobs)
    if lead.body.solver.kind.takes_modes:
        return " In a subspace, Grow Apart does nothing." if wanted else ""
    if wanted and lead.pre_roll:
        return " Grow Apart cannot separate them: they overlap even at a fifth of their size."
    actions = " and ".join(
        ["turn on Grow Apart"] * (not wanted) + ["set a Pre-Roll of 10 frames"] * (not lead.pre_roll)
    )
    return f" Or {actions}, so that the bodies grow apart during the Pre-Roll."


def _middle(positions: np.ndarray, masses: np.ndarray) -> np.ndarray:
    return masses @ positions / masses.sum()
