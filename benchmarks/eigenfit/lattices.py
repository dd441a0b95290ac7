"""Coarse lattices matched to a fine one: pushed jobs, with and without Match Resolution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.foundation.events import OnEvent, ignore
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.forces.acceleration_field import AccelerationField
from ...core.methods.eigenfit.vibrations import vibrations
from ...core.simulation.frame_loop.stepper import Stepper
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..bodies import boundary_surface, has, suzanne
from ..physics.lattice import HEAD_CUBE, cube_surface, head_cubes
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..resolutions import FREQUENCY, PUSHED, STEP, STILL, Field, push

FRAMES, FINE, COARSE = 101, 24, (8, 12)
HELD = 0.15
"""Pinned fraction of the body, from one end."""
CONTRAST = 100.0
"""Stiffness ratio of the painted part."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield Suzanne, if Blender can be imported, and a head with ears, held at the chin; the gummy bear, of one
    material and painted, if available.
    """
    if find_spec("bpy"):
        yield Case("lattice_suzanne", lambda: _compared("lattice_suzanne", _Shape(suzanne(2.0), 2), COARSE))
    yield Case("lattice_head", lambda: _compared("lattice_head", _Shape(_head(), 2), COARSE))
    if has(data, "gummy_bear"):
        yield Case(
            "lattice_bear", lambda: _compared("lattice_bear", _Shape(boundary_surface(data, "gummy_bear"), 0), COARSE)
        )
        painted = "lattice_painted_bear"
        yield Case(
            painted,
            lambda: _compared(painted, _Shape(boundary_surface(data, "gummy_bear"), 0, CONTRAST), (*COARSE, 16)),
        )


def _head() -> SurfaceMesh:
    cubes = head_cubes()
    return cube_surface(cubes, tuple(HEAD_CUBE * np.array(cubes.shape)))


class _Shape(NamedTuple):
    """A surface, and the axis at whose lower end it is held."""

    surface: SurfaceMesh
    axis: int
    contrast: float = 1.0


def _job(shape: _Shape, cells: int, stiffness: float, **settings: object) -> Job:
    """Return the job of a body pinned at one end; if painted, the third at its other end is stiffer."""
    X = shape.surface.positions
    along = (X[:, shape.axis] - X[:, shape.axis].min()) / np.ptp(X[:, shape.axis])
    pins, stiff = np.flatnonzero(along < HELD), along > 2 / 3
    body = Body(
        surface=shape.surface,
        materials=tuple(MaterialSettings(f"{E:g}", stiffness * E, 0.45, 1e3) for E in (1.0, shape.contrast)),
        material_weights=np.column_stack([~stiff, stiff]).astype(float),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (FRAMES, 1, 1)),
        resolution=ResolutionSettings(cells_across=cells),
        solver=SolverSettings(gravity=STILL, max_iterations=30, **settings),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=FRAMES, frame_rate=1.0 / STEP)


def simulated(job: Job, a: Field | None = None, on_event: OnEvent = ignore) -> tuple[np.ndarray, Prepared]:
    """Simulate a job of one body under the accelerations ``a``, if any, for the first PUSHED seconds. Return its
    surface at each frame, (frames,n,3), m.
    """
    prepared = prepare(job, on_event=on_event)
    model, stepper, state = prepared.model, Stepper(job, prepared), prepared.first_state()
    push = (AccelerationField(model.mass @ a(model.mesh.rest_positions)),) if a else ()
    seen = [prepared.surface(state.positions, 0)]
    for k in range(1, job.frame_count):
        state, _reports = stepper.advance(state, k, lambda _part, k=k: push if k * STEP < PUSHED + 1e-9 else ())
        seen.append(prepared.surface(state.positions, k))
    return np.array(seen), prepared


def _compared(case: str, shape: _Shape, coarse: tuple[int, ...]) -> Iterable[Row]:
    soft = prepare(_job(shape, FINE, 1e5)).model
    E = 1e5 * (FREQUENCY / vibrations(soft, 1).frequencies[0]) ** 2
    a = push(prepare(_job(shape, FINE, E)).model, 0.1)
    fine, prepared = simulated(_job(shape, FINE, E), a)
    amplitude = np.linalg.norm(fine - fine[0], axis=2).max()
    yield row(case, f"tets, {FINE} cells", len(prepared.model.mesh.tets))
    yield row(case, "amplitude, of the size", amplitude / soft.size)
    times, curves, swung = STEP * np.arange(FRAMES), [], {}
    for cells in coarse:
        errors = {}
        for words, settings in (("plain", {}), ("matched", {"match_resolution": True, "match_cells": FINE})):
            swung[words, cells], prepared = simulated(_job(shape, cells, E, **settings), a)
            away = np.linalg.norm(swung[words, cells] - fine, axis=2).max(axis=1)
            errors[words] = 100.0 * away.max() / amplitude
            bar = max(errors["plain"] / 6.0, 6.0) if words == "matched" else None
            yield row(case, f"{cells} cells: error, {words}", errors[words], "%", at_most=bar)
            curves.append(Curve(f"{cells} cells, {words}", times, away))
        yield row(case, f"{cells} cells: tets", len(prepared.model.mesh.tets))
        yield row(case, f"{cells} cells: matched of 10", len(prepared.matching.pairs.coarse))
    if len(coarse) > 2:
        for words, bar in (("plain", None), ("matched", 8.0)):
            apart = [
                np.linalg.norm(swung[words, a] - swung[words, b], axis=2).max() for a, b in combinations(coarse, 2)
            ]
            yield row(case, f"{coarse} cells apart, {words}", 100.0 * max(apart) / amplitude, "%", at_most=bar)
    draw("eigenfit", case, [Plot(f"away from {FINE} cells", "t (s)", "m", curves)])
