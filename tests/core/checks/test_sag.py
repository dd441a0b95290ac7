"""Estimate of a body's sag before tetrahedra, against closed forms and static simulations."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.tet_count import measure_surface
from sinew.core.jobs.checks import sag as sags
from sinew.core.jobs.checks.sag import sag_of
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.job import Job
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface
from ..surfaces import sphere

WEIGHT = 1050.0 * 9.81
DOWN = np.array([0.0, 0.0, -1.0])
NONE = np.zeros(0, dtype=np.int32)
COLUMN = box_surface((0.4, 0.4, 2.0), (2, 2, 10))
BAR = box_surface((1.2, 0.4, 0.4), (6, 2, 2))
CUBE = box_surface((2.0, 2.0, 2.0), (6, 6, 6))
BALL = sphere()


def told(surface: SurfaceMesh, pinned: np.ndarray, modulus: float) -> float:
    sag = sag_of(surface, measure_surface(surface), pinned, DOWN)
    return min(sag.area * WEIGHT / modulus, sag.reach)


def simulated(surface: SurfaceMesh, pinned: np.ndarray, modulus: float, frames: int = 16) -> float:
    """Return the largest sag, m, after seconds in steps that damp all vibration."""
    X = surface.positions
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", modulus, 0.45, 1050.0),),
        material_weights=np.ones((len(X), 1)),
        pinned_vertices=pinned,
        pin_positions=X[pinned],
        resolution=ResolutionSettings(cells_across=8),
        colliders=() if len(pinned) else (Ground(height=float(X[:, 2].min()), friction=0.5),),
        solver=SolverSettings(solver="newton", max_iterations=40),
    )
    job = Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=2.0)
    prepared = prepare(job)
    for frame, step in enumerate(simulate_body(job, prepared)):
        last = prepared.surface(step.state.positions, frame)
    return float((X - last)[:, 2].max())


def test_a_column_sags_as_textbooks_say():
    standing, hanging = (np.flatnonzero(COLUMN.positions[:, 2] == z) for z in (0.0, 2.0))
    for pinned in (standing, hanging, NONE):
        assert told(COLUMN, pinned, 5e4) == pytest.approx(WEIGHT * 2.0**2 / (2.0 * 5e4))


def test_a_long_bar_sags_as_textbooks_say():
    bar = box_surface((8.0, 0.4, 0.4), (40, 2, 2))
    q, inertia = WEIGHT * 0.4**2, 0.4**4 / 12.0
    expected = q * 8.0**4 / (8.0 * 5e8 * inertia)
    assert told(bar, np.flatnonzero(bar.positions[:, 0] == 0.0), 5e8) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    ("surface", "pinned", "modulus"),
    [
        (COLUMN, COLUMN.positions[:, 2] > 1.99, 1e5),
        (BAR, BAR.positions[:, 0] < 0.01, 1e6),
        (CUBE, CUBE.positions[:, 0] < 0.01, 3e5),
        (CUBE, CUBE.positions[:, 0] < 0.01, 1e5),
        (CUBE, CUBE.positions[:, 2] > 1.99, 1e5),
        (CUBE, CUBE.positions[:, 2] > 2.01, 1e5),
        (BALL, BALL.positions[:, 2] > 0.8, 1e5),
        (BALL, BALL.positions[:, 2] > 2.0, 1e5),
    ],
    ids=[
        "column",
        "bar",
        "cube by a side",
        "softer",
        "cube hangs",
        "cube on the ground",
        "ball hangs",
        "ball on the ground",
    ],
)
def test_it_is_within_a_factor_of_two_of_what_is_simulated(surface, pinned, modulus):
    pinned = np.flatnonzero(pinned).astype(np.int32)
    assert 0.5 < told(surface, pinned, modulus) / simulated(surface, pinned, modulus) < 2.0


def test_of_many_vertices_some_are_looked_at(monkeypatch):
    top = np.flatnonzero(CUBE.positions[:, 2] == 2.0)
    whole = told(CUBE, top, 5e4)
    monkeypatch.setattr(sags, "MOST", 40)
    assert told(CUBE, top, 5e4) == pytest.approx(whole, rel=0.05)
