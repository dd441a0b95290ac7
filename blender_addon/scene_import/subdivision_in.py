"""Subdivision modifier as a matrix, computed by evaluating Blender's modifier.

A subdivided position is a linear combination of vertices of the cage (the modifier's input mesh), namely of one face
and the faces around it. The cage's vertices are colored so that no such neighbourhood contains a color twice. Each
evaluation of the modifier serves three colors: vertices of the first color are put at (1, 0, 0), of the second at (0,
1, 0), of the third at (0, 0, 1), and all others at the origin. The three coordinates of a subdivided position are then
three entries of its row of the matrix. Thus creases, boundaries and n-gons are exactly Blender's.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np
import scipy.sparse as sp

from ..blend_data.temporary_scene import remove_scene
from .mesh_in import columns_of, mesh_of

MOST_TRIANGLES = 500_000
"""Maximum number of triangles of a subdivided mesh that is drawn at each frame."""
MOST_NUMBERS = 40_000_000
"""Maximum number of values read from Blender to build a matrix. Reading this number takes a few seconds."""
LEAST_WEIGHT = 1e-7
"""Smallest matrix entry. Smaller entries are round-off and set to 0."""

SETTINGS = ("subdivision_type", "use_limit_surface", "quality", "boundary_smooth", "use_creases")
MARKS = {"sharp_face": bool, "sharp_edge": bool, "crease_edge": np.float32, "crease_vert": np.float32}
"""Mesh attributes that influence the subdivision."""
_DOMAINS = {"face": "FACE", "edge": "EDGE", "vert": "POINT"}
_NAME, _FACE, _EDGE = "Sinew Probe", "sinew_face", "sinew_edge"


class Cage(NamedTuple):
    """Input mesh of a Subdivision modifier.

    Attributes
    ----------
    count : number of vertices
    sizes : number of corners of each face, (f,)
    corners : vertex index of each face corner, face by face, (c,)
    sides : edge index of each face corner, face by face, (c,)
    edges : vertex indices of each edge, (e,2)
    marks : values of the mesh attributes :data:`MARKS`, by name
    """

    count: int
    sizes: np.ndarray
    corners: np.ndarray
    sides: np.ndarray
    edges: np.ndarray
    marks: dict[str, np.ndarray]

    @property
    def key(self) -> tuple[int, ...]:
        """Key of the cage's subdivision matrix. Cages with equal keys have equal matrices.

        The key has the number of vertices, and checksums of the topology and of the attributes in ``marks``. The matrix
        does not depend on positions.
        """
        parts = self.sizes, self.corners, self.edges, *self.marks.values()
        return (self.count, *(zlib.crc32(np.ascontiguousarray(part)) for part in parts))


class SubdivisionMatrix(NamedTuple):
    """Subdivision of a cage (input mesh) from n to m vertices.

    ``matrix`` (m,n) float32: factor from the cage's positions to the subdivided positions.
    ``quads`` (q,4): vertex indices of the subdivided faces.
    ``normals`` (q,4,3): corner normals of the quads for random cage positions. Only equality has a meaning: the surface
        is smooth where corners at one vertex have equal normals.
    ``edges`` (e,2): subdivided edges that come from the cage's edges.
    ``level``: subdivision level, which may be lower than requested.
    """

    matrix: sp.csr_matrix
    quads: np.ndarray
    normals: np.ndarray
    edges: np.ndarray
    level: int


def settings_of(modifier: Any, level: int) -> dict[str, Any]:
    """Return the settings of a Subdivision modifier that determine its matrix.

    ``level`` replaces the modifier's level.
    """
    return {**{name: getattr(modifier, name) for name in SETTINGS}, "levels": level}


def cage_of(mesh: Any) -> Cage:
    """Return a Blender mesh as the cage (input mesh) of a Subdivision modifier."""
    found = ((name, kind, mesh.attributes.get(name)) for name, kind in MARKS.items())
    return Cage(
        len(mesh.vertices),
        columns_of(mesh.polygons, "loop_total", 1, np.int32)[:, 0],
        columns_of(mesh.loops, "vertex_index", 1, np.int32)[:, 0],
        columns_of(mesh.loops, "edge_index", 1, np.int32)[:, 0],
        columns_of(mesh.edges, "vertices", 2, np.int32),
        {name: columns_of(each.data, "value", 1, kind)[:, 0] for name, kind, each in found if each is not None},
    )


def subdivided(cage: Cage, settings: dict[str, Any]) -> SubdivisionMatrix | None:
    """Return the subdivision of a cage by a Subdivision modifier.

    The level is reduced if the subdivided mesh would be too large to draw. Returns None if even level 1 is too large,
    or if the cage has no faces. The user's Blender data remain unchanged.

    ``settings``: result of :func:`settings_of`.
    """
    valence = np.bincount(cage.corners, minlength=cage.count)
    if not len(cage.sizes) or not _level(cage, settings["levels"], int(max(cage.sizes.max(), valence.max()))):
        return None
    around = _around(cage)
    level = _level(cage, settings["levels"], int(np.diff(around.indptr).max()))
    if not level:
        return None
    lots = _lots(around)
    with _modified(cage, {**settings, "levels": level}) as evaluate:
        with evaluate(np.random.default_rng(0).normal(size=(cage.count, 3))) as mesh:
            quads = columns_of(mesh.loops, "vertex_index", 1, np.int32).reshape(-1, 4)
            normals = columns_of(mesh.corner_normals, "vector", 3, np.float32).reshape(-1, 4, 3)
            edges = columns_of(mesh.edges, "vertices", 2, np.int32)[_values(mesh, _EDGE) > 0]
            owner = np.full(len(mesh.vertices), -1)
            owner[quads.ravel()] = np.repeat(_values(mesh, _FACE), 4)
        weights = np.empty((len(owner), -(-(lots.max() + 1) // 3) * 3), dtype=np.float32)
        for first in range(0, weights.shape[1], 3):
            with evaluate(lots[:, None] == first + np.arange(3)) as mesh:
                weights[:, first : first + 3] = columns_of(mesh.vertices, "co", 3, np.float32)
    used = np.flatnonzero(owner >= 0)  # the others belong to loose edges
    matrix = around[owner[used]].astype(np.float32)
    matrix.data = weights[np.repeat(used, np.diff(matrix.indptr)), lots[matrix.indices]]
    matrix.data[np.abs(matrix.data) < LEAST_WEIGHT] = 0.0
    matrix.eliminate_zeros()
    new = np.cumsum(owner >= 0, dtype=np.int32) - 1
    edges = edges[(owner[edges] >= 0).all(axis=1)]
    return SubdivisionMatrix(matrix, new[quads], normals, new[edges], level)


def coarser_words(drawn: SubdivisionMatrix | None, level: int) -> str:
    """Return a warning about a reduced subdivision level, or "".

    ``drawn``: subdivision that is drawn.
    ``level``: the modifier's level.
    """
    shown = 0 if drawn is None else drawn.level
    return f"Subdivision is drawn at level {shown} of {level}: higher levels are too slow" * (shown < level)


def _level(cage: Cage, level: int, together: int) -> int:
    """Return the highest subdivision level, up to ``level``, within the limits of size, or 0.

    ``together`` is the largest number of vertices of a face and the faces around the face, or a lower bound.
    """
    while level:
        quads = len(cage.corners) << 2 * (level - 1)
        if 2 * quads <= MOST_TRIANGLES and quads * together <= MOST_NUMBERS:
            break
        level -= 1
    return level


def _around(cage: Cage) -> sp.csr_matrix:
    """Return a matrix (f,n), nonzero at the vertices of each face and of the faces around the face."""
    faces = np.repeat(np.arange(len(cage.sizes)), cage.sizes)
    ones = np.ones(len(faces), dtype=np.int32)
    of_face = sp.csr_matrix((ones, (faces, cage.corners)), shape=(len(cage.sizes), cage.count))
    return (of_face @ of_face.T @ of_face).tocsr()


def _lots(around: sp.csr_matrix) -> np.ndarray:
    """Return the color of each vertex, (n,), by greedy coloring.

    Two vertices of one color are never nonzero in the same row of the matrix ``around`` (f,n).
    """
    apart = (around.T @ around).tocsr()
    lots = np.full(around.shape[1], -1)
    for vertex in range(len(lots)):
        taken = lots[apart.indices[apart.indptr[vertex] : apart.indptr[vertex + 1]]]
        free = np.bincount(taken[taken >= 0], minlength=1) == 0
        lots[vertex] = free.argmax() if free.any() else len(free)
    return lots


@contextmanager
def _modified(cage: Cage, settings: dict[str, Any]) -> Iterator[Callable[[np.ndarray], AbstractContextManager[Any]]]:
    """Yield a function that evaluates a Subdivision modifier on a cage, for vertex positions (n,3)."""
    scene, mesh = bpy.data.scenes.new(_NAME), bpy.data.meshes.new(_NAME)
    obj = bpy.data.objects.new(_NAME, mesh)
    try:
        _fill(mesh, cage)
        modifier = obj.modifiers.new(_NAME, "SUBSURF")
        for name, value in settings.items():
            setattr(modifier, name, value)
        scene.collection.objects.link(obj)
        layer = scene.view_layers[0]

        def evaluate(positions: np.ndarray) -> AbstractContextManager[Any]:
            mesh.vertices.foreach_set("co", positions.astype(np.float32).ravel())
            mesh.update()
            layer.update()
            return mesh_of(obj.evaluated_get(layer.depsgraph))

        yield evaluate
    finally:
        bpy.data.objects.remove(obj)
        bpy.data.meshes.remove(mesh)
        remove_scene(scene)


def _fill(mesh: Any, cage: Cage) -> None:
    mesh.vertices.add(cage.count)
    mesh.edges.add(len(cage.edges))
    mesh.edges.foreach_set("vertices", cage.edges.ravel())
    mesh.loops.add(len(cage.corners))
    mesh.loops.foreach_set("vertex_index", cage.corners)
    mesh.loops.foreach_set("edge_index", cage.sides)
    mesh.polygons.add(len(cage.sizes))
    mesh.polygons.foreach_set("loop_start", np.cumsum(cage.sizes) - cage.sizes)
    for name, values in cage.marks.items():
        kind = "BOOLEAN" if MARKS[name] is bool else "FLOAT"
        mesh.attributes.new(name, kind, _DOMAINS[name.rpartition("_")[2]]).data.foreach_set("value", values)
    for name, domain, values in (
        (_FACE, "FACE", np.arange(len(cage.sizes), dtype=np.int32)),
        (_EDGE, "EDGE", np.ones(len(cage.edges), dtype=np.int32)),
    ):
        mesh.attributes.new(name, "INT", domain).data.foreach_set("value", values)


def _values(mesh: Any, name: str) -> np.ndarray:
    return columns_of(mesh.attributes[name].data, "value", 1, np.int32)[:, 0]
