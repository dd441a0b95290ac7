"""Check before a bake that its files fit on the disk."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from ...foundation.errors import StoreError
from ..job.job import Job
from ..store.frame_store import FrameStore


class ToBake(NamedTuple):
    """Planned bake of the body of ``job`` into ``store``.

    ``kept_frames``: number of first frames in the store that the bake keeps. If 0, the bake first deletes all contents
        of the store.
    ``with_cache``, ``with_stress``: True to write a point cache, and the stress on the surface, too.
    """

    job: Job
    store: FrameStore
    kept_frames: int = 0
    with_cache: bool = False
    with_stress: bool = False

    @property
    def need(self) -> float:
        """Disk space, bytes, of the files that the bake has yet to write."""
        from .costs import body_bytes, frame_bytes  # loads Numba, which Blender's start must not do

        job, points = self.job, len(self.job.body.surface.positions)
        frames = frame_bytes(points, job.frame_count, self.with_cache, self.with_stress)
        frames -= frame_bytes(points, self.kept_frames, with_stress=self.with_stress)
        return frames + (0.0 if self.kept_frames else body_bytes(_tets(job), job.body.solver, job.body.has_contact))


def check_disk_space(*together: ToBake, deletable: float = 0.0) -> None:
    """Check that bakes of bodies, which are baked together, fit on their disks.

    ``deletable``: space that can be freed on each disk, bytes.

    Raises StoreError if a disk has too little space.
    """
    from .costs import size_words

    disks = defaultdict(list)
    for each in together:
        disks[os.stat(_existing(each.store.folder)).st_dev].append(each)
    for those in disks.values():
        need, folder = sum(each.need for each in those), those[0].store.folder
        room = shutil.disk_usage(_existing(folder)).free + deletable
        room += sum(each.store.size_on_disk() for each in those if not each.kept_frames)
        if need > room:
            raise StoreError(
                f"The bake needs about {size_words(need)} on disk, and {folder} has {size_words(room)} left.",
                "Free disk space, or bake into a folder on a larger disk: for a .blend, save it there.",
            )


def _tets(job: Job) -> float:
    from ...geometry.tetrahedra.tet_count import expected_tets, measure_surface

    measure, resolution = measure_surface(job.body.surface, job.body.refinement), job.body.resolution
    if measure is None:
        return 0.0  # tetrahedralisation reports it
    return expected_tets(measure, resolution.method, resolution.cells_across, resolution.refine_factor)


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest existing folder above it."""
    return next(directory for directory in (folder, *folder.absolute().parents) if os.path.isdir(directory))
