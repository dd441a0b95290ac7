"""State machine of a task, event by event, without Blender and without a child."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pytest
from sinew.blender_addon.jobs.state_machine import (
    AllRead,
    Begun,
    Ended,
    Over,
    Read,
    Stage,
    Started,
    State,
    StopAsked,
    Waits,
    transition,
)
from sinew.core.foundation.events import Done, Event, Failed, FrameDone, Phase, StoppedAfter, event_of, line_of

LIFE = [Begun(), Read(0.5), AllRead(), Started(4), Phase("simulate", 0, 4), Done(4, []), Ended("done"), Over()]
EVERY = [*LIFE, FrameDone(1, 0.1, {}), StopAsked(), Waits("Leave Edit Mode"), Failed("MeshError", "Torn.", "Mend it.")]


def after(*events: Event, state: State | None = None) -> State:
    """Return the state after events."""
    return reduce(lambda state, event: transition(state, event, 0.0), events, state or State())


def at(stage: Stage) -> State:
    return replace(State(), stage=stage)


def test_a_life_goes_through_the_stages_in_their_order():
    stages = [after(*LIFE[:k]).stage for k in range(len(LIFE) + 1)]
    assert [stage for k, stage in enumerate(stages) if stage not in stages[:k]] == [
        Stage.WAITING, Stage.READING, Stage.READ, Stage.RUNNING, Stage.ENDED, Stage.OVER,
    ]  # fmt: skip


@pytest.mark.parametrize("stage", Stage)
def test_what_cannot_happen_changes_nothing(stage):
    """By table: which events change a stage at all. None brings back what is over."""
    of_child = {"Phase", "FrameDone", "Done", "Failed"}
    changing = {
        Stage.WAITING: {"Begun", "StopAsked", "Over"},
        Stage.READING: {"Read", "AllRead", "StopAsked", "Over"},
        Stage.READ: {"Started", "StopAsked", "Over"},
        Stage.RUNNING: {*of_child, "StopAsked", "Ended", "Waits", "Over"},
        Stage.STOPPING: {*of_child, "Ended", "Waits", "Over"},
        Stage.ENDED: {"Waits", "Over"},
        Stage.OVER: set(),
    }
    changed = {type(event).__name__ for event in EVERY if transition(at(stage), event, 1.0) != at(stage)}
    assert changed == changing[stage]


@pytest.mark.parametrize("stage", [Stage.WAITING, Stage.READING, Stage.READ])
def test_what_has_no_child_yet_is_over_when_it_is_stopped(stage):
    assert transition(at(stage), StopAsked(), 0.0).stage is Stage.OVER


def test_a_label_tells_what_goes_on():
    state = State(title="Ghost, 2 of 3")
    told = []
    for event in (Begun(), Read(0.42), AllRead(), Started(60), Phase("compile", 25, 60), Phase("subspace", 10, 100),
                  Phase("subspace", 40, 100, step="handles"), Phase("simulate", 10, 60), FrameDone(11, 0.1, {}),
                  StopAsked(), StoppedAfter(11), Ended(""), Waits("Leave Edit Mode (Tab)")):  # fmt: skip
        state = transition(state, event, 0.0)
        told.append((state.label.removeprefix("Ghost, 2 of 3: "), round(state.factor, 2)))
    assert told == [
        ("Reading Animation 0 %", 0.0), ("Reading Animation 42 %", 0.42), ("Reading Animation 42 %", 0.42),
        ("Starting", 0.0), ("First-Time Setup", 0.25), ("Finding Modes", 0.1),
        ("Finding Handles of Pins", 0.4), ("Frame 10 / 60", 0.17), ("Frame 11 / 60", 0.18),
        ("Stopping after this step", 0.18), ("Stopping after this step", 0.18), ("Frame 11 / 60", 0.18),
        ("Leave Edit Mode (Tab)", 0.18),
    ]  # fmt: skip
    assert state.outcome == "stopped" and state.stage is Stage.ENDED


def test_the_pace_is_that_of_the_frames_alone():
    """Ten were there before; compiling took long."""
    state = after(Begun(), AllRead(), Started(60))
    state = transition(state, Phase("simulate", 10, 60), 100.0)
    assert state.remaining(101.0) is None
    for frame in (11, 12):
        state = transition(state, FrameDone(frame, 2.0, {}), 104.0)
    assert state.remaining(104.0) == pytest.approx(48 * 2.0)
    assert transition(state, Done(60, []), 105.0).remaining(105.0) is None


def test_the_pace_of_compiling_is_that_of_its_share():
    """A bake begins at what there is of all kernels, and needs no more than some."""
    state = transition(after(Begun(), AllRead(), Started(60)), Phase("compile", 10, 60), 10.0)
    assert state.remaining(12.0) is None
    state = transition(state, Phase("compile", 20, 60), 15.0)
    assert state.remaining(15.0) == pytest.approx(20.0) and state.factor == pytest.approx(0.2)
    assert transition(state, Phase("subspace", 1, 100), 16.0).remaining(17.0) is None


def test_what_the_child_told_first_counts():
    """It may be killed after its last word; and one that crashes has told nothing."""
    running = after(Begun(), AllRead(), Started(4))
    failed = after(Failed("MeshError", "Torn.", "Mend it."), Ended("error", "It crashed."), state=running)
    assert (failed.outcome, failed.message_with_remedy) == ("error", "Torn. Mend it.")
    assert after(Done(4, []), Ended("stopped"), state=running).outcome == "done"
    crashed = after(Ended("error", "It crashed.", "Resume."), state=running)
    assert (crashed.outcome, crashed.message_with_remedy) == ("error", "It crashed. Resume.")


@pytest.mark.parametrize("phase", ["compile", "tetrahedralize"])
def test_who_hears_nothing_has_to_be_ended(phase):
    deaf = Phase(phase, 0, 1)
    running = after(Begun(), AllRead(), Started(4))
    assert not after(deaf, state=running).is_deaf and not after(StopAsked(), state=running).is_deaf
    assert after(deaf, StopAsked(), state=running).is_deaf and after(StopAsked(), deaf, state=running).is_deaf
    assert not after(deaf, StopAsked(), StoppedAfter(), state=running).is_deaf, "it is ended once"


@pytest.mark.parametrize("event", [Phase("compile", 1, 2), FrameDone(2, 0.5, {"solver": "newton"}), StoppedAfter()])
def test_a_line_tells_the_same_event(event):
    assert event_of(line_of(event)) == event


@pytest.mark.parametrize(
    "line", ["Warning: a library speaks.", "[3]", '{"event": "none"}', '{"event": "phase"}', b"\xff"]
)
def test_what_is_no_event_is_none(line):
    assert event_of(line) is None
