"""Warnings about kinematic regions: what they hold, and motions that the flesh cannot follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...foundation.schema.tracks import at_frames
from ...foundation.unit_words import length_words
from ...mechanics.constraints.kinematic_region import KinematicRegion
from ...mechanics.constraints.pins import PinnedSurface
from ..job.job import Job

APART = 1e-5
"""Largest distance between the motions of two overlapping regions without a warning, relative to the body's size."""


class _Mover(NamedTuple):
    """Mean displacement of a region or of the pins at each frame, (frames,3) m, and where it holds, (frames,)."""

    name: str
    displacements: np.ndarray
    held: np.ndarray


def region_warnings(job: Job, pinned: PinnedSurface) -> list[str]:
    """Return warnings, with remedies, about the job's kinematic regions. ``pinned``: pins of the job."""
    regions, size = job.body.regions, job.body.surface.size
    if not regions or pinned.regions is None:
        return []
    words = []
    movers = [*_pins(job), *(_mover(job, region) for region in regions)]
    for k, region in enumerate(regions):
        words += _holding(k, region, pinned)
        if len(region.positions) == 1:
            words.append(
                f"“{region.name}” does not move, so it holds the flesh inside it still. Animate it, or switch Follows "
                "off."
            )
        words += _jump(job, region, size) or _departure(job, movers[len(movers) - len(regions) + k], movers, size)
    return [*words, *_overlaps(job, pinned)]


def _holding(k: int, region: KinematicRegion, pinned: PinnedSurface) -> list[str]:
    """Return a warning about a region that contains no tet vertex."""
    if pinned.regions.inside[k].any() or not region.held.any():
        return []
    found = pinned.anchors(int(region.held.argmax()))
    if found.target_weights[:, pinned.regions.of_pin == k].nnz:
        return [
            f"“{region.name}” is thinner than the tetrahedra: springs hold the flesh at its surface. Raise the "
            "resolution to hold it exactly."
        ]
    return [f"“{region.name}” lies outside the body and moves nothing: move it into the body, or switch Follows off."]


def _jump(job: Job, region: KinematicRegion, size: float) -> list[str]:
    """Return a warning about the largest jump of a region in one frame, beyond the body's ``size``, m."""
    steps = np.linalg.norm(np.diff(_at_frames(job, region.positions), axis=0), axis=2).max(axis=1, initial=0.0)
    steps *= region.held[1:] if len(steps) else 1.0
    if steps.max(initial=0.0) <= size:
        return []
    frame = job.frame_start + 1 + int(steps.argmax())
    return [
        f"“{region.name}” jumps by {length_words(steps.max())} in one frame, before frame {frame}, farther than the "
        f"body is long ({length_words(size)}). Move it over more frames, or key Follows off before the jump."
    ]


def _departure(job: Job, mover: _Mover, movers: Sequence[_Mover], size: float) -> list[str]:
    """Return a warning if a region leaves the body: if it moves away from the pins or another region by its size."""
    for other in (each for each in movers if each is not mover):
        away = np.linalg.norm(mover.displacements - other.displacements, axis=1) * (mover.held & other.held)
        if away.max() > size:
            frame = job.frame_start + int((away > size).argmax())
            return [
                f"{mover.name} leaves the body: at frame {frame} it has moved away from {other.name} by more than the "
                f"body's size ({length_words(size)}), and stretches the flesh. Move it less, or key Follows off there."
            ]
    return []


def _overlaps(job: Job, pinned: PinnedSurface) -> list[str]:
    """Return warnings about regions that contain the same tet vertices but move them differently."""
    regions, size, words, X = job.body.regions, job.body.surface.size, [], pinned.mesh.rest_positions
    for a, b in combinations(range(len(regions)), 2):
        both = X[pinned.regions.inside[a] & pinned.regions.inside[b]]
        if len(both):
            one, other = (_at_frames(job, region.follow(both)) for region in (regions[a], regions[b]))
            if np.abs(one - other).max() > APART * size:
                words.append(
                    f"“{regions[a].name}” and “{regions[b].name}” overlap and move differently: the flesh in both "
                    f"follows “{regions[b].name}”. Separate them."
                )
    return words


def _at_frames(job: Job, track: np.ndarray) -> np.ndarray:
    """Return the samples (frames,...) of a track at whole frames. A single sample stays single."""
    return at_frames(track, job.frame_count) if len(track) > 1 else track


def _mover(job: Job, region: KinematicRegion) -> _Mover:
    moved = (_at_frames(job, region.positions) - region.surface.positions).mean(axis=1)
    return _Mover(f"“{region.name}”", np.broadcast_to(moved, (job.frame_count, 3)), region.held)


def _pins(job: Job) -> Iterator[_Mover]:
    body = job.body
    if len(body.pinned_vertices):
        moved = _at_frames(job, body.pin_positions) - body.surface.positions[body.pinned_vertices]
        yield _Mover("the pins", moved.mean(axis=1), body.pin_held.any(axis=1))
