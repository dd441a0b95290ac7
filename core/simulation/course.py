"""A prepared body on its way from frame to frame: what acts on it in each step, and what becomes of it where it
changes, as pins let go, or its stiffness is keyed or set by hand. What steps it, alone or with others, asks this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..body.loads import lerp
from ..body.prepare import Prepared
from ..eigenfit.stretch_potential import StretchLoad
from ..forces.step_potential import Load
from ..job.job import Job
from ..optimization.report import StepReport
from ..settings import moduli


class StateUpdate(NamedTuple):
    """What of a body is other than in the step before; None for what is as it was.

    body : Prepared
        All of it, as with other tets. The first step is the change from none.
    pins : int
        What they hold on the way to this frame, counted from the job's first, is held from now on.
    stiffness : (K,)
        Logarithms of what the materials' moduli (``settings.moduli``) are multiplied by.
    """

    body: Prepared | None = None
    pins: int | None = None
    stiffness: np.ndarray | None = None


class Invalidated(NamedTuple):
    """Whether anything is other than in the step before: all of it, what is pinned, how stiff it is."""

    any: bool = False
    body: bool = False
    pinned: bool = False
    stiffness: bool = False


class InteractiveChange(NamedTuple):
    """What is added to the logarithms that are keyed: of the materials' moduli (K,), and of the stiffness of vibrations
    (k,).
    """

    stiffness: np.ndarray | float = 0.0
    vibrations: np.ndarray | float = 0.0


NO_INTERACTIVE_CHANGE = InteractiveChange()


class BodyTimeline:
    """What a prepared job's body meets on its way; frames are counted from the job's first as 0.

    ``space`` is what is stepped now.
    """

    def __init__(self, job: Job, prepared: Prepared) -> None:
        self._job, now, keyed = job, np.array(moduli(job.body.materials)), job.body.moduli
        self._keyed = np.zeros((job.frame_count, len(now))) if keyed is None else np.log(keyed / now)
        factors = job.body.vibration_stiffness
        self._control = None if factors is None else np.log(factors)
        self._pins, self._stiffness = min(1, job.frame_count - 1), np.zeros(len(now))
        self.follow(StateUpdate(prepared))

    def advance_to(self, at: int, part: float, by_hand: InteractiveChange = NO_INTERACTIVE_CHANGE) -> Invalidated:
        """Become what it is at a part (0 to 1) of the way to a frame; what is other by that."""
        changed = self.follow(self._change(at, part, by_hand.stiffness))
        self._factors = self._controlled(at, part, by_hand.vibrations)
        return changed

    def pin_targets(self, at: int, part: float) -> np.ndarray:
        """Where pins hold the unknowns that are given, (p,3) m."""
        return self.body.pins.targets_at(at, part)

    @property
    def is_matched_by_potential(self) -> bool:
        """Whether a potential makes the body swing as a finer one, and not its stiffness alone."""
        return bool(self._matched())

    def report_match(self, report: StepReport, positions: np.ndarray) -> None:
        """In a frame's last report, what a match takes at its end."""
        for load in (each for each in self._matched() if isinstance(each, StretchLoad)):
            report.taken = load.taken(self.space.elastic, positions)

    def loads_at(
        self,
        at: int,
        substep: int,
        theta: float,
        further: Callable[[float], Sequence[Load]] = lambda _part: (),
    ) -> tuple[Load, ...]:
        """What acts in a substep on the way to a frame, as it is after its part theta; ``further`` gives what acts
        beside the job's own at a part of that way.
        """
        begin, end = ((substep - back) / self._job.body.solver.substeps for back in (1, 0))
        now = lerp(begin, end, theta)
        pulled = self._pulled(at, begin, now)
        return (*pulled, *self._matched(), *self.body.loads.loads_at(at, substep, self._held, theta), *further(now))

    def _pulled(self, at: int, begin: float, end: float) -> list[Load]:
        """Springs of pins, in a step between two parts of the way to a frame."""
        if self._springs is None:
            return []
        pinned = self.body.pin_springs.pinned
        return [self._springs.load(pinned.targets_at(at, begin), pinned.targets_at(at, end))]

    def _matched(self) -> list[Load]:
        """What makes the body swing as a finer one does."""
        body = self.body
        if body.matching is None:
            return []
        beta = self._job.body.solver.stiffness_damping
        load = body.matching.load(body.felt(self._scale), beta, self._factors)
        return [] if load is None else [load]

    def _controlled(self, at: int, part: float, by_hand: np.ndarray | float) -> np.ndarray | None:
        """What the stiffness of vibrations is multiplied by at a part of the way to a frame, (k,)."""
        if self._control is None:
            return None
        return np.exp(lerp(self._control[at - 1], self._control[at], part) + by_hand)

    def _change(self, at: int, part: float, stiffness: np.ndarray | float) -> StateUpdate:
        """What is other at a part of the way to a frame than it is now."""
        held, stiffness = self._job.body.pin_held, stiffness + lerp(self._keyed[at - 1], self._keyed[at], part)
        return StateUpdate(
            pins=None if np.array_equal(held[at], held[self._pins]) else at,
            stiffness=None if np.array_equal(stiffness, self._stiffness) else stiffness,
        )

    def follow(self, change: StateUpdate) -> Invalidated:
        """Go on with a body that has changed. Here alone stands what is made anew, and in what steps it:

        ==========================  ==========================  =====================  ======
        of                          other pins                  other stiffness        a body
        ==========================  ==========================  =====================  ======
        mesh, mass, basis           kept                        kept                   anew
        elasticity                  kept                        scaled                 anew
        springs of pins             found                       scaled                 anew
        points held in contact      asked                       kept                   anew
        matrix's pattern and        anew, where other unknowns  kept                   anew
        symbolic factor             are given
        preconditioner, deflation   likewise                    values                 anew
        inertia, gravity, drag      kept                        kept                   anew
        loads, stiffness of contact kept                        kept                   anew
        matching                    kept                        scaled                 anew
        ==========================  ==========================  =====================  ======
        """
        if all(part is None for part in change):
            return Invalidated()
        new, body = change.body is not None, change.body or self.body
        space = body.space if new else self.space
        if new or change.stiffness is not None:
            self._stiffness = self._stiffness if change.stiffness is None else change.stiffness
            self._scale = body.scale(self._stiffness)
            space = replace(space, elastic=body.space.elastic.scaled(body.felt(self._scale)))
        if new or change.pins is not None:
            self._pins = self._pins if change.pins is None else change.pins
            space = replace(space, pinned=body.pins.held_corners(self._pins))
            if not space.is_reduced:
                space = replace(space, anchors=body.pin_springs.pinned.holding(self._pins, body.pin_springs.moduli))
            self._held = body.loads.held(space.pinned, body.pin_springs.pinned.anchors(self._pins))
        self._springs = body.pin_springs.holding(self._pins, self._scale)
        pinned = new or not np.array_equal(space.pinned, self.space.pinned)
        self.body, self.space = body, space
        return Invalidated(True, new, pinned, new or change.stiffness is not None)
