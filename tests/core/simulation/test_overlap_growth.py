"""Bodies that overlap at the first frame grow apart over the pre-roll: nothing crosses, each has its size then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.crossings import crossings
from sinew.benchmarks.thin_bodies import ball, joined
from sinew.core.foundation.errors import OverlapError
from sinew.core.foundation.schema.settings import ContactSettings, ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Collider, Ground
from sinew.core.jobs.job.groups import split_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake_group
from sinew.core.simulation.frame_loop.group import GroupStepper, simulate_group
from sinew.core.simulation.frame_loop.single_body import Frame
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface
from .test_group import box, touching_surfaces

PRE_ROLL, FRAMES = 8, 13
STILL = {"gravity": (0.0, 0.0, 0.0)}
WANTED = ContactSettings(grow_apart=True)
CUBE = box_surface((0.2, 0.2, 0.2), (4, 4, 4))


def untangled(name: str, at=(0.0, 0.0, 0.0), surface: SurfaceMesh | None = None, pre_roll=PRE_ROLL, **solver) -> Job:
    """A box of 0.2 m, or what has a surface."""
    job = box(name, at, pre_roll + FRAMES - PRE_ROLL, **solver).with_body(contact=WANTED)
    if surface is not None:
        n = len(surface.positions)
        moved = SurfaceMesh(surface.positions + at, surface.triangles)
        job = job.with_body(surface=moved, material_weights=np.ones((n, 1)), stiffness_maps=None)
    return replace(job, pre_roll=pre_roll)


def of_material(job: Job, **changed) -> Job:
    return job.with_body(materials=(replace(job.body.materials[0], **changed),))


def pinned(job: Job, way: float = 0.0) -> Job:
    """Its bottom, which goes along x over all frames."""
    X = job.body.surface.positions
    pins = np.flatnonzero(X[:, 2] < X[:, 2].min() + 1e-9)
    track = X[pins] + np.linspace(0.0, way, job.frame_count)[:, None, None] * (1.0, 0.0, 0.0)
    return job.with_body(pinned_vertices=pins, pin_positions=track, pin_held=None)


def run(jobs):
    """All frames; nothing crosses in any, and all steps have converged."""
    prepared = [prepare(job) for job in jobs]
    frames = list(simulate_group(jobs, prepared))
    places, faces = touching_surfaces(jobs, prepared)
    for frame in frames:
        assert not len(crossings(np.concatenate(places(frame)), faces))
        assert all(report.converged for report in frame[0].reports)
    return frames, prepared


def volumes(frame, prepared) -> np.ndarray:
    """Return the volume of each body over that at rest."""
    meshes = [each.model.mesh for each in prepared]
    now = [replace(mesh, rest_positions=body.state.positions) for mesh, body in zip(meshes, frame)]
    return np.array([a.body_volumes.sum() / b.body_volumes.sum() for a, b in zip(now, meshes)])


def sizes(frame) -> np.ndarray:
    """Along the axes of each body, however it is turned."""
    centred = (body.state.positions - body.state.positions.mean(axis=0) for body in frame)
    return np.array([np.linalg.svd(each, compute_uv=False) for each in centred])


@pytest.mark.parametrize(
    ("solver", "material"),
    [
        ({"solver": "mixed_fem"}, {"youngs_modulus": 1e9}),
        ({"solver": "newton"}, {"energy": "neo_hookean", "youngs_modulus": 1e7}),
        ({"solver": "mixed_fem", "integrator": "bdf2"}, {"energy": "neo_hookean"}),
        ({"solver": "mixed_fem", "integrator": "theta_midpoint", "theta": 0.5}, {}),
        ({"solver": "linearly_implicit", "substeps": 4}, {}),
        ({"solver": "conjac"}, {}),
    ],
)
def test_two_boxes_in_each_other(solver, material):
    """They keep their common middle, each has its size as soon as frames are shown, and is at rest then; before they
    grow evenly, however stiff they are.
    """
    jobs = [
        of_material(untangled(n, at, **STILL, **solver), **material)
        for n, at in (("A", (0, 0, 0)), ("B", (0.02, 0.01, 0.12)))
    ]
    frames, prepared = run(jobs)
    began = volumes(frames[0], prepared)
    assert (began < 0.65**3).all() and (began > 0.45**3).all()
    for at, frame in enumerate(frames[: PRE_ROLL + 1]):
        grown = (began ** (1 / 3) + (1.0 - began ** (1 / 3)) * at / PRE_ROLL) ** 3
        np.testing.assert_allclose(volumes(frame, prepared), grown, rtol=5e-3)
    shown = frames[PRE_ROLL]
    assert all((body.state.velocities == 0.0).all() for body in shown)
    rest = [Frame(0, each.space.rest_state(), []) for each in prepared]
    np.testing.assert_allclose(sizes(shown), sizes(rest), rtol=0.01)
    middles = [
        [each.model.lumped_masses @ body.state.positions / 8.0 for each, body in zip(prepared, frame)]
        for frame in frames
    ]
    np.testing.assert_allclose(np.sum(middles, axis=1), np.tile(np.sum(middles[0], axis=0), (FRAMES, 1)), atol=2e-4)
    speeds = np.abs(np.diff(middles[PRE_ROLL:], axis=0)).max() * 24.0
    assert speeds < 0.05, "m/s: it has come 0.1 m in a third of a second"


@pytest.mark.parametrize("method", ("clean", "lattice"))
def test_one_that_is_pinned_and_one_that_stands_on_it(method):
    """Pins, hard or by springs, are where they are told when frames are shown; on a ground that is exactly at their
    height. Both have the shape that they have when the other is put down on it.
    """
    cells = ResolutionSettings(method=method, cells_across=4)
    low, high = (untangled(name, at, substeps=2) for name, at in (("Low", (0, 0, 0)), ("High", (0.02, 0.01, 0.12))))
    low, high = (each.with_body(resolution=cells, colliders=(Ground(height=0.0),)) for each in (low, high))
    low = pinned(low, 0.03)
    frames, prepared = run([low, high])
    pins = low.body.pinned_vertices
    for at in range(PRE_ROLL, FRAMES):
        held = prepared[0].points.positions(frames[at][0].state.positions)[pins]
        give = 1e-12 if method == "clean" else 0.002
        np.testing.assert_allclose(held, low.body.pin_positions[at], atol=give)
    put = np.array([0.0, 0.0, 0.082 if method == "clean" else 0.085])
    apart = high.with_body(surface=SurfaceMesh(high.body.surface.positions + put, high.body.surface.triangles))
    other, _ = run([low, apart])
    np.testing.assert_allclose(sizes(frames[-1]), sizes(other[-1]), rtol=0.03)
    np.testing.assert_allclose(volumes(frames[-1], prepared), 1.0, atol=0.02)


def test_balls_that_share_a_third():
    """Draft skins: they begin where they are, and go apart along the line of their middles."""
    draft = ResolutionSettings(method="lattice", cells_across=6)
    jobs = [
        untangled(name, (x, 0.0, 0.0), ball(10, 0.1), **STILL).with_body(resolution=draft)
        for name, x in (("A", 0.0), ("B", 0.2 * 2 / 3))
    ]
    frames, prepared = run(jobs)
    shown = [each.surface(body.state.positions, PRE_ROLL) for each, body in zip(prepared, frames[PRE_ROLL])]
    middles = np.array([points.mean(axis=0) for points in shown])
    np.testing.assert_allclose(middles[1] - middles[0], (0.2, 0.0, 0.0), atol=0.01)
    np.testing.assert_allclose([np.ptp(points, axis=0) for points in shown], 0.2, rtol=0.03)
    np.testing.assert_allclose(middles.mean(axis=0), (0.2 / 3, 0.0, 0.0), atol=0.002)


def test_what_overlaps_nothing_is_left_alone():
    """To the last bit, beside a body that meets it and grows not either."""
    jobs = [untangled("A", **STILL), untangled("B", (0.0, 0.0, 0.21), **STILL)]
    still = [job.with_body(contact=ContactSettings()) for job in jobs]
    for one, other in zip(run(jobs)[0], run(still)[0]):
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a.state.positions, b.state.positions)


def test_one_alone_grows_where_the_other_does_not_want_to():
    jobs = [untangled("A", **STILL), untangled("B", (0.0, 0.0, 0.16), **STILL).with_body(contact=ContactSettings())]
    frames, prepared = run(jobs)
    assert volumes(frames[0], prepared)[0] < 0.2 and volumes(frames[0], prepared)[1] == 1.0
    np.testing.assert_allclose(volumes(frames[PRE_ROLL], prepared), 1.0, atol=0.01)


def test_what_it_cannot_do_is_refused_in_words():
    both = [untangled("A"), untangled("B", (0.0, 0.0, 0.12))]
    around = untangled("B", (0.06, 0.05, 0.07), SurfaceMesh(0.4 * CUBE.positions, CUBE.triangles))
    plain = [job.with_body(contact=ContactSettings()) for job in both]
    for jobs, words in (
        ([both[0], around], "overlap by .* Grow Apart cannot separate them: they overlap even at a fifth"),
        ([replace(job, pre_roll=0) for job in both], "farther. Or set a Pre-Roll of 10 frames, so that the bodies"),
        (plain, "farther. Or turn on Grow Apart, so that the bodies grow"),
        ([replace(job, pre_roll=0) for job in plain], "Or turn on Grow Apart and set a Pre-Roll of 10 frames, so that"),
    ):
        with pytest.raises(OverlapError, match=words) as told:
            GroupStepper(jobs, [prepare(job) for job in jobs])
        assert told.value.move[0] == "A" and len(told.value.move[1]) == 3


def test_in_a_subspace_it_is_refused():
    jobs = [
        untangled("A", solver="subspace_mixed_fem", modes=4),
        untangled("B", (0.0, 0.0, 0.12), solver="subspace_mixed_fem", modes=4),
    ]
    with pytest.raises(OverlapError, match="In a subspace, Grow Apart does nothing"):
        GroupStepper(jobs, [prepare(job) for job in jobs])


def test_nothing_is_shrunk_into_what_it_is_around():
    """Two parts of a body with a post between them: shrunk, they would be in it."""
    parts = joined([SurfaceMesh(CUBE.positions + (x, 0.0, 0.0), CUBE.triangles) for x in (-0.25, 0.05)])
    jobs = [untangled("A", (0.0, 0.0, 0.0), parts, **STILL), untangled("B", (-0.25, 0.02, 0.12), **STILL)]
    assert sorted(GroupStepper(jobs, [prepare(job) for job in jobs]).growths) == [0, 1]
    post = Collider("Post", CUBE.triangles, (CUBE.positions * (0.4, 2.0, 2.0) + (-0.04, -0.1, -0.1))[None])
    jobs[0] = jobs[0].with_body(colliders=(post,))
    with pytest.raises(OverlapError, match="Grow Apart cannot separate them"):
        GroupStepper(jobs, [prepare(job) for job in jobs])


@pytest.mark.parametrize("integrator", ("bdf2", "theta_midpoint"))
@pytest.mark.usefixtures("tetrahedra_here")
def test_resumed_it_has_the_same_bits(tmp_path, integrator):
    """In the pre-roll, where it ends, and after it."""
    options = {"pre_roll": 3, "integrator": integrator, "substeps": 2}
    jobs = [pinned(untangled("A", **options)), untangled("B", (0.02, 0.01, 0.12), **options)]
    whole = split_jobs(replace(jobs[0], bodies=tuple(job.body for job in jobs)))

    def stores_of(folder):
        return [FrameStore.create(folder / job.body.name, job) for job in whole]

    def positions(stores):
        return [[store.read(frame) for frame in store.frames()] for store in stores]

    stores = stores_of(tmp_path / "whole")
    assert bake_group(whole, stores) == "done"
    parts = stores_of(tmp_path / "parts")
    for until in (2, 4, 6, jobs[0].frame_end):
        ended = "done" if until == jobs[0].frame_end else "stopped"
        assert bake_group(whole, parts, until=until, resume=until > 2) == ended
    np.testing.assert_array_equal(positions(parts), positions(stores))
    edited = whole[0].with_body(contact=ContactSettings())
    assert stores[0].changes(edited) == ["collisions (contact: grow apart on → off)"]
