"""A bake from start to end, as buttons and the command line share it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...core.foundation.errors import SinewError, StoreError, refusing
from ...core.foundation.files import array_file
from ...core.jobs.checks.disk_space import ToBake, check_disk_space
from ...core.jobs.job.job import Job
from ...core.jobs.store.cached_handles import cached_handles
from ...core.jobs.store.frame_store import FrameStore
from ...core.jobs.store.shared_cache import copy_cached_from
from ...core.jobs.store.store_lock import locked
from ..cache import cache_owner, frame_folders, undone_bakes
from ..jobs.process import LOG_NAME
from ..objects.contact_groups import group_of
from ..properties import choices
from ..scene_export import exported
from ..scene_export.frames_out import apply_cache, apply_frames, apply_handles, lost_words, remove_result
from ..scene_import import job_in
from ..scene_import.mesh_in import unit_scale
from ..setup import forecasts
from . import bake_messages, outdated

if TYPE_CHECKING:
    from ...core.jobs.results.bake_report import BakeReport

_ANOTHER = "Cache does not match the displayed bake."


def check_folder(obj: Any, mode: str = "") -> None:
    """StoreError where it can be told before the scene is read that ``mode`` has no place for its frames, or none to go
    on with.
    """
    frame_folders.home_folder()
    if mode == "resume":
        open_store(obj)


def prepare(obj: Any, job: Job) -> FrameStore:
    """The store on disk of a fresh bake, emptied of earlier frames; a SinewError when the object cannot be baked, with
    nothing on disk touched.
    """
    check(job)  # the frames of the bake before are still there
    folder = cache_owner.folder_to_write(obj)
    lenders = [FrameStore(folder) for folder in (frame_folders.live_path(obj), frame_folders.unsaved_live_path(obj))]
    try:
        lenders += keep_earlier(obj, job, folder)
        store = FrameStore.create(folder, job)
    except StoreError:
        cache_owner.delete_empty(folder)
        undone_bakes.restore_shown()
        raise
    copy_cached_from(store, lenders, job.body.solver.modes)
    _note_folder(obj, store)
    bake_messages.note_warnings(obj, job)
    outdated.note_read(obj, store.folder, bpy.context.scene)
    return store


def keep_earlier(obj: Any, job: Job, folder: Path) -> list[FrameStore]:
    """Keep the frames of an earlier bake in ``folder`` for an undo if the disk has room for both bakes. Return the
    store to which they were moved, if the job can take its tetrahedra. StoreError without room for the job.
    """
    with_cache = obj.sinew.result == "CACHE"
    if undone_bakes.has_frames(folder):
        with contextlib.suppress(StoreError):
            check_disk_space(ToBake(job, FrameStore(undone_bakes.free_path(folder)), with_cache=with_cache))
            lends = FrameStore(folder).has_tetrahedra_of(job)
            kept = undone_bakes.keep(folder)
            return [FrameStore(kept)] if lends else []
        undone_bakes.delete_kept()
    check_disk_space(ToBake(job, FrameStore(folder), with_cache=with_cache))
    return []


def prepare_all(bodies: Sequence[Any], jobs: Sequence[Job], resume: bool) -> list[FrameStore]:
    """:func:`prepare`, or :func:`prepare_resume`, of bodies that are baked together: where one is refused, the others
    are as they were.
    """
    each, together = list(zip(bodies, jobs)), []
    for obj, job in each if len(each) > 1 else ():
        store = open_store(obj) if resume else FrameStore(cache_owner.folder_to_write(obj))
        if resume and (changed := store.changes(job)):
            raise job_in.out_of_date(changed)
        check(job)
        kept = len(store.frames()) if resume else 0
        together.append(ToBake(job, store, kept, obj.sinew.result == "CACHE"))
        if store.exists():
            with locked(store.folder):  # another Blender at work is told
                pass
    check_disk_space(*together)
    return [(prepare_resume if resume else prepare)(obj, job) for obj, job in each]


def live_store(obj: Any, job: Job) -> FrameStore:
    """The store that live mode keeps, and what is found before any bake; modes are lent by the bake's, or by that of
    before the file was saved.
    """
    store = FrameStore.create(frame_folders.live_folder(obj), job)
    lenders = [FrameStore(frame_folders.unsaved_live_path(obj))]
    if has_store(obj):
        lenders.append(open_store(obj))
    copy_cached_from(store, lenders, job.body.solver.modes)
    return store


def check(job: Job) -> None:
    """All that can be told of a new bake before anything is done."""
    from ...core.jobs.checks.memory import check_before_tetrahedra

    job.check()
    check_before_tetrahedra(job)


def prepare_resume(obj: Any, job: Job) -> FrameStore:
    """The store of an interrupted bake; StoreError when there is none, or the scene was edited."""
    changed = open_store(obj).changes(job)
    if changed:
        raise job_in.out_of_date(changed)
    store = own_store(obj)
    with locked(store.folder):  # another Blender at work is told before the child is started
        store.mend_job(job)
    check_disk_space(ToBake(job, store, len(store.frames()), obj.sinew.result == "CACHE"))
    _note_folder(obj, store)
    bake_messages.note_warnings(obj, job)
    outdated.note_read(obj, store.folder, bpy.context.scene)
    return store


def open_store(obj: Any) -> FrameStore:
    """The store of the object's last bake; StoreError when there is none."""
    recorded = folder = frame_folders.recorded_folder(obj)
    if folder is None or not os.path.isdir(folder):
        folder = frame_folders.default_folder(obj)
    if not os.path.isdir(folder) and obj.sinew.bake.folder and obj.sinew.bake.frames:
        raise StoreError(
            f"The frames of the bake of “{obj.name}” are not in {recorded or obj.sinew.bake.folder}.",
            "Press Bake Again: an undo brings no deleted files back. Frames of what was appended are looked for where "
            "its file was saved last, unless on another computer: put them there, or beside the .blend, to go on with "
            "them.",
        )
    if not os.path.isdir(folder) or obj.sinew.bake.is_deleted:
        raise StoreError(f"“{obj.name}” has no baked frames to go on from.", "Bake it first.")
    store = FrameStore.open(folder)
    store.check_about()
    return store


def shown_store(obj: Any) -> FrameStore:
    """:func:`open_store`, for who tells of the result: StoreError where that is of other frames."""
    store = open_store(obj)
    if obj.sinew.bake.status != "NONE" and store.frames() and store.key() != obj.sinew.bake.shows:
        raise StoreError(_ANOTHER, "Press Bake Again; or, where a take or a bake was undone, redo it (Shift Ctrl Z).")
    return store


def own_store(obj: Any, shown: bool = False) -> FrameStore:
    """:func:`open_store`, or :func:`shown_store`, to write to: frames that belong to another object or .blend too are
    copied first, those of a name that the .blend had before are moved.
    """
    store = shown_store(obj) if shown else open_store(obj)
    if store.folder != frame_folders.recorded_folder(obj) or not cache_owner.make_own(obj):
        return store
    return open_store(obj)


def is_elsewhere(obj: Any) -> bool:
    """Return True if frames of the object are on disk, but not where the open .blend has its own (cheap: for the
    panel).
    """
    folder = frame_folders.recorded_folder(obj)
    if folder is None or not frame_folders.has_home() or not os.path.isdir(folder):
        return False
    return folder.parent != Path(os.path.normpath(frame_folders.home_folder()))


def bring_frames(obj: Any) -> None:
    """Have the frames beside the open .blend; StoreError when that fails."""
    open_store(obj)  # it is one, and of this version
    cache_owner.bring(obj)


def has_store(obj: Any) -> bool:
    """Return True if frames of the object may be on disk (cheap: for buttons)."""
    folder = frame_folders.recorded_folder(obj) or (
        frame_folders.default_folder(obj) if frame_folders.has_home() else None
    )
    return folder is not None and not obj.sinew.bake.is_deleted and os.path.isfile(folder / "job.npz")


def has_frames(obj: Any) -> bool:
    """Return True if at least one frame of the object may be on disk (Tetrahedralize leaves a store without any)."""
    if not has_store(obj):
        return False
    try:
        with os.scandir(frame_folders.recorded_folder(obj) or frame_folders.default_folder(obj)) as entries:
            return any(entry.name.startswith("frame_") for entry in entries)
    except OSError:  # a folder that may be entered, but not listed
        return False


def mode_of(obj: Any, job: Job) -> str:
    """``resume`` where frames on disk can be gone on with, else ``bake``; a StoreError where going on is refused for a
    bake that would be lost.
    """
    if not has_frames(obj):
        return "bake"
    if obj.sinew.bake.status != "NONE":
        return "resume"
    return "bake" if find_changes(obj, job) else "resume"


def mode_of_all(bodies: Sequence[Any], jobs: Sequence[Job]) -> str:
    """:func:`mode_of` bodies that are baked together; a StoreError where only some of them are baked."""
    modes = {obj.name: mode_of(obj, job) for obj, job in zip(bodies, jobs)}
    if len(set(modes.values())) > 1:
        fresh, baked = ([name for name, mode in modes.items() if mode == each] for each in ("bake", "resume"))
        raise StoreError(
            f"“{baked[0]}” is baked, but not together with “{fresh[0]}”, with which it collides.",
            "Press Bake on one of them to bake them together.",
        )
    return modes[bodies[0].name]


def replaced_words(obj: Any) -> str:
    """Return a warning about frames that a new bake of the object would replace; "" if there are none."""
    record = obj.sinew.bake
    if record.status != "NONE" and record.frames:
        frames = f"The {record.frames} baked frames ({record.first_frame}-{record.first_frame + record.frames - 1})"
    elif has_frames(obj):
        frames = "Existing frames"
    else:
        return ""
    return f"{frames} of “{obj.name}” will be deleted when the file is saved."


def put_result(obj: Any, context: Any, status: str, store: FrameStore) -> int:
    """Turn the frames of a store into the result that the artist wants; how many. ``status`` is DONE, STOPPED or
    FAILED. Handles have to be in the store already; where they are not, or would make parts cross, shape keys stand in.
    """
    record, modes = obj.sinew.bake, wanted_modes(obj)
    job = store.job()
    frames = [frame for frame in store.frames() if frame >= job.first_shown]
    handles = cached_handles(job, store, modes) if modes and frames else None
    touches = job.body.contact.self_contact or job.body.colliders or len(group_of(obj, context)) > 1
    crossing = handles.crossing_words(job.body.surface.size) if handles is not None and touches else ""
    if handles is not None and not crossing:
        apply_handles(obj, context, job, handles)
        record.modes = 0 if choices.solver_kind(job.body.solver.solver).takes_modes else modes
        record.error = handles.error_words(job.body.surface.size)
    elif frames and obj.sinew.result == "CACHE":
        apply_cache(obj, context, job, frames, store.read, store.folder)
        record.error = ""
    elif frames:
        apply_frames(obj, context, job, frames, store.read)
        record.error = ""
        if modes:
            missing = "The result lies on shape keys for now: press Resume, or Convert Result."
            record.message = record.message or crossing or missing
    else:
        remove_result(obj)  # of a bake that this one has replaced
    bake_messages.note_warnings(obj, job)
    record.status = status
    record.frames = len(frames)
    record.first_frame = frames[0] if frames else job.first_shown
    from ...core.jobs.checks.costs import size_words  # loads Numba, which Blender      's start should not wait for

    record.size = size_words(store.size_on_disk())
    cache_owner.note_folder(obj, store.folder)  # anew: an undo during the bake has taken it away
    shows = store.key() if frames else ""
    outdated.note_shown(obj, store.folder, bpy.context.scene, record.shows != shows)
    record.stale, record.shows = "", shows
    if frames:
        note_report(obj, store)
    elif status == "FAILED" and discard_bare(store):
        record.folder = record.size = ""
    return len(frames)


def discard_bare(store: FrameStore) -> bool:
    """Return True if a store that has neither frames nor tetrahedra was deleted: that of a job that was refused."""
    log = store.folder / LOG_NAME
    if not store.is_empty() or os.path.isfile(log) and log.stat().st_size:  # of a failure that is to be reported
        return False
    cache_owner.delete_folder(store.folder)
    return True


def is_baked(obj: Any) -> bool:
    """Return True if frames of the object are in the scene."""
    return obj.sinew.bake.status != "NONE" and obj.sinew.bake.frames > 0 and not lost_words(obj)


def astray_words(obj: Any) -> str:
    """Return a warning if the result differs from the frames on disk, since its shapes were deleted by hand, or the
    frames are of a later bake that was undone or not saved with the .blend; else "". Cheap enough for a panel.
    """
    return lost_words(obj) or (_ANOTHER if _shows_another(obj) else "")


def _shows_another(obj: Any) -> bool:
    record, folder = obj.sinew.bake, frame_folders.recorded_folder(obj)
    if record.status == "NONE" or not record.shows or folder is None:
        return False
    store = FrameStore(folder)
    return store.exists() and store.key() != record.shows


def export(bodies: Sequence[Any], context: Any, path: Path, kind: str) -> tuple[int, int]:
    """Write the results of baked bodies to an ``ALEMBIC`` or ``USD`` file, which takes its name when it is whole; the
    frames that it holds, first and last. StoreError where it cannot be written.
    """
    records = [obj.sinew.bake for obj in bodies]
    carriers = [obj if obj.sinew.bake.on_itself else obj.sinew.bake.result for obj in bodies]
    frames = min(r.first_frame for r in records), max(r.first_frame + r.frames - 1 for r in records)
    remedy = "Check the folder, and that the bodies are visible."
    refused = refusing(f"{path} cannot be written", remedy, of=(RuntimeError, OSError))
    # Blender's exporters follow links.
    with refused, array_file.whole_files(path.parent) as folder:
        exported.export(carriers, context, folder / path.name, kind, frames)
    return frames


def wanted_modes(obj: Any) -> int:
    """Modes of the handles that the artist wants; 0 for shape keys."""
    return obj.sinew.result_modes if obj.sinew.result == "NODES" else 0


def kept_otherwise(obj: Any) -> bool:
    """Return True if the result of a bake is kept in another form than the settings ask for."""
    record, modes = obj.sinew.bake, wanted_modes(obj)
    if record.status == "NONE" or not record.frames:
        return False
    return record.kind != obj.sinew.result or bool(modes and record.modes and record.modes != modes)


def delete(obj: Any) -> str:
    """Remove the baked shapes, and the frames on disk when the .blend is saved without them: until then an undo
    restores them. On a full disk they are deleted at once. Frames that another object or .blend may need stay.

    Return a warning of files that stay because nothing says that they are a bake's, or "". StoreError, with the scene
    as it was, where nothing can be deleted on the disk.
    """
    folder, record = frame_folders.recorded_folder(obj), obj.sinew.bake
    goes = folder is not None and os.path.isdir(folder) and cache_owner.may_delete(obj, folder)
    is_known = goes and FrameStore(folder).is_known()
    waits = is_known and undone_bakes.can_wait(folder)
    if is_known and not waits:
        cache_owner.delete_folder(folder)
        cache_owner.delete_folder(frame_folders.compare_path(folder))
    kept = record.folder, record.home
    remove_result(obj)
    obj.sinew.property_unset("bake")
    if waits:
        record = obj.sinew.bake
        record.folder, record.home, record.is_deleted = *kept, True
    if goes and not is_known:
        return f"The files in {folder} stay: nothing that can be read there says that they are a bake's"
    return ""


def delete_live(obj: Any) -> None:
    """Remove what live mode keeps of the object on disk."""
    for folder in {frame_folders.live_path(obj), frame_folders.unsaved_live_path(obj)}:
        cache_owner.delete_folder(folder)


def find_changes(obj: Any, job: Job) -> list[str]:
    """Words for what was edited since the bake, by a job of the scene as it is; empty when nothing was."""
    changed = open_store(obj).changes(job)
    words = ["version of Sinew" if part == "version" else part for part in changed]
    if lost_words(obj):
        return [*words, "baked shapes removed"]
    return [*words, "frames of a later bake"] if _shows_another(obj) else words


def report_of(obj: Any) -> BakeReport:
    """The story of the object's last bake, frame by frame; StoreError when there is none."""
    from ...core.jobs.results.bake_report import read_report

    store = shown_store(obj)
    if not store.frames():
        raise StoreError(f"“{obj.name}” has no baked frames.", "Bake it first.")
    return read_report(store)


def note_report(obj: Any, store: FrameStore) -> None:
    """Keep the story of the bake for the panel, and a word of frames that did not converge."""
    from ...core.jobs.results.bake_report import read_report

    record, report = obj.sinew.bake, read_report(store)
    record.report = "\n".join(report.summary())
    record.linear_solver = report.linear_solver
    record.message = record.message or report.warning()
    forecasts.note_pace(store.job(), record, sum(frame.steps for frame in report.frames), report.seconds)


def note_error(obj: Any, error: SinewError | str) -> None:
    """Keep an error for the panel: the status bar forgets it."""
    obj.sinew.bake.message = str(error)


def note_meeting(bodies: Sequence[Any], warnings: Sequence[str]) -> None:
    """Keep for the panels of bodies that were baked together what of them does not meet others as it looks, in renders
    either.
    """
    for obj in bodies:
        of_renders = bake_messages.colliders_in_renders(obj, bpy.context)
        obj.sinew.bake.contact_warning = " ".join(filter(None, (*warnings, of_renders)))


def note_separation(bodies: Sequence[Any], move: Sequence[Any]) -> None:
    """Keep for the panels of bodies that were to be baked together which of them overlaps, and what frees it (as of
    ``errors.OverlapError``).
    """
    for obj in bodies if move else ():
        obj.sinew.bake.separation_object = bpy.data.objects.get(move[0])
        obj.sinew.bake.separation = [part / unit_scale(bpy.context.scene) for part in move[1]]


def _note_folder(obj: Any, store: FrameStore) -> None:
    cache_owner.note_folder(obj, store.folder)
    record = obj.sinew.bake
    record.message = ""
    record.stale, record.separation_object = "", None
    record.status = "NONE"
