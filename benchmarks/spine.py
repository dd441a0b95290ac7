"""Headline scene: its draft lattice, and size and cost of a Mixed FEM iteration.

Its body is the demo's (a bumpy sphere of that size without Blender).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..core.foundation.events import ignore
from ..core.foundation.schema.settings import MaterialSettings, ResolutionSettings
from ..core.geometry.mesh.embedding import embed
from ..core.geometry.mesh.surface_mesh import SurfaceMesh
from ..core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from ..core.jobs.job.body import Body
from ..core.jobs.job.job import Job
from ..core.methods.model.model import Model
from ..core.numerics.optimization.step_report import StepReport
from ..core.simulation.frame_loop.compile_kernels import warm_up
from ..core.simulation.frame_loop.single_body import simulate_body
from ..core.simulation.preparation.prepare import prepare
from .bodies import suzanne
from .measures import PARTS
from .pictures import Snapshot, draw
from .registry import Case, Row, row


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the draft lattice, and half a second of the scene."""
    yield Case("draft", _draft)
    yield Case("headline", _headline)


def _iteration_rows(case: str, model: Model, reports: list[StepReport]) -> Iterator[Row]:
    """Yield vertices, tets, and milliseconds per iteration with their breakdown."""
    iterations = sum(r.iterations for r in reports)
    yield row(case, "vertices", len(model.mesh.rest_positions))
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, "iterations a step", iterations / len(reports))
    total = 0.0
    for part in PARTS:
        seconds = sum(r.seconds.get(part, 0.0) for r in reports)
        total += seconds
        yield row(case, f"{part} an iteration", 1e3 * seconds / iterations, "ms")
    yield row(case, "Mixed FEM iteration", 1e3 * total / iterations, "ms")


def _headline_surface() -> SurfaceMesh:
    """Return Suzanne, subdivided twice, as in the demo, or a bumpy sphere without Blender."""
    return suzanne(0.5, 2) or bumpy_sphere()


def bumpy_sphere(rings: int = 60, segments: int = 120) -> SurfaceMesh:
    """Return a closed surface of ``rings * segments`` vertices, about 0.5 m across."""
    theta, phi = np.meshgrid(
        np.linspace(0, np.pi, rings), np.linspace(0, 2 * np.pi, segments, endpoint=False), indexing="ij"
    )
    radius = 0.25 * (1 + 0.15 * np.sin(3 * theta) * np.cos(4 * phi))
    points = radius[..., None] * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)
    a = np.arange(rings * segments).reshape(rings, segments)[:-1]
    b = np.roll(a, -1, axis=1)
    quads = np.stack([a, a + segments, b + segments, b], -1).reshape(-1, 4)
    return SurfaceMesh(points.reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def _draft() -> Iterable[Row]:
    """Time the draft lattice at 30 cells across, and the embedding of the surface in it; the fastest of three."""
    warm_up(ignore)
    surface, resolution = _headline_surface(), ResolutionSettings(cells_across=30)
    filling, embedding = [], []
    for _ in range(3):
        start = time.perf_counter()
        mesh = tetrahedralize(surface, resolution)
        filling.append(time.perf_counter() - start)
        outside = int(np.count_nonzero(embed(surface.positions, mesh).outside))
        embedding.append(time.perf_counter() - start - filling[-1])
    yield row("draft", "surface vertices", len(surface.positions))
    yield row("draft", "tets at 30 cells across", len(mesh.tets))
    yield row("draft", "lattice", min(filling), "s", at_most=2.0)
    yield row("draft", "embedding", min(embedding), "s")
    yield row("draft", "vertices outside", outside, "", at_most=0)
    draw("spine", "draft", [Snapshot("the lattice", mesh.rest_positions, mesh.tets)])


def _headline() -> Iterable[Row]:
    warm_up(ignore)
    surface = _headline_surface()
    X = surface.positions
    pins = np.flatnonzero(X[:, 1] > 0.2 * np.abs(X).max())
    bone = np.abs(X[:, 0]) > 0.63 * np.abs(X).max()
    shake = np.zeros((13, 1, 3))
    shake[:, 0, 0] = 0.1 * np.sin(0.4 * np.arange(13))
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", 5e4), MaterialSettings("Bone", 1e9, 0.3, 1900.0)),
        material_weights=np.column_stack([~bone, bone]).astype(float),
        pinned_vertices=pins,
        pin_positions=X[pins] + shake,
        resolution=ResolutionSettings(cells_across=24),
    )
    job = Job(bodies=(body,), frame_start=1, frame_end=13, frame_rate=24.0)
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    state, reports = frames[-1].state, [report for frame in frames for report in frame.reports]
    yield row("headline", "surface vertices", len(X))
    yield from _iteration_rows("headline", prepared.model, reports)
    stiffness = prepared.model.elastic.parameters[:, 0]
    draw("spine", "headline", [Snapshot("after 12 frames", state.positions, prepared.model.mesh.tets, stiffness)])
