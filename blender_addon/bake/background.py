"""Background tasks of the buttons Bake, Resume, Convert Result, Tetrahedralize, Find Vibrations and Settle.

The tasks run in a child process or, if Blender has no window, in Blender's own process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core.foundation.errors import SettingsError, SinewError
from ...core.foundation.events import Event
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ..jobs import job_queue
from ..jobs.process import Order
from ..jobs.state_machine import Stage, State, transition
from ..jobs.task import Task
from ..objects.contact_groups import group_of
from ..scene_import import job_in
from ..scene_import.settings_in import frame_range
from ..setup import defaults
from ..window import visibility
from ..window.stepwise import Steps
from . import bake_messages, baking, settling
from .bake_queue import groups_in_order
from .batch_read import BatchRead

Reader = Callable[..., Steps[Job]]
"""Function that reads a body's job, such as ``job_in.job_steps``."""
Found = tuple[str, list[Job], list[FrameStore]]
"""Task mode, jobs and stores of the bodies of a task, one job and one store per body. The mode is ``bake``, ``resume``,
``mesh``, ``handles``, ``vibrations`` or ``settle``.
"""
WITHOUT_FRAMES = ("mesh", "vibrations", "settle")
"""Task modes that do not change the displayed result."""
UNSEEN = ("mesh", "vibrations")
"""Task modes without simulated frames, whose end changes no shape in the scene."""
OF_ONE = (*WITHOUT_FRAMES, "handles")
"""Task modes that run on one body without its contact group."""
STORES = {"vibrations": baking.live_store, "settle": baking.live_store}
"""Functions that create the store for a body and its job, by task mode. Other modes use ``baking.prepare``."""
STATUS_OF = {"done": "DONE", "stopped": "STOPPED", "error": "FAILED"}


def work_on(obj: Any, mode: str, until: int | None = None, job_steps: Reader = job_in.job_steps) -> Task:
    """Return a background task on a body, for ``job_queue.begin``.

    Parameters
    ----------
    mode : ``bake`` or ``resume`` for the body and its contact group; "" is ``resume`` if the frames on disk are
        displayed or match the scene, else ``bake``. For the body alone: ``mesh`` (Tetrahedralize), ``handles`` (Convert
        Result), ``vibrations`` (Find Vibrations) or ``settle`` (Settle)
    until : last frame to bake; None for the last frame of the job
    job_steps : generator function that reads a body's job from the scene
    """
    bodies = [obj] if mode in OF_ONE else group_of(obj, bpy.context)
    for each in bodies:
        if mode == "bake" or (mode == "" and not baking.has_frames(each)):
            defaults.refit_stiffness(each, bpy.context)
    uids = tuple(each.session_uid for each in bodies)
    read, take = (
        partial(_read, mode=mode, uids=uids, job_steps=job_steps),
        partial(_take, names={each.session_uid: each.name for each in bodies}),
    )
    start, here = partial(_start, uids=uids, until=until), partial(_work_here, uids=uids, until=until)
    options: dict[str, Any] = {"beside": tuple(uid for uid in uids if uid != obj.session_uid)}
    if mode in WITHOUT_FRAMES:
        options["again"] = "Start again."
    return Task(obj.session_uid, obj.name, read, start, baking.note_error, take, here, **options)


def begin(obj: Any, mode: str, until: int | None = None) -> None:
    """Begin a background task on a body.

    The parameters are those of :func:`work_on`.
    """
    mark_file_changed()
    job_queue.begin(work_on(obj, mode, until))


def mark_file_changed() -> None:
    """Push an undo step if the file has no unsaved changes.

    Blender then asks for confirmation before opening another file, which would end the bake.
    """
    if not bpy.app.background and not bpy.data.is_dirty:
        bpy.ops.ed.undo_push(message="Before Bake")


def work_on_all(bodies: Sequence[Any]) -> list[Task]:
    """Return tasks that resume or bake several bodies, one task per contact group.

    Bodies without contact partners share a :class:`BatchRead`, so that the scene is evaluated only once for them.
    """
    groups = groups_in_order(bodies, bpy.context)
    together = BatchRead([group[0] for group in groups if len(group) == 1])
    return [work_on(next(o for o in bodies if o in group), "", job_steps=together.job_steps) for group in groups]


def _objects(uids: Sequence[int]) -> list[Any]:
    """Return the bodies with the given ``session_uid``."""
    found = [visibility.object_of(uid) for uid in uids]
    if None in found:
        raise ReferenceError
    return found


def _read(obj: Any, mode: str, uids: Sequence[int], job_steps: Reader) -> Steps[Found]:
    """Read the jobs of bodies, and create or open their stores."""
    if mode == "handles":
        store = baking.own_store(obj, shown=True)
        return mode, [store.job()], [store]
    bodies = _objects(uids)
    if mode not in STORES:
        for each in bodies:
            baking.check_folder(each, mode)
    if mode == "settle":
        jobs = [(yield from settling.settle_steps(obj, bpy.context))]
    elif mode in WITHOUT_FRAMES:
        # Tetrahedra need only the first frame.
        frames = {"frames": 2 * frame_range(obj.sinew, bpy.context.scene)[:1]} if mode == "mesh" else {}
        jobs = [(yield from job_steps(obj, bpy.context, **frames))]
    else:
        if {each.session_uid for each in group_of(obj, bpy.context)} != set(uids):
            raise SettingsError(f"Other bodies collide with “{obj.name}” now than when it was queued.", "Start again.")
        jobs = yield from job_in.group_steps(bodies, bpy.context, read=job_steps)
        mode = mode or baking.mode_of_all(bodies, jobs)
    if mode in ("bake", "resume"):
        return mode, jobs, baking.prepare_all(bodies, jobs, mode == "resume")
    return mode, jobs, [STORES.get(mode, baking.prepare)(each, job) for each, job in zip(bodies, jobs)]


def _start(work: Task, obj: Any, read: Found, uids: Sequence[int], until: int | None) -> None:
    mode, (job, *_), stores = read
    last = job.frame_end if until is None else min(until, job.frame_end)
    frames = last - job.frame_start + 1 if mode not in UNSEEN else 0
    (first, modes), *beside = [(s.folder, baking.wanted_modes(each)) for s, each in zip(stores, _objects(uids))]
    work.start(Order(first, mode, frames, modes, until, tuple(beside)))


def _work_here(_work: Task, obj: Any, read: Found, uids: Sequence[int], until: int | None) -> None:
    """Run a task in Blender's own process, on the jobs and stores in ``read``."""
    from ...core.simulation.frame_loop import bake, fit_handles

    mode, jobs, stores = read
    bodies, state = _objects(uids), State(Stage.RUNNING)
    modes = [baking.wanted_modes(each) for each in bodies]

    def note(event: Event) -> None:
        nonlocal state
        state = transition(state, event, 0.0)

    status = obj.sinew.bake.status
    if mode == "mesh":
        bake.build_mesh(jobs[0], stores[0], note)
    elif mode == "vibrations":
        bake.find_vibrations(jobs[0], stores[0], note)
    elif mode == "handles":
        fit_handles.find_handles(jobs[0], stores[0], modes[0], note)
    else:
        try:
            status = STATUS_OF[bake.bake_group(jobs, stores, note, resume=mode == "resume", modes=modes, until=until)]
        except SinewError as error:
            baking.note_separation(bodies, getattr(error, "move", ()))
            if mode in WITHOUT_FRAMES:
                raise
            apply_all(bodies, stores, STATUS_OF["error"], str(error))
            raise
    for k, each in enumerate(bodies):
        bake_messages.note_mesh(each, state.mesh(k))
    if mode not in OF_ONE:
        baking.note_meeting(bodies, state.warnings)
        baking.note_separation(bodies, state.move)
    if mode == "settle":
        apply_settled(obj, stores[0].folder)
    elif mode not in WITHOUT_FRAMES:
        apply_all(bodies, stores, status)


def _take(work: Task, names: dict[int, str]) -> str:
    """Apply the results of the child process, and return "" or what the user must do first."""
    order, message, state = work.order, work.state.message_with_remedy, work.state
    found = [(k, visibility.object_of(uid), folder) for k, (uid, folder) in enumerate(zip(names, order.folders))]
    there = [each for each in found if each[1] is not None]
    if order.mode not in UNSEEN:
        if waits_for := next(filter(None, (visibility.in_the_way(obj) for _k, obj, _folder in there)), ""):
            return waits_for
        for name, (_k, obj, folder) in zip(names.values(), found):
            if obj is None:
                print(
                    f"sinew: “{name}” was deleted; its frames are kept in {folder}. Undo, then press Resume.",
                    file=sys.stderr,
                )
    for k, obj, _folder in there:
        bake_messages.note_mesh(obj, state.mesh(k))
    if order.mode in WITHOUT_FRAMES or (order.mode == "handles" and state.outcome != "done"):
        for _k, obj, folder in there:
            obj.sinew.bake.message = message
            if order.mode == "settle" and state.outcome == "done":
                apply_settled(obj, folder)
    elif there:
        bodies, stores = [obj for _k, obj, _folder in there], [FrameStore(folder) for _k, _obj, folder in there]
        is_handles = order.mode == "handles"
        baking.note_separation(bodies, state.move)
        if not is_handles:
            baking.note_meeting(bodies, state.warnings)
        apply_all(bodies, stores, bodies[0].sinew.bake.status if is_handles else STATUS_OF[state.outcome], message)
    return ""


def apply_all(bodies: Sequence[Any], stores: Sequence[FrameStore], status: str, message: str = "") -> None:
    """Apply the frames in stores to the bodies that were baked together, as one undo step.

    ``stores``: one store per body.
    ``status``, ``message``: values for each bake record.
    """
    for obj, store in zip(bodies, stores):
        apply(obj, store.folder, status, message, is_last=obj == bodies[-1])


def apply_settled(obj: Any, folder: Path) -> None:
    """Show the equilibrium in a folder as a shape key of a body, as one undo step."""
    with visibility.where_it_is_shown(obj):
        bpy.ops.sinew.apply_settled("EXEC_DEFAULT", True, object_name=obj.name, folder=str(folder))


def apply(obj: Any, folder: Path, status: str, message: str = "", is_last: bool = True) -> None:
    """Turn the frames in a folder into the displayed result of a body.

    ``status``, ``message``: values for the bake record.
    ``is_last``: True for the last body of a group. Only then an undo step is pushed, so that one undo reverts the
        group.
    """
    with visibility.where_it_is_shown(obj):
        bpy.ops.sinew.apply_bake(
            "EXEC_DEFAULT", is_last, object_name=obj.name, folder=str(folder), status=status, message=message
        )
