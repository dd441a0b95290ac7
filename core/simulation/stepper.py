"""A prepared body stepped from frame to frame, and what becomes of it where it changes on the way: pins let go, or its
stiffness is keyed or set by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..body.loads import between
from ..body.prepare import Prepared, Stopped
from ..eigenfit.stretch_potential import StretchLoad
from ..forces.step_potential import Load
from ..job.job import Job
from ..model.state import State
from ..optimization.report import StepReport
from ..settings import moduli
from ..solvers import make_solver


class Change(NamedTuple):
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


class ByHand(NamedTuple):
    """What is added to the logarithms that are keyed: of the materials' moduli (K,), and of the stiffness of vibrations
    (k,).
    """

    stiffness: np.ndarray | float = 0.0
    vibrations: np.ndarray | float = 0.0


NOTHING_BY_HAND = ByHand()


class Stepper:
    """Steps a prepared job from frame to frame; frames are counted from the job's first as 0.

    ``space`` is what the solver steps now.
    """

    def __init__(self, job: Job, prepared: Prepared) -> None:
        self._job, now, keyed = job, np.array(moduli(job.body.materials)), job.body.moduli
        self._keyed = np.zeros((job.frame_count, len(now))) if keyed is None else np.log(keyed / now)
        factors = job.body.vibration_stiffness
        self._control = None if factors is None else np.log(factors)
        self._pins, self._stiffness = min(1, job.frame_count - 1), np.zeros(len(now))
        self.follow(Change(prepared))

    def advance(
        self,
        state: State,
        at: int,
        further: Callable[[float], Sequence[Load]] = lambda _part: (),
        should_stop: Callable[[], bool] = lambda: False,
        by_hand: ByHand = NOTHING_BY_HAND,
    ) -> tuple[State, list[StepReport]]:
        """The state at a frame from that at the one before. Pins move linearly within a frame.

        ``further`` gives what acts beside the job's own loads in the step that ends at a part (0 to 1) of the way.
        Raises Stopped between steps.
        """
        job, reports = self._job, []
        substeps = job.body.solver.substeps
        for k in range(1, substeps + 1):
            if should_stop():
                raise Stopped
            part = k / substeps
            self.follow(self._change(at, part, by_hand.stiffness))
            self._factors = self._controlled(at, part, by_hand.vibrations)
            targets = self._body.pins.targets_at(at, part)
            state, report = self._solver.step(state, targets, job.time_step, partial(self._acting, at, k, further))
            reports.append(report)
        for load in (each for each in self._matched() if isinstance(each, StretchLoad)):
            reports[-1].taken = load.taken(self.space.elastic, state.positions)
        return state, reports

    def _acting(
        self, at: int, substep: int, further: Callable[[float], Sequence[Load]], theta: float
    ) -> tuple[Load, ...]:
        """What acts in a substep on the way to a frame, as it is after its part theta."""
        begin, end = ((substep - back) / self._job.body.solver.substeps for back in (1, 0))
        now = between(begin, end, theta)
        pulled = self._pulled(at, begin, now)
        return (*pulled, *self._matched(), *self._body.loads.at(at, substep, self._held, theta), *further(now))

    def _pulled(self, at: int, begin: float, end: float) -> list[Load]:
        """Springs of pins, in a step between two parts of the way to a frame."""
        if self._springs is None:
            return []
        pinned = self._body.pin_springs.pinned
        return [self._springs.load(pinned.targets_at(at, begin), pinned.targets_at(at, end))]

    def _matched(self) -> list[Load]:
        """What makes the body swing as a finer one does."""
        body = self._body
        if body.matching is None:
            return []
        beta = self._job.body.solver.stiffness_damping
        load = body.matching.load(body.felt(self._scale), beta, self._factors)
        return [] if load is None else [load]

    def _controlled(self, at: int, part: float, by_hand: np.ndarray | float) -> np.ndarray | None:
        """What the stiffness of vibrations is multiplied by at a part of the way to a frame, (k,)."""
        if self._control is None:
            return None
        return np.exp(between(self._control[at - 1], self._control[at], part) + by_hand)

    def _change(self, at: int, part: float, stiffness: np.ndarray | float) -> Change:
        """What is other at a part of the way to a frame than it is now."""
        held, stiffness = self._job.body.pin_held, stiffness + between(self._keyed[at - 1], self._keyed[at], part)
        return Change(
            pins=None if np.array_equal(held[at], held[self._pins]) else at,
            stiffness=None if np.array_equal(stiffness, self._stiffness) else stiffness,
        )

    def follow(self, change: Change) -> None:
        """Go on with a body that has changed. Here alone stands what is made anew:

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
            return
        new, body = change.body is not None, change.body or self._body
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
        if new:
            self._solver = make_solver(space, self._job.body.solver, body.linear_solver)
        else:
            pinned = not np.array_equal(space.pinned, self.space.pinned)
            self._solver.follow(space, pinned, change.stiffness is not None)
        self._body, self.space = body, space
