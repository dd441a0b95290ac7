"""Background task on bodies: its functions, its state, and its child process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.foundation.events import Event, StoppedAfter, line_of
from ..window.stepwise import Steps
from . import compiling
from .process import Child, Order, unexpected_end
from .state_machine import Ended, Stage, Started, State, StopAsked, transition

INTERVAL = 0.1
"""Seconds between two polls of a child's events."""


@dataclass(eq=False)
class Task:
    """Background task on a body, or on several bodies that are baked together.

    Attributes
    ----------
    read : function of a body that returns a generator, which reads the scene; the generator's result is stored in
        ``found``
    begin : function of task, body and ``found`` that starts the child process (:meth:`start`), or returns tasks to run
        next
    refuse : function of body and message: stores for the panel why the task was refused
    take : function of the task: applies the child's result to the scene and returns "", or returns what the user must
        do before this is possible
    here : function with the arguments of ``begin``, which does the work in Blender's own process, for background mode;
        None if impossible
    title : label of the task
    again : remedy that the message of an unexpected end of the child process gives
    transition : function of state, event and time (s) that returns the next state
    beside : ``session_uid`` of the other bodies of the task
    on_tick : function called after each poll for events, every ``interval`` seconds (live mode)
    """

    object_uid: int
    object_name: str
    read: Callable[[Any], Steps[Any]]
    begin: Callable[[Task, Any, Any], Sequence[Task] | None]
    refuse: Callable[[Any, str], None]
    take: Callable[[Task], str] = lambda work: ""
    here: Callable[[Task, Any, Any], Sequence[Task] | None] | None = None
    title: str = ""
    again: str = "The frames done are kept: press Resume."
    beside: tuple[int, ...] = ()
    interval: float = INTERVAL
    on_tick: Callable[[], None] | None = None
    state: State = field(default_factory=State)
    transition: Callable[[Any, Event, float], Any] = transition
    order: Order | None = None
    child: Child | None = None
    steps: Any = None
    found: Any = None
    left_at: float = 0.0
    _said: tuple[str, float, int] | None = None

    @property
    def uids(self) -> tuple[int, ...]:
        """``session_uid`` of all bodies of the task. The first is ``object_uid``."""
        return self.object_uid, *self.beside

    @property
    def elapsed(self) -> float:
        """Seconds since the child process was started."""
        return time.monotonic() - self.state.started

    @property
    def remaining(self) -> float | None:
        """Estimated seconds until all frames, or all kernels, are done, or None if unknown."""
        return self.state.remaining(time.monotonic())

    def note(self, event: Event) -> None:
        """Replace the state of the task by the state that follows from ``event``."""
        self.state = self.transition(self.state, event, time.monotonic())

    # -- the child ------------------------------------------------------------------------------------------------

    def start(self, order: Order) -> None:
        """Start a child process that carries out ``order``.

        Raises the errors of :class:`Child`.
        """
        compiling.end()
        self.child, self.order = Child(order), order
        self.note(Started(order.frames))

    def ask(self, command: Event) -> None:
        """Send a command to the child process, which must be in live mode."""
        self.child.say(line_of(command))

    def listen(self) -> None:
        """Process the events that the child has sent since the last call.

        If the child has ended, its outcome is stored.
        """
        for event in self.child.events():
            if event is None:
                self._conclude()
                return
            self.note(event)
            self._end_if_deaf()

    def _conclude(self) -> None:
        code, state = self.leave(), self.state
        outcome, order = state.outcome, self.order
        self.note(
            Ended(outcome)
            if outcome
            else unexpected_end(order.folder, order.folders[state.body], state.phase, code, self.again)
        )

    def stop(self) -> None:
        """Ask the child to stop after its time step, or kill the child.

        The child is killed in a phase that cannot be stopped. :meth:`listen` handles the end of the child.
        """
        if self.state.stage is Stage.RUNNING:
            self.note(StopAsked())
            self.child.say("stop")
            self._end_if_deaf()

    def _end_if_deaf(self) -> None:
        if self.state.is_deaf:
            self.note(StoppedAfter())
            self.child.process.kill()

    def leave(self, kill: bool = False) -> int:
        """Wait until the child has ended, or ``kill`` it.

        Returns the exit code of the child, or 0 without a child.
        """
        child, self.child = self.child, None
        return child.leave(kill) if child is not None else 0

    def cut_off(self, take: Callable[[Task], str]) -> None:
        """Kill the child, and continue as if the child had stopped by itself.

        ``take``: function that applies the result, in place of the task's own function.
        """
        self.leave(kill=True)
        self.take, self.on_tick = take, None
        self.note(Ended("stopped"))

    def news(self) -> tuple[bool, bool]:
        """Return two flags about changes since the last call.

        The first flag is True if activity, progress or elapsed time have changed. The second flag is True if activity
        or progress have changed. 3D Views are redrawn only if the second flag is True, since frequent redraws slow the
        child.
        """
        before, self._said = self._said, (self.state.label, self.state.factor, int(self.elapsed))
        return self._said != before, before is None or self._said[:2] != before[:2]
