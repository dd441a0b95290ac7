"""Force fields of a job: what a body does in them, in the full space and in a subspace, over frames and in a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import FieldError
from sinew.core.foundation.schema.field_metadata import map_tracks
from sinew.core.foundation.schema.tracks import extend
from sinew.core.jobs.job.force_field import ForceField
from sinew.core.jobs.job.job import Job
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.field_interpolation import interpolate_field
from sinew.core.simulation.preparation.mass_points import mass_points
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, free_box, shaken_bar

RATE = 24.0
UP = np.array([[0.0, 0.0, 1.0]])
SOLVERS = [
    {"solver": "mixed_fem"},
    {"solver": "linearly_implicit"},
    {"solver": "subspace_mixed_fem", "modes": 2, "cubature_points": 20},
]


def numbers(**values) -> np.ndarray:
    return np.array([FieldNumbers(**{"strength": 2.0, **values})])


def field(kind="WIND", shape="POINT", **options) -> ForceField:
    values = {"numbers": numbers(), "centres": np.zeros((1, 3)), "axes": UP, **options}
    return ForceField("Field", FieldForm(kind, shape), **values)


def box(frames, *fields, **solver) -> Job:
    return free_box(frames, force_fields=fields, solver={"gravity": (0.0, 0.0, 0.0), **solver})


def with_numbers(**values) -> ForceField:
    return field(numbers=numbers(**values))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s["solver"])
def test_a_free_body_in_a_wind_has_its_acceleration(solver):
    frames = np.array(baked(box(6, field(axes=np.array([[0.6, 0.0, 0.8]])), **solver)))
    found = np.diff(frames, 2, axis=0) * RATE**2
    assert np.abs(found - [1.2, 0.0, 1.6]).max() < 1e-4


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s["solver"])
def test_it_falls_as_fast_as_flow_and_wind_let_it(solver):
    """``dv/dt = g - flow v``, stepped by implicit Euler."""
    frames = np.array(baked(box(20, with_numbers(strength=3.0, flow=2.0), **solver)))
    found = np.diff(frames[:, :, 2].mean(axis=1)) * RATE
    speed, expected = 0.0, []
    for _ in range(19):
        speed = (speed + 3.0 / RATE) / (1.0 + 2.0 / RATE)
        expected.append(speed)
    assert found == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s["solver"])
def test_a_strong_harmonic_field_comes_to_rest_in_its_centre(solver):
    """A spring of 1e5 / s² would throw an explicit step out of all bounds: h² s = 174. It crushes the body, whose
    vertices' mean is its centre as long as it is of one stiffness, as no matched one is.
    """
    spring = field("HARMONIC", numbers=numbers(strength=1e5, damping=1.0), centres=np.array([[0.4, 0.1, 0.1]]))
    frames = np.array(baked(box(30, spring, match_full_space=False, **solver)))
    assert np.abs(frames[-1].mean(axis=0) - [0.4, 0.1, 0.1]).max() < 2e-3


def test_a_vortex_about_a_line_holds_a_body_on_its_circle():
    """Its turning velocity is asked for and its centripetal force given: radius and speed stay."""
    job = box(48, field("VORTEX", "PLANE", centres=np.array([[1.0, 0.1, 0.0]])), substeps=8)
    middles = np.array(baked(job)).mean(axis=1) - [1.0, 0.1, 0.0]
    speed = np.linalg.norm(np.diff(middles, axis=0), axis=1)[-1] * RATE
    radius = np.linalg.norm(middles[-1, :2])
    assert speed / radius == pytest.approx(2.0, rel=0.1)


def test_the_points_of_a_subspace_weigh_what_the_body_weighs():
    job = shaken_bar(2, "subspace_mixed_fem", modes=4, cubature_points=60)
    ready = prepare(job)
    body = mass_points(ready.model, ready.space)
    assert body.masses.sum() == pytest.approx(ready.model.masses.sum(), rel=1e-12)
    uniform = body.points.spread(body.masses[:, None] * np.array([1.0, 2.0, 3.0]))
    gravity = ready.space.lumped_masses[:, None] * np.array([1.0, 2.0, 3.0])
    assert np.abs(uniform - gravity).max() <= 1e-10 * np.abs(gravity).max()


def test_half_way_between_frames_it_is_half_way():
    moving = field(
        numbers=np.vstack([numbers(distance_max=np.inf), numbers(strength=4.0, distance_max=np.inf)]),
        centres=np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        axes=np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    )
    half = interpolate_field(moving, 1, 0.5)
    assert half.numbers.strength == 3.0 and half.numbers.distance_max == np.inf
    assert half.centre.tolist() == [0.5, 0.0, 0.0] and half.axis == pytest.approx(np.array([1.0, 0.0, 1.0]) / 2**0.5)
    assert interpolate_field(moving, 1, 1.0).numbers.strength == 4.0
    assert interpolate_field(map_tracks(moving, lambda track: extend(track, 2)), 2, 0.5).numbers.strength == 4.0


def test_noise_wavers_from_frame_to_frame_by_its_seed():
    noisy = with_numbers(strength=5.0, noise=2.0)
    strengths = np.array([interpolate_field(noisy, frame, 1.0).numbers.strength for frame in range(200)])
    assert 3.0 <= strengths.min() < 3.2 and 6.8 < strengths.max() <= 7.0
    assert abs(strengths.mean() - 5.0) < 0.3
    assert interpolate_field(noisy, 3, 0.5).numbers.strength == pytest.approx(strengths[2:4].mean())
    assert interpolate_field(replace(noisy, seed=1), 3, 1.0).numbers.strength != strengths[3]
    assert interpolate_field(noisy, 3, 1.0).numbers.strength == strengths[3]


def test_a_bake_that_goes_on_gives_the_same_bits():
    job = box(6, field("FORCE", numbers=numbers(power=1.0, noise=1.0, flow=0.3)), substeps=2)
    whole = list(simulate_body(job, prepare(job)))
    again = list(simulate_body(job, prepare(job), start=(whole[2].number, whole[2].state)))
    assert np.array_equal(again[-1].state.positions, whole[-1].state.positions)


def surface_field(**options):
    corners = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    faces = {"vertices": corners, "triangles": np.array([[0, 1, 2]]), **options}
    return field("FORCE", "SURFACE", **faces)


def sampled_field(**options):
    grid = {"low": np.zeros(3), "high": np.ones(3), "samples": np.ones((1, 2, 2, 2, 3)), **options}
    return field("TURBULENCE", **grid)


def test_a_job_keeps_its_fields(tmp_path):
    job = box(4, surface_field(), sampled_field(), with_numbers(strength=7.0))
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert again.body.force_fields[0].form == job.body.force_fields[0].form and len(again.body.force_fields) == 3
    assert np.array_equal(again.body.force_fields[1].samples, job.body.force_fields[1].samples)
    assert len(baked(again)) == 4


@pytest.mark.parametrize("change", [{"seed": 3}, {"centres": np.ones((1, 3))}, {"numbers": numbers(power=1.0)}])
def test_a_change_of_a_field_is_told(change):
    before, after = (box(3, each).fingerprints() for each in (field(), replace(field(), **change)))
    assert [name for name in before if before[name] != after[name]] == ["fields"]


def test_a_job_is_cut_and_prolonged_with_its_fields():
    job = box(4, field(centres=np.arange(12.0).reshape(4, 3)), field())
    assert len(job.until(2).body.force_fields[0].centres) == 2 and len(job.extended().body.force_fields[0].centres) == 5
    assert len(job.until(2).body.force_fields[1].centres) == 1
    with pytest.raises(FieldError, match="has values at 4 frames, not 3"):
        box(3, job.body.force_fields[0])


@pytest.mark.parametrize(
    ("said", "make"),
    [
        ("unknown option 'BREEZE'", lambda: field("BREEZE")),
        ("unknown option 'BLOB'", lambda: field("WIND", "BLOB")),
        ("strength that is not a number", lambda: with_numbers(strength=np.nan)),
        ("strength that is not a number", lambda: with_numbers(strength=np.inf)),
        ("position that is not a number", lambda: field(centres=np.array([[np.nan, 0.0, 0.0]]))),
        ("axis of zero length", lambda: field(axes=np.zeros((1, 3)))),
        ("arrays of wrong shapes", lambda: field(numbers=np.zeros((1, 3)))),
        ("has no vertices", lambda: field("FORCE", "POINTS")),
        ("has no normals", lambda: field("FORCE", "POINTS", vertices=np.zeros((1, 2, 3)))),
        ("has no faces", lambda: surface_field(triangles=np.zeros((0, 3)))),
        ("vertex that does not exist", lambda: surface_field(triangles=np.array([[0, 1, 7]]))),
        ("has no samples", lambda: field("TURBULENCE")),
        ("without a valid box", lambda: sampled_field(high=np.zeros(3))),
    ],
)
def test_impossible_fields_are_refused(said, make):
    with pytest.raises(FieldError, match=said) as raised:
        make()
    assert raised.value.remedy and "“Field”" in raised.value.message
