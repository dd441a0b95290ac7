"""The conversation with the child of live mode, without a child."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from sinew.blender_addon.live_state import MOST_AHEAD, Grab, LiveState


def live(frame: int, seconds: float = 0.02) -> dict:
    """The answer to a request for a frame."""
    handles = base64.b64encode(np.full((2, 4, 3), float(frame)).tobytes()).decode()
    told = {"iterations": 3, "converged": True, "seconds": seconds, "apart": 0.0}
    return {"event": "live", "frame": frame, "handles": handles, **told}


@pytest.fixture
def state() -> LiveState:
    """Ready at frame 1 of 10, 25 frames a second."""
    state = LiveState(first=1, last=10, frame_rate=25.0)
    assert state.request(0.0) is None, "nothing is asked before the body is ready"
    state.take_event({**live(1), "event": "ready"}, 0.0)
    return state


def frames_sent(state: LiveState, begin: float, end: float, seconds: float, step: float) -> int:
    """Frames that are asked for when answers come at the next look, ``step`` seconds later."""
    count, frame = 0, state.frame
    for now in np.arange(begin, end, step):
        while state.out:
            frame += 1
            state.take_event(live(frame, seconds), now)
        while state.request(now) is not None:
            count += 1
    return count


def test_frames_come_at_the_rate_of_the_scene(state):
    assert abs(frames_sent(state, 10.0, 14.0, 0.005, 0.004) - 100) <= 2


@pytest.mark.parametrize(("number", "words"), [(1, "1 iteration"), (3, "3 iterations")])
def test_the_effort_of_a_frame_is_told(state, number, words):
    state.request(10.0)
    state.take_event({**live(2), "iterations": number}, 10.0)
    assert state.effort == words


def test_slow_drawing_does_not_slow_time(state):
    """Five looks a second, at a body that can do a frame in 30 ms."""
    state.take_event(live(1, 0.03), 0.0)
    state.request(19.8)
    assert 95 <= frames_sent(state, 20.0, 24.0, 0.03, 0.2) <= 107


def test_what_is_too_slow_takes_its_time(state):
    assert frames_sent(state, 10.0, 14.0, 0.2, 0.2) == 20, "one at a time, and no frame is left out"


def test_free_is_limited_by_what_lies_ahead(state):
    state.free = True
    state.take_event(live(1, 0.001), 0.0)
    requests = [state.request(1.0) for _ in range(MOST_AHEAD + 1)]
    assert requests[-1] is None and all(request["do"] == "advance" for request in requests[:-1])
    slow = LiveState(1, 10, 25.0, free=True)
    slow.take_event({**live(1), "event": "ready"}, 0.0)
    slow.take_event(live(1, 0.5), 0.0)
    assert slow.request(1.0) is not None and slow.request(1.0) is None, "one frame, and its answer is waited for"


def test_pause_step_reset(state):
    state.pause()
    assert state.request(1.0) is None
    state.step()
    assert state.request(1.0)["do"] == "advance" and state.request(2.0) is None
    state.take_event(live(2), 2.0)
    assert state.request(2.0) is None and state.frame == 2 and state.handles[0, 0, 0] == 2.0
    state.grabs[4] = Grab(4, np.zeros(3), 5.0)
    state.reset()
    assert state.request(2.0) == {"do": "reset"} and not state.grabs


def test_grabs_are_sent_and_let_go(state):
    state.grabs[4] = Grab(4, np.array([1.0, 2.0, 3.0]), 5.0)
    assert state.request(1.0)["grabs"] == [{"vertex": 4, "target": [1.0, 2.0, 3.0], "stiffness": 5.0}]
    del state.grabs[4]
    state.take_event(live(2), 1.0)
    assert state.request(2.0)["grabs"] == []


def test_a_take_notes_the_grabs_of_its_frames_up_to_the_last(state):
    state.free = True
    state.take_event(live(57, 0.001), 0.0)
    state.record()
    assert state.request(1.0)["do"] == "record" and state.request(1.0) is None, "its answer is waited for"
    state.take_event(live(1, 0.001), 1.0)
    frame = 1
    while (request := state.request(2.0)) is not None or state.out:
        if request is not None:
            state.grabs[1] = Grab(1, np.zeros(3), float(len(state.take)))
            continue
        frame += 1
        state.take_event(live(frame, 0.001), 2.0)
        if frame == 10:
            assert state.recording and state.request(3.0) is None, "word of the end is waited for"
            state.take_event({"event": "recorded", "frames": 10}, 2.0)
    assert frame == 10 and state.recorded and not state.recording and state.doing == "Recorded"
    assert len(state.take) == 10 and state.take[0] == state.take[1] == []
    assert [grabs[0]["stiffness"] for grabs in state.take[2:]] == [float(k) for k in range(2, 10)]


def test_a_frame_that_fails_is_not_part_of_a_take(state):
    state.record()
    state.request(1.0)
    state.take_event(live(1), 1.0)
    state.request(2.0)
    state.take_event({"event": "halted", "code": "SolverError", "message": "", "remedy": ""}, 2.0)
    assert state.take == [[]] and not state.playing and state.out == 0 and state.recording
    state.play()
    assert state.request(3.0)["do"] == "advance" and len(state.take) == 2


def test_the_last_wish_for_stiffness_counts(state):
    state.request(0.5)
    state.set_stiffness([1e5])
    state.set_stiffness([2e5])
    assert state.request(1.0) is None, "an answer is awaited"
    state.take_event(live(2), 1.0)
    assert state.request(1.0) == {"do": "stiffness", "youngs_modulus": [2e5]}
    state.take_event({"event": "stiffness", "stale": True}, 1.0)
    assert state.stale and state.request(2.0)["do"] == "advance"


def test_the_rate_shown_is_that_of_late(state):
    for k in range(60):
        state.take_event(live(2 + k), 0.05 * k)
    assert abs(state.rate - 20.0) < 1e-9
    state.pause()
    assert state.rate == 0.0
