"""Active-set Newton method for the quadratic model of one iteration with unilateral springs.

The model ``q(dx) = g.dx + 1/2 dx.A dx`` plus unilateral springs is convex and piecewise quadratic. A linear solve with
the active springs alone penetrates all other obstacles, and a line search then shortens it to nearly nothing: as many
iterations as new contact points. Newton's method on the active sets, with exact line searches, needs only one
factorisation of the same matrix with other springs per round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...mechanics.forces.unilateral_springs import UnilateralSprings
from ..subspaces.dense_system import DenseSystem

ROUNDS = 20
"""Largest number of active sets that are tried in one Newton iteration."""


class QPSolution(NamedTuple):
    """Minimizer of the quadratic model: the ``change`` (n,3) of the unknowns, and its work ``residual_work`` against
    the residual gradient, kg m².
    """

    change: np.ndarray
    residual_work: float


def solve_active_set_qp(
    system: DenseSystem, gradient: np.ndarray, obstacles: Sequence[UnilateralSprings], scale: float
) -> QPSolution:
    """Return the minimizer of a quadratic model with unilateral springs, after at most ``ROUNDS`` rounds.

    Parameters
    ----------
    system : factorised with the active springs; each round factorises it again
    gradient : (n,3) of the incremental potential at the beginning, kg m
    obstacles : springs of each obstacle
    scale : h², factor of the springs

    The gradient of the quadratic part, ``R = A dx + g``, is affine in dx. Each solution yields it, since the active
    springs balance it there. So no product with A is needed.
    """
    dx = np.zeros_like(gradient)
    still = [springs.point_displacements(dx) for springs in obstacles]
    base = gradient + scale * _sum_forces(
        obstacles, [np.maximum(s.depths(u), 0.0) for s, u in zip(obstacles, still, strict=True)]
    )
    R = base
    for _round in range(ROUNDS):
        assumed = [np.where(s.pushing, s.depths(u), 0.0) for s, u in zip(obstacles, still, strict=True)]
        new = system.solve(scale * _sum_forces(obstacles, assumed) - base)
        moved = [springs.point_displacements(new) for springs in obstacles]
        pressing = [np.where(s.pushing, s.depths(u), 0.0) for s, u in zip(obstacles, moved, strict=True)]
        R_new = scale * _sum_forces(obstacles, pressing)
        for springs in obstacles:
            springs.extend_candidates(new)
        t = _line_minimum(dx, new, R, R_new, obstacles, scale)
        dx, R = dx + t * (new - dx), R + t * (R_new - R)
        there = [springs.point_displacements(dx) for springs in obstacles]

        def choose(blocks, there=there):
            return any([s.update_active_set(u, scale, blocks) for s, u in zip(obstacles, there, strict=True)])

        if not system.add(choose) or not system.try_factorize(whole=True):
            break
    there = [np.maximum(s.depths(s.point_displacements(dx)), 0.0) for s in obstacles]
    left = R - scale * _sum_forces(obstacles, there)
    return QPSolution(dx, float(np.sum(left * dx)))


def _sum_forces(obstacles: Sequence[UnilateralSprings], pressing: Sequence[np.ndarray]) -> np.ndarray:
    return sum(springs.force(depths) for springs, depths in zip(obstacles, pressing, strict=True))


def _line_minimum(
    dx: np.ndarray,
    new: np.ndarray,
    R: np.ndarray,
    R_new: np.ndarray,
    obstacles: Sequence[UnilateralSprings],
    scale: float,
) -> float:
    """Return the fraction (0 to 1) of the segment from dx to new at which the model is least. R and R_new (n,3) are the
    gradients of its quadratic part at both ends.
    """
    segment = new - dx
    first, last = float(np.sum(segment * R)), float(np.sum(segment * R_new))
    works = [
        springs.work_along(springs.point_displacements(dx), springs.point_displacements(segment))
        for springs in obstacles
    ]

    def slope(t: float) -> float:
        return first + t * (last - first) - scale * sum(work(t) for work in works)

    start, end = slope(0.0), slope(1.0)
    if end <= 0.0:
        return 1.0
    if start >= 0.0:
        return 0.0
    return float(brentq(slope, 0.0, 1.0))
