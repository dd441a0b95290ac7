"""Intersection-free scenes, in steps of 10 ms and of a frame, with Mixed FEM and Newton."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.schema.settings import ResolutionSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...core.methods.model.model import build_model
from ...core.methods.model.state import State
from ..creatures import carved
from ..meetings import Scene, box, plate, told, watch
from ..pictures import Snapshot, draw
from ..registry import Case, Row
from ..thin_bodies import ball

STEPS = {"10 ms": (0.01, 60), "1/24 s": (1.0 / 24.0, 24)}
SOLVERS = {"Mixed FEM": "mixed_fem", "Newton": "newton"}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each scene, with all methods."""
    for name, make in SCENES.items():
        yield Case(f"scene_{name}", partial(_watched, f"scene_{name}", make))


def _watched(case: str, make: Callable[[float, int], Scene]) -> Iterable[Row]:
    shots = []
    for words, (h, steps) in STEPS.items():
        for label, solver in SOLVERS.items():
            seen = watch(make(h, steps), steps, h, solver)
            yield from told(case, f"{label}, {words}", seen)
            end = seen.states[-1].positions
            shots.append(Snapshot(f"{label}, {words}", end, seen.whole.mesh.tets))
    draw("contact", case, shots)


def stack(_h: float, _steps: int) -> Scene:
    """Return five boxes, each slightly offset from the one below."""
    return Scene([box((0.012 * k, 0.006 * k, 0.002 + 0.102 * k)) for k in range(5)], [plate(0.0)])


def bars(_h: float, _steps: int) -> Scene:
    """Return four bars that fall across one another."""
    found = []
    for k in range(4):
        size, cells = ((0.4, 0.06, 0.06), (14, 2, 2)) if k % 2 == 0 else ((0.06, 0.4, 0.06), (2, 14, 2))
        at = (-0.2, -0.03, 0.01 + 0.08 * k) if k % 2 == 0 else (-0.03, -0.2, 0.01 + 0.08 * k)
        found.append(box(at, cells, size))
    return Scene(found, [plate(0.0)])


def hairpin(_h: float, steps: int, cell: float = 0.02) -> Scene:
    """Return a body with self-contact and two arms, pressed together by a plate."""

    def inside(p: np.ndarray) -> np.ndarray:
        x, z = p[:, 0], p[:, 2]
        slit = (x > -0.1) & (np.abs(z) < 0.03)
        return (np.abs(x) < 0.2) & (np.abs(p[:, 1]) < 0.04) & (np.abs(z) < 0.08) & ~slit

    mesh = carved((-0.22, -0.05, -0.1), (0.22, 0.05, 0.1), cell, inside)
    X = mesh.rest_positions - [0.0, 0.0, mesh.rest_positions[:, 2].min() - 0.002]
    top = X[:, 2].max() + 0.002
    model = build_model(TetMesh(X, mesh.tets), 5e4, 0.4, 1e3)

    def places(k: int) -> np.ndarray:
        down = 0.06 * min((k + 1) / (0.6 * steps), 1.0)
        return np.concatenate([plate(0.0)[0], plate(top - down)[0]])

    return Scene([model], [plate(0.0), plate(top)], selves=(0,), places=places)


def pile(_h: float, _steps: int) -> Scene:
    """Return ten dropped jellies."""
    rng, found = np.random.default_rng(1), []
    for k in range(10):
        at = np.array([0.12 * (k % 2), 0.06 * ((k // 2) % 2), 0.004 + 0.115 * (k // 2)]) + 0.004 * rng.random(3)
        found.append(box(at, (3, 3, 3), stiffness=2e4))
    return Scene(found, [plate(0.0)])


def crusher(_h: float, _steps: int) -> Scene:
    """Return a block between plates that close by 60 % in twelve steps, and open again."""
    first = np.concatenate([plate(0.0)[0], plate(0.104)[0]])

    def places(k: int) -> np.ndarray:
        down = 0.06 * min(k + 1, 12) / 12 * (1.0 if k < 18 else max(0.0, 1.0 - (k - 18) / 4))
        return first - np.outer(np.arange(8) >= 4, [0.0, 0.0, down])

    return Scene([box((0.0, 0.0, 0.002), (5, 5, 5))], [plate(0.0), plate(0.104)], places=places)


def impact(_h: float, _steps: int) -> Scene:
    """Return a block at 15 m/s that hits another one."""

    def thrown(whole) -> State:
        first = np.arange(whole.unknowns) < whole.slices[0].vertices.stop
        return whole.state_at(whole.mesh.rest_positions, np.outer(first, [15.0, 0.0, 0.0]))

    still = {"gravity": (0.0, 0.0, 0.0)}
    return Scene([box((0.0, 0.0, 0.0)), box((0.16, 0.03, 0.02))], state=thrown, settings=still)


def hoop(_h: float, _steps: int) -> Scene:
    """Return a ball in the draft lattice that falls through a hoop whose hole is 3 % smaller."""
    radius, tube, hole = 0.1, 0.02, 0.097
    mesh = tetrahedralize(ball(16, radius), ResolutionSettings(cells_across=10))
    lifted = mesh.rest_positions + [0.0, 0.0, radius + 3.0 * tube]
    body = build_model(TetMesh(lifted, mesh.tets), 2e4, 0.4, 1e3)

    def thrown(whole) -> State:
        return whole.state_at(whole.mesh.rest_positions, np.tile([0.0, 0.0, -1.0], (whole.unknowns, 1)))

    return Scene([body], [ring(hole + tube, tube)], 0.1, selves=(0,), state=thrown)


def ring(radius: float, tube: float, around: int = 48, across: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return a torus about z, its tube's middle on a circle of ``radius`` m; vertices and triangles."""
    k, j = (each.ravel() for each in np.indices((around, across)))
    a, b = 2.0 * np.pi * k / around, 2.0 * np.pi * j / across
    away = radius + tube * np.cos(b)
    next_k, next_j = (k + 1) % around, (j + 1) % across
    corners = [k * across + j, next_k * across + j, next_k * across + next_j, k * across + next_j]
    triangles = np.concatenate([np.stack([corners[i] for i in each], axis=1) for each in ((0, 1, 2), (0, 2, 3))])
    return np.column_stack([away * np.cos(a), away * np.sin(a), tube * np.sin(b)]), triangles


def mouth(h: float, steps: int) -> Scene:
    """Return a head whose pinned jaw rotates by 21 degrees, past contact of the lips, and opens again."""

    def inside(p: np.ndarray) -> np.ndarray:
        x, z = p[:, 0], p[:, 2]
        open_by = 0.02 + 0.3 * np.clip(x, 0.0, None)
        gap = (x > -0.05) & (np.abs(z) < 0.5 * open_by)
        lips = (np.hypot(x - 0.13, np.abs(z) - 0.055) < 0.03) & (np.abs(z) > 0.5 * 0.3 * 0.13)
        skull = np.hypot(x / 0.15, z / 0.13) < 1.0
        return (np.abs(p[:, 1]) < 0.06) & (skull & ~gap | lips)

    mesh = carved((-0.16, -0.07, -0.14), (0.18, 0.07, 0.14), 0.02, inside)
    X = mesh.rest_positions
    held = (np.abs(X[:, 2]) > 0.06) & (X[:, 0] > -0.1)
    model = build_model(mesh, 5e4, 0.4, 1e3, pinned=np.flatnonzero(held))

    def turned(k: int, pins: np.ndarray) -> np.ndarray:
        part = (k + 1) / (0.6 * steps)
        angle = np.radians(21.0) * (min(part, 1.0) if part < 1.2 else max(0.0, 1.0 - 3.0 * (part - 1.2)))
        c, s, joint = np.cos(angle), np.sin(angle), np.array([-0.06, 0.0, 0.0])
        jaw = (pins - joint) @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) + joint
        return np.where(pins[:, 2:] < 0.0, jaw, pins)

    return Scene([model], selves=(0,), pins=turned)


SCENES = {
    "stack": stack,
    "bars": bars,
    "hairpin": hairpin,
    "pile": pile,
    "crusher": crusher,
    "impact": impact,
    "hoop": hoop,
    "mouth": mouth,
}
"""By name: functions of the length and number of steps that return a scene."""
