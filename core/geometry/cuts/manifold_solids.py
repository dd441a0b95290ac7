"""Booleans of solids by the library Manifold [Lalish 2023], imported on first use.

Every triangle keeps the index of the solid and of the triangle from which it was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...foundation.errors import MeshError


class CutSolid(NamedTuple):
    """Triangles of a solid after booleans.

    Attributes
    ----------
    positions : (n,3)
    triangles : (t,3)
    solid : (t,), identifier of the solid from which each triangle was cut
    source : (t,), index of the triangle of that solid
    """

    positions: np.ndarray
    triangles: np.ndarray
    solid: np.ndarray
    source: np.ndarray


def manifold3d() -> Any:
    """Return the module of Manifold. Raises MeshError if it is missing."""
    try:
        import manifold3d
    except ImportError as error:
        raise MeshError(f"Manifold cannot be loaded: {error}.", "Install it: pip install manifold3d.") from error
    return manifold3d


def solid_of(positions: np.ndarray, triangles: np.ndarray) -> tuple[Any, int]:
    """Return a closed surface as a solid, and the identifier that its triangles keep.

    ``positions`` (n,3), ``triangles`` (t,3). Raises MeshError if the surface is not a closed manifold.
    """
    module = manifold3d()
    used, index = np.unique(triangles, return_inverse=True)
    count, identifier = len(triangles), module.Manifold.reserve_ids(1)
    solid = module.Manifold(
        module.Mesh64(
            np.array(positions[used], dtype=np.float64),
            index.reshape(-1, 3).astype(np.uint64),
            face_id=np.arange(count, dtype=np.uint64),
            run_index=np.array([0, 3 * count], dtype=np.uint64),
            run_original_id=np.array([identifier], dtype=np.uint32),
        )
    )
    if solid.status() != module.Error.NoError:
        reason = solid.status().name
        raise MeshError(
            f"The mesh cannot be split, since it is not a closed manifold ({reason}).",
            "Merge vertices by distance and delete inner faces (in Blender: Edit Mode, Select > All by Trait > Non "
            "Manifold), or remesh the body.",
        )
    return solid, identifier


def triangles_of(solid: Any) -> CutSolid:
    """Return the triangles of a solid."""
    mesh = solid.to_mesh64()
    counts = np.diff(np.asarray(mesh.run_index).astype(np.int64)) // 3
    return CutSolid(
        np.array(mesh.vert_properties, dtype=np.float64)[:, :3],
        np.array(mesh.tri_verts).astype(np.int64),
        np.repeat(np.asarray(mesh.run_original_id).astype(np.int64), counts),
        np.array(mesh.face_id).astype(np.int64),
    )


def simplified(positions: np.ndarray, triangles: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and triangles of a closed surface without the vertices inside its flat faces and edges.

    ``positions`` (n,3), ``triangles`` (t,3). ``tolerance``: distance by which the surface may move.
    """
    solid = triangles_of(solid_of(positions, triangles)[0].as_original().simplify(tolerance))
    return solid.positions, solid.triangles


def level_set_solid(
    values: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, edge: float
) -> tuple[Any, int]:
    """Return the part of a box where a field is negative as a solid, and its identifier.

    ``values``: function from points (p,3) to the field (p,). ``low``, ``high`` (3,): the box. ``edge``: edge length of
    the triangles. Manifold asks for the field point by point, in the same order each time: a first pass records the
    points, and the second one reads the values.
    """
    module, points = manifold3d(), []
    bounds = [*map(float, low), *map(float, high)]

    def record(x: float, y: float, z: float) -> float:
        points.append((x, y, z))
        return -1.0

    module.Manifold.level_set(record, bounds, edge)
    found = iter((-values(np.array(points))).tolist())
    mesh = module.Manifold.level_set(lambda x, y, z: next(found), bounds, edge).to_mesh64()
    triangles = np.asarray(mesh.tri_verts)
    if not len(triangles):
        return module.Manifold(), -1
    return solid_of(np.asarray(mesh.vert_properties)[:, :3], triangles.astype(np.int64))


def bounded_cells(seeds: np.ndarray, low: np.ndarray, high: np.ndarray, edge: float) -> list[tuple[Any, int]]:
    """Return the Voronoi cells of ``seeds`` (s,3) in a box as solids, and their identifiers.

    ``low``, ``high`` (3,): the box. ``edge``: edge length of the triangles.
    """
    module, found = manifold3d(), []
    whole = module.Manifold.cube((high - low).tolist()).translate(low.tolist())
    for seed in seeds:
        cell = whole
        for other in seeds[np.argsort(np.linalg.norm(seeds - seed, axis=1), kind="stable")[1:]]:
            normal = seed - other
            length = np.linalg.norm(normal)
            cell = cell.trim_by_plane((normal / length).tolist(), float(normal @ (seed + other) / (2.0 * length)))
        mesh = cell.refine_to_length(edge).to_mesh64()
        found.append(solid_of(np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts).astype(np.int64)))
    return found
