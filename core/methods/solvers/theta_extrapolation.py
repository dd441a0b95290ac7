"""Extrapolation to the end of a step by the theta-midpoint rule (``integrators/theta_midpoint``).

The rule solves for the positions x_m after the fraction theta of the step, and extrapolates from x0 to the end x.

**Pins** move straight to their targets and reach them at the end.

**Contact** acts at the end of the step, at the positions that are displayed: its potential is evaluated at the
extrapolated positions (``contact/penalty/extrapolated_points.py``). Penetration is therefore no deeper than with
implicit Euler. A convex potential whose force is evaluated at the end of a step never releases more energy than it
stored.

**Energy** can be generated if a step stops before it converges, since the error of x_m is extrapolated too. With the
unbalanced force r at x_m

    (x - x0) . (f(x_m) + r) = (|v|²_M - |v0|²_M) / 2 + (theta - 1/2) |v - v0|²_M

so ``(x - x0) . r`` is spurious work: it changes the energy without a physical force. A step is repeated if that work is
large, if the extrapolation would invert tets, or if the step gains energy. With the kinetic energy K, the elastic
energy W, and the elastic forces f and the accelerations a at x_m, the gain is

    K(v) - K(v0) + W(x) - W(x0) - (x - x0) . (M a - f)

The last term is the work of all other forces. The gain is not tested for a body whose rest shape grows. A linear system
never gains energy. A rotating stiff part can gain energy, since the extrapolation of a rotation by an angle a stretches
the part by a²/4. A rejected step is repeated with BDF2 if it had converged, else with implicit Euler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...mechanics.energies.kinematics import Deformation
from ..model.state import State
from ..subspaces.space import Space
from .incremental_potential import IncrementalPotential

GAIN = 1e-2
"""Largest energy gain of an accepted step.

The gain is relative to the sum of the initial kinetic energy, the initial elastic energy, and the work of all other
forces. The work is included since a body at rest has no energy of its own. Soft bodies gain up to 3e-3 in rotations,
which later steps of the midpoint rule take back. If a step stretches a stiff part such as bone, the energy grows many
times, and this limit rejects the step.
"""

WORK_OF_NOTHING = 0.01
"""Largest spurious work of an accepted step that did not converge, relative to the kinetic energy.

Spurious work is the work of the unbalanced force that the iterations left. The spurious work of accurate steps that
stopped after two iterations was 0.001. Steps that stopped after one iteration doubled the energy of a swinging bar if
this limit was 0.05. If this limit was 0.01, these steps added no energy.
"""


class Solution(NamedTuple):
    """Solution of a step.

    ``x`` (n,3) m: positions. ``deformation``: deformation at x. ``stretch`` (m,6): independent stretches.
    ``velocities`` (n,3) m/s; None if the time integration rule computes them from the positions.
    """

    x: np.ndarray
    deformation: Deformation
    stretch: np.ndarray
    velocities: np.ndarray | None = None


def extrapolate_theta_step(
    state: State, at: Solution, left: np.ndarray | None, step: IncrementalPotential, space: Space, targets: np.ndarray
) -> State | None:
    """Return the state at the end of a step, or None if the step must be repeated with another rule.

    ``state``: state at the beginning of the step. ``at``: solution after the fraction theta of the step. ``left``
    (n,3), kg m: residual gradient of the incremental potential at this solution; None if the step converged.
    ``targets`` (p,3), m: positions of the pinned vertices at the end of the step.
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
    """Return True if a step gains more energy than the tolerance GAIN.

    The gain is the increase of the kinetic and elastic energy minus the work of all other forces. ``before`` and
    ``after``: states at the beginning and the end of the step. ``at``: solution after the fraction theta of the step.
    ``end``: final deformation.
    """
    elastic, dx = space.elastic, after.positions - before.positions
    start = elastic.deformation(before.positions, at.deformation)
    strain = [elastic.value(each) for each in (start, end)]
    kinetic = [0.5 * float(np.sum(v * (space.mass @ v))) for v in (before.velocities, after.velocities)]
    acceleration = (at.x - step.time.predicted) / step.h**2
    force = space.mass @ acceleration + elastic.nodal_forces(elastic.stress(at.deformation))
    work = float(np.sum(dx * force))
    gain = kinetic[1] - kinetic[0] + strain[1] - strain[0] - work
    return gain > GAIN * (kinetic[0] + strain[0] + max(work, 0.0))
