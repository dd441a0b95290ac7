"""``sinew bake``: a bake in this process, without a window. The result of a complete bake is saved in the .blend."""

from __future__ import annotations

import argparse
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import SinewError, StoreError, refusing
from ...core.foundation.events import ContactWarnings, Event, FrameDone, Mesh, Phase
from ...core.foundation.process.stop_signals import stop_signals
from ...core.foundation.unit_words import length_words
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ...core.jobs.store.store_lock import locked
from ...core.simulation.frame_loop import bake as library
from ..bake import background, bake_messages, baking
from ..bake.bake_queue import groups_in_order
from ..bake.batch_read import BatchRead
from ..jobs.state_machine import Stage, Started, State, transition
from ..scene_import.job_in import group_steps
from ..setup import defaults
from ..window.stepwise import at_once
from .bodies import all_in_one, bodies_of_scene, check_loaded
from .console import ConsoleReporter, say
from .export import EngineForm, check_formats, export_bodies
from .plan import tell_plan
from .render import render_frames
from .scenes import active, in_scene


def main(options: argparse.Namespace, tell: ConsoleReporter) -> int:
    """Bake the scene's bodies, then save, export and render as ``options`` ask. Returns the exit code."""
    check_loaded()
    with in_scene(options, tell) as opened_in:
        return _bake_scene(options, opened_in, tell)


def _bake_scene(options: argparse.Namespace, opened_in: Any, tell: ConsoleReporter) -> int:
    """Bake the active scene's bodies, save, export and render; return the exit code."""
    bodies = bodies_of_scene(options.object)
    check_formats(options.export)
    _tell_of_blocked_python(tell)
    keep_current = options.resume or options.update
    with stop_signals() as caught:
        changed, refused = _bake_all(bodies, options, caught, tell)
        if caught:
            return _stopped(caught, tell)
        if not options.dry_run:
            _keep(options, changed, refused, opened_in, tell)
        if refused:
            raise all_in_one(refused, len(bodies))
        if options.dry_run:
            return 0
        blend = Path(options.output or bpy.data.filepath).absolute()
        form = EngineForm(options.engine_form.upper(), count=options.engine_count)
        export_bodies(bodies, options.export, blend, keep_current, form, tell)
        if options.render:
            render_frames(say, caught, keep_current)
            if caught:
                return _stopped(caught, tell)
    return 0


def _bake_all(
    bodies: list[Any], options: argparse.Namespace, caught: list[signal.Signals], tell: ConsoleReporter
) -> tuple[bool, list[SinewError]]:
    """Bake all bodies; return True if anything was baked, and the errors of failed contact groups."""
    for obj in bodies:
        if not ((options.resume or options.update) and baking.has_frames(obj)):
            defaults.refit_stiffness(obj, bpy.context)  # as Bake does in a window
    groups = groups_in_order(bodies, bpy.context)
    single = [group[0] for group in groups if len(group) == 1]
    changed, refused, together = False, [], BatchRead(single, options.frames, options.solver)
    for k, group in enumerate(groups):
        names = [obj.name for obj in group]
        try:
            jobs = at_once(group_steps(group, bpy.context, options.frames, options.solver, together.job_steps))
            if options.dry_run:
                for obj, job in zip(group, jobs):
                    tell_plan(obj, job, options, tell)
            else:
                changed |= _bake_group(group, jobs, options, caught, _Progress(names, tell, k, len(groups)))
        except SinewError as error:
            name = ", ".join(names)
            refused.append(type(error)(f"{name}: {error.message}", error.remedy))
            tell.event("failed", body=name, code=error.code, message=error.message, remedy=error.remedy)
            if len(groups) > 1:
                say(f"{name}: failed. {error}")
        if caught:
            break
    return changed, refused


def _keep(
    options: argparse.Namespace, changed: bool, refused: list[SinewError], opened_in: Any, tell: ConsoleReporter
) -> None:
    """Save the .blend, or a copy of it with ``--output``.

    A copy opens in the baked scene, since a farm renders the active scene. The .blend itself opens in ``opened_in``.
    """
    if options.output and not refused:
        _save_as(Path(options.output).absolute(), tell)
    elif changed and not options.output:
        with active(opened_in):
            _save(tell)
    elif not refused:
        say(f"{bpy.data.filepath} is complete")


def _bake_group(
    group: list[Any], jobs: list[Job], options: argparse.Namespace, caught: list[signal.Signals], progress: _Progress
) -> bool:
    """Bake a contact group; return False if all its bakes were already complete."""
    for obj in group:
        if options.result:
            obj.sinew.result = options.result.upper()
        elif options.output and obj.sinew.result == "CACHE":
            say(f"{obj.name}: the result is kept as shape keys, since a Mesh Cache file is not copied with --output")
            obj.sinew.result = "KEYS"
    complete, count = [_complete_before(obj) for obj in group], jobs[0].frame_count
    stores, resumes = _prepare(group, jobs, options)
    if resumes and all(complete) and all(len(store.frames()) == count for store in stores):
        for obj, kept in zip(group, complete):
            for name, value in kept.items():
                setattr(obj.sinew.bake, name, value)
        progress.say("complete, nothing to bake")
        progress.end("complete", count)
        return False
    progress.begin(count)
    progress.tell_of(group)
    modes = [baking.wanted_modes(obj) for obj in group]
    try:
        with ExitStack() as held:  # locked until the frames are in the scene
            for store in stores:
                held.enter_context(locked(store.folder))
            library.bake_group(jobs, stores, progress, lambda: bool(caught), resumes, modes)
            for k, (obj, store) in enumerate(zip(group, stores)):
                if not caught:
                    baking.note_meeting([obj], progress.state.warnings)
                    baking.note_separation([obj], progress.state.move)
                    bake_messages.note_mesh(obj, progress.state.mesh(k))
                    baking.put_result(obj, bpy.context, "DONE", store)
    except SinewError as error:
        baking.note_separation(group, getattr(error, "move", ()))
        background.apply_all(group, stores, "FAILED", str(error))  # may be saved with other bodies' bakes
        raise
    if caught:
        progress.end("stopped", len(stores[0].frames()))
        return True
    said = ((obj.sinew.stack_warning, obj.sinew.bake.left_behind, obj.sinew.bake.message) for obj in group)
    warnings = [words for each in said for words in each if words]
    for warning in dict.fromkeys(warnings):
        progress.warn(warning)
    record = group[0].sinew.bake
    for line in (*([record.error] if record.error else []), *record.report.splitlines()):
        progress.say(line)
    progress.end("done", count)
    return True


def _prepare(group: list[Any], jobs: list[Job], options: argparse.Namespace) -> tuple[list[FrameStore], bool]:
    """Return the frame store per body, and True if the bake resumes."""
    if options.resume or options.update:
        try:
            return baking.prepare_all(group, jobs, resume=True), True
        except StoreError as error:
            if options.resume:
                raise
            for obj in filter(baking.has_frames, group):
                say(f"{obj.name}: is baked again. {error.message}")
    return baking.prepare_all(group, jobs, resume=False), False


def _complete_before(obj: Any) -> dict[str, Any]:
    """Return the values in a complete bake's record that a new bake overwrites, or {}."""
    record = obj.sinew.bake
    if record.status != "DONE" or baking.astray_words(obj) or baking.kept_otherwise(obj):
        return {}
    kept = "status", "folder", "message", "stale", "material_warning", "pin_warning"
    return {name: getattr(record, name) for name in kept}


def _tell_of_blocked_python(tell: ConsoleReporter) -> None:
    if bpy.app.autoexec_fail:
        tell.warn(
            "",
            f"Python in the file was not run ({bpy.app.autoexec_fail_message}), so objects animated by "
            "Python do not move. If you trust the file, put --enable-autoexec before its name.",
        )


class _Progress:
    """Reporter of the bake of one contact group on the console. ``bodies``: total number of contact groups."""

    def __init__(self, names: list[str], tell: ConsoleReporter, before: int, bodies: int) -> None:
        self._tell, self._bodies_before, self._bodies = tell, before, bodies
        self._names, self._name = names, ", ".join(names)
        self.state = State(Stage.READ)

    def begin(self, frames: int) -> None:
        """Start the clock, and set the total number of frames."""
        self.state = transition(self.state, Started(frames), time.monotonic())

    def tell_of(self, group: list[Any]) -> None:
        """Report the warnings on materials, pins and colliders that are known before the bake."""
        for obj in group:
            record, of_colliders = obj.sinew.bake, bake_messages.colliders_in_renders(obj, bpy.context)
            for warning in filter(None, (record.material_warning, record.pin_warning, of_colliders)):
                self.warn(warning)

    def __call__(self, event: Event) -> None:
        before, self.state = self.state, transition(self.state, event, time.monotonic())
        match event:
            case Phase():
                self._tell_phase(event, is_new=event.phase != before.phase.phase)
            case Mesh():
                self._tell_mesh(event)
            case ContactWarnings(warnings):
                for warning in warnings:
                    self.warn(warning)
            case FrameDone(frame, seconds):
                self._tell_frame(frame, seconds)

    def _tell_phase(self, event: Phase, is_new: bool) -> None:
        phase, about = event.phase, {"done": event.done, "total": event.total}
        if phase == "compile":  # the only report for a minute or two
            self.say(f"compile {event.done}/{event.total} (once after an installation)")
        elif is_new:
            self.say(phase)
        if is_new:
            self._tell.progress(self._part(), f"{self._name}: {phase}")
        self._tell.event("phase", body=self._name, phase=phase, **about)

    def _tell_mesh(self, mesh: Mesh) -> None:
        name = self._names[self.state.body]
        body = f"{length_words(mesh.size)} across, {mesh.mass:.3g} kg"
        say(f"{name}: {mesh.vertices} vertices, {mesh.tets} tetrahedra; {body}")
        if mesh.match:
            say(f"{name}: {mesh.match}")
        about = {name: getattr(mesh, name) for name in ("vertices", "tets", "mass", "volume", "size", "match")}
        self._tell.event("mesh", body=name, **about)
        for warning in mesh.warnings:
            self._tell.warn(name, warning)

    def _tell_frame(self, frame: int, seconds: float) -> None:
        now, state = time.monotonic(), self.state
        done, total, left = state.frames_there, state.frames_total, state.remaining(now)
        self.say(f"frame {frame} ({done}/{total}) elapsed {now - state.started:.0f} s, remaining {left:.0f} s")
        about = {"frame": frame, "done": done, "total": total, "seconds": seconds, "remaining": left}
        self._tell.event("frame", body=self._name, **about)
        self._tell.progress(self._part(), f"{self._name}: frame {frame} ({done}/{total})")

    def _part(self) -> float:
        """Return the finished fraction of all contact groups, 0 to 1."""
        state = self.state
        return (self._bodies_before + state.frames_there / max(1, state.frames_total)) / self._bodies

    def say(self, text: str) -> None:
        """Print one line, after the names of the bodies."""
        say(f"{self._name}: {text}")

    def warn(self, text: str) -> None:
        self._tell.warn(self._name, text)

    def end(self, outcome: str, frames: int) -> None:
        """Report the ``outcome`` of the bake and its number of ``frames`` on disk."""
        self._tell.event("body", body=self._name, outcome=outcome, frames=frames)


def _stopped(caught: list[signal.Signals], tell: ConsoleReporter) -> int:
    tell.event("stopped", signal=caught[0].name)
    say(f"stopped by {caught[0].name}; continue with --resume")
    return 128 + caught[0]


def _save(tell: ConsoleReporter) -> None:
    remedy = "Make the file writable; --resume then saves the result without simulating again."
    with refusing(f"The bake is done, but {bpy.data.filepath} cannot be saved", remedy, of=RuntimeError):
        bpy.ops.wm.save_mainfile()
    say(f"saved {bpy.data.filepath}")
    tell.event("saved", path=bpy.data.filepath)


def _save_as(path: Path, tell: ConsoleReporter) -> None:
    """Save a copy of the open .blend, with relative paths adjusted."""
    remedy = "Choose another --output; --resume then saves the result without simulating again."
    with refusing(f"The bake is done, but {path} cannot be saved", remedy, of=(RuntimeError, OSError)):
        path.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, relative_remap=True)
    say(f"saved {path}")
    tell.event("saved", path=str(path))
