"""Bodies that meet, from jobs: nothing crosses, each keeps its own, and far apart each moves as by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.crossings import crossings
from sinew.benchmarks.thin_bodies import ball, joined
from sinew.core.foundation.errors import ColliderError, SettingsError
from sinew.core.foundation.schema.settings import ContactSettings, ResolutionSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.job import Job
from sinew.core.simulation.contact_setup.collision_surfaces import collision_surface
from sinew.core.simulation.frame_loop.group import GroupStepper, simulate_group
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import free_box, rising_plate, shaken_bar

CLEAN = ResolutionSettings(method="clean", cells_across=4)
TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
MEET = [kind for kind in SOLVER_KINDS.values() if kind.supports_contact]


def box(name: str, at, frames: int = 8, **solver) -> Job:
    """A free box of 0.2 m."""
    job = free_box(frames, solver={"max_iterations": 60, **solver})
    surface = SurfaceMesh(job.body.surface.positions + at, job.body.surface.triangles)
    return job.with_body(name=name, surface=surface, resolution=CLEAN)


def frames_of(jobs):
    """All frames of all, and the prepared bodies."""
    prepared = [prepare(job, collides=len(jobs) > 1) for job in jobs]
    return list(simulate_group(jobs, prepared)), prepared


def touching_surfaces(jobs, prepared):
    """Surface positions of all bodies at the positions of each, and faces."""
    owns = [collision_surface(job, each.model.mesh) for job, each in zip(jobs, prepared)]
    starts = np.cumsum([0, *(len(own.rest_positions) for own in owns)])
    faces = np.concatenate([own.faces + start for own, start in zip(owns, starts)])

    def places(frame):
        return [
            each.space.points(own.embedding).positions(now.state.positions)
            for each, own, now in zip(prepared, owns, frame)
        ]

    return places, faces


@pytest.mark.parametrize("solver", [kind.name for kind in MEET if not kind.takes_modes])
def test_a_stack_on_the_ground(solver):
    ground = Ground(height=0.0)
    jobs = [
        box(name, (0.02 * k, 0.0, 0.003 + 0.206 * k), solver=solver, substeps=2).with_body(colliders=(ground,))
        for k, name in enumerate("AB")
    ]
    found, prepared = frames_of(jobs)
    faces = [boundary_triangles(each.model.mesh.tets) for each in prepared]
    n = len(prepared[0].model.mesh.rest_positions)
    for frame in found[1:]:
        points = np.concatenate([each.state.positions for each in frame])
        assert not len(crossings(points, np.concatenate([faces[0], faces[1] + n])))
        assert points[:, 2].min() > 0.0 and all(report.converged for report in frame[0].reports)
    fallen = [np.ptp([frame[k].state.positions[:, 2].min() for frame in found]) for k in range(2)]
    assert max(fallen) > 1e-3


def test_bodies_that_nodes_carry_collide():
    """Each by its own, of other numbers; momentum stays, and nothing crosses."""
    jobs, frames = [], 9
    for name, at, nodes, speed in (("A", (0.0, 0.0, 0.0), 4, 1.5), ("B", (0.36, 0.06, 0.03), 0, 0.0)):
        job = box(name, at, frames, solver="conjac", gravity=(0.0, 0.0, 0.0), substeps=2, tolerance=1e-8)
        X = job.body.surface.positions
        pull = np.zeros((frames, len(X), 3))
        pull[:2, :, 0] = speed * 24.0
        chosen = np.unique([np.argmin(np.abs(X - at - corner).sum(axis=1)) for corner in 0.2 * TETRAHEDRON[:nodes]])
        jobs.append(job.with_body(accelerations=pull, dynamic_nodes=chosen.astype(np.int32)))
    found, prepared = frames_of(jobs)
    assert [len(each.model.nodes.centres) if each.model.nodes else 0 for each in prepared] == [4, 0]
    places, faces = touching_surfaces(jobs, prepared)
    for frame in found:
        assert not len(crossings(np.concatenate(places(frame)), faces))
        assert all(report.converged for report in frame[0].reports)
    momenta = np.array(
        [[each.space.lumped_masses @ now.state.velocities for each, now in zip(prepared, frame)] for frame in found]
    )
    whole = momenta.sum(axis=1)
    np.testing.assert_allclose(whole[3:], np.tile(whole[2], (len(whole) - 3, 1)), atol=1e-5 * np.abs(whole[2]).max())
    assert momenta[-1, 1, 0] >= 0.3 * whole[2, 0] and momenta[2, 1, 0] < 0.2 * whole[2, 0]


def test_skins_of_draft_lattices_meet():
    """Not the lattices' boundaries, which overhang: balls come as near as they look, and never cross."""
    draft = ResolutionSettings(method="lattice", cells_across=6)
    surface = ball(10, 0.1)
    jobs = []
    for name, x in (("A", 0.0), ("B", 0.21)):
        own = SurfaceMesh(surface.positions + (x, 0.0, 0.0), surface.triangles)
        n = len(own.positions)
        pull = np.zeros((8, n, 3))
        pull[:, :, 0] = 20.0 if name == "A" else -20.0
        job = box(name, (0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0))
        body = dict(surface=own, resolution=draft, material_weights=np.ones((n, 1)), stiffness_maps=None)
        jobs.append(job.with_body(**body, accelerations=pull))
    found, prepared = frames_of(jobs)
    places, faces = touching_surfaces(jobs, prepared)
    for frame in found:
        assert not len(crossings(np.concatenate(places(frame)), faces))
    one, other = places(found[3])  # pressed on each other; later they roll off
    cell = 0.2 / 5.5
    assert abs(other[:, 0].min() - one[:, 0].max()) < 0.1 * cell
    np.testing.assert_allclose(
        places(found[0])[0], collision_surface(jobs[0], prepared[0].model.mesh).rest_positions, atol=1e-12
    )


def test_what_skins_do_not_show_is_told():
    """Rods much thinner than a cell, and parts that cells hold together, with the cells that part them."""
    small, rod = ball(10, 0.1), ball(6, 0.1)
    spike = SurfaceMesh(rod.positions * (0.004, 0.004, 3.0) + (0.12, 0.0, 0.0), rod.triangles)
    near = SurfaceMesh(small.positions + (0.0, 0.23, 0.0), small.triangles)
    surface = joined([small, spike, near])
    n = len(surface.positions)
    body = dict(resolution=ResolutionSettings(cells_across=8), material_weights=np.ones((n, 1)), stiffness_maps=None)
    job = box("Odd", (0.0, 0.0, 0.0)).with_body(surface=surface, contact=ContactSettings(self_contact=True), **body)
    prepared = [prepare(job)]
    welded = GroupStepper([job], prepared).warnings
    assert all(words.startswith("“Odd”: ") for words in welded)
    assert "bodies pass through" in welded[0] and "parts of the body together" in welded[1]


def test_far_apart_each_moves_as_by_itself():
    """With its own pins, springs and keyed stiffness: what is shared is the line search, and when a step ends."""
    frames = 5
    bar = shaken_bar(frames).with_body(name="Bar", resolution=CLEAN)
    settings = replace(bar.body.solver, max_iterations=60, tolerance=1e-9)
    E = np.array([5e4, 1e9])
    bar = bar.with_body(solver=settings, moduli=np.array([E * 2.0**k for k in range(frames)]))
    other = box("Box", (3.0, 0.0, 0.0), frames).with_body(solver=settings)
    other = replace(other, frame_rate=bar.frame_rate)
    found, _ = frames_of([bar, other])
    for k, job in enumerate((bar, other)):
        alone = list(simulate_body(job, prepare(job)))
        for together, single in zip(found, alone):
            np.testing.assert_allclose(together[k].state.positions, single.state.positions, atol=1e-7)


def test_colliders_rise_below_them():
    frames = 6
    plate = rising_plate(frames)
    job = box("Box", (0.0, 0.0, -0.495), frames, gravity=(0.0, 0.0, 0.0)).with_body(colliders=(plate,))
    found, prepared = frames_of([job, box("Far", (0.0, 3.0, 0.0), frames, gravity=(0.0, 0.0, 0.0))])
    for frame, corners in zip(found, plate.positions):
        assert frame[0].state.positions[:, 2].min() > corners[0, 2]
    assert found[-1][0].state.positions[:, 2].min() > found[0][0].state.positions[:, 2].min() + 0.04


def test_what_does_not_go_together_is_named():
    first, second = box("A", (0.0, 0.0, 0.0)), box("B", (0.15, 0.0, 0.0))
    with pytest.raises(ColliderError, match="“A” and “B” overlap"):
        frames_of([first, second])
    apart = box("B", (0.5, 0.0, 0.0))
    with pytest.raises(SettingsError, match="frame range"):
        frames_of([first, replace(apart, frame_rate=30.0)])
    with pytest.raises(SettingsError, match="solver settings"):
        frames_of([first, box("B", (0.5, 0.0, 0.0), substeps=3)])
    published = [job.with_body(solver=replace(job.body.solver, solver="conjac_published")) for job in (first, apart)]
    with pytest.raises(SettingsError, match="Choose Mixed FEM or Newton FEM or Linearly Implicit FEM or ConJac or "):
        frames_of(published)


@pytest.mark.parametrize("solver", [kind.name for kind in MEET if kind.takes_modes])
def test_bodies_in_subspaces_collide(solver):
    """Each in one of its own, with other numbers of modes; momentum stays, and nothing crosses."""
    jobs, frames = [], 9
    for name, at, modes, speed in (("A", (0.0, 0.0, 0.0), 4, 1.5), ("B", (0.36, 0.06, 0.03), 8, 0.0)):
        job = box(name, at, frames, solver=solver, modes=modes, gravity=(0.0, 0.0, 0.0), substeps=2, tolerance=1e-7)
        # For one frame all that flies is driven to its speed.
        pull = np.zeros((frames, len(job.body.surface.positions), 3))
        pull[:2, :, 0] = speed * 24.0
        jobs.append(job.with_body(accelerations=pull))
    found, prepared = frames_of(jobs)
    places, faces = touching_surfaces(jobs, prepared)
    momenta = np.array(
        [[each.space.lumped_masses @ now.state.velocities for each, now in zip(prepared, frame)] for frame in found]
    )
    for frame in found:
        assert not len(crossings(np.concatenate(places(frame)), faces))
        assert all(report.converged for report in frame[0].reports)
    whole = momenta.sum(axis=1)
    np.testing.assert_allclose(whole[3:], np.tile(whole[2], (len(whole) - 3, 1)), atol=1e-5 * np.abs(whole[2]).max())
    assert momenta[-1, 1, 0] >= 0.3 * whole[2, 0] and momenta[2, 1, 0] < 0.2 * whole[2, 0]


def test_subspaces_and_all_vertices_do_not_meet():
    with pytest.raises(SettingsError, match="“B” and “A” collide, but one is in a subspace"):
        frames_of([box("A", (0.0, 0.0, 0.0)), box("B", (0.5, 0.0, 0.0), solver="subspace_fem")])


def test_pins_and_keyed_stiffness_in_subspaces():
    """Far apart each moves as by itself, in a subspace, too."""
    frames = 5
    bar = shaken_bar(frames, solver="subspace_mixed_fem", modes=6)
    settings = replace(bar.body.solver, max_iterations=60, tolerance=1e-9)
    E = np.array([5e4, 1e9])
    bar = bar.with_body(
        name="Bar", resolution=CLEAN, solver=settings, moduli=np.array([E * 2.0**k for k in range(frames)])
    )
    other = box("Box", (3.0, 0.0, 0.0), frames).with_body(solver=replace(settings, modes=5))
    found, _ = frames_of([bar, other])
    for k, job in enumerate((bar, other)):
        for together, single in zip(found, simulate_body(job, prepare(job))):
            np.testing.assert_allclose(together[k].state.positions, single.state.positions, atol=1e-6)


@pytest.mark.parametrize("angle", (0.0, 20.0))
def test_the_first_impact_settles_with_default_settings(angle):
    """A cube of three cells that meets itself falls flat or on an edge, a step a frame: in half of what is allowed."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    job = free_box(16, solver={"max_iterations": 50})
    X = (job.body.surface.positions - job.body.surface.positions.mean(axis=0)) @ [[1, 0, 0], [0, c, s], [0, -s, c]]
    surface = SurfaceMesh(X + [0.0, 0.0, 0.4 - X[:, 2].min()], job.body.surface.triangles)
    options = dict(resolution=ResolutionSettings(cells_across=3), contact=ContactSettings(self_contact=True))
    jobs = [job.with_body(name="A", surface=surface, colliders=(Ground(height=0.0),), **options)]
    reports = [report for (frame,) in frames_of(jobs)[0] for report in frame.reports]
    assert all(report.converged and report.iterations <= 25 for report in reports)
    assert any(report.contacts for report in reports)
