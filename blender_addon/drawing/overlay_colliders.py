"""Colliders as lines: the edges of their meshes and instances, and an outline at contact distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix

from ...core.contact.penalty.sheet_thickness import contact_distance
from ..objects.collider_objects import SOLID, shows_collection
from ..scene_import.colliders_in import has_own_mesh, instances_of
from ..scene_import.mesh_in import columns_of, mesh_of, transform, vertex_positions

MOST_EDGES = 300_000
"""Maximum number of edges of a collider. With more edges, the collider's instances are drawn as bounding boxes."""
SEEN = 0.004
"""Smallest contact distance whose outline is drawn, as a fraction of a collider's size."""
_LEVEL = 1e-4
"""Regularization of the sum of ``n n^T`` over the unit normals n around a vertex, in :func:`_outwards`."""
_BOX = np.array([(a, a ^ bit) for a in range(8) for bit in (1, 2, 4) if a < a ^ bit])


class ColliderLines(NamedTuple):
    """Lines of a collider, in the collider's object space.

    The outline is the collider's surface, offset outwards by the contact distance. An open mesh has an outline on both
    sides.

    ``edges`` (2e,3): ends of the e edges of the collider's mesh and instances, two rows per edge.
    ``outline`` (2o,3): ends of the o edges of the outline, two rows per edge.
    ``sources``: ``session_uid`` of the drawn objects.
    """

    edges: np.ndarray
    outline: np.ndarray
    sources: frozenset[int]


class _Wires(NamedTuple):
    """Mesh data for drawing.

    ``vertices`` (n,3): positions.
    ``edges`` (e,2): vertex indices.
    ``normals`` (f,3): normals of the faces.
    ``corners`` (c,2): vertex index and face index of each face corner.
    ``is_closed``: True if each edge has two faces.
    """

    vertices: np.ndarray
    edges: np.ndarray
    normals: np.ndarray
    corners: np.ndarray
    is_closed: bool = True


def collider_lines(collider: Any, body: Any, distance: float, least: float, depsgraph: Any) -> ColliderLines:
    """Return the edges of a body's collider, and an outline at the contact distance.

    The contact distance of a closed mesh is ``distance``. The contact distance of an open mesh is the larger of
    ``distance`` and ``least``. A collider that is flattened by its scale has no lines. Objects that Blender has not
    evaluated are drawn without their modifiers.

    ``distance``, ``least``: Blender units.
    """
    matrix = np.array(collider.matrix_world, dtype=np.float64)
    if abs(np.linalg.det(matrix[:3, :3])) <= 1e-9 * np.abs(matrix[:3, :3]).max() ** 3:  # flattened: no inverse
        return ColliderLines(np.empty((0, 3)), np.empty((0, 3)), frozenset())
    known: dict[str, _Wires] = {}
    placed, sources, count = [], set(), 0
    for source, to_world in _parts(collider, body, depsgraph):
        key = f"{source.session_uid} {source.data.name}"
        wires = known[key] = known.get(key) or _wires(source)
        sources.add(source.original.session_uid)
        placed.append((wires, np.array(to_world, dtype=np.float64)))
        count += len(wires.edges)
    if count > MOST_EDGES and len(placed) > 1:
        placed = [(_box(wires), to_world) for wires, to_world in placed]
    to_own = np.linalg.inv(matrix)
    edges, outline = [np.empty((0, 3))], [np.empty((0, 3))]
    for wires, to_world in placed:
        points = transform(to_world, wires.vertices)
        edges.append(transform(to_own, points)[wires.edges].reshape(-1, 3))
        kept = float(contact_distance(wires.is_closed, distance, least))
        if len(points) and kept > SEEN * float(np.ptp(points, axis=0).max()):
            out = kept * _outwards(wires, to_world)
            for direction in (out,) if wires.is_closed else (out, -out):
                outline.append(transform(to_own, points + direction)[wires.edges].reshape(-1, 3))
    return ColliderLines(np.concatenate(edges), np.concatenate(outline), frozenset(sources))


def _parts(collider: Any, body: Any, depsgraph: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each mesh object of a collider, or each instance, with a world matrix."""
    if has_own_mesh(collider):
        evaluated = collider.evaluated_get(depsgraph)
        yield (evaluated if evaluated.is_evaluated else collider), collider.matrix_world
    own, found = (body, body.sinew.bake.result), False
    for source, to_world in instances_of(collider, own, depsgraph):
        found = True
        yield source, Matrix(to_world)
    if not found and shows_collection(collider):
        yield from _in_collection(collider, collider.matrix_world, own)


def _in_collection(instancer: Any, to_world: Any, left_out: tuple[Any, Any]) -> Iterator[tuple[Any, Any]]:
    collection = instancer.instance_collection
    to_world = to_world @ Matrix.Translation(-collection.instance_offset)
    for obj in collection.all_objects:
        if obj.type in SOLID and obj not in left_out:
            yield obj, to_world @ obj.matrix_world
        elif shows_collection(obj):
            yield from _in_collection(obj, to_world @ obj.matrix_world, left_out)


def _wires(owner: Any) -> _Wires:
    with mesh_of(owner) as mesh:
        if mesh is None:
            none = np.empty((0, 2), dtype=np.int32)
            return _Wires(np.empty((0, 3)), none, np.empty((0, 3)), none)
        edges = columns_of(mesh.edges, "vertices", 2, np.int32)
        normals = columns_of(mesh.polygons, "normal", 3, np.float32)
        around, vertices = (columns_of(mesh.loops, name, 1, np.int32)[:, 0] for name in ("edge_index", "vertex_index"))
        sides = columns_of(mesh.polygons, "loop_total", 1, np.int32)[:, 0]
        corners = np.column_stack([vertices, np.repeat(np.arange(len(sides)), sides)])
        is_closed = bool((np.bincount(around, minlength=len(edges)) == 2).all())
        return _Wires(vertex_positions(mesh), edges, normals, corners, is_closed)


def _box(wires: _Wires) -> _Wires:
    """Return the bounding box of a mesh, as a mesh with 12 edges and 6 faces."""
    if len(wires.edges) == 0:
        return wires
    ends = np.stack([wires.vertices.min(axis=0), wires.vertices.max(axis=0)])
    sides = (np.arange(8)[:, None] >> np.arange(3)) & 1
    corners = np.column_stack([np.repeat(np.arange(8), 3), (2 * np.arange(3) + sides).ravel()])
    normals = np.kron(np.eye(3), [[-1.0], [1.0]])
    return _Wires(np.take_along_axis(ends, sides, axis=0), _BOX, normals, corners)


def _outwards(wires: _Wires, to_world: np.ndarray) -> np.ndarray:
    """Return displacements of the vertices that move the faces outwards by one unit, (n,3).

    A displacement is the least-squares solution of ``normal . displacement = 1`` for the faces around the vertex, with
    a length of at most 2. Regularization selects the mean normal where these faces are nearly coplanar.
    """
    turned = wires.normals @ np.linalg.pinv(to_world[:3, :3])
    turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-30)
    vertex, normal = wires.corners[:, 0], turned[wires.corners[:, 1]]
    squares, sums = np.zeros((len(wires.vertices), 3, 3)), np.zeros((len(wires.vertices), 3))
    np.add.at(squares, vertex, normal[:, :, None] * normal[:, None, :])
    np.add.at(sums, vertex, normal)
    mean = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-30)
    direction = np.linalg.solve(squares + _LEVEL * np.eye(3), (sums + _LEVEL * mean)[..., None])[..., 0]
    return direction * np.minimum(1.0, 2.0 / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-30))
