"""Springs and acceleration fields: derivatives, limits, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import SpringError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.mechanics.assembly.mass import mass_matrix
from sinew.core.mechanics.forces.acceleration_field import AccelerationField
from sinew.core.mechanics.forces.body_forces import GravityPotential
from sinew.core.mechanics.forces.embedded_points import EmbeddedPoints
from sinew.core.mechanics.forces.springs import Springs, shared_stiffness
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.mechanics.forces.stiffening_springs import FIRM, StiffeningSprings, force_of
from sinew.core.mechanics.forces.submodel_load import SubmodelLoad

CUBE = SurfaceMesh(
    np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]),
    np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
        + [[1, 5, 7], [1, 7, 3]]
    ),
)


@pytest.fixture(scope="module")
def mesh():
    return tetrahedralize(CUBE, ResolutionSettings(cells_across=2))


@pytest.fixture(scope="module")
def points(mesh):
    """Inside, and one well outside all tets, whose weights are partly negative."""
    at = np.array([[0.3, 0.4, 0.5], [0.1, 0.9, 0.2], [2.0, 2.0, 2.0]])
    return EmbeddedPoints(embed(at, mesh), mesh.tets, len(mesh.rest_positions))


def moved(mesh):
    return mesh.rest_positions + 0.1 * np.random.default_rng(3).standard_normal(mesh.rest_positions.shape)


def motion(x):
    return Motion(x, x, 0.04)


def test_spring_derivatives(mesh, points, differences):
    springs = Springs(points, np.array([3.0, 0.0, 2.0]), np.zeros((3, 3))).begin(motion(mesh.rest_positions))
    x = moved(mesh)
    g = springs.gradient(x)
    assert np.abs(g - differences.numeric_gradient(springs, x, 1e-4)).max() <= 1e-7 * np.abs(g).max()
    K = differences.dense_stiffness(springs, x, mesh.tets)
    assert np.abs(K - differences.numeric_hessian(springs, x, 1e-3)).max() <= 1e-9 * np.abs(K).max()
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max()
    assert np.array_equal(differences.dense_stiffness(springs, x, mesh.tets, 0.5), 0.5 * K)


STIFFNESS, REACH = np.array([3.0, 5.0, 2.0]), np.array([1e-2, 2e-2, 0.1])


def stiffening(points, mesh, before=0.0, aside=0.0):
    """In a step that begins at rest: springs that have given way by ``before`` then, and their targets go ``aside``."""
    at_rest = points.positions(mesh.rest_positions)
    way = np.array([0.0, 0.6, 0.8])
    load = StiffeningSprings(points, STIFFNESS, REACH, at_rest - before * way, at_rest - aside * way)
    return load.begin(motion(mesh.rest_positions))


def test_forces_of_springs_that_stop():
    """The inverse of a concave give, which is the force where that is small and stops at the reach."""
    force = np.geomspace(1e-6, 1e6, 400)
    give = force / FIRM + (1.0 - 1.0 / FIRM) * force / (1.0 + force)
    np.testing.assert_allclose(force_of(give), force, rtol=1e-9)
    assert force_of(np.zeros(1)) == 0.0
    slope, softness = np.diff(give) / np.diff(force), give / force
    assert (slope > 0.0).all() and (np.diff(slope) < 1e-12).all() and (np.diff(softness) < 0.0).all()
    assert force_of(np.array([1e-6])) == pytest.approx(1e-6, rel=1e-5)
    assert give[force <= 100.0].max() < 1.1, "a hundred times the load that a soft spring would need for its reach"
    assert force_of(np.array([1e6])) == pytest.approx(FIRM * 1e6, rel=1e-5)


@pytest.mark.parametrize("before", [0.0, 1e-3, 0.05, 1.0])
def test_stiffening_springs_derivatives(mesh, points, differences, before):
    """From where they are soft to where they are stiff; what an iteration sees is a convex quadratic form, between a
    soft spring and a firm one.
    """
    springs, x = stiffening(points, mesh, before), moved(mesh)
    g = springs.gradient(x)
    assert np.abs(g - differences.numeric_gradient(springs, x, 1e-4)).max() <= 1e-6 * np.abs(g).max()
    K = differences.dense_stiffness(springs, x, mesh.tets)
    assert np.abs(K - differences.numeric_hessian(springs, x, 1e-3)).max() <= 1e-8 * np.abs(K).max()
    soft = differences.dense_stiffness(Springs(points, STIFFNESS, np.zeros((3, 3))), x, mesh.tets)
    for inner, outer in ((soft, K), (K, FIRM * soft)):
        assert np.linalg.eigvalsh(outer - inner)[0] >= -1e-9 * np.abs(outer).max()


@pytest.mark.parametrize("before", [0.0, 1e-3, 0.05, 1.0])
def test_stiffening_springs_begin_with_their_forces(mesh, points, before):
    """Exactly, and with the law's own stiffness: the derivative of the force by the give."""
    pull = stiffening(points, mesh, before, before).gradient(mesh.rest_positions).sum(axis=0)
    size = float(np.sum(STIFFNESS * REACH * force_of(before / REACH)))
    np.testing.assert_allclose(pull, size * np.array([0.0, 0.6, 0.8]), atol=1e-9 * max(size, 1e-3))
    d = 1e-6
    ahead, behind = (stiffening(points, mesh, before, before + way) for way in (d, -d))
    change = (ahead.gradient(mesh.rest_positions) - behind.gradient(mesh.rest_positions)).sum(axis=0) / (2.0 * d)
    ends = [np.sum(STIFFNESS * REACH * force_of(abs(before + way) / REACH)) for way in (d, -d)]
    slope = (ends[0] - ends[1]) / (2.0 * d) if before else STIFFNESS.sum()
    np.testing.assert_allclose(change @ [0.0, 0.6, 0.8], slope, rtol=1e-3)


def test_stiffening_springs_come_to_the_force_of_any_give(mesh, points):
    """At places that do not change, whatever they began with: by a few updates, in any direction, and none after."""
    x = mesh.rest_positions
    for before, aside in ((0.0, 3e-3), (0.0, 3.0), (3.0, 1e-3), (0.2, -0.2), (0.02, 0.0)):
        springs, rounds = stiffening(points, mesh, before, aside), 0
        while springs.update(x):
            rounds += 1
        assert rounds <= 12 and not springs.update(x)
        force = springs.gradient(x).sum(axis=0) @ [0.0, 0.6, 0.8]
        size = np.sign(aside) * np.sum(STIFFNESS * REACH * force_of(abs(aside) / REACH))
        assert force == pytest.approx(size, rel=2e-2, abs=1e-3 * np.sum(STIFFNESS * REACH))


def test_spring_forces_add_up_to_hookes_law(mesh, points):
    targets = points.positions(mesh.rest_positions) + [0.0, 0.0, 0.1]
    springs = Springs(points, shared_stiffness(30.0, np.array([1.0, 0.0, 2.0])), targets)
    g = springs.gradient(mesh.rest_positions)
    assert g.sum(axis=0) == pytest.approx([0.0, 0.0, -30.0 * 0.1], abs=1e-12)
    assert springs.value(mesh.rest_positions) == pytest.approx(0.5 * 30.0 * 0.1**2)
    assert not springs.update(mesh.rest_positions)


def test_a_released_spring_does_nothing(mesh, points, differences):
    springs = Springs(points, np.zeros(3), np.zeros((3, 3)))
    x = moved(mesh)
    assert springs.value(x) == 0.0
    assert not springs.gradient(x).any()
    assert not differences.dense_stiffness(springs, x, mesh.tets).any()


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0, 2.0], [1.0, np.nan], [np.inf, 1.0]])
def test_weights_that_are_no_shares(weights):
    with pytest.raises(SpringError, match="weights"):
        shared_stiffness(1.0, np.array(weights))


@pytest.mark.parametrize(("k", "target", "word"), [(-1.0, 0.0, "stiffness"), (np.nan, 0.0, "stiffness")])
def test_impossible_springs(points, k, target, word):
    with pytest.raises(SpringError, match=word):
        Springs(points, np.full(3, k), np.full((3, 3), target))


def test_a_target_that_is_not_a_number(points):
    with pytest.raises(SpringError, match="target"):
        Springs(points, np.ones(3), np.full((3, 3), np.nan))


def test_a_uniform_field_is_gravity(mesh, differences):
    mass = mass_matrix(mesh.tets, 1000.0 * mesh.corner_volumes, len(mesh.rest_positions))
    g = np.array([1.0, -2.0, 3.0])
    field = AccelerationField(mass @ np.tile(g, (len(mesh.rest_positions), 1))).begin(motion(mesh.rest_positions))
    x = moved(mesh)
    assert (
        np.abs(field.gradient(x) - GravityPotential(np.asarray(mass.sum(axis=1)).ravel(), g).gradient()).max()
        <= 1e-12 * mass.sum()
    )
    assert np.abs(field.gradient(x) - differences.numeric_gradient(field, x, 1e-3)).max() <= 1e-6
    assert not differences.dense_stiffness(field, x, mesh.tets).any()


def test_a_load_of_a_body_is_given_the_motion_of_that_body_alone():
    n, own = 10, slice(3, 6)
    fields = [np.arange(3.0 * n).reshape(n, 3) + k for k in range(4)]
    x_prev, base, velocities, x_prev2 = fields
    seen = []

    class Seen:
        def begin(self, motion):
            seen.append(motion)

    SubmodelLoad(Seen(), own, slice(0, 1)).begin(Motion(x_prev, base, 0.1, velocities, 0.5, x_prev2, 2.0))
    (motion,) = seen
    found = motion.x_prev, motion.base, motion.velocities, motion.x_prev2
    assert all(np.array_equal(each, whole[own]) for each, whole in zip(found, fields))
    assert (motion.step, motion.theta, motion.extrapolation) == (0.1, 0.5, 2.0)
