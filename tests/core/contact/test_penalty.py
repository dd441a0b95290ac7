"""The contact potential of a step: derivatives, limits, friction's lag, push-out."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.contact.penalty.obstacle import GroundPlane
from sinew.core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.mechanics.forces.step_potential import Motion

from .colliders import CUBE, CUBE_FACES, SQUARE, SQUARE_FACES, collider, rotation

NUMBERS = PenaltyParameters(
    stiffness=1e4, stiffening=100.0, depth=0.02, sheet_thickness=0.01, push_out_speed=0.5, stiction_tolerance=0.1
)
H = 0.04


@pytest.fixture(scope="module")
def mesh():
    return tetrahedralize(SurfaceMesh(CUBE, CUBE_FACES), ResolutionSettings(cells_across=2))


@pytest.fixture(scope="module")
def points(mesh):
    return ContactPoints.of(SurfaceMesh(CUBE, CUBE_FACES), mesh, np.zeros(len(mesh.tets)))


def motion(x, velocity=(0.0, 0.0, 0.0)):
    """A step at whose end, where x is now, everything moves at this velocity."""
    return Motion(x - H * np.asarray(velocity), x - H * np.asarray(velocity), H)


def obstacles():
    tilted = SQUARE * 3.0 + [0.0, 0.0, 0.011]
    tilted[:, 2] += 0.01 * tilted[:, 0]
    return {
        "ground": GroundPlane(0.02),
        "sheet": collider(SQUARE_FACES, tilted, sheet_thickness=0.1),
        "solid": collider(CUBE_FACES, (CUBE - [0.3, 0.2, 1.0]) * [2.0, 2.0, 1.0] + [0.0, 0.0, 0.03]),
        "moving": collider(SQUARE_FACES, tilted - [0.1, 0.0, 0.05], tilted, sheet_thickness=0.1),
    }


@pytest.mark.parametrize("name", ["ground", "sheet", "solid", "moving"])
@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_derivatives(mesh, points, name, friction, differences):
    x = mesh.rest_positions + 1e-3 * np.random.default_rng(1).standard_normal(mesh.rest_positions.shape)
    potential = PenaltyContact(points, obstacles()[name], friction, NUMBERS, H).begin(motion(x, (0.04, 0.01, -0.02)))
    potential.update(x)
    g = potential.gradient(x)
    assert np.abs(g).max() > 0.1
    assert np.abs(g - differences.numeric_gradient(potential, x, 1e-6)).max() <= 1e-6 * np.abs(g).max()
    K = differences.dense_stiffness(potential, x, mesh.tets)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.abs(K).max()
    if name == "solid":  # where the closest face changes the Hessian is not exact
        return
    true = differences.numeric_hessian(potential, x, 1e-6)
    if friction:
        # At first a bound; once the slip has converged, exact.
        assert np.linalg.eigvalsh(K - true)[0] >= -1e-5 * np.abs(K).max()
        assert np.abs(K - true).max() >= 1e-3 * np.abs(K).max()
        assert np.array_equal(K, differences.dense_stiffness(potential, x, mesh.tets)), "asked again"
        differences.dense_stiffness(potential, x + 1e-9, mesh.tets)
        K = differences.dense_stiffness(potential, x, mesh.tets)
    assert np.abs(K - true).max() <= 1e-5 * np.abs(K).max()


def test_areas_add_up_and_large_faces_are_sampled(points):
    assert points.areas.sum() == pytest.approx(6.0)
    assert len(points.points) > 8 + 6 * 4
    assert (points.areas > 0.0).all()


@pytest.mark.parametrize("inside_out", [False, True])
def test_points_know_the_way_out_of_the_body(mesh, inside_out):
    faces = CUBE_FACES[:, ::-1] if inside_out else CUBE_FACES
    points = ContactPoints.of(SurfaceMesh(CUBE, faces), mesh, np.zeros(len(mesh.tets)))
    R = rotation([1.0, 2.0, 3.0], 1.2)
    stretched = mesh.rest_positions @ (R @ np.diag([0.2, 1.0, 3.0])).T
    out = points.outward(stretched)
    assert np.linalg.norm(out, axis=1) == pytest.approx(np.ones(len(out)))
    at = points.points.positions(mesh.rest_positions)
    for axis in range(3):
        for face, sign in ((0.0, -1.0), (1.0, 1.0)):
            normal = R[:, axis] * sign  # of the stretched cube's side
            assert (out[np.abs(at[:, axis] - face) < 1e-9] @ normal > 0.05).all()


def test_pressure_is_stiffness_times_depth(mesh, points):
    x = mesh.rest_positions
    potential = PenaltyContact(points, GroundPlane(0.01), 0.0, NUMBERS, H).begin(motion(x))
    # One face of 1 m²; faces beside it hold some area at their lower edges, too.
    pressed = points.areas[points.points.positions(x)[:, 2] < 0.01].sum()
    force = -potential.gradient(x).sum(axis=0)
    assert force == pytest.approx([0.0, 0.0, 1e4 * 0.01 * pressed])
    assert pressed >= 1.0
    assert not potential.update(x)  # without friction nothing is lagged


def test_friction_is_coulombs_law(mesh, points):
    x = mesh.rest_positions
    potential = PenaltyContact(points, GroundPlane(0.01), 0.5, NUMBERS, H).begin(motion(x, (3.0, 4.0, 0.0)))
    force = -potential.gradient(x).sum(axis=0)
    assert force[:2] == pytest.approx(-0.5 * force[2] * np.array([0.6, 0.8]))
    slow = PenaltyContact(points, GroundPlane(0.01), 0.5, NUMBERS, H).begin(motion(x, (0.05, 0.0, 0.0)))
    assert -slow.gradient(x).sum(axis=0)[0] == pytest.approx(-0.5 * force[2] * 0.75)  # f1(eps / 2)


def test_friction_is_relative_to_the_obstacle(mesh, points):
    x = mesh.rest_positions
    square = SQUARE * 3.0
    carried = H * np.array([0.6, 0.0, 0.0])
    plate = collider(SQUARE_FACES, square - carried, square, sheet_thickness=0.01)
    together = PenaltyContact(points, plate, 0.5, NUMBERS, H).begin(motion(x, (0.6, 0.0, 0.0)))
    together.update(x)
    assert np.abs(together.gradient(x)[:, 0]).max() <= 1e-9
    still = PenaltyContact(points, plate, 0.5, NUMBERS, H).begin(motion(x))
    still.update(x)
    force = -still.gradient(x).sum(axis=0)
    assert force[0] == pytest.approx(0.5 * force[2])


def test_the_lag_is_renewed_until_it_changes_nothing(mesh, points):
    x = mesh.rest_positions
    potential = PenaltyContact(points, GroundPlane(-0.01), 0.5, NUMBERS, H).begin(motion(x, (1.0, 0.0, 0.0)))
    down = x - [0.0, 0.0, 0.02]
    assert not potential.gradient(x).any()
    assert potential.update(down)
    assert not potential.update(down)
    assert potential.gradient(down)[:, 0].sum() == pytest.approx(-0.5 * potential.gradient(down)[:, 2].sum())


def test_what_has_just_been_run_into_rubs_once_a_step_has_felt_it(mesh, points, differences):
    x = mesh.rest_positions
    potential = PenaltyContact(points, GroundPlane(-0.01), 0.5, NUMBERS, H).begin(motion(x, (1.0, 0.0, 0.0)))
    down = x - [0.0, 0.0, 0.02]
    differences.dense_stiffness(potential, x, mesh.tets)
    assert not potential.update(down)
    assert not potential.gradient(down)[:, 0].any()
    differences.dense_stiffness(potential, down, mesh.tets)
    assert potential.update(down)
    assert potential.gradient(down)[:, 0].sum() == pytest.approx(-0.5 * potential.gradient(down)[:, 2].sum())
    assert potential.update(x), "what has let go rubs no more"
    assert not potential.gradient(x).any()


def test_a_renewed_lag_keeps_the_force_that_friction_had(mesh, points, differences):
    x = mesh.rest_positions
    potential = PenaltyContact(points, GroundPlane(0.01), 0.5, NUMBERS, H).begin(motion(x, (1.0, 0.0, 0.0)))
    stiffness = [differences.dense_stiffness(potential, x + k * 1e-9, mesh.tets) for k in range(3)]
    deeper = x - [0.0, 0.0, 0.01]
    assert potential.update(deeper)
    renewed = differences.dense_stiffness(potential, deeper, mesh.tets)
    slide = np.tile([1.0, 0.0, 0.0], len(x))
    # Along a full slip friction lets go of the force that it was known to have, and holds by what has come to it.
    assert slide @ stiffness[0] @ slide > 1e3
    assert abs(slide @ stiffness[2] @ slide) < 1e-6 * (slide @ stiffness[0] @ slide)
    assert slide @ renewed @ slide == pytest.approx(slide @ stiffness[0] @ slide, rel=0.05)
    assert np.linalg.eigvalsh(renewed)[0] >= -1e-10 * np.abs(renewed).max()


def test_what_pins_hold_presses_on_nothing(mesh, points):
    x = mesh.rest_positions
    moves = motion(x)
    low = np.flatnonzero(x[:, 2] < 0.5)
    potential = PenaltyContact(points, GroundPlane(0.01), 0.5, NUMBERS, H, points.points.held(low)).begin(moves)
    assert PenaltyContact(points, GroundPlane(0.01), 0.5, NUMBERS, H).begin(moves).gradient(x).any()
    assert not potential.gradient(x).any()
    assert potential.value(x - [0.0, 0.0, 1.0]) > 0.0  # of the points above


def test_what_starts_inside_is_pushed_out_at_a_limited_speed(mesh, points):
    x = mesh.rest_positions
    deep = PenaltyContact(points, GroundPlane(0.4), 0.0, NUMBERS, H).begin(motion(x))
    rise = NUMBERS.push_out_speed * H
    lowest = points.points.positions(x)[:, 2] <= 1e-12
    force = -deep.gradient(x)[:, 2].sum()
    assert 0.0 < force <= 1e4 * rise * points.areas.sum()
    assert not deep.gradient(x + [0.0, 0.0, 1.001 * rise])[lowest.nonzero()[0][0]].any()
    assert deep.value(x + [0.0, 0.0, 1.001 * rise]) == 0.0


def test_the_numbers_hold_a_column_and_its_fall():
    numbers = PenaltyParameters.for_body(1000.0, 2.0, 9.81, 1 / 24)
    resting = 1000.0 * 9.81 * 2.0 / numbers.stiffness
    assert resting <= 1e-4 * 2.0
    assert numbers.sheet_thickness > 10.0 * resting
    # Stiffer for heavier bodies and shorter steps; gravity switched off leaves Earth's.
    assert PenaltyParameters.for_body(2000.0, 2.0, 0.0, 1 / 24).stiffness == pytest.approx(2.0 * numbers.stiffness)
    assert PenaltyParameters.for_body(1000.0, 2.0, 9.81, 1 / 48).stiffness == pytest.approx(2.0 * numbers.stiffness)
