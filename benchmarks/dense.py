"""Dense surfaces on a ground: time of preparation, share of computations for warnings, and cost of a frame."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ..core.foundation.events import ignore
from ..core.foundation.schema.settings import MaterialSettings, ResolutionSettings
from ..core.jobs.job.body import Body
from ..core.jobs.job.environment import Ground
from ..core.jobs.job.job import Job
from ..core.simulation.frame_loop.compile_kernels import warm_up
from ..core.simulation.frame_loop.single_body import simulate_body
from ..core.simulation.preparation.mesh_report import mesh_report
from ..core.simulation.preparation.prepare import materials, prepare, tetrahedra
from .pictures import Snapshot, draw
from .registry import Case, Row, row
from .spine import bumpy_sphere

FRAMES = 4
SIZES = {"41k": (200, 205), "164k": (400, 410), "656k": (800, 820)}
"""Rings, and vertices on each."""
SHARE = 0.1
"""Maximum fraction of the preparation spent on computations for warnings."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield a sphere with bumps of each size."""
    for name, (rings, segments) in SIZES.items():
        yield Case(name, partial(_dense, name, rings, segments))


def _job(rings: int, segments: int) -> Job:
    surface = bumpy_sphere(rings, segments)
    lowest = float(surface.positions[:, 2].min())
    body = Body(
        surface=surface,
        materials=MaterialSettings("Flesh", youngs_modulus=5e4, density=1050.0),
        colliders=(Ground(height=lowest - 0.002),),
        resolution=ResolutionSettings(cells_across=12),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=FRAMES)


def _dense(name: str, rings: int, segments: int) -> Iterable[Row]:
    warm_up(ignore)
    list(simulate_body(job := _job(40, 41), prepare(job)))  # loads the kernels
    job = _job(rings, segments)
    mesh, embedding = tetrahedra(job, None, ignore)
    fields = materials(job, mesh, embedding, None, ignore)[0]
    begun = time.perf_counter()
    mesh_report(job, mesh, embedding, fields)
    figures = time.perf_counter() - begun
    job, begun = _job(rings, segments), time.perf_counter()
    prepared = prepare(job)
    whole = time.perf_counter() - begun
    begun = time.perf_counter()
    for step in simulate_body(job, prepared):
        shown = prepared.surface(step.state.positions)
    frame = (time.perf_counter() - begun) / (FRAMES - 1)
    yield row(name, "vertices", len(job.body.surface.positions))
    yield row(name, "preparation", whole, "s")
    yield row(name, "figures for warnings", figures, "s")
    yield row(name, "their share of the preparation", figures / whole, "", at_most=SHARE)
    yield row(name, "a frame", frame, "s")
    yield row(name, "memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, "GB")
    draw("dense", name, [Snapshot("the last frame", step.state.positions, prepared.model.mesh.tets)])
    assert np.isfinite(shown).all()
