"""Ghost, the translucent surface of a bake at one frame, drawn on the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.geometry.mesh.vertex_normals import vertex_normals
from ...core.jobs.store.frame_store import FrameStore
from ..cache.frame_folders import written
from ..scene_export.frames_out import local_frames
from .card import batch_of, vertices_of
from .layer import Made

if TYPE_CHECKING:
    from ...core.jobs.job.job import Job
    from ..scene_import.subdivision_in import Cage
    from .preview_fine import FineCard


class Ghost:
    """Baked frames in object space, one of them drawn as a translucent surface (ghost).

    The frames are read from the store in ``folder``. Raises StoreError if the frames cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = FrameStore.open(folder)
        self._job = self._store.job()
        self._triangles = self._job.body.surface.triangles
        # Triangles are oriented outwards in world space.
        self._outwards = 1.0 if np.linalg.det(self._job.body.object_to_world[0][:3, :3]) > 0.0 else -1.0
        self._numbers: Made[list[int]] = Made()
        self._batch: Made[Any] = Made()
        self._subdivided: Any = None
        self._fine: FineCard | None = None
        self.coarser = ""

    def subdivide(self, cage: Cage, settings: dict[str, Any] | None) -> bool:
        """Subdivide the drawn surface as a Subdivision modifier would.

        Returns True if the arguments differ from the last call. The attribute ``coarser`` is a warning if a lower level
        is drawn, otherwise "". Not callable in draw callbacks, since Blender evaluates the modifier.

        ``cage``: the modifier's input mesh.
        ``settings``: the modifier's settings, or None to remove the subdivision.
        """
        # Imports SciPy, which must not delay Blender's start.
        from ..scene_import.subdivision_in import coarser_words, subdivided
        from .preview_fine import FineCard

        if self._subdivided == (settings, cage.key):
            return False
        self._subdivided, self._fine, self._batch, self.coarser = (settings, cage.key), None, Made(), ""
        if settings is not None and cage.count == len(self._job.body.surface.positions):
            made = subdivided(cage, settings)
            self.coarser = coarser_words(made, settings["levels"])
            self._fine = None if made is None else FineCard(made, self._outwards < 0.0)
        return True

    @property
    def job(self) -> Job:
        """Job that the baked frames belong to."""
        return self._job

    def numbers(self) -> list[int]:
        """Return the frames on disk, in ascending order, without those of the pre-roll."""
        return [frame for frame in self._store.frames() if frame >= self._job.first_shown]

    def at(self, frame: int) -> np.ndarray:
        """Return the vertex positions (n,3) float32 at a frame, in object space and Blender units."""
        return next(local_frames(self._job, [frame], self._store.read))

    def batch(self, frame: int) -> Any | None:
        """Return the GPU batch of the baked surface at a frame.

        If ``frame`` is not on disk, the batch shows the last earlier frame on disk. Without an earlier frame, the batch
        shows the first frame on disk. Returns None if no frame is on disk.
        """
        shown = nearest(self._numbers.get(written(self._folder), self.numbers), frame)
        if shown is None:
            return None
        made_for = shown, written(self._folder / f"frame_{shown:06d}.sinew")
        return self._batch.get(made_for, lambda: self._batch_at(shown))

    def _batch_at(self, frame: int) -> Any:
        positions = self.at(frame)
        triangles = self._triangles
        if self._fine is None:
            normals = vertex_normals(positions, triangles)
        else:
            subdivided = self._fine.positions_of(positions)
            card = self._fine.at(subdivided)
            positions, normals, triangles = subdivided[card.vertices], card.normals, card.triangles
        ones = np.ones(len(positions))
        outwards = np.column_stack([self._outwards * normals, ones])
        return batch_of("TRIS", vertices_of(position=np.column_stack([positions, ones]), normal=outwards), triangles)


def nearest(frames: list[int], frame: int) -> int | None:
    """Return the last of the ascending ``frames`` up to ``frame``.

    If all ``frames`` are later, the first of them is returned. Returns None if ``frames`` is empty.
    """
    return max((f for f in frames if f <= frame), default=frames[0] if frames else None)
