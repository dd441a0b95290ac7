"""[MFEM22] Fig. 1: three space people over eight orders of stiffness fall onto the ground with 5 + 5 iterations."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.contact.penalty.contact_points import ContactPoints
from ...core.contact.penalty.obstacle import GroundPlane
from ...core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...core.foundation.schema.settings import ResolutionSettings, SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...core.methods.model.model import build_model
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

STIFFNESS = {"soft": 2e4, "rubber": 2e8, "rigid": 2e12}
DENSITY, STEP, STEPS, DROP = 1e3, 1 / 30, 60, 0.5
CELLS = 16

# Ends and radius of each capsule of a person of 1 m, m.
_PARTS = [
    ((0.0, 0.0, 0.45), (0.0, 0.0, 0.62), 0.15),  # trunk
    ((0.0, 0.0, 0.85), (0.0, 0.0, 0.86), 0.14),  # helmet
    ((0.0, 0.17, 0.45), (0.0, 0.17, 0.65), 0.1),  # oxygen
    ((-0.1, 0.0, 0.4), (-0.14, 0.0, 0.08), 0.075),  # legs
    ((0.1, 0.0, 0.4), (0.14, 0.0, 0.08), 0.075),
    ((-0.12, 0.0, 0.66), (-0.36, -0.05, 0.5), 0.06),  # arms
    ((0.12, 0.0, 0.66), (0.36, -0.05, 0.82), 0.06),
]


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case with the three bodies."""
    yield Case("drop", _drop)


def space_person(rings: int = 12) -> SurfaceMesh:
    """Return overlapping capsules, some 1 m tall; the lattice fills their union."""
    positions, triangles, count = [], [], 0
    for start, end, radius in _PARTS:
        p, faces = _rod(np.array(start), np.array(end), radius, rings)
        positions.append(p)
        triangles.append(faces + count)
        count += len(p)
    return SurfaceMesh(np.concatenate(positions), np.concatenate(triangles))


def _rod(start: np.ndarray, end: np.ndarray, radius: float, rings: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a capsule: a sphere whose halves are moved apart along the axis."""
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.cross(axis, [0.3, 0.9, 0.1])
    side /= np.linalg.norm(side)
    theta = np.linspace(0.0, np.pi, 2 * rings)[:, None]
    phi = np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)[None]
    around = np.cos(phi)[..., None] * side + np.sin(phi)[..., None] * np.cross(axis, side)
    points = radius * (np.sin(theta)[..., None] * around - np.cos(theta)[..., None] * axis)
    points += np.where(theta > 0.5 * np.pi, 1.0, 0.0)[..., None] * (end - start) + start
    a = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])[:-1]
    b = np.roll(a, -1, axis=1)
    n = points.shape[1]
    quads = np.stack([a, b, b + n, a + n], -1).reshape(-1, 4)
    return points.reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _drop() -> Iterable[Row]:
    warm_up(lambda _event: None)
    surface = space_person()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=CELLS))
    yield row("drop", "vertices", len(mesh.rest_positions))
    yield row("drop", "tets", len(mesh.tets))
    curves, shots = [], []
    for name, E in STIFFNESS.items():
        heights, seconds, lowest, x = _fall(surface, mesh, E)
        yield row("drop", f"positions that are not numbers, {name}", np.count_nonzero(~np.isfinite(x)), "", at_most=0)
        yield row("drop", f"deepest point / size, {name}", -lowest.min(), "", at_most=0.02)
        yield row("drop", f"lowest point in the end / size, {name}", abs(lowest[-1]), "", at_most=5e-3)
        yield row("drop", f"a step, {name}", 1e3 * float(np.median(seconds)), "ms")
        curves.append(Curve(f"E = {E:g} Pa", STEP * np.arange(len(heights)), heights))
        shots.append(Snapshot(f"E = {E:g} Pa", x, mesh.tets))
    draw("full-space", "drop", [*shots, Plot("Centre", "t (s)", "height (m)", curves)], columns=4)


def _fall(surface: SurfaceMesh, mesh: TetMesh, E: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return heights (m) of the centre and the lowest point, and seconds, of each step; last positions."""
    model = build_model(mesh, E, 0.45, DENSITY)
    points = ContactPoints.of(surface, mesh, np.full(len(mesh.tets), E))
    numbers = PenaltyParameters.for_body(DENSITY, surface.size, 9.81, STEP)
    load = PenaltyContact(points, GroundPlane(0.0), 0.5, numbers, STEP)
    settings = SolverSettings(max_iterations=5, linear_solver="pcg")
    solver = make_solver(model, settings)
    state = model.state_at(mesh.rest_positions + [0.0, 0.0, DROP])
    heights, seconds, lowest = [], [], []
    for _ in range(STEPS):
        begin = time.perf_counter()
        state, _report = solver.step(state, np.zeros((0, 3)), STEP, (load,))
        seconds.append(time.perf_counter() - begin)
        heights.append(float(state.positions[:, 2].mean()))
        lowest.append(float(points.points.positions(state.positions)[:, 2].min()))
    return np.array(heights), np.array(seconds), np.array(lowest), state.positions
