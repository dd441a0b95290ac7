"""Ball rolling down a slope for four seconds: mean acceleration compared with 5/7 g sin, and with the damping of spin.

A rigid body that implicit Euler rotated by u in the last step has velocities ``(x - R(-u) x) / h``, and predicted
positions ``(2 - cos u) x`` outwards and ``sin u x`` ahead. Rotated by t, it is driven by the torque ``-I ((2 - cos u)
sin t - sin u cos t) / h²``: alone it continues with ``t = u - u³`` per step. With the friction F of rolling, ``v = r t
/ h``: ``m (v - v0) / h = m g sin - F``, and ``F r`` is minus that torque.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.preparation.prepare import prepare
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..thin_bodies import ball

RADIUS, SLOPE, FRAMES, RATE = 0.2, 0.3, 97, 24.0
RULES = (("backward_euler", 1), ("backward_euler", 4), ("bdf2", 1))
EXPLAINED = 0.01
"""Fraction of g sin by which damping of the rotation may differ from that of implicit Euler."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the ball with several integrators and substeps."""
    yield Case("rolling_ball", _rolling)


def rolled(rule: str, substeps: int) -> np.ndarray:
    """Return the distance of the ball's centre down the slope at each frame, (frames,), m."""
    surface = ball(20, RADIUS)
    g = 9.81 * np.array([SLOPE, 0.0, -np.sqrt(1.0 - SLOPE**2)])
    body = Body(
        surface=SurfaceMesh(surface.positions + [0.0, 0.0, RADIUS + 5e-4], surface.triangles),
        materials=MaterialSettings("Rubber", 1e7, 0.3),
        colliders=(Ground(friction=1.0),),
        resolution=ResolutionSettings(cells_across=8),
        solver=SolverSettings(gravity=tuple(g), integrator=rule, substeps=substeps, max_iterations=100),
    )
    job = Job(bodies=body, frame_start=1, frame_end=FRAMES, frame_rate=RATE)
    prepared = prepare(job)
    weights = prepared.model.lumped_masses / prepared.model.lumped_masses.sum()
    along = [weights @ frame[0].state.positions[:, 0] for frame in simulate_group([job], [prepared])]
    return np.array(along) - along[0]


def explained(h: float) -> float:
    """Return the distance at the last frame with only implicit Euler's damping of spin, m."""
    x = v = u = 0.0

    def unbalanced(t: float) -> float:
        spin = 0.4 * RADIUS / h**2 * ((2.0 - np.cos(u)) * np.sin(t) - np.sin(u) * np.cos(t))
        return (RADIUS * t / h - v) / h - 9.81 * SLOPE + spin

    for _ in range(round((FRAMES - 1) / RATE / h)):
        u = brentq(unbalanced, 0.0, 1.5)
        v = RADIUS * u / h
        x += h * v
    return x


def _rolling() -> Iterable[Row]:
    time = np.arange(FRAMES) / RATE
    whole, curves = 0.5 * 9.81 * SLOPE * time[-1] ** 2, []
    for rule, substeps in RULES:
        x = rolled(rule, substeps)
        name = f"{rule}, {substeps} substeps"
        yield row("rolling_ball", f"{name}: mean acceleration", x[-1] / whole, "g sin")
        if rule == "backward_euler":
            part = explained(1.0 / RATE / substeps) / whole
            yield row("rolling_ball", f"{name}: by damping of spin alone", part, "g sin")
            yield row("rolling_ball", f"{name}: not explained", abs(x[-1] / whole - part), at_most=EXPLAINED)
        curves.append(Curve(name, time, x))
    curves.append(Curve("5/7 g sin", time, 5.0 / 14.0 * 9.81 * SLOPE * time**2))
    draw("physics", "rolling_ball", [Plot("down a slope", "s", "m", curves)])
