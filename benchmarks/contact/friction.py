"""Friction compared with Coulomb's law: sliding, sticking, a stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.simulation.contact_setup.collision_surfaces import SLIP
from ..meetings import Scene, box, plate, watch
from ..registry import Case, Row, row

H, MU, EARTH = 0.01, 0.3, 9.81
LOW = 0.0028
"""Height of a box over a plate at which the barrier hardly pushes, m."""
TIGHT = {"tolerance": 1e-7, "max_iterations": 200}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each case, with Mixed FEM."""
    yield Case("friction_slope", _slope)
    yield Case("friction_slide", _slide)
    yield Case("friction_stack", _stack)


def _slope() -> Iterable[Row]:
    """Measure at fractions of the critical slope, once the box is at rest."""
    case = "friction_slope"
    for part in (0.98, 1.02):
        angle = np.arctan(part * MU)
        gravity = (EARTH * np.sin(angle), 0.0, -EARTH * np.cos(angle))
        seen = watch(
            Scene([box((0.0, 0.0, 0.0009))], [plate(0.0)], MU, settings=TIGHT), 200, H, "mixed_fem", gravity=gravity
        )
        speed = np.mean([_velocity(seen, state)[0] for state in seen.states[-20:]])
        before = np.mean([_velocity(seen, state)[0] for state in seen.states[-120:-100]])
        slip = SLIP * seen.whole.size
        if part < 1.0:
            yield row(case, f"creeps by, {part:g} of the angle, of the slip at rest", speed / slip, "", at_most=1)
        else:
            gained = (speed - before) / H / 100.0
            law = EARTH * (np.sin(angle) - MU * np.cos(angle))
            yield row(case, f"acceleration over Coulomb's, {part:g} of the angle", gained / law, "", at_least=0.5)


def _velocity(seen, state) -> np.ndarray:
    return (seen.whole.mass @ state.velocities).sum(axis=0) / seen.whole.lumped_masses.sum()


def _slide() -> Iterable[Row]:
    """Measure a box thrown along a plate, once it no longer bounces."""

    def thrown(whole):
        return whole.state_at(whole.mesh.rest_positions, np.tile([2.0, 0.0, 0.0], (whole.unknowns, 1)))

    scene = Scene([box((-1.0, 0.0, LOW))], [plate(0.0)], MU, state=thrown, settings=TIGHT)
    seen = watch(scene, 60, H, "mixed_fem")
    speeds = np.array([_velocity(seen, state)[0] for state in seen.states[40:]])
    slowed = -np.diff(speeds) / H / (MU * EARTH)
    yield row("friction_slide", "deceleration over mu g, least", float(slowed.min()), "", at_least=0.99)
    yield row("friction_slide", "deceleration over mu g, most", float(slowed.max()), "", at_most=1.01)


def _stack() -> Iterable[Row]:
    """Measure five boxes, each offset by a tenth from the one below, once they no longer sway. A column of 1e5 Pa would
    buckle: 0.4 m is its maximum height (Greenhill's ``(7.8 E I / rho g A)^(1/3)``). So would boxes with initial gaps of
    0.1 mm: the barrier throws the uppermost 14 mm up.
    """
    bodies = [box((0.01 * k, 0.005 * k, LOW + (0.1 + LOW) * k), (3, 3, 3), stiffness=1e6) for k in range(5)]
    seen = watch(Scene(bodies, [plate(0.0)], MU), 1300, H, "mixed_fem")
    yield row("friction_stack", "frames with a crossing", seen.crossed, "", at_most=0)
    last = seen.states[-1].positions
    gone = np.abs(last - seen.states[400].positions).max() / 0.1
    yield row("friction_stack", "moved in the last nine seconds, sizes of a box", float(gone), "", at_most=0.01)
    sunk = float(np.abs(last - seen.whole.mesh.rest_positions)[:, 2].max()) / 0.1
    yield row("friction_stack", "farthest from where it began, up or down, sizes of a box", sunk, "", at_most=0.5)
    yield row("friction_stack", "iterations a step", float(seen.iterations.mean()))
