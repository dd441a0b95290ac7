"""Contact between bodies: thickness and friction, pairs by name, overlapping starts, blocking colliders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.crossings import crossings
from sinew.benchmarks.thin_bodies import ball, hollow_ball
from sinew.core.foundation.errors import ColliderError, DivergenceError, SettingsError
from sinew.core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Collider, Ground, Spring
from sinew.core.jobs.job.groups import check_group
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.contact_setup.contact_group import ContactGroup
from sinew.core.simulation.frame_loop.bake import bake_frames
from sinew.core.simulation.frame_loop.group import GroupStepper, simulate_group
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface
from .test_group import box

STILL = dict(gravity=(0.0, 0.0, 0.0))


def prepared_of(jobs):
    return [prepare(job) for job in jobs]


def overlaps(jobs):
    return ContactGroup(jobs, prepared_of(jobs)).overlaps


def run(jobs):
    """The frames of all, the reports of all steps, and the stepper's prepared bodies."""
    prepared = prepared_of(jobs)
    frames = list(simulate_group(jobs, prepared))
    return frames, [report for frame in frames for report in frame[0].reports], prepared


def pushed(x: float, frames: int = 10, **meets):
    """Two boxes of 0.2 m, x metres apart, that are driven together."""
    jobs = []
    for name, at, way in (("A", 0.0, 1.0), ("B", 0.2 + x, -1.0)):
        job = box(name, (at, 0.0, 0.0), frames, **STILL)
        pull = np.zeros((frames, len(job.body.surface.positions), 3))
        pull[:, :, 0] = 15.0 * way
        jobs.append(job.with_body(accelerations=pull, contact=ContactSettings(**meets)))
    return jobs


def apart(frame, axis: int = 0) -> float:
    one, other = (each.state.positions[:, axis] for each in frame)
    return float(other.min() - one.max())


def plate(name: str, z: float, size: float = 1.0, **settings) -> Collider:
    corners = size * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]) + (0, 0, z)
    return Collider(name, np.array([[0, 1, 2], [0, 2, 3]]), corners[None], **settings)


def test_bodies_keep_their_thickness_apart():
    """And what is told of the two goes before it."""
    frames, reports, _ = run(pushed(0.02, thickness=0.004))
    assert 0.008 < apart(frames[-1]) < 0.008 + 0.006
    assert reports[-1].contacts > 0 and reports[-1].distance == pytest.approx(apart(frames[-1]), rel=0.05)
    jobs = pushed(0.02, thickness=0.004)
    jobs[1] = jobs[1].with_body(pairs=(PairSettings("A", thickness=0.012),))
    frames, _, _ = run(jobs)
    assert 0.012 < apart(frames[-1]) < 0.012 + 0.006


def test_two_tell_the_same_of_each_other():
    """One of them is enough, each of its own; where both tell another thing, they are refused before a step."""
    one, other = pushed(0.02)
    alike = [
        one.with_body(pairs=(PairSettings("B", 0.2),)),
        other.with_body(pairs=(PairSettings("A", 0.2, thickness=0.001),)),
    ]
    check_group(alike)
    with pytest.raises(SettingsError, match="“A” and “B” set different values for their pair: a distance of 0 and"):
        check_group([one.with_body(pairs=(PairSettings("B", thickness=0.0),)), alike[1]])


def slowed(own: float, pair: float | None, pull: float) -> float:
    """Deceleration of a box pulled over another, held one, m/s², both with ``own`` friction coefficients."""
    frames, jobs = 10, []
    for name, at in (("Low", (0.0, 0.0, 0.0)), ("Top", (-0.05, 0.0, 0.2012))):
        job = box(name, at, frames, substeps=4)
        job = job.with_body(materials=(replace(job.body.materials[0], youngs_modulus=1e6),))
        jobs.append(job.with_body(contact=ContactSettings(friction=own)))
    X = jobs[0].body.surface.positions
    kept = np.flatnonzero(X[:, 2] < 0.19)
    jobs[0] = jobs[0].with_body(pinned_vertices=kept, pin_positions=X[kept], pin_held=None)
    pulled = np.zeros((frames, len(X), 3))
    pulled[:, :, 0] = pull
    told = () if pair is None else (PairSettings("Low", friction=pair),)
    jobs[1] = jobs[1].with_body(accelerations=pulled, pairs=told)
    found, _, prepared = run(jobs)
    mass = prepared[1].model.lumped_masses
    speeds = [mass @ each[1].state.velocities[:, 0] / mass.sum() for each in found[-5:]]
    return pull - (speeds[-1] - speeds[0]) * 24.0 / 4.0


@pytest.mark.parametrize(("own", "pair", "expected"), [(0.4, None, 0.4), (0.4, 0.0, 0.0), (0.1, 0.4, 0.4)])
def test_the_friction_of_a_pair_goes_before_the_bodies_own(own, pair, expected):
    assert slowed(own, pair, expected * 9.81 + 1.0) == pytest.approx(expected * 9.81, rel=0.08, abs=0.08)


def test_what_begins_nearer_than_its_thickness_begins_at_rest():
    """With a smaller gap, and pushing from where it is: nothing leaps."""
    frames, reports, _ = run([job.with_body(accelerations=None) for job in pushed(0.0007, 4, thickness=0.004)])
    for job, state in zip((0, 1), (each.state for each in frames[-1])):
        np.testing.assert_allclose(state.positions, frames[0][job].state.positions, atol=1e-6)
    assert all(report.converged for report in reports)


def slid(pairs=(), **friction) -> float:
    """Deceleration of a box thrown along a plate, m/s²."""
    frames = 12
    job = box("Box", (0.0, 0.0, 0.0011), frames, substeps=4)
    pull = np.zeros((frames, len(job.body.surface.positions), 3))
    pull[:, :, 0] = 9.81
    floor = plate("Floor", 0.0, thickness=0.001, **friction)
    job = job.with_body(accelerations=pull, colliders=(floor,), pairs=pairs)
    found, _, prepared = run([job, box("Far", (0, 5, 0), frames, substeps=4)])
    mass = prepared[0].model.lumped_masses
    speeds = [mass @ each[0].state.velocities[:, 0] / mass.sum() for each in found[-6:]]
    return 9.81 - (speeds[-1] - speeds[0]) * 24.0 / 5.0


def test_friction_is_the_colliders_or_the_pairs():
    assert slid(friction=0.3) == pytest.approx(0.3 * 9.81, rel=0.05)
    assert slid((PairSettings("Floor", friction=0.1),), friction=0.3) == pytest.approx(0.1 * 9.81, rel=0.08)


def test_of_a_body_alone_a_pair_is_as_the_colliders_own():
    job = box("Box", (0.0, 0.0, 0.003), 5, gravity=(3.0, 0.0, -9.81)).with_body(contact=ContactSettings(bodies=False))
    own = job.with_body(colliders=(plate("Floor", 0.0, friction=0.1, thickness=0.004),))
    pair = job.with_body(colliders=(plate("Floor", 0.0),), pairs=(PairSettings("Floor", 0.1, 0.004),))
    ends = [list(simulate_body(each, prepare(each)))[-1].state.positions for each in (own, pair)]
    np.testing.assert_array_equal(*ends)
    assert ends[0][:, 2].min() > 0.003, "it is held"


@pytest.mark.parametrize("floor", ["ground", "plate"])
def test_what_stands_exactly_on_a_floor_stays(floor):
    """In single precision, too: corners lie on either side."""
    surroundings = Ground(height=0.0) if floor == "ground" else plate("Floor", 0.0)
    job = box("Box", (0.0, 0.0, -3e-8), 6).with_body(colliders=(surroundings,))
    frames, reports, _ = run([job.with_body(contact=ContactSettings(self_contact=True))])
    low = [frame[0].state.positions[:, 2].min() for frame in frames]
    assert min(low) > -1e-3 and all(report.converged for report in reports)
    assert max(report.iterations for report in reports) <= 30


def test_overlaps_are_told_with_the_way_out():
    """Overlaps of bodies, and of bodies and colliders; bodies moved by the separation start."""
    jobs = [box("A", (0.0, 0.0, 0.0), **STILL), box("B", (0.17, 0.02, 0.0), **STILL)]
    (found,) = overlaps(jobs)
    assert {found.first, found.second} == {"A", "B"} and found.depth == pytest.approx(0.03, rel=0.02)
    assert abs(found.separation[0]) > 0.03 and np.abs(found.separation[1:]).max() < 1e-9
    with pytest.raises(ColliderError, match="“A” and “B” overlap by 30") as told:
        run(jobs)
    assert "Move “A” by (-0.0" in told.value.remedy
    with pytest.raises(ColliderError, match="“A” and “B” overlap by 60") as doubled:
        run([replace(job, length_factor=0.5) for job in jobs])
    assert doubled.value.move == told.value.move, "of what is simulated, as all numbers"
    moved = jobs[0].body.surface.positions + found.separation
    jobs[0] = jobs[0].with_body(surface=SurfaceMesh(moved, jobs[0].body.surface.triangles))
    assert not overlaps(jobs)


@pytest.mark.parametrize("itself", (False, True))
def test_what_begins_in_a_collider_is_pushed_out(itself):
    """It is told with the way out; of others that it runs into none is crossed."""
    post = box_surface((0.05, 0.05, 1.0), (1, 1, 4))
    inside = Collider("Post", post.triangles, post.positions[None] + (0.18, 0.1, -0.4))
    wall = Collider("Wall", post.triangles, post.positions[None] * 2.0 + (-0.15, 0.05, -0.8))
    job = box("A", (0.0, 0.0, 0.0), 30, **STILL).with_body(
        colliders=(inside, wall, Ground(height=0.1)), contact=ContactSettings(self_contact=itself)
    )
    gathering = ContactGroup([job], prepared_of([job]))
    assert gathering.barrier_colliders == [[1]] and not gathering.overlaps
    sideways, up = gathering.warnings[:2]
    assert sideways.startswith("“A” starts inside “Post”, 20.") and "Move “A” by (-0.02" in sideways
    assert up.startswith("“A” starts inside “Ground”, 100 mm deep") and "Raise it by 10" in up
    assert gathering.separation[0] == "A" and gathering.separation[1][0] < -0.02
    frames, reports, prepared = run([job])
    shown = [prepared[0].surface(frame.state.positions) for (frame,) in frames]
    ends = shown[-1]
    in_post = (ends[:, 0] > 0.181) & (ends[:, 1] > 0.1) & (ends[:, 1] < 0.15)
    assert not in_post.any() and ends[:, 2].min() > 0.099, "it is out of the post and the ground"
    assert min(each[:, 0].min() for each in shown) > -0.05, "and not in the wall"
    assert all(report.converged for report in reports)


def test_a_body_in_a_hollow_one_is_none_that_overlaps():
    shell = hollow_ball(0.12)
    n = len(shell.positions)
    body = dict(surface=shell, material_weights=np.ones((n, 1)), stiffness_maps=None)
    hollow = box("Hollow", (0, 0, 0), 3, **STILL).with_body(**body, resolution=ResolutionSettings(cells_across=10))
    small = box("Small", (-0.1, -0.1, -0.1), 3, **STILL)
    jobs = [hollow, small]
    assert not overlaps(jobs)
    solid = [box("Solid", (-0.3, -0.3, -0.3), 3, **STILL), small]
    surface = SurfaceMesh(3.0 * box_surface((0.2,) * 3, (2, 2, 2)).positions - 0.3, solid[0].body.surface.triangles)
    solid[0] = solid[0].with_body(surface=surface)
    (found,) = overlaps(solid)
    assert found.depth == pytest.approx(0.4, rel=0.02)


def test_a_body_that_touches_itself_at_rest_starts():
    """Two bars, end to end and a hair apart, of one body: what is near there is let through, and told."""
    one = box_surface((0.3, 0.1, 0.1), (9, 3, 3))
    n = len(one.positions)
    surface = SurfaceMesh(
        np.concatenate([one.positions, one.positions + (0.3 + 1e-5, 0.0, 0.0)]),
        np.concatenate([one.triangles, one.triangles + n]),
    )
    job = box("Two", (0, 0, 0), 5, **STILL)
    job = job.with_body(surface=surface, material_weights=np.ones((2 * n, 1)), stiffness_maps=None)
    pull = np.zeros((5, 2 * n, 3))
    pull[:, :n, 0], pull[:, n:, 0] = 5.0, -5.0
    job = job.with_body(accelerations=pull, contact=ContactSettings(self_contact=True))
    stepper = GroupStepper([job], prepared_of([job]))
    (through,) = stepper.excluded_pairs
    touched = stepper.surfaces[0].rest_positions[np.unique(through)][:, 0]
    assert len(through) and touched.min() > 0.1 and touched.max() < 0.5
    frames, reports, _ = run([job])
    assert all(report.converged for report in reports)


def test_a_body_that_begins_in_itself_starts():
    """Two bars of one body that cross each other at the first frame: let through there, and met elsewhere."""
    one = box_surface((0.3, 0.1, 0.1), (9, 3, 3))
    n = len(one.positions)
    apart = np.concatenate([one.positions, one.positions + (0.4, 0.0, 0.0)])
    surface = SurfaceMesh(apart, np.concatenate([one.triangles, one.triangles + n]))
    start = apart - np.repeat([[0.0, 0.0, 0.0], [0.12, 0.003, 0.002]], n, axis=0)
    job = box("Two", (0, 0, 0), 4, **STILL)
    job = job.with_body(surface=surface, initial_shape=start, material_weights=np.ones((2 * n, 1)), stiffness_maps=None)
    job = job.with_body(contact=ContactSettings(self_contact=True))
    stepper = GroupStepper([job], prepared_of([job]))
    touched = stepper.surfaces[0].rest_positions[np.unique(stepper.excluded_pairs[0])][:, 0]
    assert len(touched) and touched.min() > 0.1 and touched.max() < 0.6
    frames, reports, _ = run([job])
    assert all(report.converged for report in reports)
    moved = frames[-1][0].state.positions - frames[0][0].state.positions
    assert np.abs(moved).max() < 1e-3


def test_what_meets_itself_does_not_cross():
    """The same farther apart: the halves come together, and stop."""
    one = box_surface((0.1, 0.1, 0.1), (3, 3, 3))
    n = len(one.positions)
    surface = SurfaceMesh(
        np.concatenate([one.positions, one.positions + (0.11, 0.01, 0.0)]),
        np.concatenate([one.triangles, one.triangles + n]),
    )
    job = box("Two", (0, 0, 0), 8, **STILL)
    job = job.with_body(surface=surface, material_weights=np.ones((2 * n, 1)), stiffness_maps=None)
    pull = np.zeros((8, 2 * n, 3))
    pull[:, :n, 0], pull[:, n:, 0] = 20.0, -20.0
    job = job.with_body(accelerations=pull, contact=ContactSettings(self_contact=True))
    stepper = GroupStepper([job], prepared_of([job]))
    assert not len(stepper.excluded_pairs[0])
    frames, _, prepared = run([job])
    own = stepper.surfaces[0]
    for (frame,) in frames:
        assert not len(crossings(prepared[0].space.points(own.embedding).positions(frame.state.positions), own.faces))


def test_who_blocks_whom_is_told():
    """A plate that comes down on pinned vertices, by name."""
    frames = 4
    job = box("Block", (0.0, 0.0, 0.0), frames, **STILL)
    X = job.body.surface.positions
    top = np.flatnonzero(X[:, 2] > 0.2 - 1e-9)
    down = np.arange(frames)[:, None, None] * np.array([0.0, 0.0, -0.02])
    press = plate("Press", 0.23, thickness=0.001)
    press = replace(press, positions=press.positions + down)
    job = job.with_body(pinned_vertices=top, pin_positions=np.tile(X[top], (frames, 1, 1)), pin_held=None)
    job = job.with_body(colliders=(press,), resolution=ResolutionSettings(method="clean", cells_across=2))
    _, reports, _ = run([job, box("Far", (0, 5, 0), frames, **STILL)])
    assert reports[-1].blocked > 0.5 and ("Press", "pins of Block") in [tuple(pair) for pair in reports[-1].blocked_by]
    assert not reports[0].blocked and not reports[0].blocked_by


def test_colliders_that_shrink_or_leap_are_named():
    frames = 5
    small = plate("Vanishing", -0.5)
    sizes = np.array([1.0, 0.6, 0.3, 0.0, 0.0])[:, None, None]
    small = replace(small, positions=small.positions * np.array([1.0, 1.0, 0.0]) * sizes + (0, 0, -0.5))
    job = box("Box", (0, 0, 0), frames, **STILL)
    with pytest.raises(ColliderError, match="“Vanishing” shrinks to a point at frame 4"):
        run([job.with_body(colliders=(small,)), box("Far", (0, 5, 0), frames, **STILL)])
    leaping = plate("Leaping", -1.0, 0.2)
    way = np.where(np.arange(frames) < 2, 0.0, 3.0)[:, None, None] * np.array([0.0, 0.0, 1.0])
    jobs = [job.with_body(colliders=(replace(leaping, positions=leaping.positions + way),))]
    jobs.append(box("Far", (0, 5, 0), frames, **STILL))
    warned = GroupStepper(jobs, prepared_of(jobs)).warnings
    assert any("“Leaping” moves 3 m in one frame, before frame 3" in words for words in warned)
    found, reports, _ = run(jobs)
    assert np.isfinite(found[-1][0].state.positions).all()


@pytest.mark.filterwarnings("ignore:overflow")
def test_what_diverges_is_told_of_its_body():
    """A spring that is too strong for numbers: by the body's own number of the vertex."""
    jobs = [box(name, (0.0, at, 0.0), 3, solver="newton") for name, at in (("A", 0.0), ("B", 5.0))]
    target = np.tile(jobs[1].body.surface.positions[3] + 1e3, (3, 1, 1))
    jobs[1] = jobs[1].with_body(springs=(Spring("Hook", [3], [1.0], target, np.full(3, 1e308)),))
    prepared = prepared_of(jobs)
    with pytest.raises(DivergenceError, match="^“B”: The search direction of vertex 0 is not a number"):
        list(simulate_group(jobs, prepared))


def test_a_face_that_collapses_leaves_its_collider_to_penalty():
    """It is told, and the body lies on the rest of it."""
    floor = plate("Floor", 0.0, thickness=0.001)
    track = np.repeat(floor.positions, 8, axis=0)
    track[3, 1] = track[3, 2]
    floor = replace(floor, positions=track)
    job = box("Box", (-0.5, 0.5, 0.002), 8).with_body(colliders=(floor,), contact=ContactSettings(self_contact=False))
    frames, _reports, prepared = run([job])
    assert "collapses at times" in GroupStepper([job], prepared).warnings[0]
    assert frames[-1][0].state.positions[:, 2].min() > -0.005


def test_a_foot_that_is_pinned_into_the_floor():
    """Pins of a draft lattice, which are springs, go where they are told."""
    job = box("Foot", (0.0, 0.0, 0.01), 8, **STILL)
    X = job.body.surface.positions
    low = np.flatnonzero(X[:, 2] < 0.011)
    down = np.linspace(0.0, -0.03, 8)[:, None, None] * np.array([0.0, 0.0, 1.0])
    pinned = job.with_body(
        pinned_vertices=low,
        pin_positions=X[low] + down,
        pin_held=np.ones((8, len(low)), dtype=bool),
        colliders=(Ground(height=0.0),),
        resolution=ResolutionSettings(cells_across=6),
    )
    frames, reports, prepared = run([pinned])
    sole = prepared[0].points.positions(frames[-1][0].state.positions)[low]
    assert np.abs(sole[:, 2] + 0.02).max() < 0.002
    assert all(report.converged and not report.blocked for report in reports)


def test_one_body_under_the_ground_leaves_it_to_others():
    jobs = [
        box(name, at, 8).with_body(colliders=(Ground(height=0.0),))
        for name, at in (("Low", (0.0, 0.0, -0.5)), ("High", (1.0, 0.0, 0.005)))
    ]
    frames, _reports, prepared = run(jobs)
    assert prepared[1].surface(frames[-1][1].state.positions)[:, 2].min() > 0.0


@pytest.mark.parametrize("cells", (4, 7))
@pytest.mark.parametrize("fine", (1, 3))
def test_pressure_over_the_area_is_the_weight(fine, cells):
    """Pressure of a ball at rest carries its weight within 2 %, for any render mesh and lattice, as the manual says."""
    surface = ball(6 * fine, 0.2)
    body = Body(
        surface=SurfaceMesh(surface.positions + [0.0, 0.0, 0.2012], surface.triangles),
        materials=MaterialSettings("Flesh", 5e4, 0.45),
        colliders=(Ground(friction=0.0),),
        resolution=ResolutionSettings(cells_across=cells),
        solver=SolverSettings(mass_damping=8.0, stiffness_damping=0.02),
    )
    job = Job(bodies=body, frame_start=1, frame_end=40, frame_rate=24.0)
    (prepared,) = prepared_of([job])
    (frame,) = list(simulate_group([job], [prepared]))[-1]
    shown = SurfaceMesh(prepared.surface(frame.state.positions), surface.triangles)
    weight = 9.81 * float(prepared.model.lumped_masses.sum())
    assert frame.pressure @ shown.vertex_areas == pytest.approx(weight, rel=0.02)


def test_pins_that_are_stopped_are_shown_where_they_are(tmp_path):
    """A pinned end is driven through a plate: no frame shows it on the other side, and both sides are named."""
    job = box("A", (0.0, 0.0, 0.3), 8, **STILL)
    X = job.body.surface.positions
    pins = np.flatnonzero(X[:, 2] <= X[:, 2].min() + 1e-9)
    track = X[pins] - 0.08 * np.arange(8)[:, None, None] * [0.0, 0.0, 1.0]
    job = job.with_body(pinned_vertices=pins, pin_positions=track, pin_held=None, colliders=(plate("Plate", 0.2),))
    store, named, lowest = FrameStore.create(tmp_path, job), set(), []
    for number, _prepared in bake_frames([job], [store]):
        if number is None:
            continue
        steps = store.about(number)["reports"]
        lowest.append(store.read(number)[:, 2].min())
        named |= {frozenset(pair) for report in steps for pair in report["blocked_by"]}
        assert not any(report["blocked"] >= 0.99 and report["converged"] for report in steps)
    assert min(lowest) > 0.2 and named <= {frozenset((own, "Plate")) for own in ("A", "pins of A")} and named
