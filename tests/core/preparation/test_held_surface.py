"""A body is held where it was pinned and no more: sag against quadratic hexahedra, hinges, and pins that turn."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface

SECTION = 0.125
SAG = 0.0963569
"""Sag of the four corners of the free end of a bar 1 x 1/8 x 1/8 m, m per m/s² at 1e6 Pa, nu 0.3, 1000 kg/m³, clamped
at its other end: 32 x 4 x 4 quadratic hexahedra of scikit-fem.
"""


def turn(angle: float, axis: int) -> np.ndarray:
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def bar(cells=12, frames=3, gravity=-1e-3, rate=1e-3, pins=None, turned=0.0, sides=(1.0, SECTION, SECTION), **settings):
    """Clamped at x = 0 unless vertices are given, turned as a whole about y; a frame is so long that inertia does not
    count unless a rate is given.
    """
    surface, R = box_surface(sides, (16, 2, 2)), turn(turned, 1)
    X = surface.positions @ R.T
    pins = np.flatnonzero(surface.positions[:, 0] == 0.0) if pins is None else np.array(pins)
    settings = {"max_iterations": 60, **settings}
    body = Body(
        surface=SurfaceMesh(X, surface.triangles),
        materials=(MaterialSettings("Rubber", 1e6, 0.3, 1000.0),),
        material_weights=np.ones((len(X), 1)),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (frames, 1, 1)),
        resolution=ResolutionSettings(cells_across=cells),
        solver=SolverSettings(gravity=tuple(gravity * R[:, 2]), **settings),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=rate)


def ends(job: Job, shown: bool = True) -> list[np.ndarray]:
    """The surface at each frame, as it is shown or as the springs leave it."""
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    assert all(report.converged for frame in frames for report in frame.reports)
    return [prepared.surface(frame.state.positions, k if shown else None) for k, frame in enumerate(frames)]


@pytest.mark.parametrize(
    ("solver", "turned", "cells", "within"),
    [
        *(("mixed_fem", turned, *fineness) for turned in (0.0, 0.4) for fineness in ((12, 0.16), (20, 0.08))),
        ("subspace_mixed_fem", 0.0, 20, 0.08),
        ("subspace_mixed_fem", 0.4, 20, 0.08),
    ],
)
def test_a_clamped_bar_sags_as_it_should(solver, turned, cells, within):
    job = bar(cells, turned=turned, solver=solver, modes=16)
    X, down = job.body.surface.positions, -turn(turned, 1)[:, 2]
    free = box_surface((1.0, SECTION, SECTION), (16, 2, 2)).positions
    corners = np.flatnonzero((free[:, 0] == 1.0) & np.isin(free[:, 1:], (0.0, SECTION)).all(axis=1))
    assert len(corners) == 4
    sag = (ends(job)[-1] - X)[corners] @ down
    assert sag.mean() / (1e-3 * SAG) == pytest.approx(1.0, abs=within)


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
@pytest.mark.parametrize("pins", ["an edge", "a vertex"])
def test_an_edge_and_a_vertex_are_hinges(pins, solver):
    """A short stiff bar held along an upper edge, or at its middle, swings as a rigid body does about that line."""
    sides, frames, rate = (0.4, 0.1, 0.1), 10, 24.0
    surface = box_surface(sides, (16, 2, 2))
    x, y, z = surface.positions.T
    edge = np.flatnonzero((x == 0.0) & (z == z.max()) & ((y == 0.05) | (pins == "an edge")))
    job = bar(8, frames, -9.81, rate, edge, sides=sides, solver=solver, modes=8, substeps=16, integrator="bdf2")
    job = job.with_body(materials=(MaterialSettings("Board", 1e9, 0.3, 1000.0),))
    shown = ends(job)
    # A compound pendulum: a turn about the edge under the weight at the centre, in small steps.
    lever = np.array([0.2, -0.05])
    inertia = (0.4**2 + 0.1**2) / 3.0
    angle = speed = 0.0
    n = 20000
    h = (frames - 1) / rate / n
    for _ in range(n):
        middle = angle + 0.5 * h * speed
        speed += h * 9.81 / inertia * (lever[0] * np.cos(middle) + lever[1] * np.sin(middle))
        angle = middle + 0.5 * h * speed
    far = np.flatnonzero((x == x.max()) & (z == z.max()))
    arm = shown[-1][far].mean(axis=0) - shown[-1][edge].mean(axis=0)
    assert np.degrees(np.arctan2(-arm[2], arm[0])) == pytest.approx(np.degrees(angle), abs=1.5)


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_pinned_face_that_turns_takes_the_body_along(solver):
    """By 30 degrees under gravity, hanging: the body within 0.06 cells of its targets, what is shown at them."""
    frames, cells = 13, 16
    job = bar(cells, frames, -9.81, 24.0, sides=(1.0, 0.125, 0.125), solver=solver, modes=16)
    angles = np.radians(30.0) * np.minimum(np.arange(frames) / 8.0, 1.0)
    track = np.stack([job.body.pin_positions[0] @ turn(a, 1).T for a in angles])
    job = job.with_body(pin_positions=track)
    prepared = prepare(job)
    for k, frame in enumerate(simulate_body(job, prepared)):
        left = prepared.surface(frame.state.positions)[job.body.pinned_vertices]
        assert np.linalg.norm(left - track[k], axis=1).max() <= 0.06 / (cells - 0.5), k
        shown = prepared.surface(frame.state.positions, k)[job.body.pinned_vertices]
        np.testing.assert_allclose(shown, track[k], atol=1e-14)


@pytest.mark.parametrize("modulus", [2e4, 1e6], ids=["stretched by its weight", "hardly stretched"])
@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "linearly_implicit"])
def test_a_heavy_body_stays_at_its_pins(solver, modulus):
    """A block of 1 x 0.6 x 0.6 m held at one side, whose weight is up to half its stiffness there: within 0.06 cells,
    where springs of one stiffness would give way by the stretch over three.
    """
    cells = 10
    job = bar(cells, 13, -9.81, 24.0, sides=(1.0, 0.6, 0.6), solver=solver)
    job = job.with_body(materials=(MaterialSettings("Jelly", modulus, 0.3, 1000.0),))
    prepared, off = prepare(job), []
    for frame in simulate_body(job, prepared):
        left = prepared.surface(frame.state.positions)[job.body.pinned_vertices]
        off.append(np.linalg.norm(left - job.body.pin_positions[0], axis=1).max() * (cells - 0.5))
    assert max(off) <= 0.06, off
