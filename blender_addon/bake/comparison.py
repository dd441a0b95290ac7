"""Comparison of a body's bake to a second bake with other settings (the *ghost*): distance and computing times.

The ghost is stored on disk only, in a folder beside that of the bake. The scene is not changed, so there is nothing to
undo. After Save As, the new .blend reads frames and ghost of the original .blend until the new .blend has frames of its
own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...core.foundation.errors import SettingsError, SinewError, StoreError
from ...core.jobs.checks.disk_space import ToBake, check_disk_space
from ...core.jobs.job.job import Job
from ...core.jobs.job.job_changes import described
from ...core.jobs.results.difference import Difference, cached_difference, find_difference
from ...core.jobs.store.frame_store import FrameStore
from ..cache import cache_owner, frame_folders
from ..jobs import job_queue
from ..jobs.process import Order
from ..jobs.task import Task
from ..objects.contact_groups import group_of, names_of
from ..properties import choices
from ..scene_import import job_in
from ..scene_import.settings_in import compared, frame_range
from ..setup import unit_format
from ..translations.translate import marked, translated
from ..window import visibility
from ..window.stepwise import Steps
from . import background, baking

LOOK = 0.5
"""Minimum seconds between two checks of the files on disk."""
BAKE = "compared"
"""Name of an entry in the store of a ghost (second bake of a comparison): a checksum of the bake to compare with."""
EQUAL = 1e-12
"""Largest vertex distance between a bake and its ghost (second bake of a comparison) that counts as equal, as a
fraction of the body's size.
"""


class Compared(NamedTuple):
    """Job and store of the ghost (second bake of a comparison).

    ``resume``: True if the second bake continues after the last frame in the store.
    ``words``: description of the settings changed for the ghost.
    """

    job: Job
    store: FrameStore
    resume: bool
    words: str


# -- folders ----------------------------------------------------------------------------------------------------------


def ghost_folder(obj: Any) -> Path | None:
    """Return the folder of a body's ghost (second bake of a comparison), or None.

    The folder is beside the body's own frame folder, or beside the folder in the bake record, which may belong to
    another .blend.
    """
    homes = () if obj.sinew.bake.is_deleted else (_home(obj), frame_folders.recorded_folder(obj))
    folders = (frame_folders.compare_path(home) for home in homes if home is not None)
    return next((folder for folder in folders if os.path.isfile(folder / "job.npz")), None)


def _home(obj: Any) -> Path | None:
    """Return the body's frame folder, or None before the file is saved."""
    recorded = frame_folders.recorded_folder(obj)
    if recorded is not None and cache_owner.is_own(obj):
        return recorded
    return frame_folders.default_folder(obj) if frame_folders.has_home() else None


# -- the two bakes ----------------------------------------------------------------------------------------------------


def last_frame(obj: Any, scene: Any) -> int:
    """Return the last frame to compare.

    This is the last frame of the body's bake range. If *Whole Range* in the Compare panel is off, the panel's setting
    *End* limits the frame.
    """
    last = frame_range(obj.sinew, scene)[1]
    return last if obj.sinew.compare.whole_range else min(last, obj.sinew.compare.frame_end)


def missing_steps(obj: Any) -> Steps[bool]:
    """Check a body's bake before the ghost (second bake of a comparison) is computed.

    The generator yields the fraction done. The result is True if the body's bake has to begin or continue first. An
    incomplete bake is not continued if the scene was edited since. Raises StoreError if the frames of a complete bake
    are missing on disk, or if the frames on disk are not displayed.
    """
    record = obj.sinew.bake
    if not baking.has_frames(obj):
        if record.status == "DONE":
            raise StoreError("The frames of the bake are not on disk any more.", "Press Bake Again first.")
        return True
    if record.status == "NONE":
        raise StoreError("The scene does not display the frames on disk.", "Press Resume or Bake first.")
    if record.status == "DONE" or baking.shown_store(obj).frames()[-1] >= last_frame(obj, bpy.context.scene):
        return False
    group = group_of(obj, bpy.context)
    jobs = yield from job_in.group_steps(group, bpy.context)
    return not baking.find_changes(obj, jobs[group.index(obj)])


def begin(obj: Any, context: Any) -> None:
    """Begin the tasks of a comparison.

    Missing frames of the body's bake are computed first, then the ghost (second bake with other settings). Raises
    SinewError if the comparison is refused or another task runs.
    """
    obj.sinew.compare.message = ""
    until = last_frame(obj, context.scene)

    def follows(_work: Task, obj: Any, is_missing: bool) -> list[Task]:
        return [*[background.work_on(obj, "", until)] * is_missing, work_on(obj)]

    job_queue.begin(Task(obj.session_uid, obj.name, missing_steps, follows, note_error, here=follows))


def work_on(obj: Any) -> Task:
    """Return the task that computes the ghost (second bake of a comparison).

    The task also computes the distance of the ghost from the body's bake.
    """
    words = {"title": translated("Ghost"), "again": "Press Compare again."}
    return Task(obj.session_uid, obj.name, second_steps, _start, note_error, here=_work_here, **words)


def note_error(obj: Any, error: Exception | str) -> None:
    """Store an error in the compare settings, for the panel."""
    obj.sinew.compare.message = str(error)


def _start(work: Task, obj: Any, second: Compared) -> None:
    look_again(obj)
    work.take = partial(_take, words=second.words)
    work.start(Order(second.store.folder, "resume" if second.resume else "bake", second.job.frame_count))


def _work_here(_work: Task, obj: Any, second: Compared) -> None:
    from ...core.simulation.frame_loop.bake import bake

    bake(second.job, second.store, resume=second.resume)
    find_difference(baking.shown_store(obj), second.store, second.words)
    look_again(obj)


def second_steps(obj: Any) -> Steps[Compared]:
    """Read the job of the ghost (second bake of a comparison), and open the ghost's store.

    The generator yields the fraction done. A store that matches the job is resumed. Otherwise a new store is created.
    Raises SinewError if there is nothing to compare.
    """
    from ...core.jobs.checks.memory import check_before_tetrahedra

    if obj.sinew.bake.status == "FAILED":
        raise StoreError("The bake has failed, so there is nothing to compare with.", "See the message under Bake.")
    first = baking.shown_store(obj)
    theirs, frames = first.job(), first.frames()
    end = min(frames[-1] if frames else theirs.frame_start, last_frame(obj, bpy.context.scene))
    if end <= theirs.first_shown:
        raise StoreError("Fewer than two baked frames can be compared.", "Bake more, or raise End under Compare.")
    frames, other = (theirs.first_shown, end), obj.sinew.compare
    own = yield from job_in.job_steps(obj, bpy.context, frames, substeps=other.substeps)
    if len(own.body.surface.positions) != len(theirs.body.surface.positions):
        raise SettingsError(
            "The vertices of the mesh differ from those of the bake.", "Undo that edit, or press Bake Again."
        )
    # Compare simulates the body without its contact partners, which does not make the bake out of date.
    group = {name: getattr(theirs.body, name) for name in ("contact_with", "group_members", "group_index")}
    for solver in choices.compared_solver_names(obj.sinew):
        job = compared(own, other, solver)
        if words := differences(first, theirs, job.with_body(**group)):
            break
    else:
        raise SettingsError(
            "Nothing differs from the bake, so a second bake would give the same frames.",
            "Choose another solver or other settings under Compare, or edit the body.",
        )
    job.check()
    check_before_tetrahedra(job)
    store = FrameStore(frame_folders.writable(frame_folders.compare_path(_home(obj))))
    resume = store.exists() and not store.outdated_by(job)
    check_disk_space(ToBake(job, store, len(store.frames()) if resume else 0))
    if not resume:
        store = FrameStore.create(store.folder, job)
        if job.fingerprints("mesh", "resolution").items() <= first.fingerprints().items():
            store.take_cached(first)
    store.write_cached(BAKE, {}, {"key": first.key()})
    return Compared(job, store, resume, "; ".join(filter(None, (words, alone_words(theirs.body.group_members)))))


def alone_words(others: Sequence[Any]) -> str:
    """Return a note that the ghost (second bake of a comparison) is simulated alone, or "".

    ``others``: the body's contact partners.
    """
    return (
        translated("The ghost is simulated alone and passes through {names}", names=names_of(others)) if others else ""
    )


def differences(first: FrameStore, theirs: Job, job: Job) -> str:
    """Describe how ``job`` differs from the job of the first bake, or "".

    Of the frame settings, only pre-roll and frame rate are compared.

    ``first``: store of the first bake.
    ``theirs``: job of the first bake.
    """
    parts = [part for part in first.outdated_by(job) if part != "frame range"]
    if parts == ["version"]:
        return "version of Sinew"
    if (theirs.pre_roll, theirs.frame_rate) != (job.pre_roll, job.frame_rate):
        parts.append("frame range")
    return ", ".join(described(parts, theirs, job))


def _take(work: Task, words: str) -> str:
    """Compute and store the distance between the bake and the ghost (second bake of a comparison)."""
    obj = visibility.object_of(work.object_uid)
    if obj is None:
        return ""
    message = work.state.message_with_remedy
    try:
        store = FrameStore.open(work.order.folder)
        if store.frames():
            find_difference(baking.shown_store(obj), store, words)
    except SinewError as error:
        message = message or str(error)
    obj.sinew.compare.message = message
    look_again(obj)
    return ""


def remove(obj: Any) -> None:
    """Delete the frames of a body's ghost (second bake of a comparison) on disk.

    If another object or .blend may use the frames, the ghost is only hidden. Raises StoreError if the frames cannot be
    deleted.
    """
    obj.sinew.compare.message = ""
    folder = ghost_folder(obj)
    if folder is None:
        return
    if not cache_owner.may_delete(obj, folder.with_name(folder.name.removesuffix("-compare"))):
        obj.sinew.compare.show = False
        return
    cache_owner.delete_folder(folder)
    look_again(obj)


# -- display ----------------------------------------------------------------------------------------------------------


class ShownComparison(NamedTuple):
    """Comparison of a body's bake to the ghost (second bake with other settings), as read from disk.

    Attributes
    ----------
    folder : folder of the ghost, or None
    belongs : True if the ghost was computed for the displayed bake
    difference : distance between ghost and bake; None if unknown
    stamp : checksum of the displayed bake and modification times of the files read
    looked : time of the last check of the files, s (monotonic clock)
    trouble : reason why the ghost is not drawn; "" if it is
    """

    folder: Path | None
    belongs: bool
    difference: Difference | None
    stamp: Any = None
    looked: float = 0.0
    trouble: str = ""


_seen: dict[int, ShownComparison] = {}
"""Comparison last read from disk for each body, by ``session_uid``."""


def seen(obj: Any) -> ShownComparison:
    """Return a body's comparison, as on disk.

    The files are checked at most once per ``LOOK`` seconds, so panels and drawing can call the function.
    """
    before = _seen.get(obj.session_uid)
    if before is not None and time.monotonic() - before.looked < LOOK:
        return before
    first, second = frame_folders.recorded_folder(obj), ghost_folder(obj)
    stamp, belongs, found = None, False, None
    if first is not None and second is not None:
        shows = obj.sinew.bake.shows
        files = first / "about.sinew", second / "difference.sinew", second / f"{BAKE}.sinew"
        stamp = shows, *((path, frame_folders.written(path)) for path in files)
        if before is not None and before.stamp == stamp:
            belongs, found = before.belongs, before.difference
        else:
            belongs = (FrameStore(second).about_cached(BAKE) or {}).get("key") == shows
            own = FrameStore(first)
            found = cached_difference(own, FrameStore(second)) if belongs and own.key() == shows else None
    trouble = before.trouble if before is not None and before.folder == second else ""
    _seen[obj.session_uid] = ShownComparison(second, belongs, found, stamp, time.monotonic(), trouble)
    return _seen[obj.session_uid]


def ghost_words(obj: Any, job: Job) -> list[str]:
    """Return the label of the ghost (second bake of a comparison), as lines of text.

    The label has solver and substeps of ``job``, then the settings that differ from the first bake, if known.
    """
    solver, found = job.body.solver, seen(obj).difference
    steps = translated("{count} substep" if solver.substeps == 1 else "{count} substeps", count=solver.substeps)
    label = f"{translated('Compare')}: {translated(solver.kind.label)}, {steps} (“{obj.name}”)"
    return [label, *([found.words] if found is not None else [])]


def refuse(obj: Any, trouble: str) -> None:
    """Record the reason why a body's ghost (second bake of a comparison) is not drawn.

    The reason is kept in memory, since drawing must not change the scene.
    """
    _seen[obj.session_uid] = seen(obj)._replace(trouble=trouble)


def forget() -> None:
    """Clear the comparisons read from disk, when another file is loaded."""
    _seen.clear()


def look_again(obj: Any) -> None:
    """Discard the comparison cached for a body."""
    _seen.pop(obj.session_uid, None)


def frame_words(found: Difference, frame: int, scene: Any) -> str:
    """Describe the largest and the mean vertex distance of a comparison's two bakes at a frame."""
    at = found.at(frame)
    if at is None:
        return translated("Frame {frame} is not compared", frame=frame)
    return f"{translated('Frame {frame}', frame=frame)}: {_apart(*at, found.size, scene)}"


def range_words(found: Difference, scene: Any) -> str:
    """Describe the largest and the mean vertex distance between two compared bakes over all compared frames."""
    first, last, worst = found.frames[0], found.frames[-1], found.worst
    where = (
        "" if found.largest[worst] <= EQUAL * found.size else translated(" (frame {frame})", frame=found.frames[worst])
    )
    apart = _apart(found.largest[worst], found.mean.mean(), found.size, scene, where)
    return f"{translated('Frames {first}-{last}', first=first, last=last)}: {apart}"


def _apart(largest: float, mean: float, size: float, scene: Any, where: str = "") -> str:
    if largest <= EQUAL * size:
        return translated("equal")
    at_most, usual = (
        f"{unit_format.size_words(float(length), scene)} ({_percent(length / size)})" for length in (largest, mean)
    )
    return translated("{at_most} apart at most{where}, {usual} on average", at_most=at_most, where=where, usual=usual)


def _percent(part: float) -> str:
    """Format a fraction in percent with two significant digits, or as less than 0.001 %."""
    return f"{float(f'{100.0 * part:.2g}'):g} %" if part >= 1e-5 else translated("less than 0.001 %")


def time_words(found: Difference) -> str:
    """Describe the computing time per frame, s, of a comparison's two bakes, or "" if unknown."""
    bake, ghost = found.seconds
    if bake <= 0.0 or ghost <= 0.0:
        return ""
    ratio = max(bake, ghost) / min(bake, ghost)
    if ratio < 1.05:
        which = translated("as long")
    else:
        which = translated("{ratio:.3g} times longer" if ghost > bake else "{ratio:.3g} times shorter", ratio=ratio)
    words = marked("A frame took {bake:.3g} s in the bake and {ghost:.3g} s in the ghost ({which})")
    return translated(words, bake=bake, ghost=ghost, which=which)
