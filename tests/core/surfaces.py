"""Bodies built in code, good and bad."""

from __future__ import annotations

import numpy as np
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh


def sphere(rounds: int = 3, radius: float = 1.0, centre: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> SurfaceMesh:
    """An octahedron subdivided and blown up, pointing outwards."""
    points = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    points = [np.array(p, dtype=float) for p in points]
    for _ in range(rounds):
        middles: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int, known: dict[tuple[int, int], int] = middles) -> int:
            key = (min(a, b), max(a, b))
            if key not in known:
                known[key] = len(points)
                p = points[a] + points[b]
                points.append(p / np.linalg.norm(p))
            return known[key]

        finer = []
        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    return SurfaceMesh(radius * np.array(points) + centre, np.array(faces))


def box(sides: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> SurfaceMesh:
    """Eight vertices, twelve triangles, pointing outwards."""
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float) * sides
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return SurfaceMesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def joined(*surfaces: SurfaceMesh) -> SurfaceMesh:
    """Several surfaces as one, nothing merged."""
    offsets = np.cumsum([0] + [len(s.positions) for s in surfaces])
    return SurfaceMesh(
        np.concatenate([s.positions for s in surfaces]),
        np.concatenate([s.triangles + o for s, o in zip(surfaces, offsets)]),
    )


def _open_sphere() -> SurfaceMesh:
    s = sphere()
    kept = s.triangles[s.positions[s.triangles][:, :, 2].min(axis=1) < 0.8]
    used, triangles = np.unique(kept, return_inverse=True)
    return SurfaceMesh(s.positions[used], triangles.reshape(-1, 3))


def _finned_sphere() -> SurfaceMesh:
    s = sphere()
    fin = [s.triangles[0, 0], s.triangles[0, 1], len(s.positions)]
    tip = s.positions[s.triangles[0, :2]].mean(axis=0) * 1.5
    return SurfaceMesh(np.vstack([s.positions, tip]), np.vstack([s.triangles, fin]))


def _zero_area_faces() -> SurfaceMesh:
    s = sphere()
    a, b = s.triangles[0, :2]
    return SurfaceMesh(s.positions, np.vstack([s.triangles, [[a, a, a], [a, b, b], [a, b, a]]]))


def _sheet(tilt: float) -> SurfaceMesh:
    c, s = np.cos(tilt), np.sin(tilt)
    flat = np.array([(0, 0, 0), (1, 0, 0), (1, 0.7, 0), (0, 0.7, 0)], dtype=float)
    turn = np.array([(1, 0, 0), (0, c, -s), (0, s, c)]) @ np.array([(c, 0, s), (0, 1, 0), (-s, 0, c)])
    return SurfaceMesh(flat @ turn.T, [(0, 1, 2), (0, 2, 3)])


def _soup() -> SurfaceMesh:
    """Random triangles, not connected to each other by vertices."""
    rng = np.random.default_rng(7)
    points = (rng.random((40, 1, 3)) + 0.3 * rng.random((40, 3, 3))).reshape(-1, 3)
    return SurfaceMesh(points, np.arange(120).reshape(-1, 3))


BODIES = {
    "sphere": sphere,
    "cube": box,
    "open": _open_sphere,
    "inside_out": lambda: SurfaceMesh(sphere().positions, sphere().triangles[:, ::-1]),
    "non_manifold": _finned_sphere,
    "self_intersecting": lambda: joined(sphere(), sphere(centre=(0.8, 0.1, 0.0))),
    "two_islands": lambda: joined(sphere(), sphere(2, 0.5, (3.0, 0.0, 0.0))),
    "touching_islands": lambda: joined(box(), SurfaceMesh(box().positions + 1.0, box().triangles)),
    "flat_sheet": lambda: _sheet(0.0),
    "tilted_sheet": lambda: _sheet(0.6),
    "triangle": lambda: SurfaceMesh([(0, 0, 0), (1, 0.2, 0.1), (0.3, 0.8, 0.5)], [(0, 1, 2)]),
    "zero_area_faces": _zero_area_faces,
    "soup": _soup,
}
