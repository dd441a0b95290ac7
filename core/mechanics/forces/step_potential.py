"""Interfaces of the loads on a body in a step besides gravity and elasticity: springs, contact, damping, fields.

A :class:`Load` is made for one step, with the targets and obstacle positions at that time. At the step's beginning it
becomes a :class:`StepPotential`, which a solver adds to the incremental potential. A new force is a new load and
changes no solver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..assembly.low_rank import LowRank
from ..assembly.pairs import Pairs
from ..energies.kinematics import Deformation, Stretch
from ..energies.tangent import Tangent


class Motion(NamedTuple):
    """Motion in a step: positions ``x_prev`` (n,3) m at its beginning; at positions x the velocity is ``(x - base) /
    step``, with ``base`` (n,3) m and ``step`` in s. The initial ``velocities`` (n,3) m/s are zero by default.

    A solver's positions x are those after the fraction ``theta`` of a time step; those at its end are extrapolated.
    ``base`` is ``x_prev`` plus ``extrapolation`` times the displacement from ``x_prev2``, the positions a step earlier.
    """

    x_prev: np.ndarray
    base: np.ndarray
    step: float
    velocities: np.ndarray | None = None
    theta: float = 1.0
    x_prev2: np.ndarray | None = None
    extrapolation: float = 0.0

    @property
    def at_end_of_step(self) -> Motion:
        """The motion for positions at the end of the time step."""
        return self if self.theta == 1.0 else self._replace(step=self.step / self.theta, theta=1.0)


class StepPotential(Protocol):
    """A potential of the positions (n,3) of all tet vertices, during one step."""

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J."""

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N: minus the force."""

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times a semi-definite Hessian (N/m) to element blocks (m,10,3,3), in the pair order of
        ``assembly.tangent_blocks``.
        """

    def update(self, positions: np.ndarray) -> bool:
        """Update lagged terms, after a full step of the solver to these positions or at its solution. Return True if
        that changed the potential noticeably. By default, there are no lagged terms.
        """
        return False


class LowRankPotential(StepPotential):
    """A potential whose stiffness is a low-rank matrix over the whole body: ``low_rank``, N/m, possibly indefinite."""

    low_rank: LowRank

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add nothing: the stiffness is in ``low_rank``."""


class CrossElementPotential(StepPotential):
    """A potential whose stiffness also couples vertices that share no tet. In a subspace, whose matrix is full,
    :meth:`add_stiffness` adds the whole stiffness.
    """

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the semi-definite Hessian, N/m, without the part that :meth:`add_stiffness` adds; for the full space
        only.
        """


class BarrierStepPotential(CrossElementPotential):
    """Contact potential that is finite only without intersections. Obstacles move along prescribed paths, in each step
    only as far as no collision blocks them.
    """

    collider_positions: np.ndarray
    """Current positions of the obstacles, (c,3) m."""

    @property
    def remaining_displacement(self) -> np.ndarray:
        """Remaining prescribed displacement of the obstacles, (c,3) m."""

    def max_step_size(self, positions: np.ndarray, dx: np.ndarray, with_prescribed_motion: bool = False) -> float:
        """Return the largest collision-free step size, at most 1, along dx (n,3) m from feasible positions. Obstacles
        stand still, or ``with_prescribed_motion`` make their whole remaining displacement.
        """

    def hessian_product(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return the Hessian times a step dx (n,3) m of the vertices and the remaining displacement of obstacles, (n,3)
        N.
        """

    def prescribed_work(self, positions: np.ndarray) -> float:
        """Return the derivative of the potential along the remaining displacement of the obstacles, J."""

    def end_step(self) -> None:
        """End the step: the next one begins with the obstacles at their current positions."""

    def update_at_solution(self, positions: np.ndarray) -> bool:
        """Update lagged terms at a solution of the step; return True if that changed the potential noticeably."""

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Return True if friction requires another iteration after the last one, which led to these positions."""

    def normalized_gap(self, positions: np.ndarray) -> float:
        """Return the smallest distance of surfaces, divided by the barrier's range (dhat); inf without contact."""


class StrainPotentialStep(NamedTuple):
    """Contributions of a strain potential to a step of Mixed FEM: to the ``multiplier`` (m,6), Pa; its ``curvature``
    along the step, J; and ``condensed``, its curvature along the stretch changes that only the positions cause, J.
    """

    multiplier: np.ndarray
    curvature: float
    condensed: float


class StrainPotential:
    """A potential of the tets' stretches, either of the deformation or the independent stretches of Mixed FEM. If it
    ``is_strong``, it may cancel most of the elastic energy.
    """

    is_strong = False

    def value(self, stretch: Stretch) -> float:
        """Return the potential, J."""
        raise NotImplementedError

    def forces(
        self, deformation: Deformation, stretch: Stretch, apart: np.ndarray | None = None, bends: bool = True
    ) -> np.ndarray:
        """Return the derivative by F, with independent stretches condensed out: stresses (m,3,3), Pa, without volume
        weights. ``apart`` (m,6) is the stretch of the positions minus ``stretch``; ``bends`` includes second
        derivatives along it.
        """
        raise NotImplementedError

    def low_rank(self, deformation: Deformation) -> LowRank:
        """Return the low-rank term of the stiffness, N/m, which may be indefinite."""
        raise NotImplementedError

    def soften(self, stretch: Stretch, tangent: Tangent) -> None:
        """Add the second derivatives of the stretch measure, times the potential's slope, to ``tangent``, in place."""
        raise NotImplementedError

    def step_by(self, stretch: Stretch, apart: np.ndarray, ds: np.ndarray, bends: bool) -> StrainPotentialStep:
        """Return the contributions for a step ds (m,6) of the stretches; ``apart``, ``bends`` as in :meth:`forces`."""
        raise NotImplementedError


class Load(Protocol):
    """A load that acts during a step."""

    def begin(self, motion: Motion) -> StepPotential:
        """Return the load's potential in a step with this motion."""


LoadsOrFactory = Sequence[Load] | Callable[[float], Sequence[Load]]
"""Loads during a step: a sequence, or a function that returns them after a fraction (0 to 1) of the step. Obstacles are
always at their positions at the step's end.
"""
