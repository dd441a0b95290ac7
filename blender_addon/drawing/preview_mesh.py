"""Arrays of the live preview: triangles with corner normals, and GPU vertices.

A GPU vertex is a mesh vertex with one of its corner normals. Smooth meshes have one GPU vertex per mesh vertex. Flat
faces and sharp edges need more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..objects.modifier_stack import cut_after, stack_position
from ..scene_import.animation_in import at_frame
from ..scene_import.mesh_in import columns_of, mesh_at_position, object_to_world, triangles_of
from ..scene_import.rest_in import own_rest
from ..scene_import.subdivision_in import Cage, cage_of

_STEPS = 1023
"""Number of steps per unit to which the coordinates of normals are rounded before they are compared."""

_LEAST_SPREAD = 0.05
"""Smallest determinant for a correction of the derivatives at a vertex, in :func:`_derivatives`.

The mean derivatives of a vertex's two tangent coordinates along the two tangents form a (2,2) matrix. On a plane, this
matrix is the identity. The inverse of the matrix corrects the derivatives. Below the smallest determinant, the
triangles around the vertex are too folded for a correction.
"""


class DrawnMesh(NamedTuple):
    """Mesh at rest.

    ``triangles`` (t,3): vertex indices.
    ``normals`` (t,3,3): unit normals of the triangles' corners in world space.
    ``edges`` (e,2): edges drawn as wires.
    ``cage``: input mesh of a Subdivision modifier.
    ``mirrored``: True if the world matrix is a reflection.
    """

    triangles: np.ndarray
    normals: np.ndarray
    edges: np.ndarray = np.zeros((0, 2), dtype=np.int32)
    cage: Cage | None = None
    mirrored: bool = False


class Skin(NamedTuple):
    """Linear blend skinning of n points in world space by h handles (``core/methods/subspaces/skinning.py``).

    A handle is an affine displacement of the coordinates ``(p - centre) / size``. A point moves by the sum of all
    handles, weighted by the point's skinning weights.

    ``rest`` (n,3), m: rest positions.
    ``weights`` (n,h): skinning weights.
    ``centre`` (3,), m: centre of the body.
    ``size``, m: size of the body.
    """

    rest: np.ndarray
    weights: np.ndarray
    centre: np.ndarray
    size: float


class CardVertices(NamedTuple):
    """The g GPU vertices of a mesh. A GPU vertex is a mesh vertex with one of its corner normals.

    ``vertices`` (g,): index of the mesh vertex.
    ``normals`` (g,3): unit normals.
    ``triangles`` (t,3), ``edges`` (e,2): indices of GPU vertices.
    ``slopes`` (2,g,h): derivatives of the h skinning weights along the two tangents of a GPU vertex, times the body's
        size.
    """

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    slopes: np.ndarray


class BentCard:
    """GPU vertices of a mesh whose positions are set directly, without handles.

    ``card``: GPU vertices of the mesh at rest.
    ``skin``: rest positions, with the body's centre and size.
    """

    def __init__(self, card: CardVertices, skin: Skin) -> None:
        self._card, self._rest, self._size = card, skin.rest, skin.size
        rest = (skin.rest - skin.centre) / skin.size
        self._along = _derivatives(card.vertices[card.triangles], card.triangles, card.normals, rest)

    def at(self, positions: np.ndarray) -> CardVertices:
        """Return the GPU vertices for given mesh positions, with normals as in the shader.

        ``positions`` (n,3), m: positions of the mesh vertices.
        """
        moved = (positions - self._rest) / self._size
        first, second = (t + D @ moved for t, D in zip(tangents(self._card.normals), self._along, strict=True))
        normals = _unit(np.cross(first, second)).astype(np.float32)
        return self._card._replace(normals=normals, slopes=np.zeros((2, len(normals), 1), dtype=np.float32))


def read_drawn_mesh(obj: Any, context: Any, frame: int) -> DrawnMesh:
    """Return the rest shape of a simulated object's mesh, in world space.

    The mesh is that after the modifiers that precede the simulation. The object's transform at ``frame`` maps the shape
    to world space. The scene is restored.
    """
    position = stack_position(obj)
    with cut_after(obj, position), at_frame(context.scene, frame):
        with mesh_at_position(obj, position, context) as (mesh, evaluated):
            if (rest := own_rest(obj, len(mesh.vertices))) is not None:  # a mesh with shape keys is a copy here
                mesh.vertices.foreach_set("co", rest.astype(np.float32).ravel())
                mesh.update()
            return drawn_mesh(mesh, object_to_world(evaluated, context.scene))


def drawn_mesh(mesh: Any, matrix: np.ndarray) -> DrawnMesh:
    """Return the drawn mesh of a Blender mesh.

    ``matrix`` (4,4): matrix from mesh coordinates to world space.
    """
    mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    triangles = triangles_of(mesh, mirrored)
    corners = columns_of(mesh.loop_triangles, "loops", 3, np.int32)
    # Normals transform by the inverse transpose, up to their length.
    turned = columns_of(mesh.corner_normals, "vector", 3, np.float32) @ np.linalg.inv(matrix[:3, :3])
    edges = columns_of(mesh.edges, "vertices", 2, np.int32)
    normals = _unit(turned)[corners[:, ::-1] if mirrored else corners]
    return DrawnMesh(triangles, normals, edges, cage_of(mesh), mirrored)


def tangents(normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit tangents perpendicular to each unit normal, (g,3) each [Duff et al. 2017].

    The shader computes the same tangents.
    """
    nx, ny, nz = normals.T
    s = np.where(nz >= 0.0, 1.0, -1.0)
    p = -1.0 / (s + nz)
    q = nx * ny * p
    return np.column_stack([1.0 + s * nx * nx * p, s * q, -s * nx]), np.column_stack([q, s + ny * ny * p, -ny])


def card_vertices(mesh: DrawnMesh, skin: Skin) -> CardVertices:
    """Return the GPU vertices of a mesh at rest.

    The ``slopes`` are derivatives of the skinning weights in ``skin`` along the surface.
    """
    first, triangles = fans_of(mesh.triangles, mesh.normals)
    normals = mesh.normals.reshape(-1, 3)[first].astype(np.float32)
    # The tangents jump where n_z changes its sign, so rounding on GPU and CPU must not differ there.
    normals[np.abs(normals[:, 2]) < 1e-6, 2] = 0.0
    vertices = mesh.triangles.ravel()[first]
    rest = (skin.rest - skin.centre) / skin.size
    along = _derivatives(mesh.triangles, triangles, normals, rest)
    slopes = np.stack([(D @ skin.weights).astype(np.float32) for D in along])
    return CardVertices(vertices, normals, triangles, card_edges(vertices, mesh.edges, len(skin.rest)), slopes)


def fans_of(corners: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge face corners with the same vertex and equal normals into one GPU vertex.

    The first result (g,) is the index of each GPU vertex's first corner in the flattened ``corners``. The second result
    (f,k) is the GPU vertex of each corner.

    ``corners`` (f,k): vertex of each face corner.
    ``normals`` (f,k,3): normal of each face corner.
    """
    steps = np.rint(normals.reshape(-1, 3).astype(np.float64) * _STEPS).astype(np.int64) + _STEPS
    key = corners.ravel().astype(np.int64)
    for k in range(3):
        key = (key << 11) | steps[:, k]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse.reshape(corners.shape).astype(np.int32)


def card_edges(vertices: np.ndarray, edges: np.ndarray, count: int) -> np.ndarray:
    """Return mesh edges as pairs of GPU vertices, without edges that have no face.

    ``vertices`` (g,): mesh vertex of each GPU vertex.
    ``edges`` (e,2): mesh edges.
    ``count``: number of mesh vertices.
    """
    own = np.full(count, -1, dtype=np.int32)
    own[vertices] = np.arange(len(vertices))
    ends = own[edges]
    return ends[(ends >= 0).all(axis=1)]


def _derivatives(triangles: np.ndarray, fans: np.ndarray, normals: np.ndarray, rest: np.ndarray) -> list[sp.csr_matrix]:
    """Return one matrix (g,n) per tangent, from vertex values to derivatives at the GPU vertices.

    A derivative is an area-weighted mean over the adjacent triangles, and is exact for functions linear in the tangent
    plane. Rest positions are relative to the body's centre, in units of the body's size.
    """
    x = rest[triangles]
    double_area = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    size = np.linalg.norm(double_area, axis=1)
    unit = double_area / np.where(size > 0.0, size, 1.0)[:, None]
    # Gradient of a corner's hat function, times twice the area: the opposite edge, turned by 90 degrees.
    gradients = np.stack([np.cross(unit, x[:, (k + 2) % 3] - x[:, (k + 1) % 3]) for k in range(3)], axis=1)
    total = np.bincount(fans.ravel(), np.repeat(size, 3), len(normals))
    share = (1.0 / np.where(total > 0.0, total, 1.0))[fans]
    rows = np.repeat(fans.ravel(), 3)
    columns = np.repeat(triangles, 3, axis=0).ravel()
    axes = tangents(normals.astype(np.float64))
    means = []
    for axis in axes:
        entries = np.einsum("tij,tkj,ti->tik", axis[fans], gradients, share)
        means.append(sp.csr_matrix((entries.ravel(), (rows, columns)), shape=(len(normals), len(rest))))
    # Derivatives of the coordinates along the tangents; multiplying by their inverse makes linear functions exact.
    (a, b), (c, d) = ([np.einsum("gk,gk->g", mean @ rest, axis) for axis in axes] for mean in means)
    determinant = a * d - b * c
    spread = determinant > _LEAST_SPREAD
    inverse = np.array([[d, -b], [-c, a]]) / np.where(spread, determinant, 1.0)
    right = np.where(spread, inverse, np.eye(2)[:, :, None])
    return [sp.diags(row[0]) @ means[0] + sp.diags(row[1]) @ means[1] for row in right]


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1)
    fallback = np.array([0.0, 0.0, 1.0])
    return np.where(length[:, None] > 1e-12, vectors / np.maximum(length, 1e-12)[:, None], fallback)
