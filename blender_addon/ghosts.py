"""Draws the ghosts of comparisons into the 3D Views, at the scene's frame, over the bodies that they belong to."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..core.errors import PreviewError, StoreError
from . import comparing, picking_view
from .bridge.ghost_out import GhostBatch, GhostFrames, GhostPainter, nearest
from .bridge.overlay_out import View

add_handler, remove_handler = bpy.types.SpaceView3D.draw_handler_add, bpy.types.SpaceView3D.draw_handler_remove


class GhostOf:
    """The ghost of one body: its frames on the disk, and the one that is on the card."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._job_time = _time(folder / "job.npz")
        self._frames = GhostFrames(folder)
        self._listed_at, self._numbers = -1, []
        self._drawn: tuple[int, int, GhostBatch] | None = None

    def is_of(self, folder: Path) -> bool:
        """Whether it shows what lies in a folder now."""
        return folder == self.folder and _time(folder / "job.npz") == self._job_time

    def batch(self, frame: int) -> GhostBatch | None:
        """What is drawn at a frame, or None; a StoreError where that cannot be read."""
        changed = _time(self.folder)
        if changed != self._listed_at:
            self._listed_at, self._numbers = changed, self._frames.numbers()
        shown = nearest(self._numbers, frame)
        if shown is None:
            return None
        written = _time(self.folder / f"frame_{shown:06d}.sinew")
        if self._drawn is None or self._drawn[:2] != (shown, written):
            self._drawn = shown, written, GhostBatch(self._frames, shown)
        return self._drawn[2]


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


class Ghosts:
    """The draw handler, and what it keeps from one drawing to the next."""

    def __init__(self) -> None:
        self._painter = GhostPainter()
        self._ghosts: dict[int, GhostOf] = {}
        self._bodies: tuple[float, list[int]] = (0.0, [])
        self._handler = add_handler(self._draw_view, (), "WINDOW", "POST_VIEW")

    def remove(self) -> None:
        """Draw no more."""
        remove_handler(self._handler, "WINDOW")
        self.forget()

    def forget(self) -> None:
        """Free what is on the card: it comes back when it is drawn."""
        self._ghosts, self._bodies = {}, (0.0, [])

    def _draw_view(self) -> None:
        context = bpy.context
        space = context.space_data
        if space is None or context.region_data is None or not space.overlay.show_overlays:
            return
        bodies = [obj for obj in self.bodies(context.scene) if obj.sinew.compare.show]
        if not bodies:
            return
        view = View(context.region_data.view_matrix, context.region_data.window_matrix)
        for obj in bodies:
            shown = picking_view.seen_as(obj, space)
            if shown is not None:
                self._draw_ghost(obj, shown, view, context.scene.frame_current)

    def bodies(self, scene: Any) -> list[Any]:
        """Bodies of a scene that have a ghost; looked for now and then, in all scenes: windows may show several."""
        at, uids = self._bodies
        if time.monotonic() - at > comparing.LOOK:
            candidates = (obj for obj in bpy.data.objects if obj.type == "MESH" and obj.sinew.enabled)
            uids = [obj.session_uid for obj in candidates if comparing.seen(obj).folder is not None]
            self._bodies = time.monotonic(), uids
            self._ghosts = {uid: ghost for uid, ghost in self._ghosts.items() if uid in uids}
        return [obj for obj in scene.objects if obj.session_uid in uids] if uids else []

    def ghost(self, obj: Any) -> GhostOf | None:
        """The ghost of a body, or None; a StoreError where it cannot be read."""
        folder = comparing.seen(obj).folder
        if folder is None or not os.path.isfile(folder / "job.npz"):
            self._ghosts.pop(obj.session_uid, None)
            return None
        kept = self._ghosts.get(obj.session_uid)
        if kept is None or not kept.is_of(folder):
            kept = self._ghosts[obj.session_uid] = GhostOf(folder)
        return kept

    def _draw_ghost(self, obj: Any, shown: Any, view: View, frame: int) -> None:
        compare = obj.sinew.compare
        try:
            ghost = self.ghost(obj)
            batch = None if ghost is None else ghost.batch(frame)
            if batch is not None:
                self._painter.draw(batch, view, np.array(shown.matrix_world), tuple(compare.color))
        except (StoreError, PreviewError) as error:
            comparing.refuse(obj, str(error))


_ghosts: Ghosts | None = None


def register() -> None:
    """Begin to draw ghosts."""
    global _ghosts
    _ghosts = Ghosts()
    bpy.app.handlers.load_pre.append(forget)


def unregister() -> None:
    """The reverse; the card's memory is free."""
    global _ghosts
    bpy.app.handlers.load_pre.remove(forget)
    comparing.forget()
    if _ghosts is not None:
        _ghosts.remove()
    _ghosts = None


@bpy.app.handlers.persistent
def forget(*_: Any) -> None:
    """Another file is loaded."""
    comparing.forget()
    if _ghosts is not None:
        _ghosts.forget()
