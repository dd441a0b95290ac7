"""Bodies that meet, from jobs: nothing crosses, each keeps its own, and far apart each moves as by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.benchmarks.crossings import crossings
from sinew.core.body.prepare import prepare
from sinew.core.errors import ColliderError, SettingsError
from sinew.core.job.job import Job
from sinew.core.job.surroundings import Ground
from sinew.core.mesh.surface_mesh import SurfaceMesh
from sinew.core.mesh.topology import boundary_triangles
from sinew.core.settings import ResolutionSettings
from sinew.core.simulation.group import simulate_group, without_colliders
from sinew.core.simulation.run import simulate

from ..jobs import free_box, rising_plate, shaken_bar

CLEAN = ResolutionSettings(method="clean", cells_across=4)


def box(name: str, at, frames: int = 8, **solver) -> Job:
    """Of 0.2 m, free."""
    job = free_box(frames, solver={"max_iterations": 60, **solver})
    surface = SurfaceMesh(job.body.surface.positions + at, job.body.surface.triangles)
    return job.with_body(name=name, surface=surface, resolution=CLEAN)


def frames_of(jobs):
    """All frames of all, and the prepared bodies."""
    prepared = [prepare(without_colliders(job)) for job in jobs]
    return list(simulate_group(jobs, prepared)), prepared


@pytest.mark.parametrize("solver", ("mixed_fem", "newton"))
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
        alone = list(simulate(job, prepare(job)))
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
    with pytest.raises(SettingsError, match="frame ranges"):
        frames_of([first, replace(apart, frame_rate=30.0)])
    with pytest.raises(SettingsError, match="solver settings"):
        frames_of([first, box("B", (0.5, 0.0, 0.0), substeps=3)])
    conjac = [job.with_body(solver=replace(job.body.solver, solver="conjac")) for job in (first, apart)]
    with pytest.raises(SettingsError, match="Choose Mixed FEM or Newton FEM"):
        frames_of(conjac)
