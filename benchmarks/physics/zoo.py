"""Random odd meshes: flat, needles, disjoint, self-intersecting, soups; none moves farther than free fall allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from ...core.foundation.errors import SinewError, SubspaceError
from ...core.foundation.schema.settings import EARTH, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.jobs.store.cached_handles import APART
from ...core.methods.subspaces.display_handles import DisplayHandles
from ...core.methods.subspaces.skinning import skinned
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

SEEDS = 300
STEPS = 3
EVERY = 7
"""Full-space solvers use every seventh mesh, of every kind."""
RATE = 24.0
MODES = (8, 16, 32, 64)
FEWER = (6, 5, 4, 3, 2, 1)


def _part(rng: np.random.Generator, points: int, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed convex body around random points: vertices and outward triangles."""
    X = rng.standard_normal((points, 3)) * scale
    hull = ConvexHull(X, qhull_options="QJ")
    T = hull.simplices
    normals = np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]])
    inward = np.einsum("ij,ij->i", normals, X[T[:, 0]] - X.mean(axis=0)) < 0.0
    T[inward] = T[inward][:, ::-1]
    return X, T


def _joined(parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    X, T, count = [], [], 0
    for positions, triangles in parts:
        X.append(positions)
        T.append(triangles + count)
        count += len(positions)
    return np.concatenate(X), np.concatenate(T)


def _flat(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return _part(rng, int(rng.integers(5, 60)), np.array([1.0, 1.0, 10.0 ** rng.uniform(-5, -1)]))


def _needle(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    thin = 10.0 ** rng.uniform(-4, -1)
    return _part(rng, int(rng.integers(5, 60)), np.array([1.0, thin, thin * 10.0 ** rng.uniform(-1, 0)]))


def _disjoint(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    def part() -> tuple[np.ndarray, np.ndarray]:
        X, T = _part(rng, int(rng.integers(5, 30)), 10.0 ** rng.uniform(-2, 0, 3))
        return X + rng.uniform(-4.0, 4.0, 3), T

    return _joined(part() for _ in range(rng.integers(2, 6)))


def _crossing(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a ball whose vertices are moved by as much as its radius."""
    X = rng.standard_normal((int(rng.integers(12, 80)), 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    T = ConvexHull(X).simplices
    return X + rng.uniform(0.1, 1.0) * rng.standard_normal(X.shape), T


def _soup(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return random triangles, connected or not."""
    n = int(rng.integers(4, 40))
    X = rng.standard_normal((n, 3)) * 10.0 ** rng.uniform(-2, 0, 3)
    T = np.array([rng.choice(n, 3, replace=False) for _ in range(int(rng.integers(2, 3 * n)))])
    return X, T


KINDS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "flat": _flat,
    "needle": _needle,
    "disjoint": _disjoint,
    "crossing": _crossing,
    "soup": _soup,
}


def kind_of(seed: int) -> str:
    """Return the kind of mesh of a seed."""
    return list(KINDS)[seed % len(KINDS)]


def odd_job(seed: int, solver: str) -> Job:
    """Return the job of a seed: mesh, position, size, resolution, pins, stiffness and modes are random."""
    rng = np.random.default_rng(seed)
    X, T = KINDS[kind_of(seed)](rng)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    X = 10.0 ** rng.uniform(-2, 1) * (X @ turn + rng.choice([0.0, 1.0, 100.0]) * rng.standard_normal(3))
    is_held = rng.random() < 0.5
    pins = np.flatnonzero(X[:, 0] <= np.quantile(X[:, 0], rng.uniform(0.0, 0.4))) if is_held else np.empty(0, int)
    soft = 10.0 ** rng.uniform(3, 8)
    is_soft = rng.random(len(X)) < 0.5
    body = Body(
        surface=SurfaceMesh(X, T),
        materials=(
            MaterialSettings("Soft", soft),
            MaterialSettings("Stiff", soft * 10.0 ** rng.uniform(0, 5), 0.3),
        ),
        material_weights=np.column_stack([is_soft, ~is_soft]).astype(float),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (STEPS + 1, 1, 1)),
        resolution=ResolutionSettings(cells_across=int(rng.integers(2, 10))),
        solver=SolverSettings(solver=solver, modes=int(rng.choice(MODES))),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=1 + STEPS, frame_rate=RATE)


def prepared(job: Job) -> Prepared:
    """Return the prepared job, with as many of its modes as the body allows."""
    fewer = [count for count in (*FEWER[::-1], *MODES) if count < job.body.solver.modes]
    while True:
        try:
            return prepare(job)
        except SubspaceError:
            if not fewer:
                raise
            job = job.with_body(solver=replace(job.body.solver, modes=fewer.pop()))


class Flight(NamedTuple):
    """Movement of a body in a few steps, relative to free fall plus its size: of the surface, and of the surface as
    displayed by handles; their largest distance in sizes of the body; and True if every step converged.
    """

    moved: float
    shown: float
    apart: float
    converged: bool


def flight(job: Job) -> Flight:
    """Return the flight of a job. Raise named errors if it is rejected."""
    ready = prepared(job)
    rest, size, h = job.body.surface.positions, job.body.surface.size, job.time_step
    moved = shown = apart = 0.0
    converged, skins = True, ready.subspace and DisplayHandles(ready.subspace, ready.embedding)
    for k, frame in enumerate(simulate_body(job, ready)):
        U = frame.state.positions
        allowed = size + EARTH * h**2 * k * (k + 1) / 2.0
        x = ready.surface(U)
        seen = skinned(rest, skins.weights, ready.space.skinning.coordinates, skins.of(U)) if skins else x
        moved = max(moved, float(np.linalg.norm(x - rest, axis=1).max()) / allowed)
        shown = max(shown, float(np.linalg.norm(seen - rest, axis=1).max()) / allowed)
        apart = max(apart, float(np.linalg.norm(seen - x, axis=1).max()) / size)
        converged &= all(report.converged for report in frame.reports)
    return Flight(moved, shown, apart, converged)


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per solver."""
    for name, solver in SOLVER_KINDS.items():
        every = 1 if solver.takes_modes else EVERY
        yield Case(f"zoo_{name}", lambda name=name, every=every: _zoo(name, range(0, SEEDS, every)))


def _zoo(solver: str, seeds: range) -> Iterable[Row]:
    case, flights, refused = f"zoo_{solver}", {}, 0
    for seed in seeds:
        try:
            flights[seed] = flight(odd_job(seed, solver))
        except SinewError as error:
            refused += 1
            yield row(case, f"seed {seed}, {kind_of(seed)}, refused: {error.message}", math.nan)
    table = np.array(list(flights.values()))
    yield row(case, "meshes", len(table))
    yield row(case, "refused, with a remedy", refused, "", at_most=0.02 * len(seeds))
    for column, what in ((0, "moved"), (1, "shown to move")):
        yield row(
            case, f"farther {what} than a fall and a size", np.count_nonzero(table[:, column] > 1.0), "", at_most=0
        )
        yield row(case, f"farthest {what}, of a fall and a size", table[:, column].max())
    yield row(case, "shown beside it by over 2 %", np.count_nonzero(table[:, 2] > APART))
    yield row(case, "shown beside it at most, in sizes", table[:, 2].max())
    yield row(case, "not converged", np.count_nonzero(table[:, 3] == 0.0))
    at = np.array(list(flights))
    curves = []
    for k, kind in enumerate(KINDS):
        of_kind = np.array([kind_of(seed) == kind for seed in at])
        curves.append(Curve(kind, at[of_kind], table[of_kind, 0], f"C{k}."))
    limit = Curve("allowed", [0, SEEDS], [1.0, 1.0], "k--")
    panels = [Plot(f"{solver}: farthest movement", "seed", "of a fall and a size", [*curves, limit], log_y=True)]
    draw("physics", case, panels)
