"""Bodies that begin on a collider, as artists place them: exactly, or but for the round-off of single precision."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Collider
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface, free_box

SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
SLAB = box_surface((1.0, 1.0, 0.2), (1, 1, 1))
SHAPES = {
    "sheet": (FACES, SQUARE),
    "flipped sheet": (FACES[:, ::-1], SQUARE),
    "solid": (SLAB.triangles, SLAB.positions - [0.5, 0.5, 0.2]),
}
NOISE = 1e-8 * np.random.default_rng(3).standard_normal((100, 1))


def touching_box(shape, friction, raised, frames, thickness, **solver):
    """A box that stands on the collider's upper side, at z = 0 but for ``raised``."""
    faces, positions = SHAPES[shape]
    collider = Collider("Table", faces, positions[None], friction=friction, thickness=thickness)
    job = free_box(frames, colliders=(collider,), solver={"max_iterations": 40, **solver})
    at = job.body.surface.positions - [0.087, 0.093, 0.0]
    raised = NOISE[: len(at)] if raised == "noise" else raised
    return job.with_body(surface=SurfaceMesh(at + raised * np.array([0.0, 0.0, 1.0]), job.body.surface.triangles))


def heights(job):
    """Return the height of the lowest point in each frame; every step converged."""
    prepared = prepare(job)
    low = []
    for frame in simulate_body(job, prepared):
        assert all(report.converged for report in frame.reports)
        low.append(prepared.surface(frame.state.positions)[:, 2].min())
    return np.array(low)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("raised", [0.0, 1e-8, -1e-8, "noise"])
def test_it_rests_there_and_lifts_off(shape, friction, raised):
    low = heights(touching_box(shape, friction, raised, 6, 1e-3))
    assert low.min() > -1e-4
    assert low[-1] == pytest.approx(1e-3, abs=1e-4)
    low = heights(touching_box(shape, friction, raised, 5, 1e-6, gravity=(0.0, 0.0, 1.0)))
    n = np.arange(5)
    assert low == pytest.approx(0.5 * n * (n + 1) / 24.0**2, abs=1e-5), "free, by implicit Euler"


@pytest.mark.parametrize("shape", ["sheet", "solid"])
def test_contact_friction_and_two_step_history_resume_with_the_same_bits(tmp_path, shape):
    # Gravity leans, so that the box slides while it rests.
    job = touching_box(shape, 0.3, "noise", 9, 1e-3, integrator="bdf2", gravity=(6.0, 0.0, -9.0), substeps=2)
    whole = FrameStore.create(tmp_path / "whole", job)
    assert bake(job, whole) == "done"
    parts = FrameStore.create(tmp_path / "parts", job)
    seen = []
    assert bake(job, parts, seen.append, lambda: sum(e.kind == "frame" for e in seen) == 4) == "stopped"
    assert parts.frames() == [1, 2, 3, 4]
    assert bake(job, parts, resume=True) == "done"
    assert all(np.array_equal(parts.read(frame), whole.read(frame)) for frame in range(1, 10))
    end = whole.read(9) - whole.read(1)
    assert end[:, 0].min() > 0.05
    assert whole.read(9)[:, 2].min() == pytest.approx(1e-3, abs=2e-3)
