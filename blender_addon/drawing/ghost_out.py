"""A second bake as a ghost on the graphics card: the surface that was simulated, at one frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.mesh.vertex_normals import vertex_normals
from ...core.store.frame_store import FrameStore
from ..cache.frame_folders import written
from ..result_out.frames_out import local_frames
from .card import batch_of, vertices_of
from .layer import Made


class Ghost:
    """The frames of a second bake in the object's own coordinates, the one that is shown on the card; a StoreError
    where they cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = FrameStore.open(folder)
        self._job = self._store.job()
        self._triangles = self._job.body.surface.triangles
        # Triangles go around by the right hand in world space.
        self._outwards = 1.0 if np.linalg.det(self._job.body.object_to_world[0][:3, :3]) > 0.0 else -1.0
        self._numbers: Made[list[int]] = Made()
        self._batch: Made[Any] = Made()

    def numbers(self) -> list[int]:
        """Frames that can be shown by now, ascending."""
        return [frame for frame in self._store.frames() if frame >= self._job.first_shown]

    def at(self, frame: int) -> np.ndarray:
        """Positions (n,3) float32."""
        return next(local_frames(self._job, [frame], self._store.read))

    def batch(self, frame: int) -> Any | None:
        """The surface that is shown at a frame, or None."""
        shown = nearest(self._numbers.get(written(self._folder), self.numbers), frame)
        if shown is None:
            return None
        made_for = shown, written(self._folder / f"frame_{shown:06d}.sinew")
        return self._batch.get(made_for, lambda: self._batch_at(shown))

    def _batch_at(self, frame: int) -> Any:
        positions = self.at(frame)
        normals = self._outwards * vertex_normals(positions, self._triangles)
        ones = np.ones(len(positions))
        vertices = vertices_of(position=np.column_stack([positions, ones]), normal=np.column_stack([normals, ones]))
        return batch_of("TRIS", vertices, self._triangles)


def nearest(frames: list[int], frame: int) -> int | None:
    """The frame that is shown: the newest up to ``frame``, the first before it; None without any."""
    return max((f for f in frames if f <= frame), default=frames[0] if frames else None)
