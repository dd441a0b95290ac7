"""``sinew bake``: a bake without a window, in this process. The result is the .blend itself: it is saved with it when
the bake is complete.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import SinewError, StoreError
from ...core.simulation import bake as library
from ...core.simulation.frame_store import FrameStore
from ...core.simulation.job import Job
from ...core.simulation.lengths import length_words
from ...core.simulation.store_lock import locked
from .. import background, baking
from . import last_line
from .bodies import bodies_of_scene
from .render import render_frames
from .signals import stop_signals


def main(options: argparse.Namespace) -> int:
    """Bake, save, render; the exit code."""
    bodies = bodies_of_scene(options.object)
    _tell_of_blocked_python()
    with stop_signals() as caught:
        changed, refused = _bake_all(bodies, options, caught)
        if caught:
            return _stopped(caught)
        if options.output and not refused:
            _save_as(Path(options.output).absolute())
        elif changed and not options.output:
            _save()
        elif not refused:
            _say(f"{bpy.data.filepath} is complete")
        if refused:
            raise _all_in_one(refused, len(bodies))
        if options.render:
            render_frames(_say, caught, keep_current=options.resume or options.update)
            if caught:
                return _stopped(caught)
    return 0


def _bake_all(
    bodies: list[Any], options: argparse.Namespace, caught: list[signal.Signals]
) -> tuple[bool, list[SinewError]]:
    """Bake the bodies until a signal comes; whether anything had to be done, and what some were refused for, which
    hinders the others as little as with Bake All.
    """
    changed, refused = False, []
    for obj in bodies:
        try:
            changed |= _bake_one(obj, options, caught)
        except SinewError as error:
            refused.append(type(error)(f"{obj.name}: {error.message}", error.remedy))
            if len(bodies) > 1:
                _say(f"{obj.name}: failed. {error}")
        if caught:
            break
    return changed, refused


def _all_in_one(refused: list[SinewError], total: int) -> SinewError:
    """One error for all, which says which bodies it is about."""
    if len(refused) == 1:
        return refused[0]
    return SinewError(f"{len(refused)} of {total} bodies failed. " + " ".join(str(error) for error in refused), "")


def _bake_one(obj: Any, options: argparse.Namespace, caught: list[signal.Signals]) -> bool:
    """Bake one body; whether anything had to be done."""
    if options.result:
        obj.sinew.result = options.result.upper()
    elif options.output and obj.sinew.result == "CACHE":
        _say(f"{obj.name}: a cache file would stay behind: the result lies on shape keys")
        obj.sinew.result = "KEYS"
    complete = _complete_before(obj)
    job, store, resumes = _prepare(obj, options)
    if resumes and complete and len(store.frames()) == job.frame_count:
        for name, value in complete.items():
            setattr(obj.sinew.bake, name, value)
        _say(f"{obj.name}: complete, nothing to bake")
        return False
    progress = _Progress(obj.name, job.frame_count)
    for warning in filter(None, (obj.sinew.bake.material_warning, obj.sinew.bake.pin_warning)):
        progress.say(f"warning: {warning}")
    modes = baking.wanted_modes(obj)
    try:
        with locked(store.folder):  # until the frames are in the scene
            library.bake(job, store, progress, should_stop=lambda: bool(caught), resume=resumes, modes=modes)
            if not caught:
                baking.note_mesh(obj, progress.mesh)
                baking.put_result(obj, bpy.context, "DONE", store)
    except SinewError as error:
        background.apply(obj, store.folder, "FAILED", str(error))  # with others' bakes, this may be saved
        raise
    if not caught:
        record = obj.sinew.bake
        warning = [f"warning: {words}" for words in (record.left_behind, record.message) if words]
        error = [record.error] if record.error else []
        for line in (*warning, *error, *record.report.splitlines()):
            progress.say(line)
    return True


def _prepare(obj: Any, options: argparse.Namespace) -> tuple[Job, FrameStore, bool]:
    """Job, store, and whether its frames are gone on with."""
    if options.resume or options.update:
        try:
            return *baking.prepare_resume(obj, bpy.context, options.frames, options.solver), True
        except StoreError as error:
            if options.resume:
                raise
            if baking.has_frames(obj):
                _say(f"{obj.name}: bakes anew. {error.message}")
    return *baking.prepare(obj, bpy.context, options.frames, options.solver), False


def _complete_before(obj: Any) -> dict[str, Any]:
    """What the record of a bake that is done and in place says, as far as preparing the next one overwrites it; else
    nothing."""
    record = obj.sinew.bake
    if record.status != "DONE" or baking.astray_words(obj) or baking.kept_otherwise(obj):
        return {}
    kept = "status", "folder", "message", "stale", "material_warning", "pin_warning"
    return {name: getattr(record, name) for name in kept}


def _tell_of_blocked_python() -> None:
    if bpy.app.autoexec_fail:
        _say(
            f"warning: Python in the file was not run ({bpy.app.autoexec_fail_message}), so what it moves stands "
            "still. If you trust the file, say --enable-autoexec before its name."
        )


class _Progress:
    """Prints the events of a bake to stderr."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._before, self._done = name, total, 0, 0
        self._start = self._first = time.monotonic()
        self._phase = ""
        self.mesh: dict[str, Any] = {}

    def __call__(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "phase" and event["phase"] == "simulate":
            self._before, self._first = event["done"], time.monotonic()
        if kind == "phase" and event["phase"] != self._phase:
            self._phase = event["phase"]
            self.say(self._phase)
        elif kind == "mesh":
            self.mesh = event
            body = f"{length_words(event['size'])} across, {event['mass']:.3g} kg"
            self.say(f"{event['vertices']} vertices, {event['tets']} tetrahedra; {body}")
            for warning in event.get("warnings", ()):
                self.say(f"warning: {warning}")
        elif kind == "frame":
            self._done += 1
            now = time.monotonic()
            done = self._before + self._done
            left = (now - self._first) / self._done * max(0, self._total - done)
            times = f"elapsed {now - self._start:.0f} s, remaining {left:.0f} s"
            self.say(f"frame {event['frame']} ({done}/{self._total}) {times}")

    def say(self, text: str) -> None:
        """Print one line that begins with the body's name."""
        _say(f"{self._name}: {text}")


def _stopped(caught: list[signal.Signals]) -> int:
    _say(f"stopped by {caught[0].name}; go on with --resume")
    return 128 + caught[0]


def _say(text: str) -> None:
    print(f"sinew: {text}", file=sys.stderr, flush=True)


def _save() -> None:
    try:
        bpy.ops.wm.save_mainfile()
    except RuntimeError as error:
        raise StoreError(
            f"The bake is done, but {bpy.data.filepath} cannot be saved ({last_line(error)}).",
            "Make the file writable; --resume then saves the result without simulating again.",
        ) from error
    _say(f"saved {bpy.data.filepath}")


def _save_as(path: Path) -> None:
    """Save the result as another .blend, whose relative paths are made to fit, those of bakes by ``save_handlers``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, relative_remap=True)
    except (RuntimeError, OSError) as error:
        raise StoreError(
            f"The bake is done, but {path} cannot be saved ({last_line(error)}).",
            "Choose another --output; --resume then saves the result without simulating again.",
        ) from error
    _say(f"saved {path}")
