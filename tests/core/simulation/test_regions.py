"""Bodies with kinematic regions: exactness, energy, every solver, letting go and taking hold, resume, messages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sinew as sw
from sinew.benchmarks.bodies import block
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.scene_files.scene_file import read_scene, scene_inputs
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.solvers.kinematic_targets import PinExtension
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.live import LiveBody
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface, followed_bar, turning_bone
from .test_bake import assert_same_bits, content


def simulated(job):
    """The prepared body and the vertices of the tets at each frame."""
    prepared = prepare(job)
    return prepared, [prepared.space.vertices(frame.state.positions) for frame in simulate_body(job, prepared)]


def off_targets(job, prepared, frames):
    """Largest distance from the target at each frame, relative to the body's size."""
    X, found = prepared.model.mesh.rest_positions, np.zeros(len(frames))
    for k, region in enumerate(job.body.regions):
        own = prepared.pin_springs.pinned.regions.owners == k
        assert own.any()
        targets = np.broadcast_to(region.follow(X[own]), (len(frames), own.sum(), 3))
        found = np.maximum(found, [np.abs(x[own] - goal).max() for x, goal in zip(frames, targets, strict=True)])
    return found / job.body.surface.size


def warnings_of(job):
    events = []
    prepare(job, on_event=events.append)
    return next(event for event in events if event.kind == "mesh").warnings


@pytest.mark.parametrize("solver", SOLVER_KINDS)
def test_flesh_inside_a_region_is_at_its_target(solver):
    extra = {"modes": 6} if SOLVER_KINDS[solver].takes_modes else {}
    job = followed_bar(6, solver, **extra)
    if SOLVER_KINDS[solver].takes_nodes:
        job = job.with_body(dynamic_nodes=np.array([0, len(job.body.surface.positions) - 1]))
    prepared, frames = simulated(job)
    assert off_targets(job, prepared, frames).max() <= 1e-9
    assert np.ptp(frames[-1] - frames[0], axis=0).max() > 0.01


def test_a_region_equals_pins_of_its_tets():
    """Along the faces of given tets: the motion and energy of the body with the region's vertices pinned one by one."""
    frames, mesh = 5, block((8, 4, 4), (0.4, 0.1, 0.1))
    region = turning_bone(frames, (0.15, 0.025, 0.025), (0.1, 0.05, 0.05))
    X, flesh = mesh.rest_positions, sw.Material(youngs_modulus=5e4)
    settings = {"materials": flesh, "solver": sw.Solver("newton", max_iterations=50, tolerance=1e-11)}
    inside = np.flatnonzero(region.contains(X))
    pins = {"pinned_vertices": inside, "pin_positions": region.follow(X[inside])}
    energies, ends = [], []
    for way in ({"regions": region}, pins):
        last = list(sw.simulate(sw.Job(bodies=sw.Body.of_tets(X, mesh.tets, **settings, **way), frame_end=frames)))[-1]
        energies.append(last.solid.energy_density(last.vertices) @ last.solid.volumes)
        ends.append(last.vertices)
    assert len(inside) == 3 * 3 * 3
    assert np.abs(ends[0][inside] - region.follow(X[inside])[-1]).max() <= 1e-9 * 0.4
    assert np.abs(ends[0] - ends[1]).max() <= 1e-9 * 0.4
    assert energies[0] > 0.0 and abs(energies[0] / energies[1] - 1.0) <= 1e-9


def keyed(job, held):
    (region,) = job.body.regions
    return job.with_body(regions=(replace(region, held=np.array(held, dtype=bool)),))


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_region_lets_go_and_takes_hold_again(solver):
    job = keyed(followed_bar(8, solver, max_iterations=20, modes=6), [1, 1, 1, 0, 0, 0, 1, 1])
    prepared, frames = simulated(job)
    off = off_targets(job, prepared, frames)
    assert off[[0, 1, 2, 6, 7]].max() <= 1e-9 and off[3:6].min() > 1e-3, off
    # It falls freely meanwhile.
    masses = prepared.model.lumped_masses
    heights = np.array([masses @ x[:, 2] / masses.sum() for x in frames])
    fall = np.diff(heights[2:6], 2)
    assert np.allclose(fall, -9.81 / 24.0**2, rtol=0.02), fall


def test_a_region_may_take_hold_later():
    job = keyed(followed_bar(6, "subspace_fem", max_iterations=20, modes=6), [0, 0, 0, 0, 1, 1])
    prepared, frames = simulated(job)
    off = off_targets(job, prepared, frames)
    assert off[1:4].min() > 1e-3 and off[4:].max() <= 1e-9


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_resume_gives_the_same_bits(tmp_path, solver):
    job = keyed(followed_bar(8, solver, modes=6), [1, 1, 1, 0, 0, 1, 1, 1])
    whole, parts = (FrameStore.create(tmp_path / name, job) for name in ("whole", "parts"))
    assert bake(job, whole) == "done"
    for last in (4, 6):
        assert bake(job, parts, should_stop=lambda last=last: last in parts.frames(), resume=last > 4) == "stopped"
    assert bake(job, parts, resume=True) == "done"
    assert_same_bits(content(whole), content(parts))


def test_two_regions_move_apart_in_a_subspace():
    """Each has a handle of its own, even if edges of tets connect them."""
    left = turning_bone(4, (0.08, 0.02, 0.02), (0.1, 0.06, 0.06), (0.1, 0.0))
    right = turning_bone(4, (0.19, 0.02, 0.02), (0.1, 0.06, 0.06), (-0.1, 0.001))
    job = followed_bar(4, "subspace_fem", (left, right), modes=6)
    prepared, frames = simulated(job)
    assert prepared.subspace.pins.count == 2 and off_targets(job, prepared, frames).max() <= 1e-9


def test_a_job_file_keeps_regions(tmp_path):
    job = keyed(followed_bar(4), [1, 1, 0, 1])
    job.save(tmp_path / "job.npz")
    found = Job.load(tmp_path / "job.npz")
    assert found.fingerprints() == job.fingerprints()
    assert keyed(job, [1, 1, 1, 1]).fingerprints()["pins"] != job.fingerprints()["pins"]
    moved = followed_bar(4, regions=(turning_bone(4, step=(0.1, 0.004)),))
    assert moved.fingerprints()["pins"] != followed_bar(4).fingerprints()["pins"]
    assert found.extended().body.regions[0].held.tolist() == [True, True, False, True, True]


def test_bad_regions_are_told():
    bone = turning_bone(4)
    still = replace(bone, positions=None)
    assert any("“Bone” does not move" in words for words in warnings_of(followed_bar(4, regions=(still,))))

    track = bone.positions.copy()
    track[2:] += [0.5, 0.0, 0.0]
    jumping = warnings_of(followed_bar(4, regions=(replace(bone, positions=track),)))
    assert any("jumps by" in words and "before frame 3" in words for words in jumping), jumping

    away = bone.positions + np.arange(4)[:, None, None] * [0.3, 0.0, 0.0]
    pair = turning_bone(4, (0.02, 0.02, 0.02)), replace(bone, name="Other", positions=away)
    told = warnings_of(followed_bar(4, regions=pair))
    assert any("“Other” leaves the body: at frame 3" in words for words in told), told

    overlapping = bone, replace(bone, name="Other", positions=bone.positions + [0.01, 0.0, 0.0])
    told = warnings_of(followed_bar(4, regions=overlapping))
    assert any("“Bone” and “Other” overlap and move differently" in words for words in told), told

    outside = turning_bone(4, (1.16, 0.02, 0.02))
    told = warnings_of(followed_bar(4, regions=(outside,)))
    assert any("“Bone” lies outside the body" in words for words in told), told


def test_a_region_thinner_than_the_tets_holds_by_springs():
    thin = turning_bone(6, (0.1, 0.0555, 0.04), (0.2, 0.003, 0.02), (0.0, 0.005))
    job = followed_bar(6, "newton", (thin,), max_iterations=30)
    assert any("thinner than the tetrahedra" in words for words in warnings_of(job))
    prepared, frames = simulated(job)
    assert len(prepared.pins.corners) == 0
    masses = prepared.model.lumped_masses
    rise = masses @ (frames[-1] - frames[0])[:, 2] / masses.sum()
    assert rise == pytest.approx(0.025, rel=0.3), rise


def test_a_scene_file_has_regions(tmp_path):
    for name, surface in (("bar", box_surface()), ("bone", box_surface((0.1, 0.04, 0.04), (2, 1, 1)))):
        np.savez(tmp_path / f"{name}.npz", positions=surface.positions, triangles=surface.triangles)
    lines = ['mesh = "bar.npz"', "frames = [1, 4]", '[[region]]\nmesh = "bone.npz"']
    lines += ["motion = [[1, 0, 0, 0], [4, 0, 0, 0.03]]", "held = [[2, 1], [3, 0]]"]
    (tmp_path / "scene.toml").write_text("\n".join(lines))
    (region,) = read_scene(tmp_path / "scene.toml").body.regions
    assert region.name == "bone.npz" and region.held.tolist() == [True, True, False, False]
    assert np.allclose(region.positions[:, 0, 2], [0.0, 0.01, 0.02, 0.03])
    assert tmp_path / "bone.npz" in scene_inputs(tmp_path / "scene.toml")


def test_live_goes_on_with_the_last_frame():
    job = followed_bar(4, "subspace_mixed_fem", modes=6).extended()
    prepared = prepare(job)
    live = LiveBody(job, prepared)
    frames = [prepared.space.vertices(live.reset().state.positions)]
    frames += [prepared.space.vertices(live.advance(()).state.positions) for _ in range(7)]
    assert off_targets(job, prepared, frames[:5]).max() <= 1e-9
    own = prepared.pin_springs.pinned.regions.owners == 0
    assert np.abs(frames[-1][own] - frames[4][own]).max() <= 1e-9


def test_flesh_with_self_contact_follows():
    job = followed_bar(5, "newton", max_iterations=20).with_body(contact=sw.Contact(self_contact=True))
    frames = list(sw.simulate(job))
    X = frames[0].vertices
    own = job.body.regions[0].contains(X)
    goals = job.body.regions[0].follow(X[own])
    assert own.any() and max(np.abs(f.vertices[own] - g).max() for f, g in zip(frames, goals, strict=True)) <= 1e-9


@pytest.mark.parametrize(
    ("solver", "match"),
    [("subspace_mixed_fem", {"match_full_space": True}), ("mixed_fem", {"match_resolution": True, "match_cells": 20})],
)
def test_matched_flesh_follows(solver, match):
    job = followed_bar(4, solver, modes=6, **match)
    prepared, frames = simulated(job)
    assert prepared.matching is not None
    assert off_targets(job, prepared, frames).max() <= 1e-9


def test_a_region_holds_for_statics():
    job = followed_bar(3, "mixed_fem", integrator="statics", max_iterations=30)
    prepared, frames = simulated(job)
    assert off_targets(job, prepared, frames).max() <= 1e-9
    with pytest.raises(sw.SinewError, match="no static equilibrium"):
        keyed(job, [1, 1, 0]).check()


def test_flesh_inside_a_region_is_prescribed_for_a_solid():
    solid = sw.Solid.of(followed_bar(3))
    assert len(solid.pinned) == followed_bar(3).body.regions[0].contains(solid.rest).sum() > 0
    assert solid.pin_springs().nnz and solid.modes(1)[0][0] > 1.0, "no rigid motions are left"


def test_a_region_that_holds_everything_is_refused():
    with pytest.raises(sw.SinewError, match="Every vertex is pinned"):
        prepare(followed_bar(3, regions=(turning_bone(3, (-1.0, -1.0, -1.0), (3.0, 3.0, 3.0)),)))


def test_skin_over_a_region_collides():
    """Only tets with springs of pinned skin are exempt from contact."""
    job = followed_bar(3)
    pins = np.flatnonzero(job.body.surface.positions[:, 0] < 1e-9)
    for pinned, exempt in ((pins[:0], 0), (pins, 1)):
        held = prepare(sw.Job(bodies=replace(job.body, **pins_at(job, pinned)), frame_end=3)).pin_springs.pinned
        assert len(held.anchors(1).factors) and bool(len(held.pinned_tets(1))) == bool(exempt)


def pins_at(job, pinned):
    return {"pinned_vertices": pinned, "pin_positions": job.body.surface.positions[pinned], "pin_held": None}


@pytest.mark.parametrize(("h", "share"), [(1e3, 1.0), (1e-6, 0.0)])
def test_flesh_moves_along_with_a_region_as_far_as_sound(h, share):
    model = prepare(followed_bar(3)).model
    x, shift = model.mesh.rest_positions.copy(), np.array([0.1, 0.2, -0.3])
    free = np.setdiff1d(np.arange(len(x)), model.pinned)
    far = free[x[free, 0] > 0.35]
    moved = x.copy()
    PinExtension(model, h).extend(moved, np.tile(shift, (len(model.pinned), 1)))
    assert np.allclose(moved[far] - x[far], share * shift, atol=1e-4)
    assert np.array_equal(moved[model.pinned], x[model.pinned])
