"""Samples between frames: pins stay on their circle, and such a job is a job like any other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import PinError, SettingsError
from sinew.core.foundation.files.digest import digest
from sinew.core.foundation.schema.tracks import at_frames
from sinew.core.jobs.job.fingerprints import BETWEEN_FRAMES
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.stepper import Stepper
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import at_steps, baked, box_surface, pulled_end, rising_plate, shaken_bar
from .test_live import played

FRAMES, STEPS = 5, 4


def turned_bar(steps: int = STEPS, pins=None, **settings) -> Job:
    """A bar whose object turns by 90 degrees a frame about z and takes its pins along; no gravity."""
    settings = {"substeps": STEPS, "gravity": (0.0, 0.0, 0.0), **settings}
    job = shaken_bar(FRAMES, **settings)
    pins = job.body.pinned_vertices if pins is None else np.asarray(pins)
    angles = 0.5 * np.pi * np.arange((FRAMES - 1) * steps + 1) / steps
    matrices = np.tile(np.eye(4), (len(angles), 1, 1))
    matrices[:, 0, 0] = matrices[:, 1, 1] = np.cos(angles)
    matrices[:, 1, 0] = np.sin(angles)
    matrices[:, 0, 1] = -np.sin(angles)
    positions = np.einsum("fij,pj->fpi", matrices[:, :3, :3], job.body.surface.positions[pins])
    return job.with_body(pinned_vertices=pins, pin_positions=positions, object_to_world=matrices, pin_held=None)


def surrounded(steps: int = STEPS, **settings) -> Job:
    """The same with a spring and a collider that move in curves, too."""
    job = turned_bar(steps, **settings)
    bent = np.sin(2.0 * np.arange((FRAMES - 1) * steps + 1) / steps)[:, None, None] * [0.0, 0.0, 0.01]
    spring, plate = pulled_end(FRAMES), rising_plate(FRAMES)
    return job.with_body(
        springs=(replace(spring, targets=spring.targets[0] + bent),),
        colliders=(replace(plate, positions=plate.positions[0] + bent),),
    )


@pytest.mark.parametrize("pins", [None, [0]], ids=["the end", "one vertex"])
def test_pins_keep_to_the_circle(pins):
    """At every step."""
    job = turned_bar(pins=pins)
    prepared = prepare(job).pin_springs.pinned
    rest = job.body.pin_positions[0]
    for frame in range(1, FRAMES):
        for k in range(1, STEPS + 1):
            angle = 0.5 * np.pi * (frame - 1 + k / STEPS)
            there = prepared.targets_at(frame, k / STEPS)
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            np.testing.assert_allclose(there[:, :2], rest[:, :2] @ turn.T, atol=1e-12)
    cut = prepare(turned_bar(1, pins)).pin_springs.pinned.targets_at(1, 0.5)
    np.testing.assert_allclose(np.linalg.norm(cut[:, :2], axis=1), 0.5**0.5 * np.linalg.norm(rest[:, :2], axis=1))


def test_the_body_takes_no_stretch_from_it():
    """A turning body is pulled outwards by its turn alone: on chords it shrinks by a third and grows within a frame."""
    stretched = {}
    for steps in (1, STEPS):
        job = turned_bar(steps)  # so stiff that its own weight in the turn does not pull it off its pins
        job = job.with_body(materials=tuple(replace(each, youngs_modulus=1e9) for each in job.body.materials))
        prepared = prepare(job)
        state, _ = Stepper(job, prepared).advance(prepared.first_state(), 1)
        held = job.body.pinned_vertices
        speed = np.linalg.norm(prepared.points.positions(state.velocities)[held], axis=1)
        wanted = 0.5 * np.pi * job.frame_rate * np.linalg.norm(job.body.pin_positions[0][:, :2], axis=1)
        moves = wanted > 0.0
        stretched[steps] = abs((speed[moves] / wanted[moves]).mean() - 1.0)
    # Backward differences over 22.5 degrees have sin(11.25°) / 11.25° of the speed, 0.6 % less; springs give way a bit.
    assert stretched[STEPS] < 0.025 and stretched[1] > 0.1


def halved(track: np.ndarray) -> np.ndarray:
    """The same with a sample half-way."""
    return at_steps(track, FRAMES, 2)


@pytest.mark.parametrize("solver", ["newton", "subspace_mixed_fem"])
def test_straight_samples_change_nothing(solver):
    shaken = shaken_bar(FRAMES, solver, modes=4, cubature_points=60, substeps=STEPS)
    job = shaken.with_body(springs=(pulled_end(FRAMES),), colliders=(rising_plate(FRAMES),))
    finer = job.with_body(
        pin_positions=halved(job.body.pin_positions),
        springs=(replace(job.body.springs[0], targets=halved(job.body.springs[0].targets)),),
        colliders=(replace(job.body.colliders[0], positions=halved(job.body.colliders[0].positions)),),
    )
    a, b = (baked(each) for each in (job, finer))
    assert max(np.abs(x - y).max() for x, y in zip(a, b, strict=True)) < 1e-9


def test_with_one_step_a_frame_pins_have_the_bits_they_had():
    job = turned_bar(1)
    pinned = prepare(job).pin_springs.pinned
    for frame in range(1, FRAMES):
        before, after = job.body.pin_positions[frame - 1], job.body.pin_positions[frame]
        for part in (1.0, 0.25, 1.0 / 3.0):
            assert np.array_equal(pinned.targets_at(frame, part), before + part * (after - before))


def test_live_mode_plays_what_is_baked():
    job = surrounded(solver="subspace_mixed_fem", modes=4, cubature_points=60)
    live, again = played(job, [[]] * FRAMES), baked(job)
    assert max(np.abs(a - b).max() for a, b in zip(live, again, strict=True)) <= 1e-12


def test_a_resumed_bake_has_the_same_bits(tmp_path):
    job = surrounded(integrator="bdf2")
    whole, store = (FrameStore.create(tmp_path / name, job) for name in ("whole", "stopped"))
    bake(job, whole)
    bake(job, store, until=job.frame_start + 2)
    assert len(store.frames()) == 3 and bake(store.job(), store, resume=True) == "done"
    assert all(np.array_equal(store.read(k), whole.read(k)) for k in whole.frames())


def test_it_goes_through_a_file_and_to_other_ends(tmp_path):
    job = surrounded()
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert job.until(3).extended().frame_count == 4 and len(job.until(3).body.colliders[0].positions) == 2 * STEPS + 1
    assert job.frame_matrices.shape == (FRAMES, 4, 4)


def between(job: Job, **tracks) -> Job:
    """The job with other samples between frames alone."""
    found = {}
    for name, frame in tracks.items():
        track = getattr(job.body, name).copy()
        track[frame * STEPS - 1] += 1e-3
        found[name] = track
    return job.with_body(**found)


def test_what_changed_between_frames_is_told(tmp_path):
    job = surrounded()
    store = FrameStore.create(tmp_path / "bake", job)
    edited = between(job, pin_positions=3)
    assert store.outdated_by(edited) == [BETWEEN_FRAMES]
    assert store.changes(edited) == ["animation between frames (the pins from frame 4)"]
    assert store.outdated_by(between(job, pin_positions=3).until(3)) == ["frame range"]
    whole = surrounded(1)
    assert whole.fingerprints() == {**job.fingerprints(), BETWEEN_FRAMES: digest()}
    named = "spring “Hook”; collider “Plate”; the object; the pins"
    assert store.changes(whole) == [f"animation between frames ({named})"]


def test_other_substeps_are_named_alone(tmp_path):
    store = FrameStore.create(tmp_path / "bake", surrounded())
    assert store.changes(surrounded(2, substeps=2)) == ["solver (substeps 4 → 2)"]


def test_tracks_that_do_not_fit_are_refused():
    job = turned_bar()
    with pytest.raises(PinError, match="pin positions have shape"):
        job.with_body(pin_positions=job.body.pin_positions[:-1])
    with pytest.raises(SettingsError, match="object matrices for"):
        job.with_body(object_to_world=job.body.object_to_world[:-1])
    assert np.array_equal(at_frames(job.body.pin_positions, FRAMES), turned_bar(1).body.pin_positions)


def test_what_pulls_is_taken_where_the_rule_takes_its_forces():
    """Springs and accelerations that go on within a frame leave the midpoint rule its second order."""
    ends, X = [], box_surface().positions
    blowing = np.linspace(0.0, 20.0, FRAMES)[:, None, None] * np.ones((1, len(X), 1)) * [0.0, 1.0, 0.5]
    for substeps in (16, 32, 64):
        options = {"substeps": substeps, "tolerance": 1e-10, "integrator": "theta_midpoint", "theta": 0.5}
        job = shaken_bar(FRAMES, **options)
        soft = tuple(replace(each, youngs_modulus=5e3, poissons_ratio=0.3) for each in job.body.materials)
        solver = replace(job.body.solver, max_iterations=50)
        unpinned = {
            "pinned_vertices": np.zeros(0, np.int64),
            "pin_positions": np.zeros((FRAMES, 0, 3)),
            "pin_held": None,
        }
        pulls = {"springs": (pulled_end(FRAMES),), "accelerations": blowing}
        ends.append(baked(job.with_body(materials=soft, solver=solver, **unpinned, **pulls))[-1])
    far, near = (np.abs(a - b).max() for a, b in zip(ends, ends[1:]))
    assert abs(np.log2(far / near) - 2.0) < 0.3
