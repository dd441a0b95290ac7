"""Rigid bodies keep their momentum, tumble, collide and carry flesh."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from sinew.core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.groups import grouped_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.tie import Tie
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface

STILL = (0.0, 0.0, 0.0)
APART = ContactSettings(bodies=False)


def bone(name="Bone", size=(0.3, 0.1, 0.06), low=(0.0, 0.0, 0.0), solver=None, **fields) -> Body:
    """A rigid box with a corner at ``low``."""
    box = box_surface(size, (2, 2, 2))
    settings = {"solver": "mixed_fem", "tolerance": 1e-9, "max_iterations": 60, "gravity": STILL} | (solver or {})
    return Body(
        name=name,
        surface=SurfaceMesh(box.positions + low, box.triangles),
        materials=MaterialSettings(density=1900.0),
        resolution=ResolutionSettings(method="rigid"),
        solver=SolverSettings(**settings),
        **{"contact": APART} | fields,
    )


def play(*bodies, frames=12, rate=240.0):
    """All frames and the prepared bodies, in the order of their names."""
    job = Job(bodies=bodies, frame_end=frames, frame_rate=rate)
    job.check()
    (jobs,) = grouped_jobs(job)
    prepared = [prepare(each, collides=len(jobs) > 1) for each in jobs]
    return list(simulate_group(jobs, prepared)), prepared


def converged(found) -> bool:
    """True if all steps converged."""
    return all(report.converged for frame in found for report in frame[0].reports)


def momentum(prepared, frame) -> np.ndarray:
    """Momentum and angular momentum about the origin of all bodies together, (2,3)."""
    total = np.zeros((2, 3))
    for each, now in zip(prepared, frame):
        p = each.model.mass @ now.state.velocities
        total += [p.sum(axis=0), np.cross(now.state.positions, p).sum(axis=0)]
    return total


def spun(prepared, omega, v=STILL):
    """A state of a body at rest that turns about its centre of mass and moves."""
    X = prepared.model.mesh.rest_positions
    return prepared.model.state_at(X, np.cross(omega, X - X.mean(axis=0)) + v)


def tumbled(turns, frames, rate, integrator):
    """Rotation matrices (frames,3,3) of a free body that turns at first by ``turns``, rad/s, and its momenta."""
    body = bone(solver={"integrator": integrator})
    job = Job(bodies=body, frame_end=frames, frame_rate=rate)
    prepared = prepare(job)
    first = spun(prepared, turns, (0.3, -0.2, 0.5))
    found = [[first], *simulate_group([job], [prepared], (1, [first]))]
    states = [first, *(frame[0].state for frame in found[1:])]
    X = prepared.model.mesh.rest_positions
    arms = np.linalg.pinv(X - X.mean(axis=0))
    F = [(arms @ (state.positions - state.positions.mean(axis=0))).T for state in states]
    p = np.array([(prepared.model.mass @ state.velocities).sum(axis=0) for state in states])
    return np.array(F), p


def test_a_free_body_tumbles_as_euler_says():
    """Spun about its middle axis, it turns over; the error falls with the square of the step. Momentum is exact."""
    size, spin, time = np.array([0.3, 0.1, 0.06]), np.array([0.3, 9.0, 0.2]), 1.0
    inertia = (size @ size - size**2) / 12.0

    def slope(_t, y):
        q, w = y[:4], y[4:]
        turning = 0.5 * np.array([*(q[3] * w + np.cross(q[:3], w)), -q[:3] @ w])
        return np.concatenate([turning, np.cross(inertia * w, w) / inertia])

    y = solve_ivp(slope, (0.0, time), [0.0, 0.0, 0.0, 1.0, *spin], rtol=1e-10, atol=1e-12).y[:4, -1]
    exact, errors = Rotation.from_quat(y), []
    for rate in (240.0, 480.0):
        F, p = tumbled(spin, int(rate * time) + 1, rate, "bdf2")
        errors.append((exact.inv() * Rotation.from_matrix(F[-1])).magnitude())
        np.testing.assert_allclose(p, np.tile(p[0], (len(p), 1)), atol=1e-9 * np.abs(p).max())
        np.testing.assert_allclose(F @ F.swapaxes(1, 2), np.tile(np.eye(3), (len(F), 1, 1)), atol=1e-4)
    assert errors[0] < 0.04 and errors[1] < 0.28 * errors[0]


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "subspace_mixed_fem"])
def test_a_bone_falls_on_another_and_rests(solver):
    settings = {"solver": solver, "gravity": (0.0, 0.0, -9.81), "tolerance": 1e-6}
    fields = {"solver": settings, "contact": ContactSettings()}
    low = bone("Low", low=(0.0, 0.0, 0.01), colliders=(Ground(height=0.0),), **fields)
    high = bone("High", low=(0.05, 0.02, 0.08), **fields)
    found, prepared = play(low, high, frames=24, rate=60.0)
    shown = [each.surface(now.state.positions) for each, now in zip(prepared, found[-1])]
    assert converged(found)
    gaps = np.array([shown[1][:, 2].min(), shown[0][:, 2].min() - shown[1][:, 2].max()])
    assert (gaps > 0.0).all() and (gaps < 8e-3).all()  # a tenth of the edges
    for body, X in zip((high, low), shown):
        rest = body.surface.positions
        F = np.linalg.lstsq(rest - rest.mean(axis=0), X - X.mean(axis=0), rcond=None)[0]
        np.testing.assert_allclose(F @ F.T, np.eye(3), atol=1e-5)


def test_flesh_that_is_glued_to_a_bone_hangs_from_it():
    """Its weight is the force on the goal that holds the bone; the two have the momentum of both."""
    core = bone(size=(0.2, 0.04, 0.04), low=(0.1, 0.08, 0.08))
    flesh = Body(
        name="Flesh",
        surface=box_surface((0.4, 0.2, 0.2), (4, 2, 2)),
        materials=MaterialSettings(youngs_modulus=5e4),
        resolution=ResolutionSettings(cells_across=6),
        contact=APART,
        ties=(Tie("Bone"),),
        solver=core.solver,
        accelerations=np.repeat([[[0.0, 0.0, 20.0]], [[0.0, 0.0, 0.0]]], [3, 9], axis=0),
    )
    found, prepared = play(core, flesh, rate=24.0)
    assert converged(found)
    moved = [momentum(prepared, frame)[0] for frame in found]
    np.testing.assert_allclose(moved[3:], np.tile(moved[3], (len(moved) - 3, 1)), atol=1e-9 * np.abs(moved[3]).max())
    speeds = [each.model.lumped_masses @ now.state.velocities for each, now in zip(prepared, found[-1])]
    masses = [each.model.masses.sum() for each in prepared]
    assert speeds[0][2] / masses[0] == pytest.approx(moved[-1][2] / sum(masses), rel=0.1)
