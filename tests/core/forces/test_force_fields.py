"""Force fields: derivatives of their potential, what their formulas say, what no strength of theirs may do."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.nearest_point import NearestPointSearch
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.mechanics.forces.evaluated_field import EvaluatedField
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.mechanics.forces.field_formulas import FORMULAS
from sinew.core.mechanics.forces.field_samples import FieldSamples
from sinew.core.mechanics.forces.force_fields import ForceFields, MassPoints
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.model.model import build_model
from sinew.core.simulation.preparation.mass_points import mass_points

STEP = 0.04
CENTRE, AXIS = np.array([0.3, -0.2, 0.1]), np.array([0.6, 0.0, 0.8])
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.fixture(scope="module")
def model():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    surface = SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    return build_model(tetrahedralize(surface, ResolutionSettings(cells_across=2)), 1e5, 0.4, 1e3)


def field(kind, shape="POINT", centre=CENTRE, **options):
    names = set(FieldNumbers._fields)
    numbers = {"strength": 3.0, **{name: value for name, value in options.items() if name in names}}
    form = {name: value for name, value in options.items() if name not in names}
    return EvaluatedField(FieldForm(kind, shape, **form), FieldNumbers(**numbers), centre, AXIS)


def begun(model, fields, speed=1.0):
    """Fields in a step of a body that is bent and on its way, and a place where the step may end."""
    rng = np.random.default_rng(5)
    X = model.mesh.rest_positions
    start = X + 0.05 * rng.standard_normal(X.shape)
    velocities = speed * rng.standard_normal(X.shape)
    motion = Motion(start, start, STEP, velocities)
    end = start + STEP * velocities + 0.01 * rng.standard_normal(X.shape)
    return ForceFields(mass_points(model, model), fields).begin(motion), end, motion


def forces_of(model, fields, motion):
    return -ForceFields(mass_points(model, model), fields).begin(motion).gradient(motion.x_prev)


@pytest.mark.parametrize("kind", [*FORMULAS, "HARMONIC of a length", "all"])
@pytest.mark.parametrize("shape", ["POINT", "LINE", "PLANE"])
def test_derivatives(model, differences, kind, shape):
    numbers = {"damping": 0.7, "power": 1.0, "flow": 0.5}
    if kind == "all":
        fields = [field(each, shape, **numbers) for each in FORMULAS]
    else:
        rest = 0.2 if " " in kind else 0.0
        fields = [field(kind.partition(" ")[0], shape, rest_length=rest, **numbers)]
    potential, x, _motion = begun(model, fields)
    g = potential.gradient(x)
    assert np.abs(g - differences.numeric_gradient(potential, x, 1e-5)).max() <= 1e-6 * np.abs(g).max()
    K = differences.dense_stiffness(potential, x, model.mesh.tets)
    assert np.abs(K - differences.numeric_hessian(potential, x, 1e-5)).max() <= 1e-6 * max(np.abs(K).max(), 1.0)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max()
    half = differences.dense_stiffness(potential, x, model.mesh.tets, 0.5)
    assert np.abs(half - 0.5 * K).max() <= 1e-14 * np.abs(K).max()
    assert not potential.update(x)


def test_wind_is_a_gravity(model):
    _, _, motion = begun(model, [])
    forces = forces_of(model, [field("WIND")], motion)
    assert np.abs(forces - 3.0 * model.lumped_masses[:, None] * AXIS).max() <= 1e-14 * np.abs(forces).max()


def test_gravitation_is_newtons(model):
    _, _, motion = begun(model, [])
    far = CENTRE + [100.0, 0.0, 0.0]
    forces = forces_of(model, [field("FORCE", centre=far, strength=-5e4, gravitation=True)], motion)
    r = far - (model.lumped_masses @ motion.x_prev) / model.lumped_masses.sum()
    expected = model.lumped_masses.sum() * 5e4 * r / np.linalg.norm(r) ** 3
    assert forces.sum(axis=0) == pytest.approx(expected, rel=1e-3, abs=1e-2)


def test_a_unit_of_length_is_all_that_changes(model):
    """In a scene of centimetres everything happens as in one of metres, a hundredth of the size."""
    _, end, motion = begun(model, [])
    numbers = {"power": 1.5, "distance_min": 0.2, "rest_length": 0.3, "damping": 0.2, "flow": 0.4}
    for kind in FORMULAS:
        large, small = (
            ForceFields(
                MassPoints(mass_points(model, model).points, model.lumped_masses),
                [field(kind, centre=unit * CENTRE, unit_length=unit, **numbers)],
            )
            .begin(Motion(unit * motion.x_prev, unit * motion.base, STEP, unit * motion.velocities))
            .gradient(unit * end)
            for unit in (1.0, 0.01)
        )
        assert np.abs(small - 0.01 * large).max() <= 1e-10 * np.abs(small).max(), kind


@pytest.mark.parametrize("strength", [2.0, 1e6])
def test_drag_never_turns_a_body_round(model, strength):
    """It is against the velocity that the step ends with, however strong it is."""
    drags = [field("WIND", strength=0.0, flow=strength), field("DRAG", strength=strength, damping=strength)]
    for drag in drags:
        potential, _, motion = begun(model, [drag], speed=100.0)
        v = motion.velocities
        slowed = potential.gradient(motion.base + STEP * v) / model.lumped_masses[:, None]
        rate = np.einsum("ni,ni->n", slowed, v) / np.einsum("ni,ni->n", v, v)
        assert np.abs(slowed - rate[:, None] * v).max() <= 1e-9 * np.abs(slowed).max() and (rate > 0.0).all()
        assert not potential.gradient(motion.base).any(), "nothing moves, nothing resists"


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_a_magnet_turns_and_gives_no_energy(model, theta):
    """Over the whole time step, also where forces are those of a part of it."""
    _, _, motion = begun(model, [])
    motion = motion._replace(step=theta * STEP, theta=theta)
    forces = forces_of(model, [field("MAGNET", "PLANE", strength=20.0)], motion)
    after = motion.velocities + STEP * forces / model.lumped_masses[:, None]
    assert np.linalg.norm(after, axis=1) == pytest.approx(np.linalg.norm(motion.velocities, axis=1), rel=1e-12)
    assert after @ AXIS == pytest.approx(motion.velocities @ AXIS, abs=1e-12)


def test_what_is_beyond_its_distance_is_not_reached(model):
    _, _, motion = begun(model, [])
    near = np.linalg.norm(motion.x_prev - CENTRE, axis=1) <= 0.6
    forces = forces_of(model, [field("FORCE", distance_max=0.6)], motion)
    assert (np.abs(forces).max(axis=1) > 0.0).tolist() == near.tolist()
    assert 0 < near.sum() < len(near)
    assert not forces_of(model, [field("FORCE", weight=0.0)], motion).any()


def test_a_surface_is_a_plane_over_its_middle(model):
    _, _, motion = begun(model, [])
    surface = NearestPointSearch(5.0 * SQUARE, FACES)
    place = {"centre": np.zeros(3), "axis": np.array([0.0, 0.0, 1.0])}
    numbers = FieldNumbers(3.0, power=2.0)
    flat = EvaluatedField(FieldForm("FORCE", "PLANE"), numbers, **place)
    curved = EvaluatedField(FieldForm("FORCE", "SURFACE"), numbers, **place, surface=surface)
    expected = forces_of(model, [flat], motion)
    assert np.abs(forces_of(model, [curved], motion) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_every_point_of_a_mesh_is_a_field(model):
    _, _, motion = begun(model, [])
    numbers, normals = FieldNumbers(3.0, power=2.0), np.tile([0.0, 0.0, 1.0], (4, 1))
    many = EvaluatedField(FieldForm("FORCE", "POINTS"), numbers, CENTRE, AXIS, points=SQUARE, normals=normals)
    each = [field("FORCE", centre=corner, power=2.0) for corner in SQUARE]
    expected = forces_of(model, each, motion)
    assert np.abs(forces_of(model, [many], motion) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_samples_go_straight_between_knots_and_on_beyond():
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, n) for n in (3, 4, 5)], indexing="ij"), axis=-1)
    samples = FieldSamples(np.full(3, -1.0), np.full(3, 1.0), 2.0 * grid + 1.0)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (20, 3))
    assert samples.at(points) == pytest.approx(2.0 * points + 1.0)
    assert samples.at(np.array([[5.0, 0.5, -9.0]])) == pytest.approx(np.array([[3.0, 2.0, -1.0]]))


def test_a_fluid_draws_a_body_along_until_it_is_as_fast():
    """``s w rho (u - flow v)``: no force at its own speed; none where there is no fluid."""
    values = np.zeros((2, 2, 2, 4))
    values[0] = [0.5 * 3.0, 0.0, 0.0, 0.5]  # a density of a half, at 3 m/s
    samples = FieldSamples(np.zeros(3), np.ones(3), values)
    blows = EvaluatedField(FieldForm("FLUID_FLOW"), FieldNumbers(2.0, flow=1.0), CENTRE, AXIS, samples=samples)
    pull = blows.pull(np.array([[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]]))
    assert pull.at(np.zeros((2, 3))).tolist() == [[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert np.abs(pull.at(np.array([[3.0, 0.0, 0.0]] * 2))).max() == 0.0
