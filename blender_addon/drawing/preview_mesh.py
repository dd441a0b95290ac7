"""Arrays of the preview: triangles with corner normals, and the vertices on the graphics card.

A vertex of the card is a mesh vertex with one of its corner normals, so smooth meshes have one a vertex, and flat faces
and sharp edges as many as they need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..objects.modifier_stack import cut_after, stack_position
from ..scene_import.animation_in import at_frame
from ..scene_import.mesh_in import columns_of, mesh_at_place, object_to_world, triangles_of
from ..scene_import.rest_in import own_rest
from ..scene_import.subdivision_in import Cage, cage_of

_STEPS = 1023
"""Parts into which each coordinate of a normal is divided to find equal ones."""

_LEAST_SPREAD = 0.05
"""Determinant of the tangents' own derivatives, 1 on a plane, under which a fan is too folded to be corrected by it."""


class DrawnMesh(NamedTuple):
    """A mesh at rest: ``triangles`` (t,3) vertices; ``normals`` (t,3,3) of their corners, unit, in world space;
    ``edges`` (e,2) of its faces, for wires; the ``cage`` that it is for a Subdivision, and whether the world has it
    ``mirrored``.
    """

    triangles: np.ndarray
    normals: np.ndarray
    edges: np.ndarray = np.zeros((0, 2), dtype=np.int32)
    cage: Cage | None = None
    mirrored: bool = False


class Skin(NamedTuple):
    """How points follow handles (h,4,3), all in world space: see ``core/methods/subspaces/skinning.py``.

    ``rest`` (n,3) m; ``weights`` (n,h); ``centre`` (3,) m; ``size`` m.
    """

    rest: np.ndarray
    weights: np.ndarray
    centre: np.ndarray
    size: float


class CardVertices(NamedTuple):
    """``vertices`` (g,) of the mesh; ``normals`` (g,3) at rest; ``triangles`` (t,3) and ``edges`` (e,2) of card
    vertices; ``slopes`` (2,g,h): derivatives of the weights along the two tangents, by rest positions in sizes of the
    body.
    """

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    slopes: np.ndarray


class BentCard:
    """Vertices of the card that lie where the mesh's are from frame to frame, and follow no handles; ``card`` and
    ``skin`` are those at rest.
    """

    def __init__(self, card: CardVertices, skin: Skin) -> None:
        self._card, self._rest, self._size = card, skin.rest, skin.size
        places = (skin.rest - skin.centre) / skin.size
        self._along = _derivatives(card.vertices[card.triangles], card.triangles, card.normals, places)

    def at(self, positions: np.ndarray) -> CardVertices:
        """With normals as the shader has them, where the mesh is at positions (n,3), m."""
        moved = (positions - self._rest) / self._size
        first, second = (t + D @ moved for t, D in zip(tangents(self._card.normals), self._along, strict=True))
        normals = _unit(np.cross(first, second)).astype(np.float32)
        return self._card._replace(normals=normals, slopes=np.zeros((2, len(normals), 1), dtype=np.float32))


def read_drawn_mesh(obj: Any, context: Any, frame: int) -> DrawnMesh:
    """The mesh of a simulated object at its place in the stack, at rest, where the object is at a frame; the scene is
    left as it was.
    """
    place = stack_position(obj)
    with cut_after(obj, place), at_frame(context.scene, frame):
        with mesh_at_place(obj, place, context) as (mesh, evaluated):
            if (rest := own_rest(obj, len(mesh.vertices))) is not None:  # the mesh has keys, so it is a copy
                mesh.vertices.foreach_set("co", rest.astype(np.float32).ravel())
                mesh.update()
            return drawn_mesh(mesh, object_to_world(evaluated, context.scene))


def drawn_mesh(mesh: Any, matrix: np.ndarray) -> DrawnMesh:
    """Triangles and corner normals of a mesh whose coordinates a (4,4) matrix brings to world space."""
    mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    triangles = triangles_of(mesh, mirrored)
    corners = columns_of(mesh.loop_triangles, "loops", 3, np.int32)
    # Normals go by the inverse transpose, up to its length.
    turned = columns_of(mesh.corner_normals, "vector", 3, np.float32) @ np.linalg.inv(matrix[:3, :3])
    edges = columns_of(mesh.edges, "vertices", 2, np.int32)
    normals = _unit(turned)[corners[:, ::-1] if mirrored else corners]
    return DrawnMesh(triangles, normals, edges, cage_of(mesh), mirrored)


def tangents(normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across each unit normal (g,3): Duff et al. 2017, as in the shader."""
    nx, ny, nz = normals.T
    s = np.where(nz >= 0.0, 1.0, -1.0)
    p = -1.0 / (s + nz)
    q = nx * ny * p
    return np.column_stack([1.0 + s * nx * nx * p, s * q, -s * nx]), np.column_stack([q, s + ny * ny * p, -ny])


def card_vertices(mesh: DrawnMesh, skin: Skin) -> CardVertices:
    """The vertices to draw, their normals and the weights' derivatives there."""
    first, triangles = fans_of(mesh.triangles, mesh.normals)
    normals = mesh.normals.reshape(-1, 3)[first].astype(np.float32)
    # The tangents jump where this changes its sign: card and processor must see the same.
    normals[np.abs(normals[:, 2]) < 1e-6, 2] = 0.0
    vertices = mesh.triangles.ravel()[first]
    places = (skin.rest - skin.centre) / skin.size
    along = _derivatives(mesh.triangles, triangles, normals, places)
    slopes = np.stack([(D @ skin.weights).astype(np.float32) for D in along])
    return CardVertices(vertices, normals, triangles, card_edges(vertices, mesh.edges, len(skin.rest)), slopes)


def fans_of(corners: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (f,k) of faces that are one on the card: those of one vertex with equal normals (f,k,3). The number of
    the first of each, and which (f,k) belong to which.
    """
    steps = np.rint(normals.reshape(-1, 3).astype(np.float64) * _STEPS).astype(np.int64) + _STEPS
    key = corners.ravel().astype(np.int64)
    for k in range(3):
        key = (key << 11) | steps[:, k]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse.reshape(corners.shape).astype(np.int32)


def card_edges(vertices: np.ndarray, edges: np.ndarray, count: int) -> np.ndarray:
    """Edges (e,2) of a mesh of so many vertices between those of the card, (g,): any of a vertex does for an end of a
    wire; loose edges have none.
    """
    own = np.full(count, -1, dtype=np.int32)
    own[vertices] = np.arange(len(vertices))
    ends = own[edges]
    return ends[(ends >= 0).all(axis=1)]


def _derivatives(
    triangles: np.ndarray, fans: np.ndarray, normals: np.ndarray, places: np.ndarray
) -> list[sp.csr_matrix]:
    """Return two matrices (g,n) that map values at the vertices, at ``places`` (n,3), to their derivatives along the
    tangents: area-weighted means over the adjacent triangles, exact for functions linear in the tangent plane.
    """
    x = places[triangles]
    double_area = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    size = np.linalg.norm(double_area, axis=1)
    unit = double_area / np.where(size > 0.0, size, 1.0)[:, None]
    # Area times the gradient of the value at a corner, whose opposite edge runs from the next to the one after.
    gradients = np.stack([np.cross(unit, x[:, (k + 2) % 3] - x[:, (k + 1) % 3]) for k in range(3)], axis=1)
    total = np.bincount(fans.ravel(), np.repeat(size, 3), len(normals))
    share = (1.0 / np.where(total > 0.0, total, 1.0))[fans]
    rows = np.repeat(fans.ravel(), 3)
    columns = np.repeat(triangles, 3, axis=0).ravel()
    axes = tangents(normals.astype(np.float64))
    means = []
    for axis in axes:
        entries = np.einsum("tij,tkj,ti->tik", axis[fans], gradients, share)
        means.append(sp.csr_matrix((entries.ravel(), (rows, columns)), shape=(len(normals), len(places))))
    # How the tangents' own coordinates come out: the inverse puts right what is linear.
    (a, b), (c, d) = ([np.einsum("gk,gk->g", mean @ places, axis) for axis in axes] for mean in means)
    determinant = a * d - b * c
    spread = determinant > _LEAST_SPREAD
    inverse = np.array([[d, -b], [-c, a]]) / np.where(spread, determinant, 1.0)
    right = np.where(spread, inverse, np.eye(2)[:, :, None])
    return [sp.diags(row[0]) @ means[0] + sp.diags(row[1]) @ means[1] for row in right]


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1)
    fallback = np.array([0.0, 0.0, 1.0])
    return np.where(length[:, None] > 1e-12, vectors / np.maximum(length, 1e-12)[:, None], fallback)
