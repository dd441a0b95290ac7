"""Overlay that shows the bodies of a running bake at the current frame.

While the current frame is not baked yet, the overlay shows the last baked frame before the current frame.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.errors import StoreError
from ..cache.frame_folders import recorded_folder
from ..drawing.gpu_ghost import Ghost
from ..drawing.gpu_overlay import Painter, View
from ..drawing.layer import Layer
from ..drawing.overlay_marks import NEWEST
from ..jobs import job_queue
from ..picking import picking_view
from ..window import visibility

OPACITY = 0.9


class BakeProgressView(Layer):
    """Draw handler of the bodies of a running bake, with cached GPU batches."""

    handlers: dict[str, Any] = {}

    def __init__(self) -> None:
        self._painter = Painter()
        self._of: Any = None
        self._ghosts: dict[Path, Ghost] = {}
        super().__init__()

    def draw_view(self, context: Any) -> None:
        """Draw the visible bodies of the running bake."""
        work, space = job_queue.current(), context.space_data
        if work is not self._of:
            self._of, self._ghosts = work, {}
        if work is None or work.state.newest is None or context.region_data is None or not space.overlay.show_overlays:
            return
        view = View(context.region_data.view_matrix, context.region_data.window_matrix)
        for obj in filter(None, map(visibility.object_of, work.uids)):
            seen, folder = picking_view.seen_as(obj, space), recorded_folder(obj)
            if seen is None or folder not in work.order.folders:  # comparisons are drawn by CompareView
                continue
            if (batch := self.batch(folder, context.scene.frame_current)) is not None:
                self._painter.ghost(batch, view, np.array(seen.matrix_world), (*NEWEST, OPACITY))

    def batch(self, folder: Path, frame: int) -> Any | None:
        """Return the GPU batch of a baked surface at ``frame``, or None without a readable frame.

        If ``frame`` is not on disk, the batch shows the last earlier frame on disk. Without an earlier frame, the batch
        shows the first frame on disk.

        ``folder``: folder of the frame store.
        """
        try:
            if folder not in self._ghosts:
                self._ghosts[folder] = Ghost(folder)
            return self._ghosts[folder].batch(frame)
        except StoreError:  # for example on a removed disk; the child process reports it
            return None
