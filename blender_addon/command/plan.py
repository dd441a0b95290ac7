"""``sinew bake --dry-run``: all checks before a bake, and its plan. Nothing is written."""

from __future__ import annotations

import argparse
from typing import Any

import bpy

from ...core.foundation.errors import StoreError
from ...core.jobs.checks.disk_space import check_disk_space
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ..bake import bake_messages, baking
from ..cache import frame_folders
from ..objects.render_differences import body_words
from ..scene_import import job_in
from ..setup import forecasts
from .console import ConsoleReporter, say


def tell_plan(obj: Any, job: Job, options: argparse.Namespace, tell: ConsoleReporter) -> None:
    """Report the plan for baking the body ``obj`` with its ``job``. Raises SinewError if a bake would be refused."""
    baking.check_folder(obj)
    baking.check(job)
    if options.frames:  # the file is not saved
        obj.sinew.use_scene_range = False
        obj.sinew.frame_start, obj.sinew.frame_end = options.frames
    obj.sinew.solver = options.solver or obj.sinew.solver
    begins, why = _first_frame(obj, job, options)
    if begins == job.frame_start:
        folder = frame_folders.recorded_folder(obj) or frame_folders.default_folder(obj)
        check_disk_space(baking.to_bake(obj, job, FrameStore(folder)))
    in_renders = body_words(obj, bpy.context.scene), bake_messages.colliders_in_renders(obj, bpy.context)
    found = obj.sinew.stack_warning, bake_messages.nowhere_words(job), bake_messages.no_pin_words(obj, job), *in_renders
    for warning in filter(None, found):
        tell.warn(obj.name, warning)
    frames = max(0, job.frame_end - begins + 1)
    cost, disk = forecasts.cost_words(obj, bpy.context)[0], forecasts.disk_words(obj, bpy.context)
    action = f"would bake frames {begins}-{job.frame_end}" if frames else "is complete, nothing to bake"
    said = ". ".join([f"{obj.name}: {action}", *([why] if why else []), f"{cost}, {disk} on disk in all"])
    say(said)
    first, last = (begins, job.frame_end) if frames else (None, None)
    tell.event("plan", body=obj.name, first=first, last=last, frames=frames, why=why, cost=cost, disk=disk)


def _first_frame(obj: Any, job: Job, options: argparse.Namespace) -> tuple[int, str]:
    """Return the first frame to bake, and a message about frames that the bake would replace."""
    if not options.resume and not options.update:
        return job.frame_start, baking.replaced_words(obj)
    try:
        store = baking.open_store(obj)
        if changed := store.changes(job):
            raise job_in.out_of_date(changed)
    except StoreError as error:
        if options.resume:
            raise
        return job.frame_start, error.message if baking.has_frames(obj) else ""
    last = store.last_state(job.frame_start)
    return (job.frame_start if last is None else last[0] + 1), ""
