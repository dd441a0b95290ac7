"""Active-set Newton method for the quadratic model of one iteration with unilateral springs.

The model ``q(dx) = g.dx + 1/2 dx.A dx`` plus unilateral springs is convex and piecewise quadratic. A linear solve with
the currently active springs alone penetrates all other obstacles. A line search would then shorten the step to nearly
nothing, and each new contact point would need an iteration. Newton's method on the active sets, with exact line
searches, needs only one factorisation per round, of the same matrix with other springs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...mechanics.forces.unilateral_springs import UnilateralSprings
from ..subspaces.dense_system import DenseSystem

ROUNDS = 20
"""Largest number of rounds in one Newton iteration, each with another active set."""


class QPSolution(NamedTuple):
    """Minimizer of the quadratic model of one iteration.

    ``change`` (n,3): change of the unknowns. ``residual_work``, kg m²: product of the change with the gradient of the
    model at the minimizer, zero if the minimizer is exact.
    """

    change: np.ndarray
    residual_work: float


def solve_active_set_qp(
    system: DenseSystem, gradient: np.ndarray, obstacles: Sequence[UnilateralSprings], scale: float
) -> QPSolution:
    """Return the minimizer of a quadratic model plus unilateral springs, after at most ``ROUNDS`` active sets.

    Parameters
    ----------
    system : linear system, factorised with the currently active springs; each round factorises it again
    gradient : (n,3) kg m, gradient of the incremental potential at the start
    obstacles : unilateral springs, one set per obstacle
    scale : squared time step h², s², which multiplies the stiffness and the forces of the springs

    R in the code is the gradient of the quadratic model alone, without springs, at the current change dx. If dx solves
    the linear system, the forces of the active springs balance R. R is therefore computed from these forces, which
    saves a product with the matrix.
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
    """Return the fraction t, from 0 to 1, at which the model plus springs is least on ``dx + t (new - dx)``."""
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
