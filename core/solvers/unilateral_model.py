"""The model of one iteration with springs that only push, minimised to its end.

The quadratic model ``q(dx) = g.dx + 1/2 dx.A dx`` plus unilateral springs is convex and quadratic by pieces. A linear
solve that knows only of the springs that push already runs deep into all others, and a line search then cuts it down to
nearly nothing: as many iterations as points come to touch. Newton's method on the sets of pushing springs, with exact
line searches, takes each round one factorisation of the same matrix with other springs, and nothing else of an
iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..forces.unilateral_springs import UnilateralSprings
from ..subspaces.dense_system import DenseSystem

ROUNDS = 20
"""Sets of pushing springs that are tried in one iteration."""


class QPSolution(NamedTuple):
    """``change`` of the unknowns, and its work ``residual_work`` against what is left of the gradient, kg m²."""

    change: np.ndarray
    residual_work: float


def solve_active_set_qp(
    system: DenseSystem, gradient: np.ndarray, obstacles: Sequence[UnilateralSprings], scale: float
) -> QPSolution:
    """The least value of a quadratic model with unilateral springs, after at most ``ROUNDS`` rounds.

    Parameters
    ----------
    system : factorised, with the springs that push; it is factorised anew in each round
    gradient : of the whole at the beginning, kg m
    scale : h², which the springs are multiplied by

    The quadratic part's gradient ``R = A dx + g`` is affine in dx and known at each solution, where the springs that
    push hold it in balance; so nothing is multiplied by A.
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
    """The part of the way from dx to new where the model is least."""
    way = new - dx
    first, last = float(np.sum(way * R)), float(np.sum(way * R_new))
    works = [
        springs.work_along(springs.point_displacements(dx), springs.point_displacements(way)) for springs in obstacles
    ]

    def slope(t: float) -> float:
        return first + t * (last - first) - scale * sum(work(t) for work in works)

    start, end = slope(0.0), slope(1.0)
    if end <= 0.0:
        return 1.0
    if start >= 0.0:
        return 0.0
    return float(brentq(slope, 0.0, 1.0))
