"""The model of an iteration with springs that only push: its minimum, found by sets of springs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sinew.benchmarks.bodies import block
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.mechanics.assembly.low_rank import LowRank
from sinew.core.mechanics.forces.unilateral_springs import Penetration, UnilateralSprings
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers.active_set_qp import solve_active_set_qp
from sinew.core.methods.subspaces.reduced_model import skinning_subspace
from sinew.core.methods.subspaces.reduced_points import ReducedPoints

UNKNOWNS, POINTS, SCALE = 6, 40, 0.01


class System:
    """A dense quadratic with the springs that push at its beginning."""

    def __init__(self, matrix):
        self.matrix, self.factorizations = matrix, 0
        assert self.try_factorize()

    def try_factorize(self, whole=False):
        self.factorizations += 1
        flat = self.matrix.reshape(3 * UNKNOWNS, -1)
        try:
            self.factor = cho_factor(flat, lower=True)
        except LinAlgError:
            return False
        return True

    def solve(self, right_hand_side):
        return cho_solve(self.factor, right_hand_side.T.ravel()).reshape(3, UNKNOWNS).T

    def add(self, change):
        return change(self.matrix)


def fall(seed, hardness):
    """Points above, on and in the ground that a quadratic pulls down: its gradient, obstacle and matrix."""
    rng = np.random.default_rng(seed)
    rest, shares = rng.uniform(-0.1, 1.0, (POINTS, 3)), rng.normal(size=(POINTS, UNKNOWNS))
    points = ReducedPoints(rest, shares)
    root = rng.normal(size=(3 * UNKNOWNS, 3 * UNKNOWNS))
    A = (root @ root.T + 0.1 * np.eye(3 * UNKNOWNS)).reshape(3, UNKNOWNS, 3, UNKNOWNS)
    start = np.zeros((UNKNOWNS, 3))
    stiffness = hardness * rng.uniform(0.5, 2.0, POINTS)

    def look(unknowns):
        up = np.tile([0.0, 0.0, 1.0], (POINTS, 1))
        return Penetration(-points.positions(unknowns)[:, 2], up)

    return (
        points,
        A,
        rng.normal(size=(UNKNOWNS, 3)) * 5.0,
        UnilateralSprings(points, start, stiffness, look(start), look),
        stiffness,
    )


@pytest.mark.parametrize("hardness", [1e2, 1e5])
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_the_whole_model_vanishes(seed, hardness):
    points, A, pull, springs, stiffness = fall(seed, hardness)

    def pushed(u):
        depths = np.maximum(-(points.positions(u)[:, 2]), 0.0)
        return points.spread((stiffness * depths)[:, None] * [0.0, 0.0, 1.0]), depths > 0.0

    at_start, touching = pushed(np.zeros((UNKNOWNS, 3)))
    system = System(A.copy())
    K = np.where(touching, stiffness, 0.0)[:, None, None] * np.diag([0.0, 0.0, 1.0])
    points.add_stiffness(K, SCALE, system.matrix)
    assert system.try_factorize()
    minimum = solve_active_set_qp(system, pull - SCALE * at_start, [springs], SCALE)
    left = pull + np.einsum("iajb,bj->ai", A, minimum.change) - SCALE * pushed(minimum.change)[0]
    assert np.abs(left).max() <= 1e-9 * np.abs(pull).max()
    assert abs(minimum.residual_work) <= 1e-9 * np.abs(pull * minimum.change).sum()
    np.testing.assert_array_equal(springs.pushing, pushed(minimum.change)[1])
    assert not np.array_equal(springs.pushing, touching) and system.factorizations > 3


def test_a_low_rank_is_kept_while_springs_are_chosen_or_dropped_before():
    """The model is one function: where springs that let go leave what is not definite, no other one takes its place."""
    model = build_model(block((2, 1, 1), (0.2, 0.1, 0.1)), 1e4, 0.3, 1e3)
    space = skinning_subspace(model, 3, 0).model
    system, r = space.linear_system(SolverSettings()), space.unknowns
    at = np.zeros((r, 3))
    tangent = space.elastic.tangent(space.elastic.deformation(at))
    Y = np.zeros((r, 3, 1))
    Y[0, 2] = 1.0

    def assembled(core):
        system.assemble_tangent(tangent, 1.0, at, (), None, LowRank(Y, np.array([[core]])))

    assembled(0.0)
    assert system.try_factorize()
    curvature = 1.0 / system.solve(Y[:, :, 0])[0, 2]  # of what is left of z where all else gives way
    assembled(-0.9 * curvature)
    assert system.try_factorize() and system.low_rank is not None

    def let_go(matrix):
        matrix[2, 0, 2, 0] -= 0.5 * curvature
        return True

    assert system.add(let_go) and not system.try_factorize(whole=True) and system.low_rank is not None
    assembled(-1.1 * curvature)
    assert system.try_factorize() and system.low_rank is None
    assert abs(system.solve(Y[:, :, 0])[0, 2] * curvature - 1.0) <= 1e-9


def test_a_stiffness_between_carried_points():
    """Sparse products agree with the dense one; most points are not coupled."""
    rng = np.random.default_rng(0)
    points, few = ReducedPoints(rng.standard_normal((12, 3)), rng.standard_normal((12, 4))), np.array([2, 3, 7, 11])
    K, half = np.zeros((12, 3, 12, 3)), rng.standard_normal((12, 12))
    K[np.ix_(few, range(3), few, range(3))] = (half + half.T).reshape(4, 3, 4, 3)
    out = np.zeros((3, 4, 3, 4))
    points.add_coupling(sp.csr_matrix(K.reshape(36, 36)), 2.0, out)
    expected = 2.0 * np.einsum("pr,piqj,qs->irjs", points.shares, K, points.shares)
    for i in range(3):
        np.testing.assert_allclose(out[i, :, i:], expected[i, :, i:], atol=1e-12)
