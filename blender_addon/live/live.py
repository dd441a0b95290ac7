"""The one body that is played with in the viewport: from Play to Esc.

A child (``job_queue``) steps the body, ``live_state`` says what becomes of it and what the child is asked next,
``live_scene`` keeps the scene as it was, ``live_view`` draws. No modal operator runs: all is done in the timer that
listens to the child.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import bpy

from ...core.foundation.errors import SinewError
from ...core.foundation.events import Record, Reset, SetStiffness, StopRecording
from ...core.jobs.job.job import Job
from ..bake import bake_messages, baking
from ..jobs import job_queue
from ..jobs.process import Order
from ..jobs.state_machine import Waits
from ..jobs.task import Task
from ..objects.modifier_stack import shown_after
from ..properties.choices import live_solver_name
from ..scene_export.take_out import keyable_strength, keyable_target, names_of_take
from ..scene_import import job_in
from ..scene_import.mesh_in import unit_scale
from ..setup.defaults import holding_strength
from ..window import redraw, visibility
from ..window.stepwise import Steps
from . import live_edits, live_scene
from .live_session import Session
from .live_state import Asked, FrameSet, Grab, LetGo, LiveState, Looked, Pulled, Toggled, transition

TICK = 1.0 / 240.0
"""Seconds between looks for events of the child."""
PANEL_TICK = 0.25
"""Seconds between looks at what is edited, and drawings of the panel."""


_session: Session | None = None


def current() -> Session | None:
    """The session at work, if there is one."""
    return _session


def session_of(obj: Any) -> Session | None:
    """The session at work on an object, if there is one."""
    return (
        _session if _session is not None and obj is not None and _session.work.object_uid == obj.session_uid else None
    )


# -- begin and end -----------------------------------------------------------------------------------------------------


def begin(obj: Any, record: bool = False) -> Session | None:
    """Read the scene and have a child prepare the body; playing begins when it is ready. A SinewError when the body
    cannot be played with, or another is at work already. The session, where all was read at once.
    """
    job_queue.begin(work_on(obj, job_steps, partial(play, record=record)))
    return session_of(obj)


def work_on(obj: Any, read: Callable[[Any], Steps[Job]], begin: Callable[[Task, Any, Job], None]) -> Task:
    """Return the task that reads a body for live mode."""
    return Task(obj.session_uid, obj.name, read, begin, note_error, _child_ended, again="Press Play again.")


def play(work: Task, obj: Any, job: Job, record: bool = False, **begun: Any) -> None:
    """Start the child with a job, in the state that was ``begun``, where it was."""
    global _session
    context, store = bpy.context, baking.live_store(obj, job)
    session = Session(
        stage=live_scene.Stage.of(obj, context),
        job=job,
        store=store,
        metres=unit_scale(context.scene),
        edits=live_edits.Edits(obj, context.scene, job.body),
        work=work,
    )
    frames = {"first": job.frame_start, "last": job.frame_end, "frame_rate": job.frame_rate}
    work.state, work.transition = LiveState(**vars(work.state), **frames, **begun), transition
    work.interval, work.on_tick = TICK, _tick
    work.start(Order(store.folder, "live"))
    if record:
        session.work.note(Record(baking.wanted_modes(obj)))
    obj.sinew.live.message = ""
    _session = session


def note_error(obj: Any, error: Exception | str) -> None:
    """Keep an error for the panel: the status bar forgets it."""
    obj.sinew.live.message = str(error)


def job_steps(obj: Any) -> Steps[Job]:
    """The body's job as the scene is now, without the springs of its last take."""
    solver = live_solver_name(obj.sinew)
    return job_in.job_steps(obj, bpy.context, solver=solver, without_springs=names_of_take(obj), alone=True)


def stop(message: str = "", keep: Task | None = None) -> None:
    """End the session: the scene is as it was before. ``message`` says why, where the artist did not ask for it; of
    what is at work only ``keep`` goes on.
    """
    if _session is not None and _session.work is job_queue.current():
        job_queue.abandon(keep)
    _leave(message)


def _end(reason: str) -> None:
    """End the session, unasked; what was recorded until then becomes the take, as soon as the scene can take it."""
    from . import live_recording

    session = _session
    if session is None or session.work is not job_queue.current() or not live_recording.has_begun(session.state.take):
        stop(reason)
        return
    # In Edit Mode, say, nothing more can be looked at.
    take = live_recording.Take(session.job, session.store.folder, session.state.take, session.stage, session.pending)
    job_queue.stop_reading()  # that of a Reset or Record, which shows the mesh meanwhile
    session.work.cut_off(partial(live_recording.bring_in, take, reason))
    _leave(reason)


def _leave(message: str) -> None:
    global _session
    session, _session = _session, None
    if session is None:
        return
    if session.view is not None:
        session.view.remove()
    session.stage.restore()
    if (obj := session.object) is not None:
        obj.sinew.live.message = message
    redraw.redraw()


def restart(work: Task, obj: Any, job: Job, record: bool = False) -> None:
    """Begin anew with a job. A job that cannot be simulated leaves the session as it is; a StoreError ends it."""
    job.check()
    state = _session.state
    stop(keep=work)  # its child holds the store
    play(work, obj, job, record, playing=state.playing, grabs=state.grabs if record else {})


def is_outdated(session: Session) -> bool:
    """Return True if the scene was edited since the session began, as far as it is looked at."""
    return bool(session.pending) or session.state.stale or session.edits.stiffness_differs


def reset() -> None:
    """Back to the first frame, with nothing grabbed; edits made meanwhile count from now on."""
    _begin_anew(record=False)


def record() -> None:
    """Start over at the first frame and keep every frame, of the scene as it is now."""
    _begin_anew(record=True)


def _reset_when_due(session: Session) -> None:
    """The reset that a setting has asked for, outside of the undo step that has changed it."""
    session.reset_is_due = False
    with suppress(SinewError):  # it was told
        reset()


def _begin_anew(record: bool) -> None:
    session = _session

    def read(obj: Any) -> Steps[Job]:
        with session.stage.shown():
            return (yield from job_steps(obj))

    def go_on(work: Task, obj: Any, job: Job) -> None:
        if _session is session:
            _restart_or_reset(session, work, obj, job, record)

    job_queue.begin(work_on(session.object, read, go_on), beside=True)


def _restart_or_reset(session: Session, work: Task, obj: Any, job: Job, record: bool) -> None:
    if is_outdated(session) or not session.state.ready or job.fingerprints() != session.job.fingerprints():
        restart(work, obj, job, record)
    elif record:
        session.work.note(Record(baking.wanted_modes(obj)))
    else:
        session.work.note(Reset())


def toggle() -> None:
    """Pause, or go on."""
    _session.work.note(Toggled())


def leave_off() -> None:
    """Do what Esc does: end the session; if a take is recorded, end the take and with it the session."""
    if _session.state.recording:
        _session.work.note(StopRecording())
    else:
        stop()


# -- grabs -------------------------------------------------------------------------------------------------------------


def grab(vertex: int, target: Any, strength: float) -> None:
    """Pull a vertex to a target (3,), m, with a strength in N/m; what is kept can be keyed exactly."""
    session = _session
    first = session.job.body.first_positions[vertex]
    pinned = vertex in session.state.grabs and session.state.grabs[vertex].pinned
    made = Grab(vertex, keyable_target(target, first, session.metres), keyable_strength(strength), pinned)
    session.work.note(Pulled(made))


def pin(vertex: int) -> None:
    """Leave a grab where it is when the mouse lets go."""
    if _session is not None and vertex in _session.state.grabs:
        _session.work.note(Pulled(_session.state.grabs[vertex]._replace(pinned=True)))


def let_go(vertex: int) -> None:
    """Let a vertex go."""
    if _session is not None:
        _session.work.note(LetGo(vertex))


# -- the timer ---------------------------------------------------------------------------------------------------------


def _begin_to_show(session: Session, obj: Any) -> None:
    from . import live_view

    bake_messages.note_mesh(obj, session.state.mesh())
    with session.stage.unnoticed(), visibility.where_it_is_shown(obj):
        session.view = live_view.View(session)
    session.stage.begin(obj)


def _tick() -> None:
    """After each look for events."""
    session = _session
    if session is None:
        return
    if live_scene.is_rendering():
        if live_scene.is_rendering_viewport():
            session.stage.show()  # renders show the scene as it is without live mode
        return  # frames are the render's now
    if job_queue.reading() is not None:
        return  # the scene is at other frames, for a Reset or Record
    obj = session.object
    if reason := live_scene.reason_to_end(obj, session.stage) or session.edits.reason_to_end(obj):
        _end(reason)
        return
    try:  # an error must not leave the mesh hidden: the timer would be gone
        _go_on(session, obj, time.monotonic())
    except SinewError as error:
        _end(f"Live mode ended: {error}")
    except Exception:
        _end("Live mode ended by an error that was not foreseen: Blender's console says more.")
        raise


def _go_on(session: Session, obj: Any, now: float) -> None:
    if session.state.ready and session.view is None:
        _begin_to_show(session, obj)
    if session.reset_is_due:
        _reset_when_due(session)
        return
    if session.stage.frame_was_changed() and session.state.ready:
        session.work.note(FrameSet(session.stage.scene.frame_current, live_scene.is_played_back()))
    if now - session.looked_at > PANEL_TICK:
        session.looked_at = now
        _follow_edits(session, obj)
        redraw.redraw()
    session.work.note(Looked(obj.sinew.live.rate == "FREE"))
    while (command := session.state.request(now)) is not None:
        session.work.ask(command)
        session.work.note(Asked(command))
    if session.view is not None:
        # Saving, an undo or Reveal Hidden may have brought the mesh back.
        session.stage.hide(obj)
        session.view.fall_back()
        if session.drawn is not session.state.shown:
            session.drawn = session.state.shown
            session.stage.follow(min(session.state.frame, session.state.last))
            session.view.show(session.state.handles, session.state.positions)
    if session.state.recorded:
        _finish_take(session, obj)


def _follow_edits(session: Session, obj: Any) -> None:
    state = session.state
    # a take, also one that waits for the scene, has none of what is edited
    if state.ready and state.take is None and (stiffness := session.edits.new_stiffness(obj)):
        session.work.note(SetStiffness(*stiffness))
        if stiffness.moduli:
            session.view.follow_stiffness(stiffness.moduli)
    if session.view is not None:
        session.view.follow_subdivision(obj)
    session.pending = session.edits.others(obj, session.stage.scene)


def _finish_take(session: Session, obj: Any) -> None:
    """Turn the take into springs and a bake, as soon as the scene can take it."""
    from . import live_recording

    session.work.note(Waits(visibility.in_the_way(obj)))
    if session.work.state.waits_for:
        return
    edits = session.edits.words(obj, session.stage.scene)
    take = live_recording.Take(session.job, session.store.folder, session.state.take, session.stage, edits)
    stop()
    live_recording.apply(obj, take)


def _child_ended(work: Task) -> str:
    """The child has ended by itself; what has to be over before what was recorded is taken."""
    if _session is None or _session.work is not work:
        return ""
    if live_scene.is_rendering() or job_queue.reading() is not None:
        return "It ends when Blender has rendered, or has read the animation"
    _end(work.state.message_with_remedy or "Live mode ended: the simulation process is gone.")
    return "" if work.take == _child_ended else work.take(work)


def not_drawn(obj: Any) -> list[str]:
    """Names of the modifiers that show in the viewport, but not while the body is played with."""
    later = shown_after(obj)
    return [m.name for k, m in enumerate(later) if k or m.type != "SUBSURF"]


def strength_of(obj: Any, scene: Any) -> float:
    """N/m of a grab: what the artist has set, or with what the body's weight gives way by little of its size."""
    chosen = obj.sinew.live.strength
    return chosen if chosen > 0.0 else holding_strength(obj, scene)
