"""Interfaces of loads on a body during one step besides gravity and elasticity: springs, contact, damping, fields.

A :class:`Load` is made for a step, with the targets and positions at that time. At the step's beginning it becomes a
:class:`StepPotential`, which a solver adds to the incremental potential. A new force is a new load and changes no
solver.
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

    Positions are those after the fraction ``theta`` of a time step, whose end is extrapolated. ``base`` is ``x_prev``
    plus ``extrapolation`` times the displacement from ``x_prev2``, the positions one step earlier.
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
        that changed the potential noticeably. By default nothing is lagged.
        """
        return False


class LowRankPotential(StepPotential):
    """A potential whose stiffness, N/m, belongs to no single element: ``low_rank``, indefinite."""

    low_rank: LowRank

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add nothing: the stiffness is in ``low_rank``."""


class CrossElementPotential(StepPotential):
    """A potential whose stiffness also couples vertices that share no tet. In a subspace, whose matrix is full,
    :meth:`add_stiffness` adds all of it.
    """

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the semi-definite Hessian, N/m, without the part that :meth:`add_stiffness` adds; for the full space
        only.
        """


class BarrierStepPotential(CrossElementPotential):
    """Potential that is finite only without intersections. Its obstacles move on prescribed paths, in a step as far as
    they do not collide.
    """

    collider_positions: np.ndarray
    """Current positions of the obstacles, (c,3) m."""

    @property
    def remaining_displacement(self) -> np.ndarray:
        """Remaining prescribed displacement of the obstacles, (c,3) m."""

    def max_step_size(self, positions: np.ndarray, dx: np.ndarray, with_remaining: bool = False) -> float:
        """Return the largest collision-free step size, at most 1, along dx (n,3) m from feasible positions. Obstacles
        stand still, or make all of their remaining displacement with ``with_remaining``.
        """

    def hessian_product(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return the Hessian times a step dx (n,3) m of the vertices and the remaining displacement of obstacles, (n,3)
        N.
        """

    def prescribed_work(self, positions: np.ndarray) -> float:
        """Return the derivative of the potential along the remaining displacement of the obstacles, J."""

    def end_step(self) -> None:
        """Begin the next step with the obstacles at their current positions."""

    def update_at_solution(self, positions: np.ndarray) -> bool:
        """Update terms that are lagged until a step's solution, as :meth:`update`."""

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Return True if friction requires another iteration after the last one, which led to these positions."""

    def normalized_gap(self, positions: np.ndarray) -> float:
        """Return the smallest distance between surfaces over the barrier's activation distance; inf without contact."""


class StrainPotentialStep(NamedTuple):
    """Terms of a strain potential in a step of Mixed FEM: the part of the ``multiplier`` (m,6), Pa; the ``curvature``
    along the step, J; and ``condensed``, the curvature along the changes of the stretches due to the positions only, J.
    """

    multiplier: np.ndarray
    curvature: float
    condensed: float


class StrainPotential:
    """A potential of stretches: those of the deformation, or the independent ones of Mixed FEM. One that ``is_strong``
    may cancel most of the elastic energy.
    """

    is_strong = False

    def value(self, stretch: Stretch) -> float:
        """Return the potential, J."""
        raise NotImplementedError

    def forces(
        self, deformation: Deformation, stretch: Stretch, apart: np.ndarray | None = None, bends: bool = True
    ) -> np.ndarray:
        """Return the condensed derivative: stresses (m,3,3) by F, not weighted, Pa. The stretches of the positions
        differ from ``stretch`` by ``apart`` (m,6); with ``bends``, second derivatives along them are included.
        """
        raise NotImplementedError

    def low_rank(self, deformation: Deformation) -> LowRank:
        """Return the low-rank part of the stiffness, N/m, indefinite."""
        raise NotImplementedError

    def soften(self, stretch: Stretch, tangent: Tangent) -> None:
        """Add the stretch measure's second derivatives, times the potential's slope, to the elastic ones, in place."""
        raise NotImplementedError

    def step_by(self, stretch: Stretch, apart: np.ndarray, ds: np.ndarray, bends: bool) -> StrainPotentialStep:
        """Return the terms for a step ds (m,6) of the stretches; those of the positions differ by ``apart`` (m,6)."""
        raise NotImplementedError


class Load(Protocol):
    """A load that acts during a step."""

    def begin(self, motion: Motion) -> StepPotential:
        """Return the load's potential in a step with this motion."""


LoadsOrFactory = Sequence[Load] | Callable[[float], Sequence[Load]]
"""Loads during a step: a sequence, or a function that returns them after a fraction (0 to 1) of the step. Obstacles are
always at their positions at its end.
"""
