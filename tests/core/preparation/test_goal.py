"""A goal draws a body to where it is animated: by as much as its units say, however finely its surface is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.schema.field_metadata import equal_fields
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Spring
from sinew.core.jobs.job.job import Job
from sinew.core.mechanics.forces.springs import goal_stiffness
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, box_surface, free_box

E, SIDE = 2e5, 0.2
SLOW = 0.2
"""Frames a second: after a few of so long steps a body is at rest."""


def goal(surface, weights, strengths, moved=(0.0, 0.0, 0.0)):
    frames = len(strengths)
    targets = np.tile(surface.positions + np.array(moved), (frames, 1, 1))
    drawn = np.flatnonzero(weights > 0.0)
    return Spring("Goal", drawn, weights[drawn], targets[:, drawn], np.asarray(strengths, dtype=float))


def hung(surface, weights, strengths, rate=SLOW, **options):
    """A box without pins that its goal holds under gravity."""
    job = free_box(len(strengths), **options)
    job = replace(job, frame_rate=rate)
    n, drawn = len(surface.positions), goal(surface, weights, strengths)
    return job.with_body(surface=surface, material_weights=np.ones((n, 1)), stiffness_maps=None, goal=drawn)


def sag(surface, positions):
    """Return the sag of the surface's middle, m."""
    return -np.average(positions[:, 2] - surface.positions[:, 2], weights=surface.vertex_areas)


def finer(surface, where=None):
    """Each triangle, or those with a middle ``where`` it is so, cut into four."""
    x, faces, kept, new, middles = surface.positions, [], [], {}, list(surface.positions)

    def middle(a, b):
        key = min(a, b), max(a, b)
        if key not in new:
            new[key] = len(middles)
            middles.append(0.5 * (x[a] + x[b]))
        return new[key]

    for a, b, c in surface.triangles.tolist():
        if where is not None and not where(x[[a, b, c]].mean(axis=0)):
            kept.append([a, b, c])
            continue
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        faces += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return SurfaceMesh(np.array(middles), np.array(kept + faces))


def differing(one, other):
    """Return the largest difference of two displacements, as a fraction of the larger one."""
    return np.abs(one - other).max() / np.abs(one).max()


BOX = box_surface((SIDE, SIDE, SIDE), (2, 2, 2))


def stretches_along(strength):
    """Return the largest principal strain in each twentieth of the length (20,) of a soft bar that sags under gravity.
    Painted weights fall along it from 1 to 0; from a half on they are pins, below it a goal of that strength.
    """
    surface = box_surface((1.0, 0.2, 0.2), (20, 4, 4))
    X, frames = surface.positions, 6
    weights = np.clip((0.6 - X[:, 0]) / 0.4, 0.0, 1.0)
    pins = np.flatnonzero(weights >= 0.5 - 1e-9)
    drawn = None
    if strength:
        below = np.where(weights < 0.5 - 1e-9, weights, 0.0)
        drawn = goal(surface, below, [strength] * frames)
    job = replace(free_box(frames, solver={"solver": "newton", "max_iterations": 60}), frame_rate=SLOW)
    job = job.with_body(
        surface=surface,
        material_weights=np.ones((len(X), 1)),
        stiffness_maps=None,
        materials=(MaterialSettings("Flesh", 5e4, 0.45, 1000.0),),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (frames, 1, 1)),
        pin_held=None,
        goal=drawn,
        resolution=ResolutionSettings(cells_across=20),
    )
    prepared = prepare(job)
    *_, last = simulate_body(job, prepared)
    mesh = prepared.model.mesh
    edges = [
        np.swapaxes(x[mesh.tets[:, 1:]] - x[mesh.tets[:, :1]], 1, 2)
        for x in (mesh.rest_positions, last.state.positions)
    ]
    stretch = np.linalg.svd(edges[1] @ np.linalg.inv(edges[0]), compute_uv=False)[:, 0] - 1.0
    part = np.minimum((20.0 * mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]).astype(int), 19)
    return np.array([stretch[part == k].max() for k in range(20)])


def test_the_pinch_at_a_border_of_painted_pins_is_softened():
    """With the strength of new bodies, 5: 0.81 and 0.36 without a goal, 0.54 and 0.17 with it."""
    hard, soft = stretches_along(0.0), stretches_along(5.0)
    assert soft.max() < 0.75 * hard.max()
    assert np.abs(np.diff(soft)).max() < 0.6 * np.abs(np.diff(hard)).max()


@pytest.mark.parametrize("solver", SOLVER_KINDS)
def test_a_body_sags_by_its_weight_over_strength_modulus_and_size(solver):
    """The springs carry the body's weight, so the mean sag is the weight over their stiffness for any shape."""
    nodes = {"dynamic_nodes": np.array([0, 2, 6, 8])} if SOLVER_KINDS[solver].takes_nodes else {}
    strength, dragged = 2.0, {"solver": solver, "mass_damping": 20.0}
    # ConJac's nodes lose less energy in a step, so they come to rest later.
    frames = 200 if nodes else 80
    job = hung(BOX, np.ones(len(BOX.positions)), [strength] * frames, 24.0, solver=dragged, **nodes)
    weight = 9.81 * prepare(job).model.masses.sum()
    assert sag(BOX, baked(job)[-1]) == pytest.approx(weight / (strength * E * SIDE), rel=1e-3)


def test_the_softest_material_and_keyed_strengths_count():
    materials = (MaterialSettings("Flesh", E), MaterialSettings("Bone", 1e9))
    job = hung(BOX, np.ones(len(BOX.positions)), [2.0] * 6 + [8.0] * 6)
    hard = (BOX.positions[:, 2] > 0.15).astype(float)
    job = job.with_body(materials=materials, stiffness_maps=None, material_weights=np.column_stack([1.0 - hard, hard]))
    frames, weight = baked(job), 9.81 * prepare(job).model.masses.sum()
    assert sag(BOX, frames[5]) == pytest.approx(weight / (2.0 * E * SIDE), rel=1e-3)
    assert sag(BOX, frames[-1]) == pytest.approx(weight / (8.0 * E * SIDE), rel=1e-3)


def test_a_strength_of_zero_lets_it_fall():
    frames, rate = 5, 24.0
    free = replace(free_box(frames), frame_rate=rate)
    drawn = hung(BOX, np.ones(len(BOX.positions)), [0.0] * frames, rate)
    assert np.array_equal(baked(drawn)[-1], baked(free)[-1])


def test_each_vertex_is_drawn_by_its_own_weight_alone():
    areas = BOX.vertex_areas
    every = goal_stiffness(BOX, np.arange(len(areas)), np.ones(len(areas)), E)
    assert every.sum() == pytest.approx(E * SIDE) and every / areas == pytest.approx(E * SIDE / areas.sum())
    some = np.array([3, 7])
    assert goal_stiffness(BOX, some, np.array([1.0, 0.25]), E) == pytest.approx(every[some] * [1.0, 0.25])


def test_a_finer_surface_is_drawn_as_the_coarse_one():
    """Weights that rise over the body, as painted; all of its triangles cut into four, or those of one half."""
    coarse, moved, totals, by_vertices = box_surface((SIDE, SIDE, SIDE), (8, 8, 8)), [], [], []
    for surface in (coarse, finer(coarse), finer(coarse, lambda x: x[1] > 0.5 * SIDE)):
        painted = surface.positions[:, 0] / SIDE
        job = hung(surface, painted, [4.0] * 8)
        totals.append(goal_stiffness(surface, np.arange(len(painted)), painted, E).sum())
        shared = replace(job.body.goal, stiffness=np.full(8, totals[-1]))
        both = job, job.with_body(goal=None, springs=(shared,))
        own, other = (baked(each)[-1][: len(coarse.positions)] - coarse.positions for each in both)
        moved.append(own)
        by_vertices.append(other)
    assert totals == pytest.approx([totals[0]] * 3, rel=1e-12)
    assert max(differing(moved[0], each) for each in moved[1:]) < 0.01
    assert differing(by_vertices[0], by_vertices[2]) > 0.1, "a spring of the same weights and strength"


def test_it_is_drawn_along_with_its_animation():
    frames = 8
    job = hung(BOX, np.ones(len(BOX.positions)), [1e4] * frames)
    moved = goal(BOX, np.ones(len(BOX.positions)), [1e4] * frames, (0.3, 0.0, 0.0))
    assert np.abs(baked(job.with_body(goal=moved))[-1] - BOX.positions - [0.3, 0.0, 0.0]).max() < 1e-4 * SIDE


def test_it_is_kept_and_cut_with_its_job(tmp_path):
    job = hung(BOX, np.linspace(0.0, 1.0, len(BOX.positions)), [1.0, 2.0, 3.0, 4.0])
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert equal_fields(again, job) and len(again.body.goal.vertices) == len(BOX.positions) - 1
    assert job.until(2).body.goal.stiffness.tolist() == [1.0, 2.0]
