"""Odd meshes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np

from . import cube, grid, mesh, pinned, put, specimen, together

NAN, INF = float("nan"), float("inf")


@specimen("empty mesh", refused="has no faces")
def empty(folder: Path) -> Any:
    return mesh([])


@specimen("one vertex", refused="has no faces")
def one_vertex(folder: Path) -> Any:
    return mesh([(0, 0, 0)])


@specimen("one edge", refused="has no faces")
def one_edge(folder: Path) -> Any:
    return mesh([(0, 0, 0), (1, 0, 0)], edges=[(0, 1)])


@specimen("one triangle")
def one_triangle(folder: Path) -> Any:
    return pinned(mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]))


@specimen("plane")
def plane(folder: Path) -> Any:
    return pinned(mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)]))


@specimen("two cubes that share an edge", falls=True)
def common_edge(folder: Path) -> Any:
    vertices, faces = together(cube(), cube(at=(1, 1, 0)))
    same = {8: 6, 9: 7}
    return mesh(vertices, [[same.get(i, i) for i in face] for face in faces])


@specimen("two cubes that share a vertex", falls=True)
def common_vertex(folder: Path) -> Any:
    vertices, faces = together(cube(), cube(at=(1, 1, 1)))
    return mesh(vertices, [[7 if i == 8 else i for i in face] for face in faces])


@specimen("open sphere")
def open_sphere(folder: Path) -> Any:
    def ball(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        a, b = 2 * np.pi * u, np.pi * (0.1 + 0.6 * v)
        return np.column_stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)])

    return pinned(mesh(*grid(17, 9, ball)))


@specimen("all normals inside")
def inside_out(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices, [face[::-1] for face in faces]))


@specimen("one face flipped")
def one_flipped(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices, [faces[0][::-1], *faces[1:]]))


@specimen("every face twice")
def twice(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices, faces + faces))


@specimen("every face twice, back to back")
def back_to_back(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices, faces + [face[::-1] for face in faces]))


@specimen("no two faces share a vertex")
def doubles(folder: Path) -> Any:
    vertices, faces = cube()
    apart = np.array([vertices[i] for face in faces for i in face])
    return pinned(mesh(apart, np.arange(24).reshape(6, 4).tolist()))


@specimen("faces without area")
def slivers(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh([*vertices, (0.5, 0, 0)], [*faces, (0, 8, 4), (1, 3, 1, 3)]))


@specimen("nothing but faces without area", refused="no area|collapsed")
def all_slivers(folder: Path) -> Any:
    return mesh([(0, 0, 0), (0.5, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2), (1, 2, 3)])


@specimen("edges without length")
def short_edges(folder: Path) -> Any:
    vertices, faces = cube()
    # The corner is cut off, by a triangle of no size.
    return pinned(mesh([*vertices, vertices[0], vertices[0]], [*faces[:4], [0, 2, 6, 4, 8], faces[5], (0, 8, 9)]))


@specimen("a face that names a vertex twice")
def repeated_vertex(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices, [*faces, (0, 0, 1), (2, 2, 2)]))


@specimen("a coordinate that is not a number", refused="Vertex 5 has a position that is not a number")
def nan(folder: Path) -> Any:
    vertices, faces = cube()
    vertices[5] = (0.0, NAN, 0.0)
    return mesh(vertices, faces)


@specimen("an infinite coordinate", refused="Vertex 6 has a position that is not a number")
def infinite(folder: Path) -> Any:
    vertices, faces = cube()
    vertices[6] = (INF, 0.0, 0.0)
    return mesh(vertices, faces)


@specimen("a loose vertex that is not a number", refused="Vertex 8 has a position that is not a number")
def loose_nan(folder: Path) -> Any:
    vertices, faces = cube()
    return mesh([*vertices, (NAN, NAN, NAN)], faces)


@specimen("a vertex at 1e38", refused="Vertex 7 lies 1e\\+38 m away")
def overflow(folder: Path) -> Any:
    vertices, faces = cube()
    vertices[7] = (1e38, 1.0, 1.0)
    return mesh(vertices, faces)


@specimen("a vertex a thousand kilometres away", warning="scale it down")
def stray(folder: Path) -> Any:
    vertices, faces = cube()
    vertices[7] = (1e6, 1.0, 1.0)
    return pinned(mesh(vertices, faces))


@specimen("loose vertices and edges", falls=True)
def loose(folder: Path) -> Any:
    vertices, faces = cube()
    return mesh([*vertices, (0.5, 0.5, 3.0), (0.5, 0.5, 4.0), (0.2, 0.2, 0.2)], faces, [(8, 9)])


@specimen("a loose vertex a thousand kilometres away", falls=True, warning="well outside")
def loose_far(folder: Path) -> Any:
    vertices, faces = cube()
    return mesh([*vertices, (1e6, 0.0, 0.0)], faces)


@specimen("a face inside")
def interior_face(folder: Path) -> Any:
    vertices, faces = together(cube(), ([(0.5, 0, 0), (0.5, 1, 0), (0.5, 1, 1), (0.5, 0, 1)], [[0, 1, 2, 3]]))
    return pinned(mesh(vertices, faces))


@specimen("two cubes through each other")
def through(folder: Path) -> Any:
    return pinned(mesh(*together(cube(), cube(at=(0.4, 0.3, 0.3)))))


@specimen("a T of faces")
def tee(folder: Path) -> Any:
    vertices = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (-1, 0, 0), (-1, 1, 0), (0, 0, 1), (0, 1, 1)]
    return pinned(mesh(vertices, [(0, 2, 3, 1), (4, 0, 1, 5), (0, 1, 7, 6)]))


@specimen("Klein bottle")
def klein_bottle(folder: Path) -> Any:
    def bottle(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        u, v = 2 * np.pi * u, 2 * np.pi * v
        ring = 2.0 + np.cos(u / 2) * np.sin(v) - np.sin(u / 2) * np.sin(2 * v)
        z = np.sin(u / 2) * np.sin(v) + np.cos(u / 2) * np.sin(2 * v)
        return np.column_stack([ring * np.cos(u), ring * np.sin(u), z])

    return pinned(mesh(*grid(25, 13, bottle)))


@specimen("Moebius strip")
def moebius(folder: Path) -> Any:
    def strip(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        a, w = 2 * np.pi * u, 0.6 * (v - 0.5)
        ring = 1.0 + w * np.cos(a / 2)
        return np.column_stack([ring * np.cos(a), ring * np.sin(a), w * np.sin(a / 2)])

    return pinned(mesh(*grid(33, 4, strip)))


@specimen("a shell in a shell")
def nested(folder: Path) -> Any:
    return pinned(mesh(*together(cube(), cube(0.5, (0.25, 0.25, 0.25)))))


@specimen("a hollow: the inner shell turned inwards")
def hollow(folder: Path) -> Any:
    inner, faces = cube(0.5, (0.25, 0.25, 0.25))
    return pinned(mesh(*together(cube(), (inner, [face[::-1] for face in faces]))))


@specimen("a hundred islands", falls=True)
def islands(folder: Path) -> Any:
    at = [(2.0 * (k % 10), 2.0 * (k // 10), 0.0) for k in range(100)]
    return mesh(*together(*(cube(at=place) for place in at)))


@specimen("a needle, 1e-4 as thick as long")
def needle(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices * (1.0, 1e-4, 1e-4), faces))


def _by(method: str, thickness: float) -> Any:
    vertices, faces = cube()
    obj = pinned(mesh(vertices * (1.0, thickness, thickness), faces))
    obj.sinew.method = method
    return obj


@specimen("a needle that crashes fTetWild", refused="fTetWild crashed on this mesh.*needle, 1.2 mm thick.*Draft")
def robust_needle(folder: Path) -> Any:
    return _by("robust", 1.2e-3)


@specimen("a needle that TetGen does not see", refused="TetGen failed.*Draft")
def clean_needle(folder: Path) -> Any:
    return _by("clean", 1e-4)


@specimen("a needle in Clean")
def clean_thicker_needle(folder: Path) -> Any:
    return _by("clean", 1e-2)


@specimen("a sheet, 1e-3 as thick as wide")
def sheet(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices * (1.0, 1.0, 1e-3), faces))


@specimen("a thousand kilometres large", warning="scale it down")
def huge(folder: Path) -> Any:
    vertices, faces = cube(1e6)
    return pinned(mesh(vertices, faces))


@specimen("1e15 m large", warning="scale it down")
def astronomic(folder: Path) -> Any:
    return pinned(mesh(*cube(1e15)))


@specimen("a micrometre large", warning="scale it up")
def tiny(folder: Path) -> Any:
    vertices, faces = cube(1e-6)
    return pinned(mesh(vertices, faces))


@specimen("a thousand kilometres from the origin")
def far(folder: Path) -> Any:
    return pinned(mesh(*cube(at=(1e6, 0.0, 0.0))))


@specimen("concave n-gons")
def star(folder: Path) -> Any:
    angle = np.arange(10) * np.pi / 5
    radius = np.where(np.arange(10) % 2, 0.4, 1.0)
    flat = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    vertices = [(x, y, z) for z in (0.0, 0.5) for x, y in flat]
    sides = [(k, (k + 1) % 10, (k + 1) % 10 + 10, k + 10) for k in range(10)]
    return pinned(mesh(vertices, [tuple(range(10))[::-1], tuple(range(10, 20)), *sides]))


@specimen("n-gons with a hole, joined by a bridge")
def holed(folder: Path) -> Any:
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    rims = [(s * x, s * y, z) for z in (0.0, 0.5) for s in (1.0, 0.4) for x, y in corners]
    top = [8, 9, 10, 11, 8, 12, 15, 14, 13, 12]
    outer = [(k, (k + 1) % 4, (k + 1) % 4 + 8, k + 8) for k in range(4)]
    inner = [(k + 12, (k + 1) % 4 + 12, (k + 1) % 4 + 4, k + 4) for k in range(4)]
    return pinned(mesh(rims, [top, [i - 8 for i in top[::-1]], *outer, *inner]))


@specimen("n-gons that are not flat")
def crooked(folder: Path) -> Any:
    vertices, faces = cube()
    return pinned(mesh(vertices + np.random.default_rng(0).uniform(-0.3, 0.3, (8, 3)), faces))


@specimen("poles: triangles around one vertex")
def poles(folder: Path) -> Any:
    data = bpy.data.meshes.new("Body")
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=64, v_segments=8, radius=1.0)
    shape.to_mesh(data)
    shape.free()
    return pinned(put(data))


@specimen("a hundred thousand vertices")
def dense(folder: Path) -> Any:
    def ball(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        a, b = 2 * np.pi * u, np.pi * v
        return np.column_stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)])

    vertices, faces = grid(400, 250, ball)
    data = bpy.data.meshes.new("Body")
    data.vertices.add(len(vertices))
    data.vertices.foreach_set("co", vertices.ravel())
    data.loops.add(4 * len(faces))
    data.loops.foreach_set("vertex_index", np.ravel(faces))
    data.polygons.add(len(faces))
    data.polygons.foreach_set("loop_start", np.arange(0, 4 * len(faces), 4))
    data.update(calc_edges=True)
    return pinned(put(data))


@specimen("spikes: noise on every vertex")
def spikes(folder: Path) -> Any:
    def ball(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        a, b = 2 * np.pi * u, np.pi * v
        noise = np.random.default_rng(1).uniform(0.3, 1.5, len(u))[:, None]
        return noise * np.column_stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)])

    return pinned(mesh(*grid(20, 12, ball)))
