"""Distant bodies in one group: time relative to separate bakes, and iterations by body."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, SolverSettings
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

FRAMES, SHORTENED, TURNED, SWAY = 13, 0.5, 1.0, 0.02
"""Frames; fraction of its length by which a strip is shortened, revolutions of one end, and displacement, m, of the
ends of easy bodies.
"""
APART = 0.6
"""Distance between the bodies, m."""
ROUNDS = 3
SAME = 1e-9
"""Distance to the frames of a body alone, m: a thousandth of the error of a converged step."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per solver."""
    for solver in ("mixed_fem", "newton", "linearly_implicit"):
        yield Case(f"islands_{solver}", partial(_islands, f"islands_{solver}", solver))


def _job(solver: str, name: str, y: float, cells: tuple[int, int, int], size: tuple[float, float, float]) -> Job:
    """Return a block at y held at both ends along its first axis: the ends of the hard one approach each other while
    one rotates, those of others sway.
    """
    mesh = block(cells, size)
    X = mesh.rest_positions + (0.0, y, 0.0)
    pins = np.flatnonzero(np.isin(X[:, 0], (0.0, size[0])))
    targets = np.tile(X[pins], (FRAMES, 1, 1))
    along = np.linspace(0.0, 1.0, FRAMES)
    if name == "hard":
        turning = X[pins, 0] > 0.0
        axis = X.mean(axis=0)
        c, s = np.cos(2.0 * np.pi * TURNED * along), np.sin(2.0 * np.pi * TURNED * along)
        Y, Z = (targets[:, turning, k] - axis[k] for k in (1, 2))
        targets[:, turning, 0] -= SHORTENED * size[0] * along[:, None]
        targets[:, turning, 1] = axis[1] + c[:, None] * Y - s[:, None] * Z
        targets[:, turning, 2] = axis[2] + s[:, None] * Y + c[:, None] * Z
    else:
        targets[:, :, 2] += SWAY * np.sin(2.0 * np.pi * along)[:, None]
    body = Body.of_tets(
        X,
        mesh.tets,
        name=name,
        materials=MaterialSettings("Rubber", 1e6 if name == "hard" else 1e5, 0.45),
        pinned_vertices=pins,
        pin_positions=targets,
        contact=ContactSettings(self_contact=name == "hard"),
        solver=SolverSettings(solver=solver, max_iterations=100),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=FRAMES, frame_rate=24.0)


def _timed(jobs: Sequence[Job]) -> tuple[float, list[np.ndarray], np.ndarray]:
    """Return the processor seconds of the frames of a group, the positions of each body at each frame (frames,n,3) m,
    and their iterations (frames,bodies).
    """
    prepared = [prepare(job) for job in jobs]
    start = time.process_time()
    frames = list(simulate_group(jobs, prepared))
    seconds = time.process_time() - start
    positions = [np.array([frame[k].state.positions for frame in frames]) for k in range(len(jobs))]
    return seconds, positions, np.array([[sum(r.iterations for r in own.reports) for own in frame] for frame in frames])


def _islands(case: str, solver: str) -> Iterable[Row]:
    """Measure the group and the single bodies alternately, the fastest of each."""
    warm_up(ignore)
    strip = "hard", 0.0, (30, 4, 2), (0.6, 0.08, 0.02)
    bars = [(f"easy {k}", k * (APART + 0.1), (18, 4, 4), (0.6, 0.1, 0.1)) for k in (-1, 1)]
    jobs = sorted((_job(solver, *each) for each in (strip, *bars)), key=lambda job: job.body.name)
    apart, together = [np.inf] * len(jobs), np.inf
    for _ in range(ROUNDS):
        alone = [_timed([job]) for job in jobs]
        apart = [min(*each) for each in zip(apart, (seconds for seconds, _, _ in alone))]
        seconds, positions, iterations = _timed(jobs)
        together = min(together, seconds)
    yield row(case, "seconds of all alone", sum(apart), "s")
    yield row(case, "seconds as a group", together, "s")
    yield row(case, "group over the sum of each alone", together / sum(apart), "", at_most=1.15)
    for k, job in enumerate(jobs):
        own = alone[k][2][:, 0]
        words = f"“{job.body.name}”"
        yield row(case, f"iterations alone, {words}", int(own.sum()))
        yield row(case, f"iterations in the group, {words}", int(iterations[:, k].sum()))
        yield row(case, f"frames with other iterations, {words}", int((own != iterations[:, k]).sum()), "", at_most=0)
        away = float(np.abs(positions[k] - alone[k][1][0]).max())
        yield row(case, f"farthest from alone, {words}", away, "m", at_most=SAME)
    curves = [Curve(job.body.name, range(FRAMES), iterations[:, k]) for k, job in enumerate(jobs)]
    draw("contact", case, [Plot(case, "frame", "iterations", curves)])
