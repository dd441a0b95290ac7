"""Fingerprints (SHA-256) of the parts of a job, such as pins or materials, with the names that users know."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...foundation.files.digest import digest
from ...foundation.schema.field_metadata import Leaf, leaves, spec_of
from ...foundation.schema.tracks import at_frames, steps_of

BETWEEN_FRAMES = "animation between frames"
"""Name of the fingerprint that covers the samples of tracks (arrays sampled over time) between frames. The other
fingerprints cover only the samples at frames. Therefore the number of samples between frames does not affect them.
"""
LENGTHS = "simulation scale"
"""Name of the fingerprint of ``Job.length_factor``. If it differs, most other fingerprints differ, too."""


class Job(Protocol):
    """Protocol of :class:`.job.Job`: the properties that this module uses besides the job's dataclass fields."""

    bodies: Sequence[Any]

    @property
    def frame_count(self) -> int:
        """Number of frames of the job."""
        ...


def reported_changes(words: Sequence[str]) -> Sequence[str]:
    """Return the names of changed parts to report. ``words`` are the names of all changed parts.

    If the simulation scale is among ``words``, only the simulation scale is returned, since a change of this scale
    changes most other parts, too. Otherwise all ``words`` are returned.
    """
    return [LENGTHS] if LENGTHS in words else words


def fingerprints_of(job: Job, *words: str) -> dict[str, str]:
    """Return the SHA-256, in hexadecimal, per named part of a job, or only of the parts named in ``words``.

    The names are those that users know, such as "pins". Names of bodies and other objects are left out, since they do
    not affect the simulation.
    """
    parts_of: dict[str, list[str | np.ndarray]] = {word: [] for word in words}
    idle = _idle(job)
    for leaf in leaves(job):
        if leaf.fields[-1].name != "name" and leaf.path not in idle and (not words or leaf.word in words):
            parts_of.setdefault(leaf.word, []).extend((f"{leaf.path}=", _at_frames(leaf, job.frame_count)))
    if not words:
        parts_of[BETWEEN_FRAMES] = [track for _name, track in substep_tracks(job)]
    return {word: digest(*parts) for word, parts in parts_of.items()}


def substep_tracks(job: Job) -> list[tuple[str, np.ndarray]]:
    """Return the tracks of a job with samples between frames. A track is an array sampled over time.

    Tracks that are sampled only at frames are left out. Each entry is the name of the track, as users know it, and its
    array.
    """
    tracks = (leaf for body in job.bodies for leaf in leaves(body) if leaf.about.over_frames and leaf.value is not None)
    return [(_whose(leaf), leaf.value) for leaf in tracks if steps_of(leaf.value, job.frame_count) > 1]


def _whose(leaf: Leaf) -> str:
    label = spec_of(leaf.fields[0]).label
    return f"{label} “{leaf.owner.name}”" if len(leaf.fields) > 1 else str(label)


def _idle(job: Job) -> set[str]:
    """Return the paths of the fields that have no effect in this job.

    A field has no effect if it depends on an optional field that is None. For example, a refinement factor has no
    effect without painted refinement.
    """
    idle = [
        (leaf.path.removesuffix(leaf.fields[-1].name), leaf.about.rules) for leaf in leaves(job) if leaf.value is None
    ]
    return {owner + path for owner, rules in idle for path in rules}


def _at_frames(leaf: Leaf, frames: int) -> str | np.ndarray:
    value: Any = leaf.value
    if not isinstance(value, np.ndarray):
        return f"{json.dumps(value)}\n"
    return at_frames(value, frames) if leaf.about.over_frames else value
