"""A rod on a ball that does not let it twist, against the equations of Lagrange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from ...core.foundation.events import ignore
from ...core.jobs.job.groups import grouped_jobs
from ...core.jobs.job.job import Job
from ...core.jobs.job.joint import Joint
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import GroupStepper
from ...core.simulation.preparation.prepare import prepare
from ..registry import Case, Row, row
from .bones import box
from .joints import bone

ROD = np.array([0.3, 0.1, 0.06])
"""Size of the rod, m. The ball is at the middle of its end, and the axis of its twist along x."""
SPIN = 4.0
"""Speed about the vertical at the start, rad/s."""
RATES = 480.0, 240.0, 120.0


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the swinging rod."""
    yield Case("joint_twist", _locked)


def _exact(times: np.ndarray) -> Rotation:
    """Return the rotations of the rod: its coordinates are the components y and z of its rotation vector."""
    centre = np.array([0.5 * ROD[0], 0.0, 0.0])
    inertia = (ROD @ ROD - ROD**2) / 12.0 + centre @ centre - centre**2  # about the ball, over the mass

    def turned(p: np.ndarray) -> np.ndarray:
        return Rotation.from_rotvec([0.0, *p]).apply(centre)

    def mass(p: np.ndarray) -> np.ndarray:
        angle, K = np.linalg.norm(p) + 1e-8, np.cross(np.eye(3), [0.0, *p])
        J = np.eye(3) - (1.0 - np.cos(angle)) / angle**2 * K + (angle - np.sin(angle)) / angle**3 * K @ K
        return J[:, 1:].T @ (inertia[:, None] * J[:, 1:])

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        p, v, eps = y[:2], y[2:], 1e-5
        steps = eps * np.eye(2)
        dM = np.array([mass(p + step) - mass(p - step) for step in steps]) / (2.0 * eps)
        work = np.array([turned(p + step)[2] - turned(p - step)[2] for step in steps]) * -9.81 / (2.0 * eps)
        force = work + 0.5 * (dM @ v) @ v - np.tensordot(v, dM, 1) @ v
        return np.concatenate([v, np.linalg.solve(mass(p), force)])

    p = solve_ivp(slope, (0.0, times[-1]), [0.0, 0.0, 0.0, SPIN], t_eval=times, rtol=1e-9, atol=1e-10).y[:2]
    return Rotation.from_rotvec(np.column_stack([np.zeros(len(times)), *p]))


def _locked() -> Iterable[Row]:
    """Swing the rod for half a second, with a twist between 0 and 0."""
    warm_up(ignore)
    errors = []
    ball = Joint("", "ball", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), twist=(0.0, 0.0))
    surface = box(tuple(ROD), (1, 1, 1), (0.0, -0.5 * ROD[1], -0.5 * ROD[2]))
    for rate in RATES:
        frames = int(0.5 * rate) + 1
        rod = bone("Rod", surface, [ball], solver={"integrator": "bdf2", "tolerance": 1e-8})
        job = Job(bodies=(rod,), frame_end=frames, frame_rate=rate)
        (jobs,) = grouped_jobs(job)
        prepared = [prepare(jobs[0])]
        model = prepared[0].model
        X = model.mesh.rest_positions
        states, iterations, F = [model.state_at(X, np.cross([0.0, 0.0, SPIN], X))], 0, [np.eye(3)]
        stepper, arms = GroupStepper(jobs, prepared), np.linalg.pinv(X - X.mean(axis=0))
        for frame in range(1, frames):
            states, reports = stepper.advance(states, frame)
            iterations += sum(report.iterations for report in reports[0])
            x = states[0].positions
            F.append((arms @ (x - x.mean(axis=0))).T)
        found = Rotation.from_matrix(F)
        R, words = found.as_matrix(), f"1/{rate:g} s"
        twist = np.degrees(np.arctan2(R[:, 2, 1] - R[:, 1, 2], R[:, 1, 1] + R[:, 2, 2]))
        off = np.degrees((_exact(np.arange(frames) / rate).inv() * found).magnitude())
        errors.append(float(np.sqrt(np.mean(off**2))))
        bar = 0.2 if rate == 480.0 else None
        yield row("joint_twist", f"{words}: rms error", errors[-1], "degrees", at_most=bar)
        yield row("joint_twist", f"{words}: largest twist", np.abs(twist).max(), "degrees", at_most=0.1)
        yield row("joint_twist", f"{words}: iterations a step", iterations / (frames - 1))
    for k in range(2):
        order = float(np.log2(errors[k + 1] / errors[k]))
        yield row("joint_twist", f"order from 1/{RATES[k + 1]:g} s", order, at_least=1.8)
