"""Steps of a bake that the buttons and the command line share: stores, checks, results and reports."""

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
from ..objects.bones import bone_of
from ..objects.contact_groups import group_of
from ..properties import choices
from ..scene_export import exported
from ..scene_export.frames_out import apply_cache, apply_frames, apply_handles, lost_words, remove_result
from ..scene_export.result_attributes import check_names, put_attributes, wanted_attributes
from ..scene_import import job_in
from ..scene_import.mesh_in import unit_scale
from ..translations.translate import marked, translated
from . import bake_messages, bone_bakes, outdated

if TYPE_CHECKING:
    from ...core.jobs.results.bake_report import BakeReport

_ANOTHER = "Cache does not match the displayed bake."


def check_folder(obj: Any, mode: str = "") -> None:
    """Check the folder of a body's frames, before the scene is read. Raises StoreError if the .blend has no folder for
    frames. With mode ``resume``, raises StoreError if the object has no store to resume from.
    """
    frame_folders.home_folder()
    if mode == "resume":
        open_store(obj)


def prepare(obj: Any, job: Job) -> FrameStore:
    """Create and return the store of a new bake. Raises SinewError if the job is refused, and keeps the displayed
    frames.
    """
    check(job)  # before earlier frames are moved
    check_names(obj)
    folder = cache_owner.folder_to_write(obj)
    lenders = [FrameStore(folder) for folder in (frame_folders.live_path(obj), frame_folders.unsaved_live_path(obj))]
    try:
        lenders += keep_earlier(obj, job, folder)
        store = FrameStore.create(folder, job, obj.sinew.attributes.stress)
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
    """Rename an earlier bake's ``folder``, so that an undo can restore the frames. Returns the renamed store in a list,
    or [] if the job cannot reuse the store's tetrahedra. If renaming fails or the disk lacks room for both, the folder
    stays, and all bakes kept for an undo are deleted. Raises StoreError if deletions would free too little. Nothing is
    then deleted.
    """
    planned = to_bake(obj, job, FrameStore(folder))
    if not undone_bakes.has_frames(folder):
        check_disk_space(planned)
        return []
    with contextlib.suppress(StoreError):
        check_disk_space(planned._replace(store=FrameStore(undone_bakes.free_path(folder))))
        lends = FrameStore(folder).has_tetrahedra_of(job)
        kept = undone_bakes.keep(folder)
        return [FrameStore(kept)] if lends else []
    check_disk_space(planned, deletable=sum(store.size_on_disk() for store in undone_bakes.deletable()))
    undone_bakes.delete_kept()
    return []


def to_bake(obj: Any, job: Job, store: FrameStore, kept_frames: int = 0) -> ToBake:
    """Return the planned bake of a body, for ``check_disk_space``."""
    return ToBake(job, store, kept_frames, obj.sinew.result == "CACHE", obj.sinew.attributes.stress)


def prepare_all(bodies: Sequence[Any], jobs: Sequence[Job], resume: bool) -> list[FrameStore]:
    """Check the jobs of bodies that are baked together, then prepare and return their stores. No store is changed
    before all jobs are checked. With ``resume``, :func:`prepare_resume` prepares the stores.
    """
    each, together = list(zip(bodies, jobs)), []
    for obj, job in each if len(each) > 1 else ():
        store = open_store(obj) if resume else FrameStore(cache_owner.folder_to_write(obj))
        if resume and (changed := store.changes(job)):
            raise job_in.out_of_date(changed)
        check(job)
        together.append(to_bake(obj, job, store, len(store.frames()) if resume else 0))
        if store.exists():
            with locked(store.folder):  # StoreError if another Blender uses it
                pass
    check_disk_space(*together)
    return [(prepare_resume if resume else prepare)(obj, job) for obj, job in each]


def live_store(obj: Any, job: Job) -> FrameStore:
    """Create and return the store of live mode or Find Vibrations for a job. Tetrahedra and modes are copied from the
    body's bake, or from the body's live store before the .blend was first saved.
    """
    store = FrameStore.create(frame_folders.live_folder(obj), job)
    lenders = [FrameStore(frame_folders.unsaved_live_path(obj))]
    if has_store(obj):
        lenders.append(open_store(obj))
    copy_cached_from(store, lenders, job.body.solver.modes)
    return store


def check(job: Job) -> None:
    """Raise SinewError if a job has invalid settings or needs too much memory. Nothing is written to disk."""
    from ...core.jobs.checks.memory import check_before_tetrahedra

    job.check()
    check_before_tetrahedra(job)


def prepare_resume(obj: Any, job: Job) -> FrameStore:
    """Return the store of an interrupted bake, prepared for more frames. Raises StoreError if there is no store, or if
    the scene was edited since.
    """
    changed = open_store(obj).changes(job)
    if changed:
        raise job_in.out_of_date(changed)
    store = own_store(obj)
    with locked(store.folder):  # StoreError if another Blender uses it
        store.mend_job(job)
    check_disk_space(to_bake(obj, job, store, len(store.frames())))
    _note_folder(obj, store)
    bake_messages.note_warnings(obj, job)
    outdated.note_read(obj, store.folder, bpy.context.scene)
    return store


def open_store(obj: Any) -> FrameStore:
    """Return the store of the object's last bake. Raises StoreError if there is none."""
    recorded = folder = frame_folders.recorded_folder(obj)
    if folder is None or not os.path.isdir(folder):
        folder = frame_folders.default_folder(obj)
    if not os.path.isdir(folder) and obj.sinew.bake.folder and obj.sinew.bake.frames:
        raise StoreError(
            f"The frames of the bake of “{obj.name}” are not in {recorded or obj.sinew.bake.folder}.",
            "Press Bake Again, since undo does not restore deleted files. For an appended object, you can copy its "
            "frames to sinew_cache beside this .blend, or beside the source .blend if it is on this computer.",
        )
    if not os.path.isdir(folder) or obj.sinew.bake.is_deleted:
        raise StoreError(f"“{obj.name}” has no baked frames to resume from.", "Bake it first.")
    store = FrameStore.open(folder)
    store.check_about()
    return store


def shown_store(obj: Any) -> FrameStore:
    """Return the store of the object's last bake, whose frames the scene displays. Raises StoreError if there is no
    store, or if the scene displays other frames.
    """
    store = open_store(obj)
    if obj.sinew.bake.status != "NONE" and store.frames() and store.key() != obj.sinew.bake.shows:
        raise StoreError(_ANOTHER, "Press Bake Again. If you undid a bake or live recording, redo it (Shift Ctrl Z).")
    return store


def own_store(obj: Any, shown: bool = False) -> FrameStore:
    """Return the store of the object's last bake, for writing. Frames are moved if the .blend was renamed. Frames that
    another object or another .blend also uses are copied. Raises StoreError for an object without a bake, or if the
    frames cannot be moved or copied. With ``shown``, raises StoreError if the scene displays frames of another store.
    """
    store = shown_store(obj) if shown else open_store(obj)
    if store.folder != frame_folders.recorded_folder(obj) or not cache_owner.make_own(obj):
        return store
    return open_store(obj)


def is_elsewhere(obj: Any) -> bool:
    """Return True if the object's frames are on disk outside the cache folder of the open .blend (cheap)."""
    folder = frame_folders.recorded_folder(obj)
    if folder is None or not frame_folders.has_home() or not os.path.isdir(folder):
        return False
    return folder.parent != Path(os.path.normpath(frame_folders.home_folder()))


def bring_frames(obj: Any) -> None:
    """Move or copy the object's frames into the cache folder of the open .blend. Raises StoreError on failure."""
    open_store(obj)  # StoreError unless it is a store of this version
    cache_owner.bring(obj)


def has_store(obj: Any) -> bool:
    """Return True if the object has a store on disk, with or without frames. Cheap enough for buttons."""
    folder = frame_folders.recorded_folder(obj) or (
        frame_folders.default_folder(obj) if frame_folders.has_home() else None
    )
    return folder is not None and not obj.sinew.bake.is_deleted and os.path.isfile(folder / "job.npz")


def has_frames(obj: Any) -> bool:
    """Return True if the object's store contains a frame file. A store of Tetrahedralize contains none."""
    if not has_store(obj):
        return False
    try:
        with os.scandir(frame_folders.recorded_folder(obj) or frame_folders.default_folder(obj)) as entries:
            return any(entry.name.startswith("frame_") for entry in entries)
    except OSError:  # no permission to list the folder
        return False


def mode_of(obj: Any, job: Job) -> str:
    """Return the bake mode of a body: ``resume`` or ``bake``. The mode is ``resume`` if frames on disk are displayed or
    match the job. Raises StoreError if the store cannot be read.
    """
    if not has_frames(obj):
        return "bake"
    if obj.sinew.bake.status != "NONE":
        return "resume"
    return "bake" if find_changes(obj, job) else "resume"


def mode_of_all(bodies: Sequence[Any], jobs: Sequence[Job]) -> str:
    """Return the mode, ``bake`` or ``resume``, of bodies baked together. Raises StoreError if their modes differ."""
    modes = {obj.name: mode_of(obj, job) for obj, job in zip(bodies, jobs)}
    if len(set(modes.values())) > 1:
        fresh, baked = ([name for name, mode in modes.items() if mode == each] for each in ("bake", "resume"))
        raise StoreError(
            f"“{baked[0]}” is baked, but not together with “{fresh[0]}”, with which it collides.",
            f"Press Bake on “{baked[0]}” or “{fresh[0]}” to bake both together.",
        )
    return modes[bodies[0].name]


def replaced_words(obj: Any) -> str:
    """Return a warning about frames that a new bake of the object would replace, or ""."""
    record, existing = obj.sinew.bake, marked("Existing frames of “{name}” will be deleted when the file is saved.")
    if record.status != "NONE" and record.frames:
        words = marked("The {count} baked frames ({first}-{last}) of “{name}” will be deleted when the file is saved.")
        first, last = record.first_frame, record.first_frame + record.frames - 1
        return translated(words, count=record.frames, first=first, last=last, name=obj.name)
    return translated(existing, name=obj.name) if has_frames(obj) else ""


def put_result(obj: Any, context: Any, status: str, store: FrameStore) -> int:
    """Turn the frames of a store into the result that the body displays. Returns the number of displayed frames. The
    artist has chosen the form. If skinning handles for Geometry Nodes are missing, or cause intersections in a body
    with contact, shape keys are made instead. A bone body's result is an action of its armature.
    ``status``: DONE, STOPPED or FAILED.
    """
    record, modes = obj.sinew.bake, wanted_modes(obj)
    job = store.job()
    frames = [frame for frame in store.frames() if frame >= job.first_shown]
    handles = cached_handles(job, store, modes) if modes and frames else None
    touches = job.body.contact.self_contact or job.body.colliders or len(group_of(obj, context)) > 1
    crossing = handles.crossing_words(job.body.surface.size) if handles is not None and touches else ""
    if frames and bone_of(obj) is not None:
        bone_bakes.take_off(obj)
    elif handles is not None and not crossing:
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
            missing = "The result uses shape keys for now. Press Resume or Convert Result for Geometry Nodes."
            record.message = record.message or crossing or missing
    else:
        remove_result(obj)  # left by the replaced bake
    if frames and record.kind != "BONES":
        record.message = put_attributes(obj, context, store, frames) or record.message
    bake_messages.note_warnings(obj, job)
    record.status, record.frames = status, len(frames)
    record.first_frame = frames[0] if frames else job.first_shown
    from ...core.jobs.checks.costs import size_words  # loads Numba, which would slow Blender's start

    record.size = size_words(store.size_on_disk())
    cache_owner.note_folder(obj, store.folder)  # again: an undo during the bake may have removed it
    shows = store.key() if frames else ""
    outdated.note_shown(obj, store.folder, bpy.context.scene, record.shows != shows)
    record.stale, record.shows = "", shows
    if frames:
        bake_messages.note_report(obj, store)
    elif status == "FAILED" and discard_bare(store):
        record.folder = record.size = ""
    if frames and record.kind == "BONES":
        bone_bakes.put_bones(obj, context)
    return len(frames)


def discard_bare(store: FrameStore) -> bool:
    """Delete the store that a refused job has left, if the store is empty. An empty store has no frames, no cached
    results (such as tetrahedra) and an empty log. Returns True if the store was deleted.
    """
    log = store.folder / LOG_NAME
    if not store.is_empty() or os.path.isfile(log) and log.stat().st_size:  # a failure was logged
        return False
    cache_owner.delete_folder(store.folder)
    return True


def is_baked(obj: Any) -> bool:
    """Return True if the scene displays baked frames of the object."""
    return obj.sinew.bake.status != "NONE" and obj.sinew.bake.frames > 0 and not lost_words(obj)


def astray_words(obj: Any) -> str:
    """Return a warning if the displayed result and the frames on disk differ, else "". The baked shapes were deleted by
    hand, or the frames belong to a later bake that was undone or not saved. Cheap enough for panels.
    """
    return lost_words(obj) or (_ANOTHER if _shows_another(obj) else "")


def _shows_another(obj: Any) -> bool:
    record, folder = obj.sinew.bake, frame_folders.recorded_folder(obj)
    if record.status == "NONE" or not record.shows or folder is None:
        return False
    store = FrameStore(folder)
    return store.exists() and store.key() != record.shows


def export(bodies: Sequence[Any], context: Any, path: Path, kind: str) -> tuple[int, int]:
    """Export the results of baked bodies to a file, completely or not at all. Returns the first and the last exported
    frame. Raises StoreError if the file cannot be written.
    ``kind``: ``ALEMBIC`` or ``USD``.
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
    """Return the number of modes that the artist chose for Geometry Nodes, or 0 for other results."""
    return obj.sinew.result_modes if obj.sinew.result == "NODES" else 0


def kept_otherwise(obj: Any) -> bool:
    """Return True if the settings ask for another kind of result, or number of modes, than the body displays."""
    record, modes = obj.sinew.bake, wanted_modes(obj)
    if record.status == "NONE" or not record.frames or record.kind == "BONES":
        return False
    if record.attributes.split() != wanted_attributes(obj):
        return True
    return record.kind != obj.sinew.result or bool(modes and record.modes and record.modes != modes)


def delete(obj: Any) -> str:
    """Remove the displayed result of a bake and delete its frames on disk. The frames are deleted when the .blend is
    saved, so that an undo can restore them until then. On an almost full disk, the frames are deleted at once. Frames
    that another object or .blend may use are kept. Returns a warning if the folder is kept because it was not
    recognized as a bake, else "". Raises StoreError, with the scene unchanged, if the frames cannot be deleted.
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
        return f"The files in {folder} are kept, since they were not recognized as a bake"
    return ""


def delete_live(obj: Any) -> None:
    """Delete the object's live-mode data on disk."""
    for folder in {frame_folders.live_path(obj), frame_folders.unsaved_live_path(obj)}:
        cache_owner.delete_folder(folder)


def find_changes(obj: Any, job: Job) -> list[str]:
    """Return labels of the inputs that differ between the stored job of the bake and the present ``job``, such as
    ``materials``. Further labels report deleted shapes, or frames of a later bake on disk.
    """
    changed = open_store(obj).changes(job)
    words = ["version of Sinew" if part == "version" else part for part in changed]
    if lost_words(obj):
        return [*words, "baked shapes removed"]
    return [*words, "frames of a later bake"] if _shows_another(obj) else words


def report_of(obj: Any) -> BakeReport:
    """Return the report of the object's last bake, frame by frame. Raises StoreError if there is no report."""
    from ...core.jobs.results.bake_report import read_report

    store = shown_store(obj)
    if not store.frames():
        raise StoreError(f"“{obj.name}” has no baked frames.", "Bake it first.")
    return read_report(store)


def note_error(obj: Any, error: SinewError | str) -> None:
    """Store an error in the bake record, for the panel."""
    obj.sinew.bake.message = str(error)


def note_meeting(bodies: Sequence[Any], warnings: Sequence[str]) -> None:
    """Store contact warnings in the bake records of bodies that were baked together, for the panel. Colliders that
    differ between viewports and renders add a warning per body.
    """
    for obj in bodies:
        of_renders = bake_messages.colliders_in_renders(obj, bpy.context)
        obj.sinew.bake.contact_warning = " ".join(filter(None, (*warnings, of_renders)))


def note_separation(bodies: Sequence[Any], move: Sequence[Any]) -> None:
    """Store in the bake records how to end an overlap: ``move`` of an ``errors.OverlapError``, or nothing if empty."""
    for obj in bodies if move else ():
        obj.sinew.bake.separation_object = bpy.data.objects.get(move[0])
        obj.sinew.bake.separation = [part / unit_scale(bpy.context.scene) for part in move[1]]


def _note_folder(obj: Any, store: FrameStore) -> None:
    cache_owner.note_folder(obj, store.folder)
    record = obj.sinew.bake
    record.message = record.stale = ""
    record.separation_object, record.status = None, "NONE"
