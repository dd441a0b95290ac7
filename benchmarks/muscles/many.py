"""A block with 200 short muscles in random directions: preparation, steps, and its subspace."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.jobs.job.muscle import FibreCurve, Muscle
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import prepare
from ..physics.lattice import cube_surface
from ..registry import Case, Row, row

SIZE, COUNTS = (1.0, 0.5, 0.25), (10, 5, 4)
"""Sides of the block, m, and muscles along them."""
FEW, CELLS, FRAMES = 2, 24, 7
ITERATION, PREPARATION = 1.2, 0.04
"""Largest time of an iteration with 200 muscles over that with 2; largest time of preparation for each muscle, s."""
SUBSPACE, ALL, ERROR = 60.0, 10.0, 15.0
"""Largest time of preparation of the subspace, s, and errors of its pose with all elements and by cubature, %."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the cases."""
    yield Case("many", _many)
    yield Case("many_subspace", _subspace)


def _block(count: int, lowest: float = 0.3, highest: float = 1.0, **solver: object) -> Job:
    """Return a block with ``count`` muscles, each a short curve with a material of its own, held at one end.

    ``lowest``, ``highest``: range of the muscles' activations in the last frame, at random.
    """
    surface = cube_surface(np.ones((20, 10, 5), dtype=bool), SIZE)
    axes = [(np.arange(k) + 0.5) / k * side for k, side in zip(COUNTS, SIZE, strict=True)]
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    centres = centres[:: len(centres) // count][:count]
    rng, flesh = np.random.default_rng(0), MaterialSettings("Flesh", 3e4, 0.45, 1e3)
    along = rng.standard_normal(centres.shape)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    rising = np.minimum(np.arange(FRAMES) / 4.0, 1.0)
    muscles = []
    for k, (centre, direction) in enumerate(zip(centres, along, strict=True)):
        curve = FibreCurve(centre + np.linspace(-0.03, 0.03, 3)[:, None] * direction, np.full(3, 0.025))
        settings = MuscleSettings(strength=3e5)
        muscles.append(Muscle(k + 1, settings, rising * rng.uniform(lowest, highest), curves=(curve,)))
    body = Body(
        surface=surface,
        materials=(flesh, *(replace(flesh, name=f"Muscle {k}") for k in range(count))),
        pinned_vertices=np.flatnonzero(surface.positions[:, 0] < 0.03),
        resolution=ResolutionSettings(cells_across=CELLS),
        muscles=tuple(muscles),
        solver=SolverSettings(**{"integrator": "statics", "gravity": (0.0, 0.0, 0.0)} | solver),
    )
    return Job(bodies=(body,), frame_end=FRAMES)


def _timed(job: Job) -> tuple[np.ndarray, float, float, int]:
    """Return the surface in the last frame, seconds of preparation, seconds an iteration, and elements."""
    start = time.perf_counter()
    prepared = prepare(job)
    ready = time.perf_counter()
    frames = list(simulate_body(job, prepared))
    seconds = time.perf_counter() - ready
    iterations = sum(report.iterations for frame in frames for report in frame.reports)
    surface = prepared.surface(frames[-1].state.positions, FRAMES - 1)
    return surface, ready - start, seconds / iterations, len(prepared.space.elastic.weights)


def _many() -> Iterable[Row]:
    warm_up(ignore)
    of, found = len(np.ones(COUNTS).ravel()), {}
    for count in (FEW, of):
        found[count] = _timed(_block(count))
        yield row("many", f"{count} muscles: preparation", found[count][1], "s")
        yield row("many", f"{count} muscles: an iteration", found[count][2], "s")
    each = (found[of][1] - found[FEW][1]) / (of - FEW)
    yield row("many", "preparation of one more muscle", each, "s", at_most=PREPARATION)
    yield row("many", f"an iteration, {of} / {FEW} muscles", found[of][2] / found[FEW][2], at_most=ITERATION)


def _subspace() -> Iterable[Row]:
    """Yield the error of the subspace at one activation of all muscles, and at random ones, which it cannot contain."""
    warm_up(ignore)
    count = len(np.ones(COUNTS).ravel())
    for activations, (lowest, highest), bars in (
        ("equal", (0.7, 0.7), (ALL, ERROR)),
        ("random", (0.3, 1.0), (None,) * 2),
    ):
        full = _block(count, lowest, highest)
        x, still = _timed(full)[0], full.body.surface.positions
        moved = np.linalg.norm(x - still, axis=1).max()
        yield row("many_subspace", f"{activations}: largest displacement", moved, "m")
        for words, points, bar in zip(("all elements", "640 points"), (100_000, 640), bars, strict=True):
            job = _block(count, lowest, highest, solver="subspace_mixed_fem", cubature_points=points)
            found, preparation, iteration, elements = _timed(job)
            error = 100.0 * np.linalg.norm(found - x, axis=1).max() / moved
            yield row("many_subspace", f"{activations}, {words} ({elements}): error", error, "%", at_most=bar)
            yield row("many_subspace", f"{activations}, {words}: preparation", preparation, "s", at_most=SUBSPACE)
            yield row("many_subspace", f"{activations}, {words}: an iteration", iteration, "s")
