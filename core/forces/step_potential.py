"""What acts on a body during one step beside gravity and elasticity: springs, contact, damping, fields.

A :class:`Load` is made for a step, with the targets and positions of that moment; at the step's beginning it becomes a
:class:`StepPotential`, which a solver adds to the incremental potential. A new force is a new load: it touches no
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
    """How a step moves: positions ``start`` (n,3) m at its beginning; at positions x the velocity is ``(x - base) /
    step``, with ``base`` (n,3) m and ``step`` in s. It begins with ``velocities`` (n,3) m/s, at rest by default.
    Positions are those after the part ``theta`` of a time step, whose end is extrapolated.
    ``base`` leads on from ``start`` by ``extrapolation`` times the way from the positions ``earlier``, a step ago.
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
        """The same of positions at the end of the time step."""
        return self if self.theta == 1.0 else self._replace(step=self.step / self.theta, theta=1.0)


class StepPotential(Protocol):
    """A potential of the positions (n,3) of all tet vertices, during one step."""

    def value(self, positions: np.ndarray) -> float:
        """J."""

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """(n,3), N: minus the force."""

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times a semi-definite Hessian (N/m) to element blocks (m,10,3,3), in the pair order of
        ``assembly.tangent_blocks``.
        """

    def update(self, positions: np.ndarray) -> bool:
        """Renew what is lagged, after a full step of the solver to these positions or at its solution; True when that
        changed the potential noticeably. By default nothing is.
        """
        return False


class LowRankPotential(StepPotential):
    """One whose stiffness, N/m, belongs to no single element: ``low_rank``, of any sign."""

    low_rank: LowRank

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Nothing."""


class CrossElementPotential(StepPotential):
    """One whose stiffness is, besides, of vertices that share no tet. In a subspace, whose matrix is full, all of it is
    added.
    """

    def cross_element_hessian(self, positions: np.ndarray) -> Pairs:
        """Its semi-definite Hessian, N/m, but for what :meth:`add_stiffness` adds; of the full space alone."""


class BarrierStepPotential(CrossElementPotential):
    """One that is not to be asked anywhere: not where something would have crossed. It has obstacles on a way of their
    own, which they may go in a step as far as nothing crosses.
    """

    collider_positions: np.ndarray
    """(c,3) m, where they are."""

    @property
    def remaining_displacement(self) -> np.ndarray:
        """What they have to go still, (c,3) m."""

    def max_step_size(self, positions: np.ndarray, dx: np.ndarray, going: bool = False) -> float:
        """The part of a way dx (n,3), at most 1, up to which it may be asked, from positions where it may, with
        obstacles that stand, or are ``going`` all their way.
        """

    def hessian_product(self, positions: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """The Hessian times a way dx (n,3) of the vertices and all that obstacles have to go, (n,3) N."""

    def prescribed_work(self, positions: np.ndarray) -> float:
        """What the potential changes by along the obstacles' way, at first, J."""

    def end_step(self) -> None:
        """The next step begins where obstacles are."""

    def update_at_solution(self, positions: np.ndarray) -> bool:
        """As :meth:`update`, for what is renewed at a step's solution alone."""

    def is_unconverged(self, positions: np.ndarray) -> bool:
        """Whether friction wants another iteration than the last one, which led here."""

    def normalized_gap(self, positions: np.ndarray) -> float:
        """The smallest distance between surfaces, of that from which they push: inf where nothing does."""


class StrainPotentialStep(NamedTuple):
    """What a step of Mixed FEM makes of a potential of stretches: what it adds to the ``multiplier`` (m,6), Pa; its
    ``curvature`` along the step, and ``condensed`` along the positions and the stretches that these ask for, J.
    """

    multiplier: np.ndarray
    curvature: float
    condensed: float


class StrainPotential:
    """A potential of stretches: those of the deformation, or, in Mixed FEM, the independent ones. One that
    ``is_strong`` may take back most of the elastic energy.
    """

    is_strong = False

    def value(self, stretch: Stretch) -> float:
        """J."""
        raise NotImplementedError

    def forces(
        self, deformation: Deformation, stretch: Stretch, apart: np.ndarray | None = None, bends: bool = True
    ) -> np.ndarray:
        """Its derivative, condensed: stresses (m,3,3) by F, not weighted, Pa; where positions ask for stretches that
        are ``apart`` (m,6) from these, with what it ``bends`` on the way.
        """
        raise NotImplementedError

    def low_rank(self, deformation: Deformation) -> LowRank:
        """What it adds to the stiffness, N/m: of any sign."""
        raise NotImplementedError

    def soften(self, stretch: Stretch, tangent: Tangent) -> None:
        """Take from the elastic energy's second derivatives, in place, what it takes back of how they bend."""
        raise NotImplementedError

    def step_by(self, stretch: Stretch, apart: np.ndarray, ds: np.ndarray, bends: bool) -> StrainPotentialStep:
        """What steps ds (m,6) make of it, where positions ask for stretches that are ``apart`` (m,6)."""
        raise NotImplementedError


class Load(Protocol):
    """Something that acts during a step."""

    def begin(self, motion: Motion) -> StepPotential:
        """What it is during a step that moves so."""


LoadsOrFactory = Sequence[Load] | Callable[[float], Sequence[Load]]
"""What acts during a step: loads, or what gives them as they are after a part (0 to 1) of it. Obstacles are at its end
all the same.
"""
