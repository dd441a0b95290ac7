"""Overlay of comparisons in the 3D Views: the ghost of each compared body at the current frame.

A ghost is the body's second bake with other settings, drawn as a translucent surface.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import PreviewError, StoreError
from ..bake import comparison
from ..cache.frame_folders import written
from ..drawing import screen
from ..drawing.gpu_ghost import Ghost
from ..drawing.gpu_overlay import Painter, View
from ..drawing.layer import Layer, Made
from ..drawing.preview_colours import as_shown
from ..jobs import job_queue
from ..live.live_scene import is_rendering
from ..objects.modifier_stack import subdivision_after
from ..picking import picking_view
from ..window.redraw import redraw_views
from . import mode_playback

SOON = 0.1
"""Delay, s, from a redraw to a check for changed Subdivision modifiers."""


class CompareView(Layer):
    """Draw handler of the ghosts of compared bodies, with cached GPU batches.

    A ghost is the body's second bake with other settings, drawn as a translucent surface.
    """

    def __init__(self) -> None:
        self._painter, self._timer = Painter(), self.subdivide
        self.forget()
        super().__init__()

    @property
    def handlers(self) -> dict[str, Callable[..., None]]:
        """Handlers by the name of their list in ``bpy.app.handlers``."""
        return {"load_pre": self.forget}

    @bpy.app.handlers.persistent
    def forget(self, *_: Any) -> None:
        """Drop cached comparisons and GPU batches, before Blender loads a file (handler of ``load_pre``)."""
        comparison.forget()
        self._refused = []
        self._ghosts: dict[int, Made[Ghost]] = {}
        self._bodies: tuple[float, list[int]] = (0.0, [])

    def draw_view(self, context: Any) -> None:
        """Draw the visible ghosts (second bakes) of compared bodies."""
        space = context.space_data
        if space is None or context.region_data is None or not space.overlay.show_overlays:
            return
        view = View(context.region_data.view_matrix, context.region_data.window_matrix)
        for obj in self.bodies(context.scene):
            shown = picking_view.seen_as(obj, space) if obj.sinew.compare.show else None
            if shown is not None:
                self._draw_ghost(obj, shown, view, context.scene.frame_current)
                if not bpy.app.timers.is_registered(self._timer):
                    bpy.app.timers.register(self._timer, first_interval=SOON)

    def draw_over(self, context: Any) -> None:
        """Draw a label for the ghost (second bake) of each compared body, in the ghost's colour."""
        space = context.space_data
        if space is None or not space.overlay.show_overlays:
            return
        work = job_queue.current()
        if (
            mode_playback.current() is not None or work is not None and work.order.mode == "live"
        ):  # vibrations and live mode write in the same corner
            return
        lines, colours = [], []
        for obj in self.bodies(context.scene):
            made = self._ghosts.get(obj.session_uid)
            if made is not None and made.value is not None and self._is_shown(obj, space):
                words = comparison.ghost_words(obj, made.value.job)
                lines += words
                colours += [self._label_colour(obj), *[screen.WHITE] * (len(words) - 1)]
        screen.write_lines(context, lines, colours)

    @staticmethod
    def _is_shown(obj: Any, space: Any) -> bool:
        return obj.sinew.compare.show and picking_view.seen_as(obj, space) is not None

    @staticmethod
    def _label_colour(obj: Any) -> screen.Colour:
        """Return the colour of a ghost's label, half the ghost's colour and half white."""
        return (*(0.5 + 0.5 * as_shown(np.array(obj.sinew.compare.color[:3]))), 1.0)

    def remove(self) -> None:
        """Remove the draw handlers and the timer."""
        super().remove()
        if bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.unregister(self._timer)

    def subdivide(self) -> None:
        """Apply the Subdivision modifiers of compared bodies to their ghosts (second bakes), called by a timer.

        During a render, or while a task reads the scene, nothing is done: reading disables modifiers.
        """
        # Imports SciPy, which must not delay Blender's start.
        from ..scene_import.subdivision_in import cage_of, settings_of

        if is_rendering() or job_queue.reading() is not None:
            return
        for obj in [obj for obj in bpy.data.objects if obj.session_uid in self._ghosts]:
            ghost, carrier = self._ghosts[obj.session_uid].value, obj.sinew.bake.result or obj
            if ghost is None or carrier.mode == "EDIT" or not obj.users_scene:
                continue
            subdivision = subdivision_after(obj, obj.users_scene[0], carrier)
            if ghost.subdivide(cage_of(carrier.data), None if subdivision is None else settings_of(*subdivision)):
                comparison.refuse(obj, ghost.coarser)
                redraw_views()

    def bodies(self, scene: Any) -> list[Any]:
        """Return the bodies of a scene that have a ghost (second bake). The search is repeated every
        ``comparison.LOOK`` s.
        """
        at, uids = self._bodies
        if time.monotonic() - at > comparison.LOOK:
            candidates = (obj for obj in bpy.data.objects if obj.type == "MESH" and obj.sinew.enabled)
            uids = [obj.session_uid for obj in candidates if comparison.seen(obj).belongs]
            self._bodies = time.monotonic(), uids
            self._ghosts = {uid: ghost for uid, ghost in self._ghosts.items() if uid in uids}
        return [obj for obj in scene.objects if obj.session_uid in uids] if uids else []

    def ghost(self, obj: Any) -> Ghost | None:
        """Return a body's ghost (second bake), or None. Raises StoreError if the ghost's frames cannot be read."""
        folder = comparison.seen(obj).folder
        job_written = -1 if folder is None else written(folder / "job.npz")
        if job_written < 0:
            self._ghosts.pop(obj.session_uid, None)
            return None
        return self._ghosts.setdefault(obj.session_uid, Made()).get((folder, job_written), lambda: Ghost(folder))

    def _draw_ghost(self, obj: Any, shown: Any, view: View, frame: int) -> None:
        try:
            ghost = self.ghost(obj)
            batch = None if ghost is None else ghost.batch(frame)
            if batch is not None:
                self._painter.ghost(batch, view, np.array(shown.matrix_world), tuple(obj.sinew.compare.color))
        except (StoreError, PreviewError) as error:
            comparison.refuse(obj, str(error))
