"""What goes on while a body is played with: the conversation with the child, frame by frame, with nothing of Blender.

``request(now)`` gives the next request when one is due, ``take_event(event, now)`` takes an answer. Several frames of a
quick body may be asked for ahead, since Blender draws between two looks for answers.
"""

from __future__ import annotations

import base64
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Event = dict[str, Any]

AVERAGED = 30
"""Frames over which rates are averaged."""
LATE = 0.25
"""Seconds by which the simulation may lag behind the clock before the lost time is let go."""
AHEAD, MOST_AHEAD = 0.03, 8
"""Seconds of work, or as long as Blender draws, and frames that may be asked for ahead: a moved mouse is felt then."""


@dataclass
class Grab:
    """A spring from a vertex of the surface to a target (3,), m, world space, N/m; what is ``pinned`` stays when the
    mouse lets go.
    """

    vertex: int
    target: np.ndarray
    stiffness: float
    pinned: bool = False

    def as_request(self) -> Event:
        """For the child."""
        return {"vertex": int(self.vertex), "target": [float(x) for x in self.target], "stiffness": self.stiffness}


@dataclass
class LiveState:
    """The state of the one body that is played with.

    Attributes
    ----------
    first, last : frames of the job; after the last one surroundings stand still
    frame_rate : frames a second
    free : as fast as it goes, not at the frame rate
    out : requests without an answer yet; one that is ``alone`` is waited for before another
    frame, handles : of the frame shown; handles (h,4,3) float64, m
    grabs : by vertex
    asked : what the artist wants of the child before it goes on (``reset``, ``record``, ``stiffness`` ...)
    take : grabs of each frame from the first while recording, else None
    stale : the modes were found for another distribution of stiffness
    """

    first: int
    last: int
    frame_rate: float
    free: bool = False
    ready: bool = False
    playing: bool = True
    out: int = 0
    alone: bool = False
    frame: int = 0
    handles: np.ndarray = field(default_factory=lambda: np.zeros((0, 4, 3)))
    grabs: dict[int, Grab] = field(default_factory=dict)
    asked: deque[Event] = field(default_factory=deque)
    take: list[list[Event]] | None = None
    recorded: bool = False
    stale: bool = False
    fresh: bool = False
    iterations: int = 0
    seconds: float = 0.0
    converged: bool = True
    apart: float = 0.0
    steps: int = 0
    _due: float = 0.0
    _looked: float = 0.0
    _gap: float = 0.0
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=AVERAGED))

    @property
    def recording(self) -> bool:
        """Whether frames are being kept."""
        return self.take is not None and not self.recorded

    @property
    def doing(self) -> str:
        """What goes on, in a word."""
        if self.take is not None:
            return "Recorded" if self.recorded else "Recording"
        return "Playing" if self.playing else "Paused"

    @property
    def effort(self) -> str:
        """How many iterations the last frame took, in words."""
        return f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"

    @property
    def rate(self) -> float:
        """Frames a second of late; 0 while unknown."""
        span = self._times[-1] - self._times[0] if len(self._times) > 1 else 0.0
        return (len(self._times) - 1) / span if span > 0.0 else 0.0

    # -- what the artist does -------------------------------------------------------------------------------------

    def play(self) -> None:
        """Go on."""
        self.playing, self._due = True, 0.0
        self._times.clear()

    def pause(self) -> None:
        """Stand still."""
        self.playing = False
        self._times.clear()

    def step(self) -> None:
        """One frame, and stand still."""
        self.pause()
        self.steps += 1

    def reset(self) -> None:
        """Back to the first frame; what is pinned is let go."""
        self.grabs.clear()
        self.steps = 0
        self.asked.append({"do": "reset"})

    def record(self, handles: bool = False) -> None:
        """Start over at the first frame and keep every frame, as handles too; what is pinned stays pinned."""
        self.steps = 0
        self.asked.append({"do": "record", "handles": handles})
        self.play()

    def stop_recording(self) -> None:
        """Keep what there is."""
        self.asked.append({"do": "stop_recording"})

    def set_stiffness(self, moduli: list[float]) -> None:
        """Give the materials another stiffness, Pa; a later wish replaces one that is not out yet."""
        self.asked = deque(wish for wish in self.asked if wish["do"] != "stiffness")
        self.asked.append({"do": "stiffness", "youngs_modulus": [float(E) for E in moduli]})

    # -- the conversation -----------------------------------------------------------------------------------------

    def request(self, now: float) -> Event | None:
        """What to ask the child at a time (s), or None while nothing is due or answers are awaited."""
        if now > self._looked:
            self._gap, self._looked = min(now - self._looked, LATE), now
        if not self.ready or self.recorded:
            return None
        if self.asked:
            return None if self.out else self._wish()
        if self.out >= (1 if self.alone else self._depth()) or (self.recording and self.frame + self.out >= self.last):
            return None
        if self.steps:
            self.steps -= 1
        elif not self.playing or not self._is_due(now):
            return None
        self.out += 1
        grabs = [grab.as_request() for grab in self.grabs.values()]
        if self.take is not None:
            self.take.append(grabs)
        return {"do": "advance", "grabs": grabs}

    def _wish(self) -> Event:
        self.out, self.alone, wish = 1, True, self.asked.popleft()
        if wish["do"] in ("reset", "record"):
            self.take = [[]] if wish["do"] == "record" else None
        return wish

    def _depth(self) -> int:
        """Frames that may be asked for ahead: as many as are done before the next look."""
        return min(max(1, int(max(AHEAD, self._gap) / self.seconds)), MOST_AHEAD) if self.seconds else 1

    def _is_due(self, now: float) -> bool:
        if self.free:
            return True
        if now < self._due:
            return False
        # From the time that was planned, so that the rate is met on average; a long lag is let go.
        beat = 1.0 / self.frame_rate
        self._due = max(self._due or now, now - LATE) + beat
        return True

    def take_event(self, event: Event, now: float) -> None:
        """Account for one event of the child at a time (s)."""
        kind = event.get("event")
        if kind == "ready":
            self.ready, self.frame, self.fresh = True, event["frame"], True
            self.handles = _handles(event)
        elif kind == "live":
            self._show(event, now)
        elif kind == "stiffness":
            self.out, self.alone, self.stale = 0, False, event["stale"]
        elif kind == "recorded":
            self.out, self.recorded = 0, True
        elif kind == "halted":
            self._halt()

    def _halt(self) -> None:
        """The oldest request could not be carried out, and the body stays where it was: it does not count."""
        if self.take and self.out < len(self.take):
            del self.take[len(self.take) - self.out]
        self.out, self.alone = max(0, self.out - 1), False
        self.pause()

    def _show(self, event: Event, now: float) -> None:
        self.handles, self.frame, self.fresh = _handles(event), event["frame"], True
        self.iterations, self.seconds = event["iterations"], event["seconds"]
        self.converged, self.apart, self.alone = event["converged"], event["apart"], False
        # The last frame of a take is followed by word of its end.
        self.out = max(0, self.out - 1) + (self.recording and self.frame >= self.last)
        if self.frame != self.first:
            self._times.append(now)


def _handles(event: Event) -> np.ndarray:
    """Of the frame that an event shows, (h,4,3) m."""
    return np.frombuffer(base64.b64decode(event["handles"]), dtype="<f8").reshape(-1, 4, 3)
