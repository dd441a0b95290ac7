"""A bake from start to end, as buttons and the command line share it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import SinewError, StoreError
from ..core.simulation.array_file import remove
from ..core.simulation.frame_store import FrameStore
from ..core.simulation.job import Job
from ..core.simulation.kept_handles import kept_handles
from . import choices
from . import job as child
from .bridge import job_in
from .bridge.cache_out import cache_path
from .bridge.frames_out import apply_cache, apply_frames, apply_handles, lost_words, remove_result

if TYPE_CHECKING:
    from ..core.simulation.report import BakeReport


def prepare(
    obj: Any,
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    on_frame: Callable[[int], None] | None = None,
) -> tuple[Job, FrameStore]:
    """A fresh job and its store on disk, emptied of earlier frames; a SinewError when the object cannot be baked."""
    job_in.default_folder(obj)
    job = job_in.make_job(obj, context, frames, solver, on_frame)
    store = FrameStore.create(job_in.writable_folder(obj), job)
    if not any(store.read_kept(kind) for kind in ("mesh", "subspace")):
        for folder in (job_in.unsaved_live_path(obj), job_in.live_path(obj)):
            store.take_kept(FrameStore(folder))
    _note_folder(obj, store)
    obj.sinew.bake.material_warning = nowhere_words(job)
    return job, store


def prepare_resume(
    obj: Any,
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    on_frame: Callable[[int], None] | None = None,
) -> tuple[Job, FrameStore]:
    """The job and the store of an interrupted bake; StoreError when there is none, or the scene was edited."""
    store = open_store(obj)
    job = job_in.make_job(obj, context, frames, solver, on_frame)
    changed = store.outdated_by(job)
    if changed:
        raise job_in.out_of_date(changed)
    _note_folder(obj, store)
    obj.sinew.bake.material_warning = nowhere_words(job)
    return job, store


def open_store(obj: Any) -> FrameStore:
    """The store of the object's last bake; StoreError when there is none."""
    folder = job_in.recorded_folder(obj)
    if folder is None or not folder.is_dir():
        folder = job_in.default_folder(obj)
    if not folder.is_dir():
        raise StoreError(f"“{obj.name}” has no baked frames to go on from.", "Press Bake.")
    return FrameStore.open(folder)


def has_store(obj: Any) -> bool:
    """Whether frames of the object may be on disk (cheap: for buttons)."""
    folder = job_in.recorded_folder(obj) or (job_in.default_folder(obj) if bpy.data.filepath else None)
    return folder is not None and (folder / "job.npz").is_file()


def has_frames(obj: Any) -> bool:
    """Whether at least one frame of the object may be on disk (Tetrahedralize leaves a store without any)."""
    if not has_store(obj):
        return False
    with os.scandir(job_in.recorded_folder(obj) or job_in.default_folder(obj)) as entries:
        return any(entry.name.startswith("frame_") for entry in entries)


def put_result(obj: Any, context: Any, status: str, store: FrameStore) -> int:
    """Turn the frames of a store into the result that the artist wants; how many. ``status`` is DONE, STOPPED or
    FAILED. Handles have to be in the store already; where they are not, shape keys stand in.
    """
    record, modes = obj.sinew.bake, wanted_modes(obj)
    frames, job = store.frames(), store.job()
    handles = kept_handles(job, store, modes) if modes and frames else None
    if handles is not None:
        apply_handles(obj, context, job, handles)
        record.modes = 0 if choices.in_subspace(job.solver.solver) else modes
        record.error = handles.error_words(job.surface.size)
    elif frames and obj.sinew.result == "CACHE":
        apply_cache(obj, context, job, frames, store.read, store.folder)
        record.error = ""
    elif frames:
        apply_frames(obj, context, job, frames, store.read)
        record.error = ""
        if modes:
            record.message = record.message or "The result lies on shape keys for now: press Resume, or Convert Result."
    record.material_warning = nowhere_words(job)
    record.status = status
    record.frames = len(frames)
    record.folder = bpy.path.relpath(str(store.folder))  # anew: an undo during the bake has taken it away
    record.stale = ""
    if frames:
        note_report(obj, store)
    return len(frames)


def wanted_modes(obj: Any) -> int:
    """Modes of the handles that the artist wants; 0 for shape keys."""
    return obj.sinew.result_modes if obj.sinew.result == "NODES" else 0


def kept_otherwise(obj: Any) -> bool:
    """Whether the result of a bake is kept in another way than the artist wants now."""
    record, modes = obj.sinew.bake, wanted_modes(obj)
    if record.status == "NONE" or not record.frames:
        return False
    return record.kind != obj.sinew.result or bool(modes and record.modes and record.modes != modes)


def delete(obj: Any) -> None:
    """Remove the baked shapes and the frames on disk; frames that another object still names are kept."""
    folder = job_in.recorded_folder(obj)
    remove_result(obj)
    obj.sinew.property_unset("bake")
    shared = any(job_in.recorded_folder(other) == folder for other in bpy.data.objects if other != obj)
    if folder is not None and folder.is_dir() and not shared:
        remove(cache_path(folder))
        (folder / child.LOG_NAME).unlink(missing_ok=True)
        FrameStore(folder).delete()


def delete_live(obj: Any) -> None:
    """Remove what live mode keeps of the object on disk."""
    for folder in {job_in.live_path(obj), job_in.unsaved_live_path(obj)}:
        (folder / child.LOG_NAME).unlink(missing_ok=True)
        FrameStore(folder).delete()


def find_changes(obj: Any, context: Any) -> list[str]:
    """Words for what was edited since the bake; empty when nothing was."""
    changed = open_store(obj).outdated_by(job_in.make_job(obj, context))
    words = ["version of Sinew" if part == "version" else part for part in changed]
    return [*words, "baked shapes removed"] if lost_words(obj) else words


def note_mesh(obj: Any, event: dict[str, Any]) -> None:
    """Keep the figures of the tetrahedra for the panel."""
    if not event:
        return
    record = obj.sinew.bake
    counts = f"{event['tets']:,} tetrahedra on {event['vertices']:,} vertices"
    record.mesh_summary = f"{counts}, smallest angle {event['min_dihedral']:.0f}°"
    record.body_mass, record.body_volume, record.body_size = event["mass"], event["volume"], event["size"]
    record.mesh_warning = " ".join(said for said in event["warnings"] if said != event["points_warning"])
    record.points_warning, record.points_that_suffice = event["points_warning"], event["points_that_suffice"]


def nowhere_words(job: Job) -> str:
    """What to say of later materials that are neither painted nor laid over others; "" when there are none."""
    layers = {layer.material for layer in job.layers}
    empty = [k for k in range(1, len(job.materials)) if k not in layers and not job.material_weights[:, k].any()]
    return " ".join(f"“{job.materials[k].name}” is nowhere: paint its map, or choose a region or depth." for k in empty)


def report_of(obj: Any) -> BakeReport:
    """The story of the object's last bake, frame by frame; StoreError when there is none."""
    from ..core.simulation.report import read_report

    store = open_store(obj)
    if not store.frames():
        raise StoreError(f"“{obj.name}” has no baked frames.", "Press Bake.")
    return read_report(store)


def note_report(obj: Any, store: FrameStore) -> None:
    """Keep the story of the bake for the panel, and a word of frames that did not settle."""
    from ..core.simulation.report import read_report

    record, report = obj.sinew.bake, read_report(store)
    record.report = "\n".join(report.summary())
    record.linear_solver = report.linear_solver
    record.message = record.message or report.unsettled_words()


def note_error(obj: Any, error: SinewError) -> None:
    """Keep an error for the panel: the status bar forgets it."""
    obj.sinew.bake.message = str(error)


def _note_folder(obj: Any, store: FrameStore) -> None:
    record = obj.sinew.bake
    record.folder = bpy.path.relpath(str(store.folder))
    record.message = ""
    record.stale = ""
    record.status = "NONE"


def object_of(uid: int) -> Any | None:
    """The object with that ``session_uid``, or None when it is gone."""
    return next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)


def where_it_is_shown(obj: Any) -> AbstractContextManager[Any]:
    """A context whose view layer holds the object: timers have no window, and another window may show another scene."""
    context = bpy.context
    if context.window is not None and obj.name in context.view_layer.objects:
        return nullcontext()
    window = window_with(obj, context.window_manager.windows)
    return nullcontext() if window is None else context.temp_override(window=window)


def window_with(obj: Any, windows: Iterable[Any]) -> Any | None:
    """The first of some windows whose view layer holds the object, else the first, or None."""
    windows = list(windows)
    return next((w for w in windows if w.view_layer.objects.get(obj.name) == obj), windows[0] if windows else None)


def source_of(result: Any) -> Any | None:
    """The object whose bake ``result`` carries, or None."""
    return next((obj for obj in bpy.data.objects if obj.sinew.bake.result == result), None)


def is_running(obj: Any) -> bool:
    """Whether the child is at work on the object."""
    return child.run_of(obj.session_uid) is not None
