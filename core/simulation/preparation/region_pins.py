"""Pins of a body with kinematic regions (:mod:`constraints.kinematic_region`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.schema.tracks import resample, steps_of
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.job.job import Job
from ...mechanics.constraints.kinematic_region import KinematicRegion
from ...mechanics.constraints.pins import PinnedSurface, PinSchedule, RegionPins


def with_regions(job: Job, mesh: TetMesh, embedding: Embedding, most: float) -> PinnedSurface:
    """Return the pins and the kinematic regions of a job as one pinned surface.

    The surfaces of the regions are appended to the body's surface. Where regions overlap, the last one holds.
    ``embedding``: embedding of the body's surface in the mesh. ``most``: maximum number of springs.
    """
    body, frames, X = job.body, job.frame_count, mesh.rest_positions
    regions, tracks = body.regions, [body.pin_positions, *(region.positions for region in body.regions)]
    steps = int(np.lcm.reduce([max(steps_of(track, frames), 1) for track in tracks]))
    used = [np.flatnonzero(region.surface.used) for region in regions]
    starts = np.cumsum([len(body.surface.positions), *(len(region.surface.positions) for region in regions)])
    surfaces = [body.surface, *(region.surface for region in regions)]
    surface = SurfaceMesh(
        np.concatenate([each.positions for each in surfaces]),
        np.concatenate([each.triangles + start for each, start in zip(surfaces, [0, *starts[:-1]], strict=True)]),
    )
    inner = embed(surface.positions[starts[0] :], mesh)
    counts = [len(body.pinned_vertices), *map(len, used)]
    pins = RegionPins(
        PinSchedule(np.zeros(0, dtype=np.int64), np.zeros((0, 0, 3)), np.zeros((frames, 0), dtype=bool)),
        np.array([region.contains(X) for region in regions]),
        np.repeat(np.arange(-1, len(regions)), counts),
        int(starts[0]),
    )
    positions = [body.pin_positions, *(region.positions[:, k] for region, k in zip(regions, used, strict=True))]
    held = [region.held[:, None] for region in regions]
    return PinnedSurface(
        surface,
        mesh,
        Embedding.joined([embedding, inner]),
        np.concatenate([body.pinned_vertices, *(k + start for k, start in zip(used, starts, strict=False))]),
        np.concatenate([resample(track, frames, steps) for track in positions], axis=1),
        np.concatenate([body.pin_held, *(np.tile(each, len(k)) for each, k in zip(held, used, strict=True))], axis=1),
        most,
        pins._replace(schedule=_within(regions, pins.owners, X, frames, steps)),
    )


def _within(
    regions: Sequence[KinematicRegion], owners: np.ndarray, X: np.ndarray, frames: int, steps: int
) -> PinSchedule:
    """Return the hard pins: the tet vertices X (n,3) m that a region owns. ``steps``: samples per frame."""
    corners = np.flatnonzero(owners >= 0)
    targets = np.empty(((frames - 1) * steps + 1, len(corners), 3))
    held = np.empty((frames, len(corners)), dtype=bool)
    for k, region in enumerate(regions):
        mine = owners[corners] == k
        targets[:, mine] = resample(region.follow(X[corners[mine]]), frames, steps)
        held[:, mine] = region.held[:, None]
    return PinSchedule(corners, targets, held)
