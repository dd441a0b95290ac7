"""Whether a bake fits on the disk, told before it starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..errors import StoreError
from ..job.job import Job
from ..store.frame_store import FrameStore


def check_disk_space(job: Job, store: FrameStore, kept_frames: int = 0, with_cache: bool = False) -> None:
    """StoreError when a bake of the job will not fit on the disk; ``kept_frames`` of the store are gone on with; where
    there are none, all that is in it makes room.
    """
    from .costs import body_bytes, frame_bytes, size_words  # they load Numba, which Blender's start does not wait for

    points = len(job.body.surface.positions)
    need = frame_bytes(points, job.frame_count, with_cache) - frame_bytes(points, kept_frames)
    need += 0.0 if kept_frames else body_bytes(_tets(job), job.body.solver)
    room = shutil.disk_usage(_existing(store.folder)).free
    room += store.size_on_disk() if kept_frames == 0 else 0
    if need > room:
        raise StoreError(
            f"The bake needs about {size_words(need)} on disk, and {store.folder} has {size_words(room)} left.",
            "Free disk space, or save the .blend on a larger disk.",
        )


def _tets(job: Job) -> float:
    from ..tetrahedra.tet_count import expected_tets, measured

    measure, resolution = measured(job.body.surface, job.body.fineness), job.body.resolution
    if measure is None:
        return 0.0  # the tetrahedralisation tells
    return expected_tets(measure, resolution.method, resolution.cells_across, resolution.finest)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if os.path.isdir(place))
