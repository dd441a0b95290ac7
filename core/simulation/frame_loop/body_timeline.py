"""State of a prepared body over time: its loads, its pins and its stiffness.

Pins may be released. Stiffness may be keyframed or set interactively.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...foundation.schema.settings import moduli
from ...jobs.job.job import Job
from ...mechanics.forces.step_potential import Load
from ...methods.eigenfit.stretch_potential import StretchLoad
from ...numerics.optimization.step_report import StepReport
from ..preparation.loads import lerp
from ..preparation.prepare import Prepared


class StateUpdate(NamedTuple):
    """Changes of a body since the previous step. A field is None if nothing has changed.

    Attributes
    ----------
    body : Prepared
        A new body, for example with other tets. The first update of a timeline always has a new body.
    pins : int
        Index, from 0, of the frame whose scheduled pins hold from now on.
    stiffness : (K,)
        Natural logarithms of the factors on the K moduli of the materials (``settings.moduli``).
    """

    body: Prepared | None = None
    pins: int | None = None
    stiffness: np.ndarray | None = None


class Invalidated(NamedTuple):
    """Flags of changes since the previous step.

    Attributes
    ----------
    any : any change
    body : a new body
    pinned : other pinned unknowns
    stiffness : other stiffness
    """

    any: bool = False
    body: bool = False
    pinned: bool = False
    stiffness: bool = False


class InteractiveChange(NamedTuple):
    """Stiffness that the user sets interactively, as natural logarithms of factors.

    The factors multiply the keyed values.

    ``stiffness`` (K,): for the K moduli of the materials.
    ``vibrations`` (k,): for the k controlled vibrations.
    """

    stiffness: np.ndarray | float = 0.0
    vibrations: np.ndarray | float = 0.0


NO_INTERACTIVE_CHANGE = InteractiveChange()


class BodyTimeline:
    """State of a prepared job's body over time.

    Methods take a time as a frame ``at``, counted from 0, and a fraction ``part`` (0 to 1) of the interval from frame
    ``at`` - 1 to frame ``at``.

    ``space``: present space of the solver.
    ``body``: present body.
    """

    def __init__(self, job: Job, prepared: Prepared) -> None:
        self._job, now, keyed = job, np.array(moduli(job.body.materials)), job.body.moduli
        self._keyed = np.zeros((job.frame_count, len(now))) if keyed is None else np.log(keyed / now)
        factors = job.body.vibration_stiffness
        self._control = None if factors is None else np.log(factors)
        self._factors, self._is_constant = None, False
        self._pins, self._stiffness = min(1, job.frame_count - 1), np.zeros(len(now))
        self.follow(StateUpdate(prepared))

    def advance_to(self, at: int, part: float, by_hand: InteractiveChange = NO_INTERACTIVE_CHANGE) -> Invalidated:
        """Set pins and stiffness to their state at a time, and return flags of the changes.

        The time lies at the fraction ``part`` (0 to 1) of the interval from frame ``at`` - 1 to ``at``.

        ``by_hand``: stiffness that the user sets interactively.
        """
        if self._is_constant and by_hand is NO_INTERACTIVE_CHANGE and not self._stiffness.any():
            return Invalidated()
        changed = self.follow(self._change(at, part, by_hand.stiffness))
        self._factors = self._controlled(at, part, by_hand.vibrations)
        return changed

    def pin_targets(self, at: int, part: float) -> np.ndarray:
        """Return the targets (p,3), m, of the pinned unknowns at a time.

        The time lies at the fraction ``part`` (0 to 1) of the interval from frame ``at`` - 1 to ``at``.
        """
        return self.body.pins.targets_at(at, part)

    @property
    def is_matched_by_potential(self) -> bool:
        """True if a potential in addition to the elastic energy corrects the body's vibrations.

        A correction gives the body the vibrations of a more accurate model, or scales the stiffness of single
        vibrations. The property is False if the correction only scales the stiffness of the tets.
        """
        return bool(self._matched())

    def report_match(self, report: StepReport, positions: np.ndarray) -> None:
        """Set ``taken`` in the report of a frame's last step, if a potential matches the body's vibrations.

        The potential lowers the elastic energy, so that the body vibrates like a more accurate model. ``taken`` is the
        energy that the potential removes, relative to the largest amount that the potential can remove.

        ``positions`` (r,3): unknowns of the body at which the energies are evaluated.
        """
        for load in (each for each in self._matched() if isinstance(each, StretchLoad)):
            report.taken = load.energy_fraction_removed(self.space.elastic, positions)

    def loads_at(
        self,
        at: int,
        substep: int,
        theta: float,
        further: Callable[[float], Sequence[Load]] = lambda _part: (),
    ) -> tuple[Load, ...]:
        """Return the loads in a substep between frames ``at`` - 1 and ``at``.

        ``substep``: number from 1 to the number of substeps.
        ``theta``: fraction of the substep at which the loads are evaluated.
        ``further``: function that returns more loads. Its argument is the time of evaluation, as the fraction (0 to 1)
        of the interval between the two frames.
        """
        begin, end = ((substep - back) / self._job.body.solver.substeps for back in (1, 0))
        now = lerp(begin, end, theta)
        pulled = self._pulled(at, begin, now)
        return (*pulled, *self._matched(), *self.body.loads.loads_at(at, substep, self._held, theta), *further(now))

    def _pulled(self, at: int, begin: float, end: float) -> list[Load]:
        """Return the pin springs, with pin targets that move during the step."""
        if self._springs is None:
            return []
        pinned = self.body.pin_springs.pinned
        return [self._springs.load(pinned.targets_at(at, begin), pinned.targets_at(at, end))]

    def _matched(self) -> list[Load]:
        """Return a list with the potential that corrects the body's vibrations, or []."""
        body = self.body
        if body.matching is None:
            return []
        beta = self._job.body.solver.stiffness_damping
        load = body.matching.load(body.at_elastic_points(self._scale), beta, self._factors)
        return [] if load is None else [load]

    def _controlled(self, at: int, part: float, by_hand: np.ndarray | float) -> np.ndarray | None:
        """Return the factors (k,) on the stiffness of the controlled vibrations, or None."""
        if self._control is None:
            return None
        return np.exp(lerp(self._control[at - 1], self._control[at], part) + by_hand)

    def _change(self, at: int, part: float, stiffness: np.ndarray | float) -> StateUpdate:
        """Return the changes of pins and stiffness since the last update of the timeline."""
        held = self.body.pin_springs.pinned.held
        stiffness = stiffness + lerp(self._keyed[at - 1], self._keyed[at], part)
        return StateUpdate(
            pins=None if np.array_equal(held[at], held[self._pins]) else at,
            stiffness=None if np.array_equal(stiffness, self._stiffness) else stiffness,
        )

    def follow(self, change: StateUpdate) -> Invalidated:
        """Apply changes of a body, and return flags of the changes.

        The table shows the quantities that each kind of change affects, here and in the solvers:

        ==========================  ==========================  =====================  ==========
        quantity                    other pins                  other stiffness        a new body
        ==========================  ==========================  =====================  ==========
        mesh, mass, basis           kept                        kept                   new
        elasticity                  kept                        scaled                 new
        springs of pins             recomputed                  scaled                 new
        points held in contact      recomputed                  kept                   new
        matrix's pattern and        new if other unknowns       kept                   new
        symbolic factor             are pinned
        preconditioner, deflation   as for the pattern          new values             new
        inertia, gravity, drag      kept                        kept                   new
        loads, stiffness of contact kept                        kept                   new
        matching                    kept                        scaled                 new
        ==========================  ==========================  =====================  ==========
        """
        if all(part is None for part in change):
            return Invalidated()
        new, body = change.body is not None, change.body or self.body
        space = body.space if new else self.space
        if new or change.stiffness is not None:
            self._stiffness = self._stiffness if change.stiffness is None else change.stiffness
            self._scale = body.scale(self._stiffness)
            space = replace(space, elastic=body.space.elastic.scaled(body.at_elastic_points(self._scale)))
        if new or change.pins is not None:
            self._pins = self._pins if change.pins is None else change.pins
            space = replace(space, pinned=body.pins.held_corners(self._pins))
            if not space.is_reduced:
                space = replace(space, anchors=body.pin_springs.pinned.holding(self._pins, body.pin_springs.moduli))
            self._held = body.loads.held(space.pinned, body.pin_springs.pinned.pinned_tets(self._pins))
        self._springs = body.pin_springs.holding(self._pins, self._scale)
        pinned = new or not np.array_equal(space.pinned, self.space.pinned)
        if new:
            held = body.pin_springs.pinned.held
            self._is_constant = self._control is None and not self._keyed.any() and (held == held[:1]).all()
        self.body, self.space = body, space
        return Invalidated(True, new, pinned, new or change.stiffness is not None)
