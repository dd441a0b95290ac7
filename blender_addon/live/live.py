"""Live mode: the simulation of one body in the viewport, from Play to Esc.

A child process (``job_queue``) computes the frames. The state machine in ``live_state`` chooses the next request to the
child, ``live_scene`` restores the scene, and ``live_view`` draws. No modal operator runs: the timer that polls the
child does all work. A *grab* is a spring by which the mouse pulls a vertex. A *take* is a recording of frames and
grabs.
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
from ..scene_export.take_to_springs import keyable_strength, keyable_target, names_of_take
from ..scene_import import job_in
from ..scene_import.mesh_in import unit_scale
from ..setup.defaults import holding_strength
from ..window import redraw, visibility
from ..window.stepwise import Steps
from . import live_edits, live_scene
from .live_session import Session
from .live_state import Asked, FrameSet, Grab, LetGo, LiveState, Looked, Pulled, Toggled, transition

TICK = 1.0 / 240.0
"""Interval between polls for events of the child process, s."""
PANEL_TICK = 0.25
"""Interval between checks for edits and redraws of the panel, s."""


_session: Session | None = None


def current() -> Session | None:
    """Return the running session of live mode, or None."""
    return _session


def session_of(obj: Any) -> Session | None:
    """Return the running session of live mode on ``obj``, or None."""
    return (
        _session if _session is not None and obj is not None and _session.work.object_uid == obj.session_uid else None
    )


# -- start and end -----------------------------------------------------------------------------------------------------


def begin(obj: Any, record: bool = False) -> Session | None:
    """Start live mode on a body: read the scene, and start a child process that prepares the body.

    Live mode then plays the body or, with ``record``, records the body. Returns the session. Returns None if reading
    the scene takes long and continues in a modal operator. Raises SinewError if the body is refused, or if another task
    runs.
    """
    job_queue.begin(work_on(obj, job_steps, partial(play, record=record)))
    return session_of(obj)


def work_on(obj: Any, read: Callable[[Any], Steps[Job]], begin: Callable[[Task, Any, Job], None]) -> Task:
    """Return the task that reads a body with ``read`` and starts live mode with ``begin``."""
    return Task(obj.session_uid, obj.name, read, begin, note_error, _child_ended, again="Press Play again.")


def play(work: Task, obj: Any, job: Job, record: bool = False, **begun: Any) -> None:
    """Start a session of live mode on a job, in a child process.

    ``record``: True to record the frames.
    ``begun``: initial values of fields of :class:`LiveState`.
    """
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
    """Store an error in the live settings, for the panel."""
    obj.sinew.live.message = str(error)


def job_steps(obj: Any) -> Steps[Job]:
    """Return a generator that reads the body's job for live mode, step by step.

    Springs made from the last recording of the body are left out.
    """
    solver = live_solver_name(obj.sinew)
    return job_in.job_steps(obj, bpy.context, solver=solver, without_springs=names_of_take(obj), alone=True)


def stop(message: str = "", keep: Task | None = None) -> None:
    """End the session, restore the scene, and abandon all tasks except ``keep``.

    ``message``: reason for the panel, or "" if the user ended the session.
    """
    if _session is not None and _session.work is job_queue.current():
        job_queue.abandon(keep)
    _leave(message)


def _end(reason: str) -> None:
    """End the session for a ``reason`` other than the user's wish, and keep the recorded frames."""
    from . import live_recording

    session = _session
    if session is None or session.work is not job_queue.current() or not live_recording.has_begun(session.state.take):
        stop(reason)
        return
    # The edits as last checked: in Edit Mode, for example, they cannot be checked now.
    take = live_recording.Take(session.job, session.store.folder, session.state.take, session.stage, session.pending)
    job_queue.stop_reading()  # a reading for Reset or Record shows the mesh
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
    """End the session, and start a new session with ``job``.

    Raises SinewError if the checks of ``job`` fail. The running session then continues. Other errors, such as
    StoreError, are raised after the running session has ended.
    """
    job.check()
    state = _session.state
    stop(keep=work)  # first, since its child process holds the store
    play(work, obj, job, record, playing=state.playing, grabs=state.grabs if record else {})


def is_outdated(session: Session) -> bool:
    """Return True if an edit of the scene was found since the session began.

    Only inputs that are cheap to read are checked.
    """
    return bool(session.pending) or session.state.stale or session.edits.stiffness_differs


def reset() -> None:
    """Return to the first frame, and simulate the present scene with all edits.

    All grabs (springs by which the mouse pulls vertices) are released.
    """
    _begin_anew(record=False)


def record() -> None:
    """Return to the first frame, and record all frames of the present scene with all edits.

    Grabs (springs by which the mouse pulls vertices) are kept.
    """
    _begin_anew(record=True)


def _reset_when_due(session: Session) -> None:
    """Reset the simulation after a change of a setting, outside the undo step of the change."""
    session.reset_is_due = False
    with suppress(SinewError):  # already stored for the panel
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
    """Pause or resume the simulation."""
    _session.work.note(Toggled())


def leave_off() -> None:
    """Handle Esc: end the recording or, without a recording, the session."""
    if _session.state.recording:
        _session.work.note(StopRecording())
    else:
        stop()


# -- grabs -------------------------------------------------------------------------------------------------------------


def grab(vertex: int, target: Any, strength: float) -> None:
    """Pull a surface vertex to a position by a spring.

    Target and stiffness are rounded to values that keyframes store exactly.

    ``vertex``: index of the vertex.
    ``target`` (3,), m: position in world space.
    ``strength``, N/m: stiffness of the spring.
    """
    session = _session
    first = session.job.body.first_positions[vertex]
    pinned = vertex in session.state.grabs and session.state.grabs[vertex].pinned
    made = Grab(vertex, keyable_target(target, first, session.metres), keyable_strength(strength), pinned)
    session.work.note(Pulled(made))


def pin(vertex: int) -> None:
    """Pin the grab of a vertex (spring by which the mouse pulls the vertex).

    A pinned grab remains when the mouse button is released.
    """
    if _session is not None and vertex in _session.state.grabs:
        _session.work.note(Pulled(_session.state.grabs[vertex]._replace(pinned=True)))


def let_go(vertex: int) -> None:
    """Release the grab of a vertex (spring by which the mouse pulls the vertex)."""
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
    """Update the session after each poll of the child: edits, requests to the child, drawing."""
    session = _session
    if session is None:
        return
    if live_scene.is_rendering():
        if live_scene.is_rendering_viewport():
            session.stage.show()  # renders show the scene without live mode
        return  # the render sets the frame
    if job_queue.reading() is not None:
        return  # a Reset or Record is reading other frames
    obj = session.object
    if reason := live_scene.reason_to_end(obj, session.stage) or session.edits.reason_to_end(obj):
        _end(reason)
        return
    try:  # an uncaught error would end the timer and leave the mesh hidden
        _go_on(session, obj, time.monotonic())
    except SinewError as error:
        _end(f"Live mode ended: {error}")
    except Exception:
        _end("Live mode ended: unexpected error. See Blender's console.")
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
        # Saving, an undo or Reveal Hidden may have shown the mesh.
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
    # edits do not apply to a recording, even one that waits to be applied
    if state.ready and state.take is None and (stiffness := session.edits.new_stiffness(obj)):
        session.work.note(SetStiffness(*stiffness))
        if stiffness.moduli:
            session.view.follow_stiffness(stiffness.moduli)
    if session.view is not None:
        session.view.follow_subdivision(obj)
    session.pending = session.edits.others(obj, session.stage.scene)


def _finish_take(session: Session, obj: Any) -> None:
    """Apply the complete recording as springs and a bake, once the scene can be changed."""
    from . import live_recording

    session.work.note(Waits(visibility.in_the_way(obj)))
    if session.work.state.waits_for:
        return
    edits = session.edits.words(obj, session.stage.scene)
    take = live_recording.Take(session.job, session.store.folder, session.state.take, session.stage, edits)
    stop()
    live_recording.apply(obj, take)


def _child_ended(work: Task) -> str:
    """End the session after its child process has ended, and apply the recording.

    Returns "", or the reason to wait, such as a render. The job queue then calls this function again (``Task.take``).
    """
    if _session is None or _session.work is not work:
        return ""
    if live_scene.is_rendering() or job_queue.reading() is not None:
        return "Live mode ends when Blender has finished rendering or reading the animation"
    _end(work.state.message_with_remedy or "Live mode ended: the simulation process is gone.")
    return "" if work.take == _child_ended else work.take(work)


def not_drawn(obj: Any) -> list[str]:
    """Return the names of the modifiers that viewports show, but live mode does not.

    These modifiers come after the simulation in the modifier stack. A Subdivision is left out if it is the first of
    these modifiers, since live mode draws the Subdivision.
    """
    later = shown_after(obj)
    return [m.name for k, m in enumerate(later) if k or m.type != "SUBSURF"]


def strength_of(obj: Any, scene: Any) -> float:
    """Return the stiffness of a grab (spring by which the mouse pulls a vertex), N/m.

    The stiffness is the user's setting. If the setting is 0, the body's weight stretches the spring only a little.
    """
    chosen = obj.sinew.live.strength
    return chosen if chosen > 0.0 else holding_strength(obj, scene)
