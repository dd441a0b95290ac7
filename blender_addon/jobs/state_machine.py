"""State machine of a background task, independent of Blender: its state, and the transition for each event.

    WAITING --Begun--> READING --AllRead--> READ --Started--> RUNNING --Ended--> ENDED --Over--> OVER

READING: the scene is read in short parts. RUNNING: StopAsked changes the stage to STOPPING, and Ended then leads to
ENDED. ENDED: the task waits until the scene can be changed.

StopAsked before RUNNING, and Over in any stage, lead to OVER. Events that cannot happen in a stage, such as a late line
of a killed child, change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from ...core.foundation.events import ContactWarnings, Done, Event, Failed, FrameDone, Mesh, OfBody, Phase, StoppedAfter
from ...core.foundation.unit_words import length_words
from ..translations.translate import marked, translated

PHASES = {
    "compile": marked("First-Time Setup"),
    "tetrahedralize": marked("Tetrahedralizing"),
    "materials": marked("Blending Materials"),
    "subspace": marked("Finding Modes"),
    "subspace handles": marked("Finding Handles of Pins"),
    "subspace cubature": marked("Choosing Cubature Points"),
    "subspace projection": marked("Checking Cubature Points"),
    "subspace vibrations": marked("Matching the Full Model"),
    "simulate": marked("Simulating"),
    "handles": marked("Finding Handles"),
}
DEAF = ("compile", "tetrahedralize")
"""Phases in third-party code, during which the child cannot react to a request to stop and must be killed."""


class Stage(Enum):
    """Stage of a task, in the usual order.

    WAITING: the task waits in the queue.
    READING, READ: the scene is being read, or was read.
    RUNNING: the child process runs.
    STOPPING: the child was asked to stop.
    ENDED: the child has ended.
    OVER: the task is complete or cancelled.
    """

    WAITING = auto()
    READING = auto()
    READ = auto()
    RUNNING = auto()
    STOPPING = auto()
    ENDED = auto()
    OVER = auto()


class Begun(Event):
    """Event for the state machine of a background task: the task has begun to read the scene."""


class Read(Event):
    """Event for the state machine of a background task: the scene was read up to the fraction ``part``, 0 to 1."""

    part: float


class AllRead(Event):
    """Event for the state machine of a background task: the whole scene was read, and its frame restored."""


class Started(Event):
    """Event for the state machine of a background task: a child process was started.

    ``frames``: number of frames of the complete bake, or 0 for tasks without frames.
    """

    frames: int


class StopAsked(Event):
    """Event for the state machine of a background task: the user has asked to stop the task."""


class Ended(Event):
    """Event for the state machine of a background task: the child process has ended.

    ``outcome``, ``message`` and ``remedy`` are used only if the child has not reported its outcome, since the child
    crashed or was killed.
    """

    outcome: str
    message: str = ""
    remedy: str = ""


class Waits(Event):
    """Event for the state machine of a background task: the result cannot be applied before the user acts.

    ``words``: action of the user, or "" if nothing has to be done.
    """

    words: str


class Over(Event):
    """Event for the state machine of a background task: the task is complete or cancelled."""


@dataclass(frozen=True)
class State:
    """State of a task. Times are seconds of the monotonic clock.

    Attributes
    ----------
    title : label of the task, with its position in a series of tasks
    part : fraction of the scene that was read, 0 to 1
    phase : last phase reported; ``phase_at`` is the time and ``phase_from`` the progress at its start
    frames_total : number of frames of the complete bake
    frames_before, frames_done : number of frames on disk when the task started, and number of frames computed since
    newest, last_step : number of the last frame done, and the report of its last time step
    body : index of the body that is being prepared, among the bodies baked together
    meshes : pairs of a body's index and the event with the statistics of its tetrahedra
    warnings, move : contact warnings; name and displacement of an overlapping body, as in ``errors.OverlapError``
    outcome : ``done``, ``stopped`` or ``error`` with a ``message`` and its ``remedy``; "" until known
    waits_for : what the user must do before the result can be applied to the scene; "" if nothing
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
        """Current activity in words, such as ``Frame 3 / 60``, after the title."""
        return f"{self.title}: {self.activity}" if self.title else self.activity

    @property
    def activity(self) -> str:
        """Current activity in words, such as ``Frame 3 / 60``."""
        phase = self.phase
        if self.stage in READS:
            return translated("Reading Animation {percent:.0f} %", percent=100.0 * self.part)
        if self.waits_for:
            return self.waits_for
        if self.stage is Stage.STOPPING:
            return translated("Stopping after this step" if phase.phase == "simulate" else "Stopping")
        if phase.phase == "simulate" and self.frames_total:
            return translated("Frame {frame} / {total}", frame=self.frames_there, total=self.frames_total)
        return translated(PHASES.get(f"{phase.phase} {phase.step}", PHASES.get(phase.phase, marked("Starting"))))

    def mesh(self, body: int = 0) -> Mesh | None:
        """Return the statistics of a body's tetrahedra, or None before the arrival.

        ``body``: index of the body.
        """
        return dict(self.meshes).get(body)

    @property
    def frames_there(self) -> int:
        """Number of frames on disk: frames of this task, and of the bake that the task resumes."""
        return self.frames_before + self.frames_done

    @property
    def of_step(self) -> str:
        """Description of the newest frame's last time step (iterations, contacts), or "" before the first frame."""
        step, contacts = self.last_step, self.last_step.get("contacts")
        if not step:
            return ""
        near = (
            translated(
                ", {contacts:,} contacts, {length} apart",
                contacts=contacts,
                length=length_words(step.get("distance", 0.0)),
            )
            if contacts
            else ""
        )
        return translated("{count} iterations", count=step.get("iterations", 0)) + near

    @property
    def factor(self) -> float:
        """Completed fraction of the current activity (reading, frames, kernels or another phase), 0 to 1."""
        if self.stage in READS:
            return self.part
        if self.phase.phase == "simulate" and self.frames_total:
            return min(1.0, self.frames_there / self.frames_total)
        # Percent of all kernels, so that tasks which compile different ones show one progress.
        total = 100 if self.phase.phase == "compile" else self.phase.total
        return self.phase.done / total if total else 0.0

    def remaining(self, now: float) -> float | None:
        """Return the seconds left until all frames, or all kernels, are done, or None if unknown.

        The estimate uses the average pace of the frames or kernels done.

        ``now``: time of the monotonic clock, s.
        """
        done, total = {
            "simulate": (self.frames_done, self.frames_total - self.frames_before),
            "compile": (self.phase.done - self.phase_from, self.phase.total - self.phase_from),
        }.get(self.phase.phase, (0, 0))
        if not done or self.outcome:
            return None
        return max(0.0, (total - done) * (now - self.phase_at) / done)

    @property
    def is_deaf(self) -> bool:
        """True if the child was asked to stop, but must be killed.

        The phase of the child cannot react (:data:`DEAF`).
        """
        return self.stage is Stage.STOPPING and self.phase.phase in DEAF and not self.outcome

    @property
    def message_with_remedy(self) -> str:
        """Message of the child for the user, followed by the remedy, or "" after success."""
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
"""Stages in which each event can happen. The event Over can happen in all stages. Other events that are not listed can
happen only while the child process runs (``RUNS``).
"""


def transition(state: State, event: Event, now: float) -> State:
    """Return the state after an event at a time.

    An event that cannot happen in the present stage is ignored.

    ``now``: time of the monotonic clock, s.
    """
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
    """Return the state after an event that the child has reported at the time ``now``, s."""
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
    """Return the state with the outcome of the child, unless an outcome was reported before."""
    return state if state.outcome else replace(state, outcome=outcome, message=message, remedy=remedy)
