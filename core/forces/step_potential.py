"""What acts on a body during one step beside gravity and elasticity: springs, contact, damping, fields.

A :class:`Load` is made for a step, with the targets and positions of that moment; at the step's beginning it becomes a
:class:`StepPotential`, which a solver adds to the incremental potential. A new force is a new load: it touches no
solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np


class Motion(NamedTuple):
    """How a step moves: positions ``start`` (n,3) m at its beginning; at positions x the velocity is ``(x - base) /
    step``, with ``base`` (n,3) m and ``step`` in s. No force moves the vertices ``pinned`` (q,). It begins with
    ``velocities`` (n,3) m/s, at rest by default.
    """

    start: np.ndarray
    base: np.ndarray
    step: float
    pinned: Sequence[int] | np.ndarray = ()
    velocities: np.ndarray | None = None


class StepPotential(Protocol):
    """A potential of the positions (n,3) of all tet vertices, during one step.

    One whose forces are linear in the positions says so by ``linear``: what its stiffness is made of, objects that are
    the same ones where the stiffness is the same.
    """

    def value(self, positions: np.ndarray) -> float:
        """J."""

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """(n,3), N: minus the force."""

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times a semi-definite Hessian (N/m) to element blocks (m,10,3,3), in the pair order of
        ``assembly.tangent_blocks``.
        """

    def update(self, positions: np.ndarray) -> bool:
        """Renew what was lagged, after a full step of the solver to these positions or at its solution; True when that
        changed the potential noticeably.
        """


class Load(Protocol):
    """Something that acts during a step."""

    def begin(self, motion: Motion) -> StepPotential:
        """What it is during a step that moves so."""


def linear_parts(potentials: Sequence[StepPotential]) -> tuple[object, ...] | None:
    """What the stiffness of all these is made of; None when the forces of one are not linear."""
    parts = [getattr(potential, "linear", None) for potential in potentials]
    return None if None in parts else tuple(part for each in parts for part in each)
