"""Warning about pins that rotate far in one frame.

The body cannot follow such pins, which pass through one another.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...foundation.schema.tracks import samples_at
from ...geometry.mesh.topology import edges_of
from ..job.job import Job
from .rotations import rotation_angle

FAR = np.radians(100.0)
"""Smallest rotation in one frame with a warning, rad.

In tests with bars (*Draft* lattice), rotated pins left some bars folded from 150 degrees on, and others from 180
degrees on. Eight samples per frame did not help.
"""
MOST_PINS = 200
"""Largest number of pins sampled in each group."""


def pin_rotation_warnings(job: Job) -> list[str]:
    """Return warnings about connected pins that rotate by FAR or more in one frame.

    The list has at most one warning, about the largest rotation.
    """
    body, steps = job.body, job.body.solver.substeps
    track = body.pin_positions
    if len(track) < 2 or job.frame_count < 2 or not len(body.pinned_vertices):
        return []
    farthest, at, vertex = 0.0, 0, 0
    for group in _groups(body.surface.triangles, body.pinned_vertices):
        chosen = group[:: -(-len(group) // MOST_PINS)]
        for frame in range(1, job.frame_count):
            before, after, _ = samples_at(track[:, chosen], job.frame_count, frame, 1.0)
            if np.array_equal(before, after):
                continue
            times = np.arange(steps + 1) / steps
            poses = [_targets(track[:, chosen], job.frame_count, frame, part) for part in times]
            # Pins move straight between samples, in any number of substeps, so the rotation from one sample to the
            # next counts, too.
            angle = max(rotation_angle(before, after), sum(rotation_angle(p, q) for p, q in zip(poses, poses[1:])))
            if angle > farthest:
                farthest, at, vertex = angle, frame, int(body.pinned_vertices[group[0]])
    if farthest < FAR:
        return []
    return [
        f"The pins around vertex {vertex} rotate by {np.degrees(farthest):.0f} degrees in one frame, before frame "
        f"{job.frame_start + at}: the body may stay folded. Rotate them over more frames."
    ]


def _targets(track: np.ndarray, frames: int, frame: int, part: float) -> np.ndarray:
    before, after, between = samples_at(track, frames, frame, part)
    return before + between * (after - before)


def _groups(triangles: np.ndarray, pinned: np.ndarray) -> list[np.ndarray]:
    """Return the groups of three or more connected pins, each as an array of indices into ``pinned`` (p,)."""
    number = np.full(int(max(triangles.max(initial=0), pinned.max(initial=0))) + 1, -1)
    number[pinned] = np.arange(len(pinned))
    edges = number[edges_of(triangles)]
    edges = edges[(edges >= 0).all(axis=1)]
    graph = sp.coo_matrix((np.ones(len(edges)), edges.T), shape=(len(pinned), len(pinned)))
    count, label = connected_components(graph, directed=False)
    groups = [np.flatnonzero(label == k) for k in range(count)] if count < len(pinned) else []
    return [group for group in groups if len(group) >= 3]
