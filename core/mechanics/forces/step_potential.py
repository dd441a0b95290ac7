"""Interfaces of the loads on a body besides gravity and elasticity: springs, contact, damping, force fields.

A :class:`Load` is made for one time step, with the targets and obstacle positions at the end of the step. At the
beginning of the step, the load returns a :class:`StepPotential`, which a solver adds to the incremental potential. A
new force is a new load and changes no solver.
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
    """Motion of the body's n vertices in a time step, from which loads compute velocities.

    ``x_prev`` (n,3) m: positions at the beginning of the step. ``velocities`` (n,3) m/s: velocities at the beginning,
    None for zero. At positions x the velocity is ``(x - base) / step``. ``base`` (n,3) m is ``x_prev`` plus
    ``extrapolation`` times the displacement from ``x_prev2`` (n,3) m, the positions a step earlier. ``step`` is in s.

    A solver solves for the positions after the fraction ``theta`` of the time step, and extrapolates to the end of the
    step.
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
        """The same motion as a function of the positions x at the end of the time step.

        In the result, ``theta`` is 1 and ``step`` is divided by the old ``theta``. So the velocity is again
        ``(x - base) / step``.
        """
        return self if self.theta == 1.0 else self._replace(step=self.step / self.theta, theta=1.0)


class StepPotential(Protocol):
    """Potential energy, during one time step, as a function of the positions (n,3) of all tet vertices."""

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N: minus the forces."""

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times a semi-definite Hessian, N/m, to the element ``blocks`` (b,3,3).

        ``blocks`` are ordered as in ``Elements.matrices``.
        """

    def update(self, positions: np.ndarray) -> bool:
        """Update lagged terms, such as friction, to ``positions`` (n,3), m.

        Solvers call this method after each full step and at the solution. Return True if the update changed the
        potential noticeably. A potential without lagged terms returns False.
        """
        return False


class LowRankPotential(StepPotential):
    """Potential whose Hessian is a low-rank matrix over the whole body.

    ``low_rank`` holds the Hessian, N/m. The matrix may be indefinite.
    """

    low_rank: LowRank

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add nothing to ``blocks``: the whole Hessian is in ``low_rank``."""


class CrossElementPotential(StepPotential):
    """Potential whose Hessian also couples vertices that share no tet, such as contact.

    In the full space, :meth:`cross_element_hessian` returns the Hessian as blocks per pair of vertices, since the
    element matrices have no entries for such pairs. In a subspace, the system matrix is dense, and
    :meth:`add_stiffness` adds the whole Hessian.
    """

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Return the semi-definite Hessian, N/m, without the part that :meth:`add_stiffness` adds.

        The result holds blocks per pair of vertices. Subspaces do not need this method.
        """


class BarrierStepPotential(CrossElementPotential):
    """Contact potential that is infinite if surfaces intersect.

    Obstacles move along prescribed paths. If contact blocks an obstacle, the step ends before the obstacle reaches the
    prescribed position.
    """

    collider_positions: np.ndarray
    """Current positions (c,3) m of the obstacles' c vertices."""

    @property
    def remaining_displacement(self) -> np.ndarray:
        """Displacement of the obstacles' c vertices from the current to the prescribed positions, (c,3) m."""

    def max_step_size(self, positions: np.ndarray, dx: np.ndarray, with_prescribed_motion: bool = False) -> float:
        """Return a collision-free step size, at most 1, along ``dx``.

        ``positions`` (n,3), m: intersection-free vertex positions. ``dx`` (n,3), m: displacement in a full step. If
        ``with_prescribed_motion`` is True, obstacles move by the step size times their remaining displacement;
        otherwise obstacles stand still.
        """

    def hessian_product(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Return the product of the Hessian with a displacement of body and obstacles, (n,3) N.

        The rows of the result belong to the body's vertices. ``dx`` (n,3), m: displacement of the body's vertices. The
        obstacles' vertices move by :attr:`remaining_displacement`.
        """

    def prescribed_work(self, positions: np.ndarray) -> float:
        """Return the directional derivative of the potential along the remaining displacement of the obstacles, J."""

    def end_step(self) -> None:
        """End the step: obstacles begin the next step at the current positions."""

    def update_at_solution(self, positions: np.ndarray) -> bool:
        """Update lagged terms, such as friction, at a solution of the step.

        Return True if the update changed the potential noticeably.
        """

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Return True if friction requires another iteration. ``positions`` (n,3), m: result of the last iteration."""

    def normalized_gap(self, positions: np.ndarray) -> float:
        """Return the smallest distance between surfaces in contact, divided by the barrier's range dhat.

        The result is inf without surfaces in contact.
        """


class StrainPotentialStep(NamedTuple):
    """Contributions of a strain potential to an iteration of Mixed FEM.

    The iteration changes the independent stretches S by ds. The gap is the stretch of the positions minus S.

    ``multiplier`` (m,6), Pa: derivative of the potential by the stretches, at S + ds. ``curvature``, J: second
    derivative of the potential along ds. ``condensed``, J: second derivative of the potential along ``ds - gap``.
    """

    multiplier: np.ndarray
    curvature: float
    condensed: float


class StrainPotential:
    """Potential that depends on the stretches of the tets.

    The stretches belong to the deformation, or they are the independent stretches of Mixed FEM. ``is_strong`` is True
    if the potential may cancel most of the elastic energy. Only then do solvers call :meth:`soften`.
    """

    is_strong = False

    def value(self, stretch: Stretch) -> float:
        """Return the potential, J, at the ``stretch`` of all tets."""
        raise NotImplementedError

    def forces(
        self, deformation: Deformation, stretch: Stretch, residual: np.ndarray | None = None, bends: bool = True
    ) -> np.ndarray:
        """Return the stress of each tet due to the potential, (m,3,3) Pa.

        The stress is the derivative of the potential by the tet's deformation gradient, divided by the tet's volume.
        ``residual`` (m,6): stretch of the positions minus ``stretch``, if ``stretch`` is an independent stretch of
        Mixed FEM. ``bends``: True to add the second derivative of the potential times ``residual``. This term results
        from eliminating the independent stretches.
        """
        raise NotImplementedError

    def low_rank(self, deformation: Deformation) -> LowRank:
        """Return the low-rank part of the potential's Hessian by the vertex positions, N/m.

        The low-rank part may be indefinite.
        """
        raise NotImplementedError

    def soften(self, stretch: Stretch, tangent: Tangent) -> None:
        """Add part of the potential's second derivatives to the elastic ``tangent``, in place.

        The part results from the curvature of the potential's strain measures. Only tets whose tangent becomes softer
        change.
        """
        raise NotImplementedError

    def step_by(self, stretch: Stretch, residual: np.ndarray, ds: np.ndarray, bends: bool) -> StrainPotentialStep:
        """Return the terms that the potential adds to an iteration of Mixed FEM.

        The iteration changes the independent stretches from ``stretch`` by ``ds`` (m,6). ``residual`` (m,6): stretch of
        the positions minus ``stretch``. ``bends``: True if the second derivatives of the potential take part in the
        iteration; if False, they count as 0.
        """
        raise NotImplementedError


class Load(Protocol):
    """Load on a body during one time step."""

    def begin(self, motion: Motion) -> StepPotential:
        """Return the potential of the load in a time step with the given ``motion``."""


LoadsOrFactory = Sequence[Load] | Callable[[float], Sequence[Load]]
"""Loads in a time step: a sequence, or a function that returns the loads at a fraction (0 to 1) of the step. Obstacles
in the loads are at their positions at the end of the step, whatever the fraction.
"""
