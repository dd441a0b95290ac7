"""Words for the parts of a job, which tell whether two jobs are alike in them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..tracks import at_frames, steps_of
from .digest import digest
from .job_parts import layer_numbers

if TYPE_CHECKING:
    from .job import Job

BETWEEN_FRAMES = "animation between frames"
"""The part that is all that tracks hold between frames; its word is "" where that is nothing, as before there was any.
The other parts are made of tracks at the frames alone, so that other substeps do not change them."""


def fingerprints_of(job: Job) -> dict[str, str]:
    """SHA-256 of each part of a job, by the word an artist would use for it."""
    frames = job.frame_count
    ground = None if job.ground is None else asdict(job.ground)
    finer = [track for _name, track in finer_tracks(job)]
    return {
        "mesh": digest(job.surface.positions, job.surface.triangles),
        "resolution": _resolution_digest(job),
        "materials": digest(
            json.dumps([asdict(m) for m in job.materials], sort_keys=True),
            job.material_weights,
            job.stiffness_maps,
            *(() if job.moduli is None else (job.moduli,)),
            json.dumps([layer_numbers(layer) for layer in job.layers]),
            *(array for layer in job.layers for array in layer.arrays().values()),
        ),
        "pins": digest(job.pinned_vertices, job.pin_held),
        "springs": digest(*(a for s in job.springs for a in (s.name, *_whole(s.arrays(), frames)))),
        "collisions": digest(
            json.dumps([ground, [c.numbers() for c in job.colliders]]),
            *(a for c in job.colliders for a in _whole(c.arrays(), frames)),
        ),
        "fields": digest(
            *(() if job.accelerations is None else (job.accelerations,)),
            *(part for f in job.force_fields for part in (json.dumps(f.settings()), *f.arrays().values())),
            *(array for absorber in job.absorbers for array in absorber.arrays().values()),
        ),
        "solver": digest(json.dumps(asdict(job.solver), sort_keys=True)),
        "frame range": digest(
            # None left out: bakes from before there was one are not out of date.
            np.array([job.frame_start, job.frame_end, *([job.pre_roll] if job.pre_roll else [])], dtype=np.int64),
            np.array(job.frame_rate),
        ),
        "animation": digest(
            at_frames(job.pin_positions, frames), job.frame_matrices, *(() if job.start is None else (job.start,))
        ),
        BETWEEN_FRAMES: digest(*finer) if finer else "",
    }


def finer_tracks(job: Job) -> list[tuple[str, np.ndarray]]:
    """What of a job has samples between frames, with the words of an artist."""
    tracks = [("the object", job.object_to_world), ("the pins", job.pin_positions)]
    tracks += [(f"spring “{spring.name}”", spring.targets) for spring in job.springs]
    tracks += [(f"collider “{collider.name}”", collider.positions) for collider in job.colliders]
    return [(name, track) for name, track in tracks if steps_of(track, job.frame_count) > 1]


def _whole(arrays: dict[str, np.ndarray], frames: int) -> list[np.ndarray]:
    """Arrays of a spring or a collider, their tracks at the frames alone."""
    tracks = ("targets", "positions")
    return [at_frames(array, frames) if name in tracks else array for name, array in arrays.items()]


def _resolution_digest(job: Job) -> str:
    numbers = asdict(job.resolution)
    if job.fineness is None:
        del numbers["finest"]  # of no consequence, and unknown to earlier bakes
    painted = () if job.fineness is None else (job.fineness,)
    return digest(json.dumps(numbers, sort_keys=True), *painted)
