"""The one body that is played with in the viewport: from Play to Esc.

A child of ``job`` steps the body, ``live_state`` says what it is asked next, ``live_scene`` keeps the scene as it was,
``live_view`` draws. No modal operator runs: all is done in the timer that listens to the child.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import bpy

from ..core.errors import SinewError
from ..core.simulation.frame_store import FrameStore
from ..core.simulation.job import Job
from ..core.simulation.lending import borrow
from . import baking, live_edits, live_scene, reading, redrawing
from . import job as child
from .bridge import job_in
from .bridge.mesh_in import unit_scale
from .bridge.stack import is_own_cache, later_modifiers
from .bridge.take_out import keyable_strength, keyable_target, names_of_take
from .live_state import Event, Grab, LiveState
from .starting import holding_strength
from .stepwise import Steps, at_once

BEAT = 1.0 / 240.0
"""Seconds between looks for events of the child."""
PANEL_BEAT = 0.25
"""Seconds between drawings of the panel."""


@dataclass
class Session:
    """A body that is being played with; objects, scenes and view layers by what outlives an undo."""

    object_uid: int
    object_name: str
    stage: live_scene.Stage
    job: Job
    store: FrameStore
    state: LiveState
    metres: float
    edits: live_edits.Edits
    run: child.Run | None = None
    view: Any = None
    take_on_ready: bool = False
    reset_is_due: bool = False
    message: str = ""
    panel_at: float = 0.0
    edits_at: float = 0.0
    pending: list[str] = field(default_factory=list)

    @property
    def object(self) -> Any | None:
        """The body, or None when it is gone. By name first: it is asked for all the time, and files may be full."""
        named = bpy.data.objects.get(self.object_name)
        if named is not None and named.session_uid == self.object_uid:
            return named
        obj = baking.object_of(self.object_uid)
        if obj is not None:
            self.object_name = obj.name
        return obj

    @property
    def words_of_edits(self) -> str:
        """What was edited since the session began and does not count yet; "" when all does."""
        if self.state.stale:
            return "The modes were found for other stiffness. Reset finds them anew."
        if self.pending:
            return f"Edited: {', '.join(self.pending)}. That counts from the next Reset."
        return ""


_session: Session | None = None


def current() -> Session | None:
    """The session at work, if there is one."""
    return _session


def session_of(obj: Any) -> Session | None:
    """The session at work on an object, if there is one."""
    return _session if _session is not None and obj is not None and _session.object_uid == obj.session_uid else None


# -- begin and end -----------------------------------------------------------------------------------------------------


def start(obj: Any, context: Any, record: bool = False) -> Session:
    """Have a child prepare the body; playing begins when it is ready. A SinewError when the body cannot be played
    with, RuntimeError when a child is at work already.
    """
    if (run := child.current()) is not None:
        raise RuntimeError(f"“{run.object_name}” is at work already.")
    job = at_once(job_steps(obj, context))
    return _begin(obj, context, job, _store(obj, job), record)


def _begin(obj: Any, context: Any, job: Job, store: FrameStore, record: bool) -> Session:
    global _session
    settings = obj.sinew.live
    session = Session(
        object_uid=obj.session_uid,
        object_name=obj.name,
        stage=live_scene.Stage.of(obj, context),
        job=job,
        store=store,
        state=LiveState(job.frame_start, job.frame_end, job.frame_rate, free=settings.rate == "FREE"),
        metres=unit_scale(context.scene),
        edits=live_edits.Edits(obj, context.scene),
        take_on_ready=record,
    )
    session.run = child.Run(
        object_uid=obj.session_uid,
        object_name=obj.name,
        folder=store.folder,
        mode="live",
        frames_total=0,
        on_end=_child_ended,
        again="Press Play again.",
        interval=BEAT,
        on_event=_take_event,
        on_beat=_beat,
    )
    child.start(session.run)
    settings.message = ""
    _session = session
    return session


def begin(obj: Any, context: Any) -> None:
    """:func:`start`, once the animation is read."""
    if (run := child.current()) is not None:
        raise RuntimeError(f"“{run.object_name}” is at work already.")

    def play(job: Job) -> None:
        _begin(obj, context, job, _store(obj, job), record=False)

    reading.start(reading.Reading(obj.session_uid, obj.name, job_steps(obj, context), play, note_error))


def note_error(obj: Any, error: Exception | str) -> None:
    """Keep an error for the panel: the status bar forgets it."""
    obj.sinew.live.message = str(error)


def job_steps(obj: Any, context: Any) -> Steps[Job]:
    """The body's job as the scene is now, without the springs of its last take."""
    return job_in.job_steps(obj, context, without_springs=names_of_take(obj))


def _store(obj: Any, job: Job) -> FrameStore:
    """The store that live mode keeps; modes are lent by the bake's, or by that of before the file was saved."""
    store = FrameStore.create(job_in.live_folder(obj), job)
    lenders = [FrameStore(job_in.unsaved_live_path(obj))]
    if baking.has_store(obj):
        lenders.append(baking.open_store(obj))
    borrow(store, lenders, job.solver.modes)
    return store


def stop(message: str = "") -> None:
    """End the session: the scene is as it was before. ``message`` says why, where the artist did not ask for it."""
    if _session is not None and _session.run is child.current():
        child.abandon()
    _leave(message)


def _end(reason: str) -> None:
    """End the session, unasked; what was recorded until then becomes the take, as soon as the scene can take it."""
    from . import live_take

    session = _session
    if session is None or session.run is not child.current() or not live_take.has_begun(session.state.take):
        stop(reason)
        return
    # In Edit Mode, say, nothing more can be looked at.
    take = live_take.Take(session.job, session.store.folder, session.state.take, session.stage, session.pending)
    child.cut_off(partial(live_take.bring_in, take, reason))
    _leave(reason)


def _leave(message: str) -> None:
    global _session
    session, _session = _session, None
    if session is None:
        return
    if reading.reading_of(session.object_uid) is not None:  # that of a Reset or Record, which shows the mesh meanwhile
        reading.stop()
    if session.view is not None:
        session.view.remove()
    session.stage.restore()
    if (obj := session.object) is not None:
        obj.sinew.live.message = message
    redrawing.redraw()


def restart(context: Any, job: Job, record: bool = False) -> None:
    """Begin anew with a job. A job that cannot be simulated leaves the session as it is; a StoreError ends it."""
    job.check()
    session = _session
    obj = session.object
    grabs, playing = session.state.grabs, session.state.playing
    stop()  # its child holds the store
    with baking.where_it_is_shown(obj):
        new = _begin(obj, context, job, _store(obj, job), record)
    new.state.grabs, new.state.playing = grabs, playing


def toggle() -> None:
    """Pause, or go on."""
    state = _session.state
    _session.message = ""
    if state.playing:
        state.pause()
    else:
        state.play()


def leave_off() -> None:
    """What Esc does: end the session; a take is ended instead, and the session with it."""
    if _session.state.recording:
        _session.state.stop_recording()
    else:
        stop()


# -- grabs -------------------------------------------------------------------------------------------------------------


def grab(vertex: int, target: Any, strength: float) -> Grab:
    """Pull a vertex to a target (3,), m, with a strength in N/m; what is kept can be keyed exactly."""
    session = _session
    first = session.job.first_positions[vertex]
    pinned = vertex in session.state.grabs and session.state.grabs[vertex].pinned
    made = Grab(vertex, keyable_target(target, first, session.metres), keyable_strength(strength), pinned)
    session.state.grabs[vertex] = made
    return made


def pin(vertex: int) -> None:
    """Leave a grab where it is when the mouse lets go."""
    if _session is not None and vertex in _session.state.grabs:
        _session.state.grabs[vertex].pinned = True


def let_go(vertex: int) -> None:
    """Let a vertex go."""
    if _session is not None:
        _session.state.grabs.pop(vertex, None)


# -- the timer ---------------------------------------------------------------------------------------------------------


@contextmanager
def _ending_on_errors() -> Iterator[None]:
    """An error within it must not leave the mesh hidden: the timer would be gone."""
    try:
        yield
    except SinewError as error:
        _end(f"Live mode ended: {error}")
    except Exception:
        _end("Live mode ended by an error that was not foreseen: Blender's console says more.")
        raise


def _take_event(event: Event) -> None:
    session = _session
    if session is None or session.run is not child.current():
        return
    session.state.take_event(event, time.monotonic())
    kind, obj = event.get("event"), session.object
    if obj is None:
        return  # the next beat ends it
    if kind == "mesh":
        baking.note_mesh(obj, event)
    elif kind == "halted":
        session.message = f"Paused: {event['message']} {event['remedy']}"


def _begin_to_show(session: Session, obj: Any) -> None:
    from . import live_view

    with session.stage.unnoticed(), baking.where_it_is_shown(obj):
        session.view = live_view.View(session)
    session.stage.begin(obj)
    if session.take_on_ready:
        session.state.record(baking.wanted_modes(obj) > 0)


def _reason_to_end(session: Session, obj: Any | None) -> str:
    return live_scene.reason_to_end(obj, session.stage) or session.edits.reason_to_end(obj)


def _beat() -> None:
    """After each look for events."""
    session = _session
    if session is None:
        return
    if live_scene.is_rendering():
        if live_scene.is_rendering_viewport():
            session.stage.show()  # renders show the scene as it is without live mode
        return  # frames are the render's now
    if reading.current() is not None:
        return  # the scene is at other frames, as live_again wants it
    obj = session.object
    if reason := _reason_to_end(session, obj):
        _end(reason)
        return
    with _ending_on_errors():
        if session.state.ready and session.view is None:
            _begin_to_show(session, obj)
        _go_on(session, obj, time.monotonic())


def _go_on(session: Session, obj: Any, now: float) -> None:
    if session.reset_is_due:
        from . import live_again

        live_again.reset_when_due(session, obj)
        return
    _follow_edits(session, obj, now)
    while (request := session.state.request(now)) is not None:
        child.tell(session.run, request)
    if session.view is not None:
        # Saving, an undo or Reveal Hidden may have brought the mesh back.
        session.stage.hide(obj)
        session.view.fall_back()
        if session.state.fresh:
            session.state.fresh = False
            session.stage.follow(min(session.state.frame, session.state.last))
            session.view.show(session.state.handles)
    if now - session.panel_at > PANEL_BEAT:
        session.panel_at = now
        redrawing.redraw()
    if session.state.recorded:
        _finish_take(session, obj)


def _follow_edits(session: Session, obj: Any, now: float) -> None:
    state, settings = session.state, obj.sinew.live
    state.free = settings.rate == "FREE"
    if session.stage.frame_was_changed() and state.ready:
        _frame_was_changed(session)
    if now - session.edits_at < PANEL_BEAT:
        return
    session.edits_at = now
    by_hand = session.job.moduli is None  # what is keyed plays as it is keyed
    if by_hand and state.ready and not state.recording and (moduli := session.edits.new_stiffness(obj)):
        state.set_stiffness(moduli)
        session.view.follow_stiffness(moduli)
    session.pending = session.edits.others(obj, session.stage.scene)


def _frame_was_changed(session: Session) -> None:
    """By the artist, or by a playback: time cannot be jumped, but it can begin anew."""
    state = session.state
    if state.recording:
        return
    if live_scene.is_played_back():
        state.pause()
        session.message = "Paused while Blender plays the animation. Stop that (Space), then press Play"
    elif session.stage.scene.frame_current == state.first:
        state.reset()
        session.message = "Begun anew, since the scene was set to its first frame"
    else:
        state.pause()
        session.message = "Paused, since the scene was set to another frame. Play goes on from the frame above"


def _finish_take(session: Session, obj: Any) -> None:
    """Turn the take into springs and a bake, as soon as the scene can take it."""
    from . import background, live_take

    session.run.waits_for = background.in_the_way(obj)
    if session.run.waits_for:
        return
    edits = session.edits.words(obj, session.stage.scene, stiffness=session.job.moduli is None)
    take = live_take.Take(session.job, session.store.folder, session.state.take, session.stage, edits)
    stop()
    live_take.apply(obj, take)


def _child_ended(run: child.Run) -> bool:
    """The child has ended by itself; False to be asked again, while what was recorded waits."""
    if _session is None or _session.run is not run:
        return True
    if live_scene.is_rendering() or reading.current() is not None:
        return False
    _end(f"{run.message} {run.remedy}".strip() or "Live mode ended: the simulation process is gone.")
    return run.on_end == _child_ended or run.on_end(run)


def not_drawn(obj: Any) -> list[str]:
    """Names of the modifiers that show in the viewport, but not while the body is played with."""
    nodes = obj.sinew.bake.nodes
    later = [m for m in later_modifiers(obj) if m.show_viewport and not is_own_cache(m)]
    return [m.name for m in later if m.type != "NODES" or nodes is None or m.node_group != nodes]


def strength_of(obj: Any, scene: Any) -> float:
    """N/m of a grab: what the artist has set, or with what the body's weight gives way by little of its size."""
    chosen = obj.sinew.live.strength
    return chosen if chosen > 0.0 else holding_strength(obj, scene)
