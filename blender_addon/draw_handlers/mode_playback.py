"""Playback of a body's vibration in the 3D Views, without changes of the scene.

Playback ends when the artist presses Esc, undoes, loads a file or starts live mode, and when the body is deleted,
edited or no longer active, or its vibrations are computed again. The workspace stores the chosen vibration and its
amplitude, so that changing them adds no undo step.
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
from ..translations.translate import translated
from ..window import redraw, visibility

TICK = 1.0 / 30.0
"""Interval between two redraws, s."""


class ModePlayback(Layer):
    """Draw handler that plays the vibration chosen in the workspace, until :meth:`remove`.

    Raises StoreError if the body's mode shapes are not on disk.
    """

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
        """Body whose vibration is played, or None if it was deleted."""
        return visibility.object_of(self._uid, self._name)

    def goes_on(self) -> bool:
        """Return True while the playback may continue.

        The body must be active in Object Mode, with unchanged vibrations and without live mode.
        """
        obj = self.object
        if obj is None or obj.mode != "OBJECT" or live.current() is not None:
            return False
        windows = bpy.context.window_manager.windows
        is_active = any(duplicate_result.resolve_body(window.view_layer.objects.active) == obj for window in windows)
        return is_active and frequencies_of(obj) == self._frequencies

    def part(self, obj: Any, settings: Any, now: float) -> float:
        """Return the displacement of the vibration's antinode, as a signed fraction of the body's size.

        The antinode is the point with the largest amplitude. ``now``: time from ``time.monotonic``, s.
        """
        hertz = pace(obj, chosen(obj, settings))
        return settings.swing * math.sin(2.0 * math.pi * hertz / slower(hertz) * (now - self._began))

    def draw_view(self, context: Any) -> None:
        """Draw the vibrating surface in front of everything else."""
        if (seen := self._seen(context)) is None:
            return
        obj, settings, region = self.object, context.workspace.sinew, context.region_data
        number, matrix = chosen(obj, settings), np.array(seen.matrix_world)
        batch = self._batch.get(number, lambda: swing_batch(self._shapes, number, matrix))
        view = View(region.view_matrix, region.window_matrix, in_front=True)
        self._painter.swing(batch, view, matrix, self.part(obj, settings, time.monotonic()))

    def draw_over(self, context: Any) -> None:
        """Write the number and frequency of the vibration, or the reason why drawing failed."""
        if self._seen(context) is None:
            return
        obj = self.object
        number = chosen(obj, context.workspace.sinew)
        words = translated("Vibration {number}: {pace}", number=number + 1, pace=pace_words(pace(obj, number)))
        screen.write_lines(context, [self._reason or words])

    def refuse(self, reason: str, drawing: Callable[[Any], None]) -> None:
        """Stop the failed draw callback ``drawing``, and show the ``reason`` in the view."""
        self._reason = reason
        super().refuse(reason, drawing)

    def _seen(self, context: Any) -> Any | None:
        """Return the object that shows the body in this view, or None."""
        space = context.space_data
        return picking_view.seen_as(self.object, space) if space is not None and self.goes_on() else None


_swing: ModePlayback | None = None


def current() -> ModePlayback | None:
    """Return the running playback, or None."""
    return _swing


def begin(obj: Any) -> None:
    """Start the playback of the body's vibration that is chosen in the workspace.

    Raises StoreError if the mode shapes are not on disk.
    """
    global _swing
    stop()
    _swing = ModePlayback(obj)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=TICK)


def stop() -> None:
    """Stop the playback."""
    global _swing
    if _swing is not None:
        _swing.remove()
        _swing = None
        redraw.redraw()


def tick() -> float | None:
    """Redraw the views (timer). Returns the delay to the next call, s, or None without a playback."""
    if _swing is not None and not _swing.goes_on():
        stop()
    if _swing is None:
        return None
    redraw.redraw_views()
    return TICK


def chosen(obj: Any, settings: Any) -> int:
    """Return the index, from 0, of the vibration chosen in the workspace's ``settings``.

    An index beyond the body's vibrations becomes the index of the last one.
    """
    return min(settings.active_vibration, len(obj.sinew.bake.vibrations) - 1)


def pace(obj: Any, number: int) -> float:
    """Return the simulated frequency, Hz, of the vibration with the index ``number``, from 0.

    The user's stiffness factor of the vibration at the current frame is applied.
    """
    return frequency_of(obj.sinew.bake.vibrations[number], vibration_factor(obj.sinew, number))


def frequencies_of(obj: Any) -> list[float]:
    """Return the original frequencies, Hz, of all vibrations in the body's bake record.

    An original frequency is the one before the match to another mesh, and without a stiffness factor. The original
    frequencies identify the mode shapes on disk.
    """
    return [each.frequency for each in obj.sinew.bake.vibrations]


def shapes_of(obj: Any) -> Shapes:
    """Return the mode shapes of the vibrations in the body's bake record.

    The shapes come from the disk cache of the bake or, failing that, of live mode. Raises StoreError if neither cache
    has mode shapes with the frequencies in the record.
    """
    wanted = np.array(frequencies_of(obj))
    for folder in (frame_folders.recorded_folder(obj), frame_folders.live_path(obj)):
        shapes = None if folder is None else cached_shapes(FrameStore(folder))
        if shapes is not None and len(shapes.frequencies) == len(wanted) > 0:
            if np.allclose(shapes.frequencies, wanted, rtol=1e-6, atol=0.0):
                return shapes
    raise StoreError("The mode shapes of these vibrations are not on disk any more.", "Press Find Vibrations.")


@bpy.app.handlers.persistent
def stop_before(*_: Any) -> None:
    """Stop playback before Blender loads a file, undoes or redoes (handler)."""
    stop()


def unregister() -> None:
    """Stop playback and remove the timer."""
    stop()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)


HANDLERS = (("load_pre", stop_before), ("undo_pre", stop_before), ("redo_pre", stop_before))
