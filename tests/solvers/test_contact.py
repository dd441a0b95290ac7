"""Bodies that meet obstacles: they rest, slide, stick, come out again, and never turn into NaN."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.benchmarks.mixed_fem.incline import ANGLE, G, acceleration, slide
from sinew.core.contact.penalty.collider_pose import ColliderPose
from sinew.core.contact.penalty.collider_surface import ColliderSurface
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.contact.penalty.mesh_collider import MeshCollider
from sinew.core.contact.penalty.obstacle import GroundPlane
from sinew.core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver, newton
from sinew.core.methods.solvers.incremental_potential import IncrementalPotential
from sinew.core.numerics.integrators.registry import INTEGRATORS

from .diagnostics import diagnose

H = 1 / 24
SIDE = 0.3
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
SQUARE_FACES = np.array([[0, 1, 2], [0, 2, 3]])


class Scene:
    """A cube of 0.3 m that can be dropped on things."""

    def __init__(self, stiffness=1e5, solver="mixed_fem", gravity=(0.0, 0.0, -G), pinned=None, **settings):
        mesh = block((3, 3, 3), (SIDE, SIDE, SIDE))
        held = () if pinned is None else np.flatnonzero(pinned(mesh.rest_positions))
        self.model = build_model(mesh, stiffness, 0.3, 1000.0, pinned=held)
        surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
        self.points = ContactPoints.of(surface, mesh, np.full(len(mesh.tets), stiffness))
        self.numbers = PenaltyParameters.for_body(1000.0, SIDE, G, H)
        self.solver = make_solver(self.model, SolverSettings(solver=solver, gravity=gravity, **settings))
        self.state = self.model.rest_state()
        self.reports = []

    def collider(self, faces, before, after=None):
        after = before if after is None else after
        surface = ColliderSurface("thing", faces, np.array([before, after]))
        poses = ColliderPose.of(surface, before), ColliderPose.of(surface, after)
        return MeshCollider(surface, *poses, 1e-4, self.numbers.sheet_thickness)

    def run(self, steps, obstacle, friction=0.5):
        """Positions after each step; ``obstacle`` may be a function of the step."""
        frames = []
        for k in range(steps):
            now = obstacle(k) if callable(obstacle) else obstacle
            pinned = self.model.pinned
            load = PenaltyContact(self.points, now, friction, self.numbers, H, self.points.points.held(pinned))
            pins = self.model.mesh.rest_positions[pinned]
            self.state, report = self.solver.step(self.state, pins, H, (load,))
            self.reports.append(report)
            frames.append(self.state.positions)
        assert np.isfinite(frames).all()
        return np.array(frames)


def box(low, high):
    """Vertices and outward faces of a box."""
    mesh = block((1, 1, 1), tuple(np.subtract(high, low)))
    return mesh.rest_positions + np.array(low), boundary_triangles(mesh.tets)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
@pytest.mark.parametrize("tilt", ["gravity", "collider"])
def test_a_block_slides_and_sticks_at_the_friction_angle(tilt, solver):
    """With the tolerance that is set by default, which is most of the way that full friction takes in a step."""
    critical = np.tan(ANGLE)
    assert slide(tilt, 1.02 * critical, solver, steps=30)[-1] < 1e-3
    for part in (0.5, 0.98):
        expected = (1.0 - part) * G * np.sin(ANGLE)
        error = acceleration(slide(tilt, part * critical, solver, steps=30)) - expected
        assert abs(error) <= 1e-4 * G * np.sin(ANGLE)


@pytest.mark.parametrize("tilt", ["gravity", "collider"])
def test_so_it_does_in_a_subspace_with_few_points_that_touch(tilt):
    critical = np.tan(ANGLE)
    few = {"solver": "subspace_mixed_fem", "steps": 30, "cells": (8, 8, 4), "modes": 2, "most": 60}
    assert slide(tilt, 1.02 * critical, **few)[-1] < 1e-3
    expected = 0.5 * G * np.sin(ANGLE)
    assert acceleration(slide(tilt, 0.5 * critical, **few)) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "linearly_implicit"])
@pytest.mark.parametrize("stiffness", [1e4, 1e8, 1e12])
def test_soft_and_stiff_cubes_rest_on_the_ground(solver, stiffness):
    scene = Scene(stiffness, solver)
    frames = scene.run(30, GroundPlane(-0.05))
    assert frames[-10:, :, 2].min() > -0.05 - 1e-3 * SIDE
    assert frames[-1][:, 2].min() < -0.05 + 1e-3 * SIDE
    assert np.abs(frames[-1][:, :2].mean(axis=0) - SIDE / 2).max() < 0.01


@pytest.mark.parametrize("flip", [False, True])
def test_a_cube_lies_on_an_open_sheet_whichever_way_it_faces(flip):
    faces = SQUARE_FACES[:, ::-1] if flip else SQUARE_FACES
    scene = Scene()
    frames = scene.run(25, scene.collider(faces, SQUARE - [0.0, 0.0, 0.3]))
    assert frames[-1][:, 2].min() == pytest.approx(-0.3 + scene.numbers.sheet_thickness, abs=1e-3)


def test_a_fast_cube_does_not_pass_a_thin_plate():
    scene = Scene(1e6)
    positions, faces = box((-1.0, -1.0, -0.51), (1.0, 1.0, -0.5))
    x = scene.state.positions
    scene.state = scene.model.state_at(x, np.tile([0.0, 0.0, -15.0], (len(x), 1)))  # twice the cube's size a step
    frames = scene.run(20, scene.collider(faces, positions))
    assert frames[-1][:, 2].min() > -0.505


@pytest.mark.parametrize("flip", [False, True])
def test_what_starts_inside_comes_out_by_the_nearest_way_without_a_leap(flip):
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    positions, faces = box((-2.0, -2.0, -3.0), (2.0, 2.0, 0.1))  # its lower third
    frames = scene.run(60, scene.collider(faces[:, ::-1] if flip else faces, positions))
    assert frames[-1][:, 2].min() > 0.099
    speeds = np.diff(frames, axis=0)[..., 2] / H
    assert speeds.max() < 4.0 * scene.numbers.push_out_speed
    assert np.abs(frames[-1] - frames[-1].mean(0) - frames[0] + frames[0].mean(0)).max() < 0.1 * SIDE


def test_a_partly_flipped_collider_is_as_good():
    positions, faces = box((-1.0, -1.0, -1.0), (1.0, 1.0, -0.1))
    mixed = faces.copy()
    mixed[::3] = mixed[::3][:, ::-1]
    ends = []
    for triangles in (faces, mixed):
        scene = Scene(max_iterations=10)
        ends.append(scene.run(12, scene.collider(triangles, positions))[-1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_fast_bat_hits_a_cube():
    scene = Scene(1e6, gravity=(0.0, 0.0, 0.0))
    positions, faces = box((-0.9, -1.0, -1.0), (-0.8, 1.0, 1.0))
    swing = np.array([0.5, 0.0, 0.0])  # 12 m/s, ten times its thickness a step... and it stops after four
    at = [positions + min(k, 4) * swing for k in range(12)]
    frames = scene.run(11, lambda k: scene.collider(faces, at[k], at[k + 1]))
    assert frames[-1][:, 0].min() > at[-1][:, 0].max() - 1e-3


def iterations(scene):
    assert all(report.converged for report in scene.reports), [report.reason for report in scene.reports]
    return sum(report.iterations for report in scene.reports)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_friction_takes_few_iterations_more(solver):
    # Set down a little too deep, and pressed sideways: points stick, slide, and let go.
    counts = []
    for friction in (0.0, 0.5):
        scene = Scene(3e4, solver, gravity=(2.0, 0.0, -G))
        scene.run(10, GroundPlane(1e-3), friction)
        counts.append(iterations(scene))
    assert counts[1] <= 2 * counts[0] + 20


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_cube_that_is_pushed_and_slides_around_the_edges_settles_in_every_step(friction):
    scene = Scene(3e4, gravity=(0.0, 0.0, 0.0))
    positions, faces = box((-0.3, 0.09, 0.09), (-0.01, 0.21, 0.21))  # a narrow post, for the cube to fold around
    push = np.array([0.03, 0.004, 0.0])
    scene.run(12, lambda k: scene.collider(faces, positions + k * push, positions + (k + 1) * push), friction)
    assert iterations(scene) <= 12 * 25


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_conjugate_gradients_settle_on_contact(friction):
    ends = []
    for linear_solver in ("pcg", "cholmod"):
        scene = Scene(3e4, linear_solver=linear_solver, tolerance=1e-7)
        ends.append(scene.run(6, GroundPlane(1e-3), friction)[-1])
        assert iterations(scene) <= 6 * 30
    assert np.abs(ends[0] - ends[1]).max() < 1e-4 * SIDE


def test_pins_on_the_ground_cost_nothing():
    counts = []
    for ground in (-1.0, 1e-3):
        scene = Scene(3e4, pinned=lambda X: X[:, 2] == 0.0)
        scene.run(5, GroundPlane(ground))
        counts.append(iterations(scene))
    assert counts[0] == counts[1]


def test_the_same_bits_twice():
    runs = [Scene().run(6, GroundPlane(-0.01)) for _ in range(2)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_line_search_starts_from_the_potential_as_it_is(solver, monkeypatch):
    """Friction is renewed between iterations: the energy that a search has to lower is that after the renewal."""
    scene = Scene(solver=solver)
    X = scene.model.mesh.rest_positions
    scene.state = scene.model.state_at(X, np.tile([1.0, 0.0, -1.0], (len(X), 1)))
    stepper, renewals, searches = scene.solver, [], []
    follow, search, iterate = (
        IncrementalPotential.update_lagging,
        getattr(stepper, "_search", None),
        newton.newton_iteration,
    )

    def watched_follow(step, x):
        renewals.append(follow(step, x))
        return renewals[-1]

    def watched_search(at, direction, step):
        elastic = step.h**2 * stepper.elastic.stretch_value(at.stretch)
        searches.append(abs(at.value - step.value_without_elastic(at.x, None, None)[0] - elastic) / at.magnitude)
        return search(at, direction, step)

    def watched_newton(solver, at, step, report, projected):
        searches.append(abs(at.value - step.value(at.x, at.deformation)[0]) / at.magnitude)
        return iterate(solver, at, step, report, projected)

    monkeypatch.setattr(IncrementalPotential, "update_lagging", watched_follow)
    monkeypatch.setattr(newton, "newton_iteration", watched_newton)
    if search is not None:
        monkeypatch.setattr(stepper, "_search", watched_search)
    scene.run(10, GroundPlane(0.0))
    assert any(renewals)
    assert max(searches) <= 1e-12


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("theta", [0.5, 0.526])
def test_a_fall_gains_no_energy_and_is_shown_outside(integrator, theta):
    """With every rule of time integration; it comes to rest, where the rule lets it."""
    if integrator != "theta_midpoint" and theta == 0.5:
        pytest.skip("reads no theta")
    scene = Scene(1e6, integrator=integrator, theta=theta)
    X, ground = scene.model.mesh.rest_positions, GroundPlane(-0.1)
    energies = []
    for _ in range(48):
        x = scene.run(1, ground)[0]
        deepest = -0.1 - scene.points.points.positions(x)[:, 2].min()
        assert deepest <= scene.numbers.depth
        seen = diagnose(scene.model, scene.state)
        energies.append(seen.kinetic_energy + seen.elastic_energy + G * (scene.model.lumped_masses @ (x - X))[2])
    assert max(energies) <= 1e-6 * G * 0.1 * scene.model.masses.sum()
    if theta > 0.5:
        assert abs(x[:, 2].min() + 0.1) < 1e-3 and seen.kinetic_energy < 0.01 * energies[0] ** 2 + 0.1
