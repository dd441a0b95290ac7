"""Pressure in chambers: exact derivatives, the same in every solver and group, a gas that resists, and clear errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.benchmarks.thin_bodies import hollow_ball
from sinew.core.foundation.errors import ChamberError
from sinew.core.foundation.schema.settings import ContactSettings, MaterialSettings, SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh, signed_volume
from sinew.core.geometry.mesh.topology import boundary_triangles, edge_sides, open_edges
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.chamber import Chamber
from sinew.core.jobs.job.groups import grouped_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.tie import Tie
from sinew.core.mechanics.forces.chamber_pressure import ATMOSPHERE, ChamberPressure
from sinew.core.mechanics.forces.embedded_points import EmbeddedPoints
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

KINDS = [kind.name for kind in SOLVER_KINDS.values() if kind.name != "conjac_published"]
SIZE = (0.2, 0.2, 0.2)


def cube(name="Cube", at=(0.0, 0.0, 0.0), solver="mixed_fem", **fields) -> Body:
    """A free cube of 0.2 m, 1e5 Pa, without gravity."""
    mesh, modes = block((3, 3, 3), SIZE), {"modes": 8} if SOLVER_KINDS[solver].takes_modes else {}
    settings = SolverSettings(solver=solver, gravity=(0.0, 0.0, 0.0), tolerance=1e-9, max_iterations=60, **modes)
    material = MaterialSettings(youngs_modulus=1e5, poissons_ratio=0.3)
    own = {"contact": ContactSettings(bodies=False), **fields}
    return Body.of_tets(mesh.rest_positions + at, mesh.tets, name=name, materials=material, solver=settings, **own)


def played(*bodies: Body, frames: int = 6, rate: float = 1.0):
    """Surface positions of every body at the last frame, and all reports; steps of a second come to rest."""
    (jobs,) = grouped_jobs(Job(bodies=bodies, frame_end=frames, frame_rate=rate))
    prepared = [prepare(job, collides=len(jobs) > 1) for job in jobs]
    found = list(simulate_group(jobs, prepared))
    ends = [each.surface(now.state.positions) for each, now in zip(prepared, found[-1])]
    return ends, [report for frame in found for report in frame[0].reports]


def volume(body: Body, positions: np.ndarray) -> float:
    return signed_volume(positions, body.surface.triangles)


@pytest.mark.parametrize("rest_volume", [None, 0.9])
def test_derivatives_are_those_of_the_value(rest_volume):
    rng, mesh = np.random.default_rng(0), block((2, 3, 2), (1.0, 1.2, 0.8))
    X = mesh.rest_positions
    used, triangles = np.unique(boundary_triangles(mesh.tets), return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    assert signed_volume(X[used], triangles) == pytest.approx(0.96, rel=1e-12)
    assert len(edge_sides(triangles)) == 1.5 * len(triangles)
    x = X + 0.05 * rng.standard_normal(X.shape)
    points = EmbeddedPoints(embed(X[used], mesh), mesh.tets, len(X))
    load = ChamberPressure(points, triangles, 2e4, rest_volume).begin(Motion(x, x, 0.1))
    d, eps = rng.standard_normal(X.shape), 1e-6
    slope = (load.value(x + eps * d) - load.value(x - eps * d)) / (2.0 * eps)
    assert np.sum(load.gradient(x) * d) == pytest.approx(slope, rel=1e-6)
    H = load.cross_element_hessian(x).matrix(len(X))
    change = (load.gradient(x + eps * d) - load.gradient(x - eps * d)) / (2.0 * eps)
    product = (H @ d.ravel()).reshape(-1, 3) + load.low_rank.times(d)
    np.testing.assert_allclose(product, change, atol=1e-8 * np.abs(change).max())
    load.projection = 1.0
    projected = load.cross_element_hessian(x).matrix(len(X)).toarray()
    for matrix in (projected, projected - H.toarray()):
        assert np.linalg.eigvalsh(matrix).min() >= -1e-12 * np.abs(projected).max()


@pytest.mark.parametrize("solver", KINDS)
def test_a_cube_under_pressure_grows_alike_in_every_solver(solver):
    """Equal tractions on all sides: the strain is p (1 - 2 nu) / E, up to the square of the strain."""
    body = cube(solver=solver, chamber=Chamber(is_gas=False, pressure=np.array([1e3])))
    (end,), _reports = played(body)
    strain = (volume(body, end) / volume(body, body.surface.positions)) ** (1.0 / 3.0) - 1.0
    expected = 1e3 * (1.0 - 0.6) / 1e5
    loose = {"linearly_implicit": 0.05, "multilevel_published": 0.05}.get(solver, 0.02)
    assert strain == pytest.approx(expected, rel=loose)


def test_a_gas_resists_and_keeps_p_v():
    """Its own law, from the end: the force on the flesh is that of the pressure at the volume."""
    low = np.flatnonzero(block((3, 3, 3), SIZE).rest_positions[:, 2] == 0.0)
    body = cube(chamber=Chamber(pressure=np.linspace(0.0, 1.5e4, 6)), pinned_vertices=low)
    (end,), reports = played(body)
    assert all(report.converged for report in reports)
    V0 = volume(body, body.surface.positions)
    given = (1.5e4 + ATMOSPHERE) * V0 / volume(body, end) - ATMOSPHERE
    (same,), _ = played(replace(body, chamber=Chamber(is_gas=False, pressure=np.linspace(0.0, given, 6))))
    np.testing.assert_allclose(same, end, atol=1e-6)
    assert 0.0 < given < 1.5e4


def test_bodies_in_a_group_have_their_own_chambers():
    chamber = Chamber(pressure=np.array([2e4]))
    one = cube("A", chamber=chamber, contact=ContactSettings())
    other = cube("B", (0.3, 0.0, 0.0), contact=ContactSettings())
    (alone,), _ = played(cube(chamber=chamber))
    (first, second), _ = played(one, other)
    np.testing.assert_allclose(first, alone, atol=1e-7)
    np.testing.assert_allclose(second, other.surface.positions, atol=1e-7)


def test_cavities_are_found_and_what_is_wrong_is_told():
    hollow = hollow_ball(0.1)
    (cavity,) = Chamber().surfaces(hollow)
    assert signed_volume(hollow.positions, cavity) == pytest.approx(4.0 / 3.0 * np.pi * 0.4**3, rel=0.02)
    whole = block((2, 2, 2), SIZE)
    faces = boundary_triangles(whole.tets)
    open_box = SurfaceMesh(whole.rest_positions, faces[1:])
    assert len(open_edges(faces)) == 0 and len(open_edges(faces[1:])) == 3
    with pytest.raises(ChamberError, match="leaks: the surface is open along 3 edges"):
        Chamber().surfaces(open_box)
    with pytest.raises(ChamberError, match="has no face"):
        Chamber(vertices=np.array([0])).surfaces(open_box)
    with pytest.raises(ChamberError, match="is flat"):
        Chamber().surfaces(SurfaceMesh(whole.rest_positions, np.array([[0, 1, 3], [0, 3, 1]])))
    with pytest.raises(ChamberError, match="not a number"):
        Chamber(pressure=np.array([np.nan]))
    with pytest.raises(ChamberError, match="at 2 frames, not 6"):
        Job(bodies=(cube(chamber=Chamber(pressure=np.array([0.0, 1.0]))),), frame_end=6).check()
    with pytest.raises(ChamberError, match="names vertices that do not exist"):
        Job(bodies=(cube(chamber=Chamber(vertices=np.array([999]))),), frame_end=6).check()


def shared_cubes(**fields) -> list[Body]:
    """Two cubes glued to each other, whose outer faces enclose one chamber; its pressure is in ``fields``."""
    cubes = []
    for name, at, touching in (("A", 0.0, 0.2), ("B", 0.2, 0.2)):
        body = cube(name, (at, 0.0, 0.0), ties=(Tie("A"),) if name == "B" else ())
        x, *across = body.surface.positions.T
        within = np.all([(0.01 < each) & (each < 0.19) for each in across], axis=0)
        around = np.flatnonzero(~(np.isclose(x, touching) & within))
        cubes.append(replace(body, chamber=Chamber(vertices=around, shared="Both", **fields)))
    return cubes


@pytest.mark.parametrize("is_gas", [False, True])
def test_neighbours_share_a_chamber(is_gas):
    """Two glued cubes around one chamber swell as one body of their size does."""
    fields = {"is_gas": is_gas, "pressure": np.linspace(0.0, 1e4, 6)}
    mesh = block((6, 3, 3), (0.4, 0.2, 0.2))
    material, still = MaterialSettings(youngs_modulus=1e5, poissons_ratio=0.3), cube().solver
    whole = Body.of_tets(mesh.rest_positions, mesh.tets, materials=material, solver=still, chamber=Chamber(**fields))
    (end,), _reports = played(whole)
    ends, reports = played(*shared_cubes(**fields))
    assert all(report.converged for report in reports)
    both = np.concatenate(ends)
    np.testing.assert_allclose(np.ptp(both, axis=0), np.ptp(end, axis=0), rtol=2e-3)
    assert np.ptp(end, axis=0)[0] > 1.01 * 0.4


def test_what_is_wrong_with_a_shared_chamber_is_told():
    one, other = shared_cubes(pressure=np.array([1e3]))
    with pytest.raises(ChamberError, match="leaks: the surface of “Both” is open"):
        played(one)
    changed = replace(other, chamber=replace(other.chamber, pressure=np.array([2e3])))
    with pytest.raises(ChamberError, match="“A” and “B” give the chamber “Both” different pressures"):
        played(one, changed)
