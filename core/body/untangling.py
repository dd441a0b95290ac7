"""Bodies that overlap others at the first frame begin shrunk about their middle, free of them, and grow to their size
over the pre-roll.

It is the shape at rest that grows, and all of a body moves as it does then: it is strained by what is in its way alone,
however stiff it is. Each step begins with that velocity and no other, so nothing flies apart, and it ends in rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..job.job import Job
from ..tracks import steps_of
from .first_overlaps import ContactScene, Overlap, crossing
from .meeting_surfaces import ColliderSet
from .prepare import Prepared

SMALLER, SMALLEST = 0.9, 0.2
"""Sizes that are tried, each of the one before, and of its own at which a body begins at least."""


class Growth(NamedTuple):
    """A body begins at ``begin`` of its size about its middle, ``centre`` (3,) m; after ``frames`` it has all of it."""

    begin: float
    centre: np.ndarray
    frames: int

    def size(self, time: float | np.ndarray) -> float | np.ndarray:
        """Of its own, at a time in frames from the first."""
        return 1.0 - (1.0 - self.begin) * np.maximum(1.0 - time / self.frames, 0.0)

    def placed(self, positions: np.ndarray, size: float | np.ndarray) -> np.ndarray:
        """Where what is at positions (...,3) m is at a size."""
        return positions - (1.0 - size) * (positions - self.centre)

    def velocities(self, positions: np.ndarray, masses: np.ndarray, time: float, step: float, h: float) -> np.ndarray:
        """With which all of it grows in a step from a time, ``step`` frames and ``h`` s long, (n,3) m/s."""
        rate = (self.size(time + step) / self.size(time) - 1.0) / h
        return rate * (positions - _middle(positions, masses))

    def held(self, body: Prepared, frames: int) -> Prepared:
        """The body of a job of so many frames, its pins shrunk with it."""

        def carried(track: np.ndarray) -> np.ndarray:
            times = np.arange(len(track)) / max(steps_of(track, frames), 1)
            return self.placed(track, self.size(times)[:, None, None])

        pins = replace(body.pins, targets=carried(body.pins.targets))
        pinned = body.pin_springs.pinned.along(carried)
        return replace(body, pins=pins, pin_springs=body.pin_springs._replace(pinned=pinned))


def grow_from_overlap(
    jobs: Sequence[Job],
    prepared: Sequence[Prepared],
    at: ContactScene,
    colliders: ColliderSet,
    found: dict[tuple[int, int], Overlap],
    touching: float,
) -> dict[int, Growth]:
    """How bodies grow that overlap others, of what was ``found``, and want to be untangled, by their numbers: from the
    largest size tried at which no bodies overlap, they keep their distances, and no collider is met that was not. None
    where there is no such size, or no pre-roll.
    """
    n, frames = len(jobs), jobs[0].pre_roll
    grows = {k for pair in found if pair[1] < n for k in pair if jobs[k].body.meets.untangle}
    if not grows or not frames or prepared[0].space.is_reduced:
        return {}
    near = np.full(at.requests.gap.shape, touching)
    for k in grows:
        near[k, :n] = near[:n, k] = at.requests.gap[k, :n] + at.distance
    middles = {k: _middle(prepared[k].first_state().positions, prepared[k].model.lumped_masses) for k in grows}
    size = SMALLER
    while size >= SMALLEST:
        growths = {k: Growth(size, middles[k], frames) for k in sorted(grows)}
        places = [growths[k].placed(x, size) if k in grows else x for k, x in enumerate(at.positions)]
        if crossing(at._replace(positions=places), colliders, near) <= {pair for pair in found if pair[1] >= n}:
            return growths
        size *= SMALLER
    return {}


def untangling_hint(jobs: Sequence[Job]) -> str:
    """What to do beside moving them about bodies that overlap and were not untangled."""
    lead, wanted = jobs[0], any(job.body.meets.untangle for job in jobs)
    if lead.body.solver.kind.takes_modes:
        return " In a subspace, Untangle does nothing." if wanted else ""
    if wanted and lead.pre_roll:
        return " Untangle cannot part them: at no size down to a fifth of theirs they are free."
    asked = " and ".join(["turn on Untangle"] * (not wanted) + ["set a Pre-Roll of 10 frames"] * (not lead.pre_roll))
    return f" Or {asked}: they grow apart over the Pre-Roll."


def _middle(positions: np.ndarray, masses: np.ndarray) -> np.ndarray:
    return masses @ positions / masses.sum()
