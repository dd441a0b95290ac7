"""State machine of live mode, event by event, without Blender and without a child."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from sinew.blender_addon.jobs.state_machine import Ended, Stage, Started, StopAsked
from sinew.blender_addon.live.live_state import (
    MOST_AHEAD,
    Asked,
    FrameSet,
    Grab,
    LetGo,
    LiveState,
    Looked,
    Pulled,
    Stepped,
    Toggled,
    transition,
)
from sinew.core.foundation.events import (
    Advance,
    Event,
    Failed,
    LiveFrame,
    Phase,
    Ready,
    Record,
    Recorded,
    RequestRejected,
    Reset,
    SetStiffness,
    StiffnessApplied,
    StopRecording,
)

HANDLES = base64.b64encode(np.ones((2, 4, 3)).tobytes()).decode()
GRAB = Grab(4, np.array([1.0, 2.0, 3.0]), 5.0)


def live(frame: int, seconds: float = 0.02) -> LiveFrame:
    """The answer to a request for a frame."""
    handles = base64.b64encode(np.full((2, 4, 3), float(frame)).tobytes()).decode()
    return LiveFrame(frame, handles, iterations=3, converged=True, seconds=seconds, apart=0.0)


def after(state: LiveState, *events: Event, now: float = 1.0) -> LiveState:
    """Return the state after events."""
    return reduce(lambda state, event: transition(state, event, now), events, state)


def asked(state: LiveState, now: float) -> tuple[LiveState, Event | None]:
    """The state when the child was asked what is due, and that."""
    command = state.request(now)
    return state if command is None else after(state, Asked(command), now=now), command


@pytest.fixture
def state() -> LiveState:
    """Ready at frame 1 of 10, 25 frames a second."""
    state = LiveState(stage=Stage.RUNNING, first=1, last=10, frame_rate=25.0)
    assert not state.ready and state.request(0.0) is None, "nothing is asked before the body is ready"
    return after(state, Ready(1, 2, 3, HANDLES), now=0.0)


def test_a_body_is_shown_by_handles_or_by_positions(state):
    assert state.handles.shape == (2, 4, 3) and state.positions is None
    told = base64.b64encode(np.full((5, 3), 2.0, dtype=np.float32).tobytes()).decode()
    state = after(LiveState(stage=Stage.RUNNING), Ready(1, 0, 0, positions=told))
    assert state.ready and state.handles.shape == (0, 4, 3) and state.positions.tolist() == [[2.0] * 3] * 5


def frames_sent(state: LiveState, begin: float, end: float, seconds: float, step: float) -> int:
    """Frames that are asked for when answers come at the next look, ``step`` seconds later."""
    count, frame = 0, state.frame
    for now in np.arange(begin, end, step):
        while state.out:
            frame += 1
            state = after(state, live(frame, seconds), now=now)
        state, command = asked(after(state, Looked(free=False), now=now), now)
        while command is not None:
            count += 1
            state, command = asked(state, now)
    return count


def test_frames_come_at_the_rate_of_the_scene(state):
    assert abs(frames_sent(state, 10.0, 14.0, 0.005, 0.004) - 100) <= 2


@pytest.mark.parametrize(("number", "words"), [(1, "1 iteration"), (3, "3 iterations")])
def test_the_effort_of_a_frame_is_told(state, number, words):
    assert after(state, replace(live(2), iterations=number)).effort == words


def test_slow_drawing_does_not_slow_time(state):
    """Five looks a second, at a body that can do a frame in 30 ms."""
    state = after(state, live(1, 0.03), Looked(free=False), now=19.8)
    assert 95 <= frames_sent(state, 20.0, 24.0, 0.03, 0.2) <= 107


def test_what_is_too_slow_takes_its_time(state):
    assert frames_sent(state, 10.0, 14.0, 0.2, 0.2) == 20, "one at a time, and no frame is left out"


def test_free_is_limited_by_what_lies_ahead(state):
    quick = after(state, live(1, 0.001), Looked(free=True), now=0.0)
    for _ in range(MOST_AHEAD):
        quick, command = asked(quick, 1.0)
        assert isinstance(command, Advance)
    assert quick.request(1.0) is None
    slow, command = asked(after(state, live(1, 0.5), Looked(free=True), now=0.0), 1.0)
    assert command is not None and slow.request(1.0) is None, "one frame, and its answer is waited for"


def test_free_frames_leave_no_debt_to_the_clock(state):
    state = after(state, live(1, 0.001), Looked(free=True), now=0.0)
    for _ in range(MOST_AHEAD):
        state, _command = asked(state, 1.0)
    state = after(state, *[live(k, 0.001) for k in range(2, 2 + MOST_AHEAD)], Looked(free=False))
    assert state.request(1.0) is not None


def test_pause_step_reset(state):
    state = after(state, Toggled())
    assert state.request(1.0) is None
    state, command = asked(after(state, Stepped()), 1.0)
    assert isinstance(command, Advance) and state.request(2.0) is None
    state = after(state, live(2))
    assert state.request(2.0) is None and state.frame == 2 and state.handles[0, 0, 0] == 2.0
    state, command = asked(after(state, Pulled(GRAB), Reset()), 2.0)
    assert command == Reset() and not state.grabs and not state.wishes


def test_grabs_are_sent_and_let_go(state):
    state, command = asked(after(state, Pulled(GRAB)), 1.0)
    assert command.grabs == [{"vertex": 4, "target": [1.0, 2.0, 3.0], "stiffness": 5.0}]
    assert after(state, LetGo(4), LetGo(5), live(2)).request(2.0).grabs == []


def test_a_take_notes_the_grabs_of_its_frames_up_to_the_last(state):
    state = after(state, live(57, 0.001), Looked(free=True), Record())
    state, command = asked(state, 1.0)
    assert command == Record() and state.request(1.0) is None, "its answer is waited for"
    state = after(state, live(1, 0.001))
    frame = 1
    while state.out or state.request(2.0) is not None:
        state, command = asked(state, 2.0)
        if command is not None:
            state = after(state, Pulled(Grab(1, np.zeros(3), float(len(state.take)))))
            continue
        frame += 1
        state = after(state, live(frame, 0.001))
        if frame == 10:
            assert state.recording and state.request(3.0) is None, "word of the end is waited for"
            state = after(state, Recorded(10))
    assert frame == 10 and state.recorded and not state.recording and state.doing == "Recorded"
    assert len(state.take) == 10 and state.take[0] == state.take[1] == []
    assert [grabs[0]["stiffness"] for grabs in state.take[2:]] == [float(k) for k in range(2, 10)]


def test_a_frame_that_fails_is_not_part_of_a_take(state):
    state = after(asked(after(state, Record()), 1.0)[0], live(1))
    state = after(asked(state, 2.0)[0], RequestRejected("SolverError", "It bursts.", "Use more Substeps."))
    assert state.take == ([],) and not state.playing and not state.out and state.recording
    assert state.message == "Paused: It bursts. Use more Substeps."
    state, command = asked(after(state, Toggled()), 3.0)
    assert isinstance(command, Advance) and len(state.take) == 2 and state.message == ""


def test_a_take_whose_end_fails_loses_no_frame(state):
    """Its handles could not be kept, say: each frame has its grabs."""
    state = after(asked(after(state, Record()), 1.0)[0], live(1))
    state = after(asked(state, 2.0)[0], live(2), StopRecording())
    assert len(after(asked(state, 3.0)[0], RequestRejected("StoreError", "")).take) == 2


def test_the_last_wish_for_stiffness_counts(state):
    state, _command = asked(state, 0.5)
    state = after(state, SetStiffness([1e5]), SetStiffness([2e5]))
    assert state.request(1.0) is None, "an answer is awaited"
    state, command = asked(after(state, live(2)), 1.0)
    assert command == SetStiffness([2e5]) and state.request(2.0) is None
    state = after(state, StiffnessApplied(stale=True))
    assert state.stale and isinstance(state.request(2.0), Advance)


@pytest.mark.parametrize(
    ("event", "word", "plays", "wishes"),
    [
        (FrameSet(3, in_playback=False), "another frame", False, ()),
        (FrameSet(1, in_playback=False), "Restarted", True, (Reset(),)),
        (FrameSet(1, in_playback=True), "Space", False, ()),
    ],
)
def test_a_frame_that_somebody_sets_pauses_or_begins_anew(state, event, word, plays, wishes):
    found = after(state, event)
    assert word in found.message and found.playing == plays and found.wishes == wishes
    assert after(found, Toggled()).message == ""
    recording = asked(after(state, Record()), 1.0)[0]
    assert after(recording, event).message == "" and after(recording, event).playing, "a take goes on"


def test_the_rate_shown_is_that_of_late(state):
    for k in range(60):
        state = after(state, live(2 + k), now=0.05 * k)
    assert abs(state.rate - 20.0) < 1e-9
    assert after(state, Toggled()).rate == 0.0


EVERY = [Toggled(), Stepped(), Pulled(GRAB), LetGo(4), FrameSet(3, False), Looked(True), Reset(), Record(),
         StopRecording(), SetStiffness([1.0]), Asked(Reset()), Ready(1, 2, 3, HANDLES), live(2), StiffnessApplied(True),
         Recorded(3), RequestRejected("Error", "")]  # fmt: skip


@pytest.mark.parametrize("stage", set(Stage) - {Stage.RUNNING, Stage.STOPPING})
@pytest.mark.parametrize("event", EVERY, ids=lambda event: type(event).__name__)
def test_without_a_child_nothing_happens(state, stage, event):
    state = replace(state, stage=stage)
    assert transition(state, event, 1.0) is state and state.request(1.0) is None


def test_its_work_goes_on_as_any_other():
    """It is prepared, is stopped, and its child ends; the conversation stays as it was."""
    state = after(LiveState(stage=Stage.READ, first=3), Started(0), Phase("subspace", 40, 100))
    assert (state.stage, state.label, state.factor) == (Stage.RUNNING, "Finding Modes", 0.4)
    state = after(state, Ready(3, 2, 3, HANDLES), StopAsked())
    assert state.stage is Stage.STOPPING and state.request(1.0) is None
    ended = after(state, Failed("Error", "Torn.", "Mend it."), Ended("error"))
    assert (ended.stage, ended.message_with_remedy, ended.frame) == (Stage.ENDED, "Torn. Mend it.", 3)
