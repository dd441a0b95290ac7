"""Closed, oriented solids from a triangle surface: open seams are welded, and holes are filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import MeshError
from ..mesh.polygons import triangulate
from ..mesh.surface_mesh import SurfaceMesh, signed_volume
from ..mesh.topology import open_edges, vertex_components
from ..mesh.winding_number import WindingNumber


@dataclass(frozen=True)
class ClosedSurface:
    """Closed surface around a body, for booleans.

    Attributes
    ----------
    positions : (n,3), vertices of the original surface
    triangles : (t + f,3), the t triangles of the original surface without collapsed ones, then f that fill holes
    source : (t + f,), index of each triangle in the original surface; -1 for triangles that fill holes
    """

    positions: np.ndarray
    triangles: np.ndarray
    source: np.ndarray

    def solids(self) -> Iterator[np.ndarray]:
        """Yield the triangle indices of each solid: a connected component with its cavities.

        Solids may overlap. Raises MeshError if a component is inside out.
        """
        label = vertex_components(self.triangles)
        parts = [np.flatnonzero(label == k) for k in range(label.max() + 1)]
        volumes = [signed_volume(self.positions, self.triangles[part]) for part in parts]
        shells = [k for k, volume in enumerate(volumes) if volume > 0.0]
        around = {k: [parts[k]] for k in shells}
        for k in set(range(len(parts))).difference(shells):
            point = self.positions[self.triangles[parts[k][0], :1]]
            within = [s for s in shells if WindingNumber(self.positions, self.triangles[parts[s]]).contains(point)[0]]
            if not within:
                raise MeshError(
                    f"The faces around vertex {self.triangles[parts[k][0], 0]} point inwards, or enclose nothing.",
                    "Recalculate the normals (in Blender: Edit Mode, Mesh > Normals > Recalculate Outside), or delete "
                    "these faces.",
                )
            around[min(within, key=volumes.__getitem__)].append(parts[k])
        for k in shells:
            yield np.concatenate(around[k])


def close_surface(surface: SurfaceMesh) -> ClosedSurface:
    """Return the surface with open seams welded and holes filled.

    A hole is filled with triangles between its vertices. Raises MeshError if an edge has more than two faces, or two
    faces of opposite orientation.
    """
    surface.validate()
    triangles, source = surface.triangles.astype(np.int64), np.arange(len(surface.triangles))
    loose = np.unique(open_edges(triangles))
    if len(loose):  # vertices of imported meshes that coincide, such as along UV seams
        first, index = np.unique(surface.positions[loose], axis=0, return_index=True, return_inverse=True)[1:]
        welded = np.arange(len(surface.positions))
        welded[loose] = loose[first][np.ravel(index)]
        triangles = welded[triangles]
        proper = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        triangles, source = triangles[proper], source[proper]
    loops = _holes(triangles)
    corners = np.array([vertex for loop in loops for vertex in loop], dtype=np.int64)
    fillers = triangulate(surface.positions, np.array([len(loop) for loop in loops], dtype=np.int64), corners)
    source = np.concatenate([source, np.full(len(fillers), -1)])
    return ClosedSurface(surface.positions, np.concatenate([triangles, fillers]), source)


def _holes(triangles: np.ndarray) -> list[list[int]]:
    """Return the loops of vertices around the holes of a surface, in the direction of faces that fill them."""
    sides = np.concatenate([np.roll(triangles, -k, axis=1)[:, :2] for k in range(3)])
    known, counts = np.unique(sides, axis=0, return_counts=True)
    if (counts > 1).any():
        a, b = known[counts > 1][0]
        raise MeshError(
            f"The edge between vertices {a} and {b} has more than two faces, or two that face opposite ways.",
            "Recalculate the normals, and delete inner faces (in Blender: Edit Mode, Select > All by Trait > Non "
            "Manifold), or remesh the body.",
        )
    forth = set(map(tuple, known.tolist()))
    after: dict[int, list[int]] = {}
    for a, b in sorted(forth):
        if (b, a) not in forth:
            after.setdefault(b, []).append(a)
    loops = []
    while after:
        start = min(after)
        loop, at = [], start
        while at in after:
            loop.append(at)
            nexts = after[at]
            following = nexts.pop()
            if not nexts:
                del after[at]
            at = following
        loops.append(loop)
    return loops
