"""Playback of a body's vibration mode in the 3D Views, drawn in front of the mesh; the scene is unchanged.

Draw handlers and timer are removed at Esc, at an undo or a file load, and if the body is deleted, edited, no longer
active, prepared again or simulated live. Mode and amplitude are properties of the workspace, so that changing them
is not an undo step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import StoreError
from ...core.jobs.store.cached_shapes import Shapes, cached_shapes
from ...core.jobs.store.frame_store import FrameStore
from ..cache import frame_folders
from ..drawing import screen
from ..drawing.gpu_mode import swing_batch
from ..drawing.gpu_overlay import Painter, View
from ..drawing.layer import Layer, Made
from ..live import live
from ..objects import duplicate_result
from ..picking import picking_view
from ..setup.unit_format import frequency_of, pace_words, slower, vibration_factor
from ..window import redraw, visibility

TICK = 1.0 / 30.0
"""Interval between two redraws, in s."""


class ModePlayback(Layer):
    """Draw handler of the chosen vibration of a body; StoreError if its mode shapes are not on disk."""

    FAILED = "The vibration cannot be drawn ({error})."

    def __init__(self, obj: Any) -> None:
        self._uid, self._name = obj.session_uid, obj.name
        self._frequencies = frequencies_of(obj)
        self._shapes = shapes_of(obj)
        self._painter, self._batch = Painter(), Made()
        self._began, self._reason = time.monotonic(), ""
        super().__init__()

    @property
    def object(self) -> Any | None:
        """Return the body, or None if it was deleted."""
        return visibility.object_of(self._uid, self._name)

    def goes_on(self) -> bool:
        """Return True while the playback may continue."""
        obj = self.object
        if obj is None or obj.mode != "OBJECT" or live.current() is not None:
            return False
        windows = bpy.context.window_manager.windows
        is_active = any(duplicate_result.resolve_body(window.view_layer.objects.active) == obj for window in windows)
        return is_active and frequencies_of(obj) == self._frequencies

    def part(self, obj: Any, settings: Any, now: float) -> float:
        """Return the displacement of the mode's farthest point at a time, s, as a fraction of the body's size."""
        hertz = pace(obj, chosen(obj, settings))
        return settings.swing * math.sin(2.0 * math.pi * hertz / slower(hertz) * (now - self._began))

    def draw_view(self, context: Any) -> None:
        """Draw the vibrating surface in front of everything else in the view."""
        if (seen := self._seen(context)) is None:
            return
        obj, settings, region = self.object, context.workspace.sinew, context.region_data
        number, matrix = chosen(obj, settings), np.array(seen.matrix_world)
        batch = self._batch.get(number, lambda: swing_batch(self._shapes, number, matrix))
        view = View(region.view_matrix, region.window_matrix, in_front=True)
        self._painter.swing(batch, view, matrix, self.part(obj, settings, time.monotonic()))

    def draw_over(self, context: Any) -> None:
        """Draw the mode's number and frequency."""
        if self._seen(context) is None:
            return
        obj = self.object
        number = chosen(obj, context.workspace.sinew)
        words = f"Vibration {number + 1}: {pace_words(pace(obj, number))}"
        screen.write_lines(context, [self._reason or words])

    def refuse(self, reason: str, way: Callable[[Any], None]) -> None:
        """Stop drawing by this callback, and show the reason."""
        self._reason = reason
        super().refuse(reason, way)

    def _seen(self, context: Any) -> Any | None:
        """Return the object that a view shows of the body; None if it shows none, or the playback is about to end."""
        space = context.space_data
        return picking_view.seen_as(self.object, space) if space is not None and self.goes_on() else None


_swing: ModePlayback | None = None


def current() -> ModePlayback | None:
    """Return the running playback, if any."""
    return _swing


def begin(obj: Any) -> None:
    """Play the chosen vibration of a body; StoreError if it is not on disk."""
    global _swing
    stop()
    _swing = ModePlayback(obj)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=TICK)


def stop() -> None:
    """Stop the playback; the timer ends itself at its next call."""
    global _swing
    if _swing is not None:
        _swing.remove()
        _swing = None
        redraw.redraw()


def tick() -> float | None:
    """Timer callback; return the seconds until its next call, or None if nothing is played."""
    if _swing is not None and not _swing.goes_on():
        stop()
    if _swing is None:
        return None
    redraw.redraw_views()
    return TICK


def chosen(obj: Any, settings: Any) -> int:
    """Return the index of the vibration chosen in a workspace's settings."""
    return min(settings.active_vibration, len(obj.sinew.bake.vibrations) - 1)


def pace(obj: Any, number: int) -> float:
    """Return the simulated frequency, Hz, of the vibration with this index."""
    return frequency_of(obj.sinew.bake.vibrations[number], vibration_factor(obj.sinew, number))


def frequencies_of(obj: Any) -> list[float]:
    """Return the frequencies of a body's table, Hz, which identify its mode shapes on disk."""
    return [each.frequency for each in obj.sinew.bake.vibrations]


def shapes_of(obj: Any) -> Shapes:
    """Return the mode shapes of a body's table from its bake or live store; StoreError if neither has them."""
    wanted = np.array(frequencies_of(obj))
    for folder in (frame_folders.recorded_folder(obj), frame_folders.live_path(obj)):
        shapes = None if folder is None else cached_shapes(FrameStore(folder))
        if shapes is not None and len(shapes.frequencies) == len(wanted) > 0:
            if np.allclose(shapes.frequencies, wanted, rtol=1e-6, atol=0.0):
                return shapes
    raise StoreError("These vibrations are not on disk any more.", "Press Find Vibrations.")


@bpy.app.handlers.persistent
def stop_before(*_: Any) -> None:
    """Stop the playback before an undo, a redo or a file load replaces the mesh."""
    stop()


def unregister() -> None:
    """Stop the playback and unregister the timer."""
    stop()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)


HANDLERS = (("load_pre", stop_before), ("undo_pre", stop_before), ("redo_pre", stop_before))
