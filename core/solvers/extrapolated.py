"""The end of a step that is extrapolated from x_m, after its part theta (``integrators/theta_midpoint``).

**Pins** go straight to their targets, and are there at the end.

**Contact** is met where it is shown, at the end: its potential is one of the extrapolated positions
(``contact/points_at_end``), so nothing is shown deeper in an obstacle than by implicit Euler. And a convex potential
whose force is taken at the end of a step gives back no more energy than it took.

**Energy** is made where a step is stopped before it converges, for it is extrapolated with its error. With the force r
that is left unbalanced at x_m

    (x - x0) . (f(x_m) + r) = (|v|²_M - |v0|²_M) / 2 + (theta - 1/2) |v - v0|²_M

so ``(x - x0) . r`` is work that nothing does. A step is made again where that counts, where the extrapolation would
turn tets inside out, and where the step gains energy: with f the elastic forces and a the accelerations at x_m, by

    K(v) - K(v0) + W(x) - W(x0) - (x - x0) . (M a - f)

The last term is the work of all other forces; of a body whose shape at rest grows none can be told. For what is linear
the gain is never positive; but an extrapolated turn stretches stiff parts by a quarter of the square of its angle. BDF2
makes such a step again; implicit Euler one that did not converge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..energies.kinematics import Deformation
from ..model.state import State
from ..subspaces.space import Space
from .incremental_potential import IncrementalPotential

GAIN = 1e-2
"""Part of the kinetic and elastic energy that a step may gain. Soft bodies gain and lose up to 3e-3 in turns, which the
midpoint rule gives back; a step that stretches bone gains many times its energy."""

WORK_OF_NOTHING = 0.01
"""Part of the kinetic energy from which that work counts. Steps of two iterations that go well were seen to have 0.001;
with 0.05 in the place of this, steps of one iteration doubled the energy of a swinging bar, with this they add none."""


class Solution(NamedTuple):
    """Where a method has brought a step: positions x with their deformation, and the independent stretches; velocities
    where they are not those of the time integration rule.
    """

    x: np.ndarray
    deformation: Deformation
    stretch: np.ndarray
    velocities: np.ndarray | None = None


def extrapolate_theta_step(
    state: State, at: Solution, left: np.ndarray | None, step: IncrementalPotential, space: Space, targets: np.ndarray
) -> State | None:
    """The state after a step from another whose solution is ``at``, with pins at targets (p,3); None where it had
    better be made by another rule. ``left`` of a step that did not converge is the incremental potential's gradient.
    """
    time = step.time
    x = time.extrapolated(state.positions, at.x)
    x[space.pinned] = targets
    v = time.extrapolated(state.velocities, time.velocities(at.x))
    if left is not None:
        kinetic = max(0.5 * float(np.sum(u * (space.mass @ u))) for u in (state.velocities, v))
        if float(np.sum((x - state.positions) * left)) > WORK_OF_NOTHING * kinetic * time.step**2:
            return None
    deformation = space.elastic.deformation(x, at.deformation)
    if not space.grows and gains_energy(state, State(x, v, at.stretch), at, deformation, step, space):
        return None
    inverted, was = (each.sigma.min(axis=1) <= 0.0 for each in (deformation, at.deformation))
    if (inverted & ~was).any():
        return None
    return State(x, v, deformation.stretch())


def gains_energy(
    before: State, after: State, at: Solution, end: Deformation, step: IncrementalPotential, space: Space
) -> bool:
    """Return True if a step gains kinetic and elastic energy beyond the work of all other forces."""
    elastic, dx = space.elastic, after.positions - before.positions
    start = elastic.deformation(before.positions, at.deformation)
    strain = [elastic.value(each) for each in (start, end)]
    kinetic = [0.5 * float(np.sum(v * (space.mass @ v))) for v in (before.velocities, after.velocities)]
    acceleration = (at.x - step.time.predicted) / step.h**2
    force = space.mass @ acceleration + elastic.nodal_forces(elastic.stress(at.deformation))
    gain = kinetic[1] - kinetic[0] + strain[1] - strain[0] - float(np.sum(dx * force))
    return gain > GAIN * (kinetic[0] + strain[0])
