"""Islands of a group: bodies that can touch in a step are solved together, all others apart, and none ever cross."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sinew.benchmarks.crossings import crossings
from sinew.core.foundation.schema.settings import ContactSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Collider, Ground
from sinew.core.jobs.job.groups import groups_of, split_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.results.bake_report import read_report
from sinew.core.simulation.frame_loop.bake import bake_group
from sinew.core.simulation.frame_loop.islands import merge_islands
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import rising_plate, shaken_bar
from .test_group import CLEAN, MEET, box, frames_of, touching_surfaces
from .test_group_bake import positions, stores_of

WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


def thrown(job: Job, lengths: float, frames: tuple[int, ...] = (1,)) -> Job:
    """A box of 0.2 m that is accelerated along x so as to gain so many of its lengths a frame on the way to each of
    some frames.
    """
    pull = np.zeros((job.frame_count, 1, 3))
    pull[list(frames), :, 0] = lengths * 0.2 * job.frame_rate**2
    return job.with_body(accelerations=pull)


def solved_with(frames, body: int) -> list[list[list[str]]]:
    """By frame and step, the bodies that one was solved with."""
    return [[report.solved_with for report in frame[body].reports] for frame in frames[1:]]


def together(solver: str, frames: int, **settings):
    """A, which hits B within its first step, from rest, and C, which flies at both at three of its lengths a frame."""
    kind = SOLVER_KINDS[solver]
    matched = {"modes": 6} if kind.takes_modes else {}
    settings = {"solver": solver, **WEIGHTLESS, **matched, **settings}
    jobs = [box("A", (0.0, 0.0, 0.0), frames, **settings), box("B", (0.5, 0.01, 0.0), frames, **settings)]
    jobs.append(box("C", (4.0, 0.02, -0.01), frames, **settings))
    return [thrown(jobs[0], 3.0), jobs[1], thrown(jobs[2], -3.0)]


def test_the_automatic_match_suits_bodies_that_collide():
    """It stays unmatched where fitted materials do not help; a potential would be refused."""
    frames_of(together("subspace_mixed_fem", 2))


def crossing_pairs(surfaces, faces) -> set[frozenset[str]]:
    """Names of bodies whose surfaces cross, (s,3) m of each; ``faces`` of all."""
    names = np.repeat(list("ABC")[: len(surfaces)], [len(each) for each in surfaces])
    found = crossings(np.concatenate(surfaces), faces)
    return {frozenset(names[[edge, faces[face, 0]]]) for edge, _, face in found if names[edge] != names[faces[face, 0]]}


@pytest.mark.parametrize("solver", [kind.name for kind in MEET])
def test_bodies_that_fly_at_each_other_never_cross(solver):
    """Several of their lengths a step: what no velocity predicts, and what one does."""
    jobs = together(solver, 8, max_iterations=25)
    found, prepared = frames_of(jobs)
    places, faces = touching_surfaces(jobs, prepared)
    for before, frame in pairwise(found):
        assert not crossing_pairs(places(frame), faces)
        # A step leads those that were solved apart straight on.
        solved = {frozenset((name, other)) for name, own in zip("ABC", frame) for other in own.reports[0].solved_with}
        for part in np.linspace(0.0, 1.0, 12)[1:-1]:
            between = [(1.0 - part) * x + part * y for x, y in zip(places(before), places(frame))]
            assert crossing_pairs(between, faces) <= solved
    centres = np.array([[x[:, 0].mean() for x in places(frame)] for frame in found])
    assert np.abs(np.diff(centres, axis=0)).max() > 0.5, "two and a half lengths a frame"
    first = [each[0] for each in solved_with(found, 0)]
    assert first[0] == ["B"] and centres[0, 1] - centres[0, 0] > 0.45, "found after the step was solved apart"
    last = [each[0] for each in solved_with(found, 2)]
    assert any(last) and not last[0]


def test_islands_join_and_part():
    """A flies at B, which is pulled away later."""
    jobs = [box("A", (0.0, 0.0, 0.0), 14, **WEIGHTLESS), box("B", (0.4, 0.0, 0.0), 14, **WEIGHTLESS)]
    found, _ = frames_of([thrown(jobs[0], 0.2), thrown(jobs[1], 0.5, (9,))])
    seen = [bool(each) for (each,) in solved_with(found, 0)]
    assert seen == [bool(each) for (each,) in solved_with(found, 1)]
    assert not seen[0] and any(seen) and not seen[-1]
    assert found[8][1].state.velocities[:, 0].mean() > 0.1, "it was pushed before it is pulled"
    contacts = [frame[0].reports[0].contacts for frame in found[1:]]
    assert any(contacts) and all(is_joined for is_joined, pairs in zip(seen, contacts) if pairs)


@pytest.mark.parametrize("solver", [kind.name for kind in MEET])
def test_far_bodies_have_the_bits_of_alone(solver):
    """With pins, keyed stiffness and what the solver makes of both; a hard one beside takes its own iterations."""
    frames = 5
    more = {"modes": 6} if SOLVER_KINDS[solver].takes_modes else {}
    bar = shaken_bar(frames, solver=solver, **more)
    E = np.array([5e4, 1e9])
    bar = bar.with_body(name="Bar", resolution=CLEAN, moduli=np.array([E * 2.0**k for k in range(frames)]))
    easy = box("Box", (0.0, 0.5, 0.0), frames).with_body(solver=bar.body.solver)
    found, _ = frames_of([bar, easy])
    for k, job in enumerate((bar, easy)):
        for together, single in zip(found, simulate_body(job, prepare(job)), strict=True):
            np.testing.assert_array_equal(together[k].state.positions, single.state.positions)
            assert [each.iterations for each in together[k].reports] == [each.iterations for each in single.reports]
            assert [each.converged for each in together[k].reports] == [each.converged for each in single.reports]


def test_a_body_on_the_ground_is_as_alone():
    """But for the distance from which surfaces push, which is of the finest mesh of all: 2 % less here, of 5 mm."""
    options = dict(contact=ContactSettings(self_contact=True), colliders=(Ground(height=-0.01),))
    jobs = [box(name, (x, 0.0, 0.0)).with_body(**options) for name, x in (("A", 0.0), ("B", 0.8))]
    found, _ = frames_of(jobs)
    for k, job in enumerate(jobs):
        for together, (single,) in zip(found, frames_of([job])[0], strict=True):
            np.testing.assert_allclose(together[k].state.positions, single.state.positions, atol=2e-4)
            assert all(report.converged and not report.solved_with for report in together[k].reports)
    assert any(each.contacts for each in found[-1][0].reports)


def test_only_what_is_near_is_joined():
    """Bars side by side, whose bounding boxes overlap."""
    along = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    across = np.array([-1.0, 1.0, 0.0]) / np.sqrt(2.0)
    jobs = []
    for name, offset in (("A", 0.0), ("B", 0.9)):
        job = box(name, (0.0, 0.0, 0.0), 3, **WEIGHTLESS)
        X = job.body.surface.positions
        turned = 10.0 * X[:, :1] * along + X[:, 1:2] * across + X[:, 2:] * (0.0, 0.0, 1.0) + offset * across
        fine = replace(CLEAN, cells_across=12)
        jobs.append(job.with_body(surface=SurfaceMesh(turned, job.body.surface.triangles), resolution=fine))
    low, high = (job.body.surface.positions for job in jobs)
    assert (low.min(axis=0) < high.max(axis=0)).all() and (high.min(axis=0) < low.max(axis=0)).all()
    found, _ = frames_of(jobs)
    assert not any(step for k in range(2) for each in solved_with(found, k) for step in each)


@pytest.mark.parametrize(
    ("integrator", "until"), [("backward_euler", 1), ("bdf2", 2), ("theta_midpoint", 2), ("bdf2", 4)]
)
def test_resumed_it_has_the_same_bits(tmp_path, integrator, until, tetrahedra_here):
    """Before, within and after the steps in which bodies are solved together."""
    first, *others = together("mixed_fem", 6, integrator=integrator, max_iterations=15)
    job = replace(first, bodies=(first.body, *(each.body for each in others)))
    jobs, stores = stores_of(tmp_path / "whole", job)
    assert bake_group(jobs, stores) == "done"
    whole = [positions([store]) for store in stores]
    jobs, stores = stores_of(tmp_path / "parts", job)
    assert bake_group(jobs, stores, until=until) == "stopped"
    assert bake_group(jobs, stores, resume=True) == "done"
    for store, same in zip(stores, whole, strict=True):
        np.testing.assert_array_equal(positions([store]), same)


def test_the_order_of_bodies_changes_nothing():
    first, *others = together("newton", 5, max_iterations=15)
    orders = []
    for bodies in ((first, *others), (others[1], first, others[0])):
        job = replace(first, bodies=tuple(each.body for each in bodies))
        (group,) = groups_of(job.bodies)
        jobs = split_jobs(replace(job, bodies=tuple(job.bodies[k] for k in group)))
        orders.append([each.state.positions for frame in frames_of(jobs)[0] for each in frame])
    for one, other in zip(*orders, strict=True):
        np.testing.assert_array_equal(one, other)


def test_reports_are_of_each_body(tmp_path, tetrahedra_here):
    """One that does not converge leaves others' reports alone."""
    bar = shaken_bar(3).with_body(name="Bar", resolution=CLEAN)
    settings = replace(bar.body.solver, max_iterations=2, tolerance=1e-12, substeps=2)
    still = box("Still", (0.0, 0.6, 0.0), 3).with_body(solver=replace(settings, gravity=(0.0, 0.0, 0.0)))
    bar = bar.with_body(solver=still.body.solver)
    jobs, stores = stores_of(tmp_path, replace(bar, bodies=(bar.body, still.body)))
    events = []
    assert bake_group(jobs, stores, events.append) == "done"
    hard, easy = (read_report(store) for store in stores)
    assert hard.unconverged == [2, 3] and not easy.unconverged
    assert all(frame.steps == 2 for report in (hard, easy) for frame in report.frames)
    assert events[-1].unconverged == [2, 3]


def test_a_collider_that_is_blocked_couples_what_it_reaches():
    """A lid that a tall box stops is stopped for a lower box beside it, too, and for none out of its reach."""
    frames = 6
    lid = rising_plate(frames)
    drop = np.arange(frames)[:, None, None] * np.array([0.0, 0.0, -0.12])
    lid = Collider("Lid", lid.triangles[:, ::-1], lid.positions[:1] + (0.0, 0.0, 0.706) + drop, friction=0.0)
    walls = Ground(height=-0.006), lid
    tall = box("A", (-0.4, 0.0, 0.0), frames, **WEIGHTLESS).with_body(colliders=walls)
    low, far = (box(name, at, frames, **WEIGHTLESS) for name, at in (("B", (0.2, 0.0, 0.0)), ("C", (3.0, 0.0, 0.0))))
    X = low.body.surface.positions * (1.0, 1.0, 0.1)
    low = low.with_body(surface=SurfaceMesh(X, low.body.surface.triangles), colliders=walls)
    found, prepared = frames_of([tall, low, far.with_body(colliders=walls)])
    blocked = [frame[0].reports[-1].blocked > 0.0 for frame in found[1:]]
    assert blocked[-1] and not blocked[0]
    coupled = [bool(each[-1]) for each in solved_with(found, 1)]
    assert not coupled[0] and coupled[-1] and not any(step for each in solved_with(found, 2) for step in each)
    for frame in found[1:]:
        height = frame[0].state.colliders[0, 3:, 2].max()
        assert all(frame[k].state.positions[:, 2].max() < height for k in range(2))
    assert found[-1][0].state.colliders[0, 3:, 2].max() > lid.positions[-1][:, 2].max()


def test_pairs_join_islands_by_whatever_is_between():
    assert merge_islands([(0,), (1,), (2,), (3,)], set()) == [(0,), (1,), (2,), (3,)]
    assert merge_islands([(0,), (1,), (2,), (3,)], {(1, 3), (0, 3)}) == [(0, 1, 3), (2,)]
    assert merge_islands([(0, 3), (1,), (2,)], {(1, 2)}) == [(0, 3), (1, 2)]
    assert merge_islands([(0, 3), (1, 2)], {(2, 3)}) == [(0, 1, 2, 3)]
