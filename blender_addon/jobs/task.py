"""One piece of work: what is to be done with a body beside Blender, how far it is, and the child that does it."""

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
"""Seconds between two looks at what a child has told."""


@dataclass(eq=False)
class Task:
    """Background task of one body.

    Attributes
    ----------
    read : of the body, by steps, what ``begin`` takes; until the end nothing is begun
    begin : of this, the body and what was read: starts the child (:meth:`start`), or gives what follows instead
    refuse : keeps on the body, for a panel, why it came to nothing
    take : brings what the child has found into the scene; gives what the artist has to do before, "" when it is done
    here : does it in this process, where no timer runs, as ``begin`` else
    title, again : what it is called in a row; what to do after an end that nobody expected
    transition : what events make of its state
    beside : ``session_uid`` of the other bodies that are worked on with it
    on_tick : of who plays along: after each look for events, ``interval`` seconds apart
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
        """``session_uid`` of all the bodies."""
        return self.object_uid, *self.beside

    @property
    def elapsed(self) -> float:
        """Seconds since the child was started."""
        return time.monotonic() - self.state.started

    @property
    def remaining(self) -> float | None:
        """Seconds to go by the pace of the frames so far; None while unknown."""
        return self.state.remaining(time.monotonic())

    def note(self, event: Event) -> None:
        """Something has happened to it."""
        self.state = self.transition(self.state, event, time.monotonic())

    # -- the child ------------------------------------------------------------------------------------------------

    def start(self, order: Order) -> None:
        """Start its child; errors as of :class:`Child`."""
        compiling.end()
        self.child, self.order = Child(order), order
        self.note(Started(order.frames))

    def ask(self, command: Event) -> None:
        """Ask something of a child that plays along."""
        self.child.say(line_of(command))

    def listen(self) -> None:
        """Account for what the child has told, and for its end."""
        for event in self.child.events():
            if event is None:
                self._conclude()
                return
            self.note(event)
            self._end_if_deaf()

    def _conclude(self) -> None:
        code, state = self.leave(), self.state
        told, order = state.outcome, self.order
        self.note(
            Ended(told)
            if told
            else unexpected_end(order.folder, order.folders[state.body], state.phase, code, self.again)
        )

    def stop(self) -> None:
        """Ask the child to stop after its step, or end it where it hears nothing; its end comes by :meth:`listen`."""
        if self.state.stage is Stage.RUNNING:
            self.note(StopAsked())
            self.child.say("stop")
            self._end_if_deaf()

    def _end_if_deaf(self) -> None:
        if self.state.is_deaf:
            self.note(StoppedAfter())
            self.child.process.kill()

    def leave(self, kill: bool = False) -> int:
        """The child has gone, or goes now; its exit code."""
        child, self.child = self.child, None
        return child.leave(kill) if child is not None else 0

    def cut_off(self, take: Callable[[Task], str]) -> None:
        """End the child at once, as if it had stopped by itself; ``take`` then takes what it has done."""
        self.leave(kill=True)
        self.take, self.on_tick = take, None
        self.note(Ended("stopped"))

    def news(self) -> tuple[bool, bool]:
        """Return whether the state changed since the last call, and whether more than the elapsed time did: redrawing a
        full scene at every poll would slow the child.
        """
        before, self._said = self._said, (self.state.label, self.state.factor, int(self.elapsed))
        return self._said != before, before is None or self._said[:2] != before[:2]
