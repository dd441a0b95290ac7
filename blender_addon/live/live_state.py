"""State machine of live mode, independent of Blender.

The state of a task is extended by the exchange with the child process. User actions and answers of the child are
events. A request by the user, such as a reset, causes two events: the request itself, which is then queued, and
:class:`Asked`, when the request has been sent to the child. ``LiveState.request(now)`` returns the next request that is
due. Blender polls the child process only between redraws. If the child process can compute several frames between two
polls, several frames are requested at once.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation import events
from ...core.foundation.events import Advance, Event, LiveFrame, Record, Reset, SetStiffness
from ..jobs import state_machine
from ..jobs.state_machine import RUNS, Stage
from ..translations.translate import marked, translated

AVERAGED = 30
"""Number of frames over which rates are averaged."""
LATE = 0.25
"""Maximum lag behind real time that live mode catches up, s. A longer lag is shortened to this value."""
AHEAD, MOST_AHEAD = 0.03, 8
"""Limits on the number of frames that are requested at once. The number is at most ``MOST_AHEAD``. More than one frame
is requested only if the total computation time is at most ``AHEAD``, s, or at most the time between two polls of the
child process. A mouse move takes effect only after the requested frames.
"""


class Grab(NamedTuple):
    """Spring of live mode from a surface vertex to a target.

    Attributes
    ----------
    vertex : index of the vertex
    target : position (3,), m, world space
    stiffness : spring stiffness, N/m
    pinned : True if the grab remains when the mouse button is released
    """

    vertex: int
    target: np.ndarray
    stiffness: float
    pinned: bool = False

    def as_request(self) -> dict[str, Any]:
        """Return the grab as a dictionary for JSON, as in :class:`Advance`.

        ``vertex``: index.
        ``target``: three floats, m.
        ``stiffness``, N/m.
        """
        return {"vertex": int(self.vertex), "target": [float(x) for x in self.target], "stiffness": self.stiffness}


class Toggled(Event):
    """Event for the state machine of live mode: the user pauses or resumes the simulation."""


class Stepped(Event):
    """Event for the state machine of live mode: the user advances the simulation by one frame, and so pauses it."""


class Pulled(Event):
    """Event for the state machine of live mode: a grab (spring from a surface vertex to a target) begins or changes."""

    grab: Grab


class LetGo(Event):
    """Event for the state machine of live mode: the grab of a vertex is released."""

    vertex: int


class FrameSet(Event):
    """Event for the state machine of live mode: the scene was set to another frame.

    ``frame``: number of the frame.
    ``in_playback``: True if Blender's playback has set the frame, False for the user or a script.
    """

    frame: int
    in_playback: bool


class Looked(Event):
    """Event for the state machine of live mode: the answers of the child process were polled.

    ``free``: present value of a user setting. If True, frames are simulated as fast as possible; if False, at the frame
        rate.
    """

    free: bool


class Asked(Event):
    """Event for the state machine of live mode: a request was sent to the child process."""

    command: Event


@dataclass(frozen=True, eq=False)
class LiveState(state_machine.State):
    """State of the simulated body in live mode. Times are seconds of the monotonic clock.

    Attributes
    ----------
    first, last : first and last frame of the job; animated inputs stay constant after the last
    frame_rate : frames per second, ignored if ``free``
    free : True if frames follow as fast as they are computed
    shown : last frame received
    grabs : grab of each pulled vertex, by the index of the vertex
    wishes : requests by the user that are not sent yet; they are sent before the next frame
    out : requests sent, but not answered yet: one request of any kind, or several requests that are all for frames
    take : recorded grabs: for each frame a list of dictionaries, one per grab; None without a recording
    recorded : True if the recording is complete
    stale : True if the modes were computed for another stiffness distribution
    steps : frames left to simulate while paused
    due, looked, gap : time of the next frame, time of the last poll, and time between the last two polls
    times : arrival times of the last frames, oldest first
    """

    first: int = 0
    last: int = 0
    frame_rate: float = 1.0
    free: bool = False
    playing: bool = True
    shown: LiveFrame = LiveFrame(0, "", 0, True, 0.0, 0.0)
    grabs: Mapping[int, Grab] = field(default_factory=dict)
    wishes: tuple[Event, ...] = ()
    out: tuple[Event, ...] = ()
    take: tuple[list[dict[str, Any]], ...] | None = None
    recorded: bool = False
    stale: bool = False
    steps: int = 0
    due: float = 0.0
    looked: float = 0.0
    gap: float = 0.0
    times: tuple[float, ...] = ()

    @property
    def ready(self) -> bool:
        """True if the child has sent a frame, so that the body can be drawn."""
        return bool(self.shown.handles or self.shown.positions)

    @property
    def frame(self) -> int:
        """Number of the last frame received."""
        return self.shown.frame

    @property
    def handles(self) -> np.ndarray:
        """Handles (affine displacements) of the last frame received, (h,4,3) float64, m.

        Without a subspace, h is 0.
        """
        return np.frombuffer(base64.b64decode(self.shown.handles), dtype="<f8").reshape(-1, 4, 3)

    @property
    def positions(self) -> np.ndarray | None:
        """Vertex positions of the last frame received, (n,3) float32, m, or None in a subspace."""
        shown = self.shown.positions
        return np.frombuffer(base64.b64decode(shown), dtype="<f4").reshape(-1, 3) if shown else None

    @property
    def recording(self) -> bool:
        """True while frames are being recorded."""
        return self.take is not None and not self.recorded

    @property
    def doing(self) -> str:
        """Activity in one word: Playing, Paused, Recording or Recorded."""
        if self.take is not None:
            return translated("Recorded" if self.recorded else "Recording")
        return translated("Playing" if self.playing else "Paused")

    @property
    def frame_words(self) -> str:
        """Activity and number of the frame; while recording, also the last frame."""
        words = marked("{doing}: frame {frame} of {last}" if self.recording else "{doing}: frame {frame}")
        return translated(words, doing=self.doing, frame=self.frame, last=self.last)

    @property
    def effort(self) -> str:
        """Solver iterations of the last frame, such as ``3 iterations``."""
        count = self.shown.iterations
        return translated("{count} iteration" if count == 1 else "{count} iterations", count=count)

    @property
    def rate(self) -> float:
        """Frames received per second, averaged over the last ``AVERAGED`` frames, or 0 if unknown."""
        span = self.times[-1] - self.times[0] if self.times else 0.0
        return (len(self.times) - 1) / span if span > 0.0 else 0.0

    def request(self, now: float) -> Event | None:
        """Return the next request to the child at the time ``now``, s, or None.

        None means that no frame or user request is due, or that the child must answer first.
        """
        if self.stage is not Stage.RUNNING or not self.ready or self.recorded:
            return None
        if self.wishes:
            return None if self.out else self.wishes[0]
        if len(self.out) >= self._depth or (self.recording and self.frame + len(self.out) >= self.last):
            return None
        if self.steps or self.playing and (self.free or now >= self.due):
            return Advance([grab.as_request() for grab in self.grabs.values()])
        return None

    @property
    def _depth(self) -> int:
        """Maximum number of unanswered requests: for frames, the number computed until the next poll, otherwise 1."""
        if not self.shown.seconds or not all(isinstance(command, Advance) for command in self.out):
            return 1
        return min(max(1, int(max(AHEAD, self.gap) / self.shown.seconds)), MOST_AHEAD)


def transition(state: LiveState, event: Event, now: float) -> LiveState:
    """Return the state after an event at the time ``now``, s."""
    if state.stage not in RUNS:
        return state_machine.transition(state, event, now)
    match event:
        case Toggled():
            return _paused(state) if state.playing else _played(state)
        case Stepped():
            return replace(_paused(state), steps=state.steps + 1)
        case Pulled(grab):
            return replace(state, grabs={**state.grabs, grab.vertex: grab})
        case LetGo(vertex):
            return replace(state, grabs={v: grab for v, grab in state.grabs.items() if v != vertex})
        case FrameSet() if not state.recording:
            return _at_other_frame(state, event)
        case Looked(free):
            return replace(state, free=free, looked=now, gap=min(now - state.looked, LATE))
        case Reset() | Record() | events.StopRecording() | SetStiffness():
            return _wished(state, event)
        case Asked(command):
            return _asked(state, command, now)
    return _answered(state, event, now)


def _paused(state: LiveState, message: str = "") -> LiveState:
    return replace(state, playing=False, times=(), message=message)


def _played(state: LiveState) -> LiveState:
    return replace(state, playing=True, due=0.0, times=(), message="")


def _at_other_frame(state: LiveState, event: FrameSet) -> LiveState:
    """Return the state after the scene was set to another frame: reset at the first frame, otherwise paused."""
    if event.in_playback:
        return _paused(state, "Paused while Blender plays the animation. Stop the playback (Space), then press Play")
    if event.frame == state.first:
        return replace(_wished(state, Reset()), message="Restarted, since the scene was set to its first frame")
    return _paused(state, "Paused, since the scene was set to another frame. Play continues from the simulated frame")


def _wished(state: LiveState, wish: Event) -> LiveState:
    """Return the state with the user's request ``wish`` in the queue."""
    wishes = [each for each in state.wishes if not isinstance(each, SetStiffness) or not isinstance(wish, SetStiffness)]
    state = replace(state, wishes=(*wishes, wish))
    match wish:
        case Reset():
            return replace(state, grabs={}, steps=0, message="")
        case Record():
            return replace(_played(state), steps=0)
    return state


def _asked(state: LiveState, command: Event, now: float) -> LiveState:
    state = replace(state, out=(*state.out, command))
    match command:
        case Advance(grabs):
            take = None if state.take is None else (*state.take, grabs)
            if state.steps or state.free:
                return replace(state, steps=max(0, state.steps - 1), take=take)
            # From the planned time, so that the average rate is right; a long lag is dropped.
            return replace(state, due=max(state.due or now, now - LATE) + 1.0 / state.frame_rate, take=take)
        case Reset() | Record():
            state = replace(state, take=([],) if isinstance(command, Record) else None)
    return replace(state, wishes=state.wishes[1:])


def _answered(state: LiveState, event: Event, now: float) -> LiveState:
    """Return the state after an answer of the child at the time ``now``, s."""
    match event:
        case events.Ready(frame, handles=handles, positions=positions):
            return replace(state, shown=replace(state.shown, frame=frame, handles=handles, positions=positions))
        case LiveFrame(frame):
            ends = state.recording and frame >= state.last  # a Recorded event follows
            times = state.times if frame == state.first else (*state.times, now)[-AVERAGED:]
            return replace(state, shown=event, out=state.out if ends else state.out[1:], times=times)
        case events.StiffnessApplied(stale):
            return replace(state, stale=stale, out=state.out[1:])
        case events.Recorded():
            return replace(state, recorded=True, out=())
        case events.RequestRejected():
            return _halted(state, event)
    return state_machine.transition(state, event, now)


def _halted(state: LiveState, event: events.RequestRejected) -> LiveState:
    """Return the state after the child has rejected the oldest request: paused, without the rejected frame."""
    if state.take and isinstance(next(iter(state.out), None), Advance):
        frame = len(state.take) - len(state.out)
        state = replace(state, take=state.take[:frame] + state.take[frame + 1 :])
    return _paused(replace(state, out=state.out[1:]), f"Paused: {event.message} {event.remedy}")
