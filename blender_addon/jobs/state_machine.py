"""State machine of a background task, independent of Blender: its state, and the transition for each event.

    WAITING --Begun--> READING --AllRead--> READ --Started--> RUNNING --Ended--> ENDED --Over--> OVER
                         in short parts         StopAsked: STOPPING    until the scene can be changed

StopAsked before RUNNING, and Over in any stage, lead to OVER. Events that cannot happen in a stage, such as a late line
of a killed child, change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from ...core.foundation.events import ContactWarnings, Done, Event, Failed, FrameDone, Mesh, OfBody, Phase, StoppedAfter
from ...core.foundation.unit_words import length_words

PHASES = {
    "compile": "First-Time Setup",
    "tetrahedralize": "Tetrahedralizing",
    "materials": "Blending Materials",
    "subspace": "Finding Modes",
    "subspace handles": "Finding Handles of Pins",
    "subspace cubature": "Choosing Cubature Points",
    "subspace projection": "Checking Cubature Points",
    "subspace vibrations": "Matching the Full Model",
    "simulate": "Simulating",
    "handles": "Finding Handles",
}
DEAF = ("compile", "tetrahedralize")
"""Phases in third-party code, which cannot be asked to stop and keeps no unfinished results."""


class Stage(Enum):
    """Stage of a task: waiting, reading the scene, all read, child running, child asked to stop, child ended, over."""

    WAITING = auto()
    READING = auto()
    READ = auto()
    RUNNING = auto()
    STOPPING = auto()
    ENDED = auto()
    OVER = auto()


class Begun(Event):
    """Event: the task begins to read the scene."""


class Read(Event):
    """Event: the fraction ``part`` of the scene was read, 0 to 1."""

    part: float


class AllRead(Event):
    """Event: the whole scene was read, and its frame was restored."""


class Started(Event):
    """Event: a child runs; ``frames`` is the final number of frames, 0 for tasks without frames."""

    frames: int


class StopAsked(Event):
    """Event: the user has asked to stop."""


class Ended(Event):
    """Event: the child has ended. ``outcome`` counts only if the child has reported none: it crashed or was killed."""

    outcome: str
    message: str = ""
    remedy: str = ""


class Waits(Event):
    """Event: ``words`` say what the user must do before the result can be applied to the scene; "" if nothing."""

    words: str


class Over(Event):
    """Event: the task is complete or cancelled."""


@dataclass(frozen=True)
class State:
    """State of a task: ``title``, with its position in a series; ``part``, the fraction of the scene that is read;
    times are seconds of one clock. For bodies processed together, ``body`` is the index of the one being prepared, and
    ``meshes`` pairs indices with events. ``frames_before`` were on disk at the start; ``newest`` is the last frame
    done, ``last_step`` the report of its last step. ``warnings`` are about contact, ``move`` is as in
    ``errors.OverlapError``. ``outcome`` is ``done``, ``stopped`` or ``error``, with a ``message`` and its ``remedy``,
    once the child has reported it.
    """

    stage: Stage = Stage.WAITING
    title: str = ""
    part: float = 0.0
    phase: Phase = Phase("", 0, 0)
    frames_total: int = 0
    frames_before: int = 0
    frames_done: int = 0
    warnings: tuple[str, ...] = ()
    move: tuple[Any, ...] = ()
    newest: int | None = None
    last_step: dict[str, Any] = field(default_factory=dict)
    body: int = 0
    meshes: tuple[tuple[int, Mesh], ...] = ()
    outcome: str = ""
    message: str = ""
    remedy: str = ""
    started: float = 0.0
    phase_at: float = 0.0
    phase_from: int = 0
    waits_for: str = ""

    @property
    def label(self) -> str:
        """Activity in words, after the title if there is one."""
        return f"{self.title}: {self.activity}" if self.title else self.activity

    @property
    def activity(self) -> str:
        """Activity in words, with its progress."""
        phase = self.phase
        if self.stage in READS:
            return f"Reading Animation {100.0 * self.part:.0f} %"
        if self.waits_for:
            return self.waits_for
        if self.stage is Stage.STOPPING:
            return "Stopping after this step" if phase.phase == "simulate" else "Stopping"
        if phase.phase == "simulate" and self.frames_total:
            return f"Frame {self.frames_there} / {self.frames_total}"
        return PHASES.get(f"{phase.phase} {phase.step}", PHASES.get(phase.phase, "Starting"))

    def mesh(self, body: int = 0) -> Mesh | None:
        """Return the mesh event of the body with index ``body``; None if it has none yet."""
        return dict(self.meshes).get(body)

    @property
    def frames_there(self) -> int:
        """Number of frames done, including those of the bake that is resumed."""
        return self.frames_before + self.frames_done

    @property
    def of_step(self) -> str:
        """Description of the last step of the newest frame; "" before the first frame."""
        step, contacts = self.last_step, self.last_step.get("contacts")
        if not step:
            return ""
        near = f", {contacts:,} contacts, {length_words(step.get('distance', 0.0))} apart" if contacts else ""
        return f"{step.get('iterations', 0)} iterations{near}"

    @property
    def factor(self) -> float:
        """Fraction of the current activity that is done, 0 to 1."""
        if self.stage in READS:
            return self.part
        if self.phase.phase == "simulate" and self.frames_total:
            return min(1.0, self.frames_there / self.frames_total)
        # Percent of all kernels, so that tasks which compile different ones show one progress.
        total = 100 if self.phase.phase == "compile" else self.phase.total
        return self.phase.done / total if total else 0.0

    def remaining(self, now: float) -> float | None:
        """Return the seconds left at the pace so far of frames or compiled kernels; None if unknown."""
        done, total = {
            "simulate": (self.frames_done, self.frames_total - self.frames_before),
            "compile": (self.phase.done - self.phase_from, self.phase.total - self.phase_from),
        }.get(self.phase.phase, (0, 0))
        if not done or self.outcome:
            return None
        return max(0.0, (total - done) * (now - self.phase_at) / done)

    @property
    def is_deaf(self) -> bool:
        """Return True if the child was asked to stop, but cannot respond in this phase and must be killed."""
        return self.stage is Stage.STOPPING and self.phase.phase in DEAF and not self.outcome

    @property
    def message_with_remedy(self) -> str:
        """Return the message for the user; "" after success."""
        return f"{self.message} {self.remedy}".strip()


READS = {Stage.READING, Stage.READ}
RUNS = {Stage.RUNNING, Stage.STOPPING}
BEFORE = {Stage.WAITING} | READS
HAS_CHILD = RUNS | {Stage.ENDED}

HAPPENS_IN = {
    Begun: {Stage.WAITING},
    Read: {Stage.READING},
    AllRead: {Stage.READING},
    Started: {Stage.READ},
    StopAsked: BEFORE | RUNS,
    Ended: RUNS,
    Waits: HAS_CHILD,
}
"""Stages in which an event can happen; Over can in all stages, other events only while the child runs."""


def transition(state: State, event: Event, now: float) -> State:
    """Return the state after an event at a time ``now``, s."""
    if not isinstance(event, Over) and state.stage not in HAPPENS_IN.get(type(event), RUNS):
        return state
    match event:
        case Begun():
            return replace(state, stage=Stage.READING)
        case Read(part):
            return replace(state, part=part)
        case AllRead():
            return replace(state, stage=Stage.READ)
        case Started(frames):
            return replace(state, stage=Stage.RUNNING, frames_total=frames, started=now)
        case StopAsked():
            return replace(state, stage=Stage.OVER if state.stage in BEFORE else Stage.STOPPING)
        case Ended():
            return replace(_told_its_end(state, event.outcome, event.message, event.remedy), stage=Stage.ENDED)
        case Waits(words):
            return replace(state, waits_for=words)
        case Over():
            return replace(state, stage=Stage.OVER)
    return _told(state, event, now)


def _told(state: State, event: Event, now: float) -> State:
    """Return the state after an event of the child."""
    match event:
        case Phase("simulate", done) if state.phase.phase != "simulate":
            return replace(state, phase=event, frames_before=done, phase_at=now)
        case Phase(phase, done) if phase != state.phase.phase:
            return replace(state, phase=event, phase_at=now, phase_from=done)
        case Phase():
            return replace(state, phase=event)
        case ContactWarnings(warnings, move):
            return replace(state, warnings=(*state.warnings, *warnings), move=tuple(move) or state.move)
        case OfBody(number):
            return replace(state, body=number)
        case Mesh():
            return replace(state, meshes=(*state.meshes, (state.body, event)))
        case FrameDone():
            return replace(state, frames_done=state.frames_done + 1, newest=event.frame, last_step=event.report)
        case Done() | StoppedAfter():
            return _told_its_end(state, event.kind)
        case Failed():
            state = replace(state, move=tuple(event.move))
            return _told_its_end(state, event.kind, event.message, event.remedy)
    return state


def _told_its_end(state: State, outcome: str, message: str = "", remedy: str = "") -> State:
    """Return the state after an outcome was reported; only the first report counts."""
    return state if state.outcome else replace(state, outcome=outcome, message=message, remedy=remedy)
