"""Mass of the draft lattice: volume and centre of each part compared with the surface's, from 8 cells along.

The reference for closed surfaces without self-intersections is the divergence theorem; for others, a million random
points and their winding numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles, components
from ...core.geometry.mesh.winding_number import WindingNumber
from ...core.geometry.tetrahedra.lattice import lattice_tets
from ..bodies import block
from ..creatures import crab, swordsman
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

CELLS = (8, 12, 20, 30)
POINTS = 1_000_000
VOLUME_BAR, CENTRE_BAR = 0.01, 0.1


def cases(data: Path | None) -> Iterator[Case]:
    """Yield bars along and across the lattice, creatures, odd surfaces, then every body of the folder."""
    yield Case("mass_bars", partial(_against_divergence, "mass_bars", _bars()))
    yield Case("mass_parts", partial(_against_divergence, "mass_parts", {"two bars and a plate": _parts()}))
    yield Case("mass_creatures", _creatures)
    yield Case("mass_odd_surfaces", _odd_surfaces)
    for path in sorted(data.glob("*.npz")) if data else ():
        case = f"mass_{path.stem}"
        yield Case(case, lambda path=path, case=case: _against_divergence(case, {path.stem: _reference(path)}))


def _surface(mesh: TetMesh) -> SurfaceMesh:
    return SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))


def _box(sides: tuple[float, float, float], place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> SurfaceMesh:
    made = _surface(block((1, 1, 1), sides))
    return SurfaceMesh(made.positions + place, made.triangles)


def _turned(surface: SurfaceMesh, angle: float = 0.4) -> SurfaceMesh:
    """Rotate a surface about two axes."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)]) @ np.array([(1, 0, 0), (0, c, -s), (0, s, c)])
    return SurfaceMesh(surface.positions @ turn.T, surface.triangles)


def _joined(*surfaces: SurfaceMesh) -> SurfaceMesh:
    starts = np.cumsum([0, *(len(s.positions) for s in surfaces)])
    triangles = [s.triangles + start for s, start in zip(surfaces, starts)]
    return SurfaceMesh(np.vstack([s.positions for s in surfaces]), np.vstack(triangles))


def _bars() -> dict[str, SurfaceMesh]:
    straight = {f"{n}:1": _box((1.0, 1.0 / n, 1.0 / n)) for n in (8, 20)}
    return straight | {f"{name} turned": _turned(bar) for name, bar in straight.items()}


def _parts() -> SurfaceMesh:
    plate = _box((0.9, 0.9, 0.01), (0.05, 0.02, 0.77))
    return _joined(_box((1.0, 0.05, 0.05)), _turned(_box((0.9, 0.03, 0.04), (0.0, 0.43, 0.21)), 0.1), plate)


def _reference(path: Path) -> SurfaceMesh:
    body = np.load(path)
    return _surface(TetMesh(body["vertices"], body["tets"]))


def _creatures() -> Iterable[Row]:
    bodies = {"crab": _surface(crab().mesh), "swordsman": _surface(swordsman().model.mesh)}
    return _against_divergence("mass_creatures", bodies)


def _odd_surfaces() -> Iterable[Row]:
    ball = _ball()
    bodies = {
        "inside out": SurfaceMesh(ball.positions, ball.triangles[:, ::-1]),
        "crossing": _joined(ball, SurfaceMesh(ball.positions + (0.8, 0.1, 0.0), ball.triangles)),
        "nested": _joined(ball, SurfaceMesh(0.4 * ball.positions, ball.triangles)),
        "open": SurfaceMesh(ball.positions, ball.triangles[ball.positions[ball.triangles][:, :, 2].mean(axis=1) < 0.7]),
    }
    truth = {name: (_counted(surface), None) for name, surface in bodies.items()}
    return _rows("mass_odd_surfaces", bodies, truth)


def _ball(rings: int = 24) -> SurfaceMesh:
    """Return a ball of quads along meridians, split into triangles."""
    around = np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)
    down = np.linspace(0.0, np.pi, rings + 1)[1:-1]
    points = [(np.sin(d) * np.cos(a), np.sin(d) * np.sin(a), np.cos(d)) for d in down for a in around]
    n, k = len(around), np.arange(len(around))
    triangles = [np.column_stack([np.full(n, len(points)), k, (k + 1) % n])]
    for ring in range(len(down) - 1):
        a, b = ring * n + k, ring * n + (k + 1) % n
        triangles += [np.column_stack([a, a + n, b]), np.column_stack([b, a + n, b + n])]
    last = (len(down) - 1) * n
    triangles.append(np.column_stack([np.full(n, len(points) + 1), last + (k + 1) % n, last + k]))
    return SurfaceMesh(np.vstack([points, [(0, 0, 1), (0, 0, -1)]]), np.vstack(triangles))


def _counted(surface: SurfaceMesh) -> float:
    low, high = surface.positions.min(axis=0), surface.positions.max(axis=0)
    points = np.random.default_rng(0).uniform(low, high, (POINTS, 3))
    return float(WindingNumber(surface.positions, surface.triangles).contains(points).mean() * np.prod(high - low))


Parts = list[tuple[float, np.ndarray]]


def _divergence(surface: SurfaceMesh) -> Parts:
    """Return volume and centre of each connected part."""
    t, n = surface.triangles, len(surface.positions)
    graph = coo_matrix((np.ones(2 * len(t)), (t[:, :2].ravel("F"), t[:, 1:].ravel("F"))), shape=(n, n))
    labels = connected_components(graph, directed=False)[1][t[:, 0]]
    found = []
    for label in np.unique(labels):
        corners = surface.positions[t[labels == label]]
        origin = corners.mean(axis=(0, 1))
        corners = corners - origin
        volumes = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
        centre = volumes @ corners.sum(axis=1) / 4.0 / volumes.sum() + origin
        found.append((float(volumes.sum()), centre))
    return found


def _against_divergence(case: str, bodies: dict[str, SurfaceMesh]) -> Iterable[Row]:
    parts = {name: _divergence(surface) for name, surface in bodies.items()}
    return _rows(case, bodies, {name: (sum(v for v, _ in found), found) for name, found in parts.items()})


def _rows(case: str, bodies: dict[str, SurfaceMesh], truth: dict[str, tuple[float, Parts | None]]) -> Iterable[Row]:
    curves, shots = [], []
    for name, surface in bodies.items():
        whole, parts = truth[name]
        off = []
        for cells in CELLS:
            start = time.perf_counter()
            mesh = lattice_tets(surface, cells)
            seconds = time.perf_counter() - start
            off.append(mesh.body_volumes.sum() / abs(whole) - 1.0)
            words = f"{name}, {cells} cells"
            yield row(case, f"{words}: volume off by", abs(off[-1]), "", at_most=VOLUME_BAR)
            if parts is not None:
                cell = surface.size / (cells - 0.5)
                yield row(case, f"{words}: centre off by", _centre_off(mesh, parts) / cell, "cells", CENTRE_BAR)
            yield row(case, f"{words}: lattice", seconds, "s")
        curves.append(Curve(name, CELLS, 100.0 * np.array(off), "o-"))
        shots.append(Snapshot(f"{name}, {CELLS[0]} cells", *_first(surface)))
    draw("physics", case, [*shots, Plot("volume over the surface's", "cells along", "% off", curves)])


def _first(surface: SurfaceMesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mesh = lattice_tets(surface, CELLS[0])
    return mesh.rest_positions, mesh.tets, mesh.fill


def _centre_off(mesh: TetMesh, parts: Parts) -> float:
    """Return the largest error of a part's centre, m, or of the whole if the number of parts differs."""
    labels = components(mesh.tets, len(mesh.rest_positions))
    held, corners = mesh.corner_volumes, mesh.rest_positions[mesh.tets]
    if labels.max() + 1 != len(parts):
        labels = np.zeros(len(mesh.tets), dtype=int)
        volumes = np.array([volume for volume, _ in parts])
        parts = [(volumes.sum(), volumes @ np.array([centre for _, centre in parts]) / volumes.sum())]
    centres = np.array([centre for _, centre in parts])
    worst = 0.0
    for label in range(labels.max() + 1):
        mine = labels == label
        centre = np.einsum("tc,tci->i", held[mine], corners[mine]) / held[mine].sum()
        worst = max(worst, float(np.linalg.norm(centres - centre, axis=1).min()))
    return worst
