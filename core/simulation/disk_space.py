"""How much room a bake takes on disk, told before it starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..errors import StoreError
from ..model.settings import SolverSettings
from .frame_store import KEPT_STATES, FrameStore
from .job import Job

FRAME_HEADER = 4096
"""Bytes of a frame beside its positions: the reports of its steps, and what a block of the disk leaves empty."""
POINT, CACHE_POINT = 24, 12
"""Bytes of a position in a frame, and in a point cache."""
TET, TET_STATE, TET_MODE = 79, 60, 3.5
"""Bytes of a tetrahedron with its part of the vertices and materials, in a state, and in the weights of each mode.
Beams of 3,648 and 51,600 tets take 203 and 193 in all in the full space, 148 and 129 in 16 modes."""
SPARE = 1.1
"""Times all that, for the job."""


def expected_bytes(points: int, frames: int, with_cache: bool = False) -> float:
    """Bytes of so many frames of a surface with so many points; with those of a point cache, where asked."""
    return SPARE * frames * (points * (POINT + (CACHE_POINT if with_cache else 0)) + FRAME_HEADER)


def body_bytes(tets: float, solver: SolverSettings) -> float:
    """Bytes of so many tetrahedra, and of the states and modes that are kept of them, while a new state is written."""
    from ..solvers.registry import in_subspace  # it loads Numba, which Blender's start does not wait for

    kept = TET_MODE * solver.modes if in_subspace(solver) else TET_STATE * (KEPT_STATES + 1)
    return SPARE * tets * (TET + kept)


def check_disk_space(job: Job, store: FrameStore, kept_frames: int = 0, with_cache: bool = False) -> None:
    """StoreError when a bake of the job will not fit on the disk; ``kept_frames`` of the store are gone on with; where
    there are none, all that is in it makes room.
    """
    points = len(job.surface.positions)
    need = expected_bytes(points, job.frame_count, with_cache) - expected_bytes(points, kept_frames)
    need += 0.0 if kept_frames else _body_of(job)
    room = shutil.disk_usage(_existing(store.folder)).free
    room += store.size_on_disk() if kept_frames == 0 else 0
    if need > room:
        raise StoreError(
            f"The bake needs about {size_words(need)} on disk, and {store.folder} has {size_words(room)} left.",
            "Free disk space, or save the .blend on a larger disk.",
        )


def _body_of(job: Job) -> float:
    from ..mesh.tet_count import expected_tets, measured

    measure, resolution = measured(job.surface, job.fineness), job.resolution
    if measure is None:
        return 0.0  # the tetrahedralisation tells
    tets = expected_tets(measure, resolution.method, resolution.cells_across, resolution.finest)
    return body_bytes(tets, job.solver)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if os.path.isdir(place))


def size_words(size: float) -> str:
    """Bytes as people say them: ``28.8 MB``, ``1.5 GB``."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.3g} {unit}"
    return f"{size:.0f} bytes"
