"""Fingerprints (SHA-256) of the parts of a job, by the names that users know, such as "pins"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...foundation.files.digest import digest
from ...foundation.schema.field_metadata import Leaf, leaves, spec_of
from ...foundation.schema.tracks import at_frames, steps_of

BETWEEN_FRAMES = "animation between frames"
"""Name of the fingerprint of all track samples between frames. A track is an array sampled over time.

The other fingerprints cover only the samples at frames, so the number of samples between frames does not affect them.
"""
LENGTHS = "simulation scale"
"""Name of the fingerprint of ``Job.length_factor``. A change of the factor changes most other fingerprints, too."""


class Job(Protocol):
    """Properties of a :class:`.job.Job` that this module uses besides the job's dataclass fields."""

    bodies: Sequence[Any]

    @property
    def frame_count(self) -> int:
        """Number of frames of the job."""
        ...


def reported_changes(words: Sequence[str]) -> Sequence[str]:
    """Return the names of the changed parts to report.

    ``words``: names of all changed parts.

    A change of the simulation scale is reported alone, since it changes most other parts, too.
    """
    return [LENGTHS] if LENGTHS in words else words


def fingerprints_of(job: Job, *words: str) -> dict[str, str]:
    """Return the SHA-256, in hexadecimal, per named part of a job.

    ``words``: names of the parts, such as "pins"; all parts by default.

    Names of bodies and other objects are left out, since they do not affect the simulation.
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
    """Return the name and the array of each track with samples between frames.

    A track is an array sampled over time. The names are those that users know.
    """
    tracks = (leaf for body in job.bodies for leaf in leaves(body) if leaf.about.over_frames and leaf.value is not None)
    return [(_whose(leaf), leaf.value) for leaf in tracks if steps_of(leaf.value, job.frame_count) > 1]


def _whose(leaf: Leaf) -> str:
    label = spec_of(leaf.fields[0]).label
    return f"{label} “{leaf.owner.name}”" if len(leaf.fields) > 1 else str(label)


def _idle(job: Job) -> set[str]:
    """Return the paths of the fields without effect in this job, such as a refinement factor without painted
    refinement.
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
