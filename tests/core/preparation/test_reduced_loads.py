"""Loads on a body in a subspace cost the same however fine its surface is, and are the same force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.jobs.job.environment import Ground, Spring
from sinew.core.mechanics.forces.springs import Springs
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.loads import Loads
from sinew.core.simulation.preparation.prepare import prepare
from sinew.core.simulation.preparation.surface_to_body import SurfaceToBody

from ..jobs import free_box, shaken_bar

FRAMES = 4


@pytest.fixture(scope="module")
def prepared():
    job = shaken_bar(FRAMES, "subspace_mixed_fem", modes=4, cubature_points=60)
    n = len(job.body.surface.positions)
    rng = np.random.default_rng(1)
    targets = job.body.surface.positions + 0.1 * rng.standard_normal((FRAMES, n, 3))
    spring = Spring("Group", np.arange(n), rng.random(n), targets, np.array([10.0, 20.0, 30.0, 40.0]))
    job = job.with_body(springs=(spring,), accelerations=rng.standard_normal((FRAMES, n, 3)))
    return job, prepare(job)


def unknowns(space, count=2):
    return np.random.default_rng(2).standard_normal((count, space.unknowns, 3))


def test_a_group_of_springs_is_as_few_as_the_unknowns(prepared):
    job, ready = prepared
    space, spring = ready.space, job.body.springs[0]
    _field, short = ready.loads.loads_at(2, 1)
    points = space.points(ready.embedding.take(spring.vertices))
    long = Springs(points, 30.0 * spring.weights / spring.weights.sum(), spring.targets[2])
    assert len(short._points) == space.unknowns < len(points)
    one, other = unknowns(space)
    assert short.value(one) - short.value(other) == pytest.approx(long.value(one) - long.value(other), rel=1e-12)
    np.testing.assert_allclose(
        short.gradient(one), long.gradient(one), rtol=0, atol=1e-11 * abs(long.gradient(one)).max()
    )
    matrices = [np.zeros((3, space.unknowns, 3, space.unknowns)) for _ in range(2)]
    for load, matrix in zip((short, long), matrices):
        load.add_stiffness(one, 0.5, matrix)
    np.testing.assert_allclose(matrices[0], matrices[1], rtol=0, atol=1e-12 * abs(matrices[1]).max())


def test_a_single_vertex_is_pulled_as_it_is(prepared):
    job, ready = prepared
    one = replace(
        job.body.springs[0], vertices=np.array([7]), weights=np.ones(1), targets=job.body.springs[0].targets[:, 7:8]
    )
    loads = Loads(job.with_body(springs=(one,)), ready.model, ready.space, ready.embedding, ready.linear_solver.solver)
    spring = loads.loads_at(1, 1)[-1].begin(Motion(*unknowns(ready.space), 0.01))
    away = job.body.surface.positions[7] - one.targets[1, 0]
    assert spring.value(np.zeros((ready.space.unknowns, 3))) == pytest.approx(10.0 * away @ away)


def test_a_field_pulls_as_the_whole_body_would_be_pulled(prepared):
    job, ready = prepared
    extension = SurfaceToBody(ready.space.mesh, ready.embedding, ready.linear_solver.solver)
    field, _spring = ready.loads.loads_at(3, 1)
    pull = ready.space.generalized_force(extension.extend(job.body.accelerations[3]))
    # Round-off: the carrying system's condition number is 1.2e7 here, by its weight of smoothness, times 2.2e-16.
    np.testing.assert_allclose(field.gradient(None), -pull, rtol=0, atol=2.7e-9 * abs(pull).max())


def test_a_uniform_field_pulls_as_one_that_is_alike_at_all_vertices(prepared):
    job, ready = prepared
    uniform = job.body.accelerations[:, :1]
    alike = np.tile(uniform, (1, len(job.body.surface.positions), 1))
    context = ready.model, ready.space, ready.embedding, ready.linear_solver.solver
    pulls = [
        Loads(job.with_body(accelerations=each), *context).loads_at(3, 1)[0].gradient(None) for each in (uniform, alike)
    ]
    # The bound of the test above.
    np.testing.assert_allclose(*pulls, rtol=0, atol=2.7e-9 * abs(pulls[0]).max())


def test_few_points_stand_for_the_whole_area(prepared):
    job, ready = prepared
    moduli = np.full(len(ready.space.mesh.tets), 1e5)
    every = ContactPoints.of(job.body.surface, ready.space.mesh, moduli, ready.space.points)
    few = ContactPoints.of(job.body.surface, ready.space.mesh, moduli, ready.space.points, 50)
    assert len(few.areas) == len(few.points) == len(few.moduli) == 50 < len(every.areas)
    assert few.areas.sum() == pytest.approx(every.areas.sum(), rel=1e-12)
    rest = np.zeros((ready.space.unknowns, 3))
    low, high = every.points.positions(rest).min(axis=0), every.points.positions(rest).max(axis=0)
    at = few.points.positions(rest)
    np.testing.assert_allclose([at.min(axis=0), at.max(axis=0)], [low, high], rtol=0, atol=1e-15)
    assert np.linalg.norm(few.outward(rest), axis=1) == pytest.approx(1.0)


def test_a_box_in_a_subspace_rests_on_the_ground():
    job = free_box(
        30,
        colliders=(Ground(height=-0.1, friction=0.5, thickness=1e-4),),
        solver={"solver": "subspace_mixed_fem"},
    )
    ready = prepare(job.with_body(solver=replace(job.body.solver, modes=4, cubature_points=30)))
    frames = [ready.surface(frame.state.positions) for frame in simulate_body(job, ready)]
    heights = np.array([frame[:, 2].min() for frame in frames])
    assert heights.min() > -0.1 - 1e-3
    assert heights[-1] == pytest.approx(-0.1, abs=1e-3)
