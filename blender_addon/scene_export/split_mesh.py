"""Mesh of a split body: faces, attributes, vertex groups, UV maps and normals from the mesh before the split.

Faces that no seam crosses stay as they are, with any number of corners. Faces on seams and in filled holes are new.
They have a material slot of their own, a box projection as UV map, and smooth normals of their own. Sharp edges
separate them from the outer surface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import bmesh
import numpy as np

from ...core.geometry.mesh.vertex_normals import vertex_normals
from ..scene_import.mesh_in import CUT_FRAME, NEVER, PIECE, SEAM, TEAR_STRESS, columns_of, vectors_of
from .split_attributes import Sources, copy_attributes, fill_attribute

if TYPE_CHECKING:
    from ...core.geometry.cuts.divided_surface import SplitSurface

FAINT = 1e-4
"""Largest weight that is left out of a vertex group."""


class Faces(NamedTuple):
    """Polygons of a split mesh.

    Attributes
    ----------
    vertices : (l,), vertex of each corner
    counts : (p,), number of corners of each polygon
    loops : (l,3), corners of the original mesh from which each corner is interpolated; 0 on new faces
    weights : (l,3), their weights; 0 on new faces
    polygons : (p,), original polygon of each one; -1 on new faces
    is_seam : (p,), True on seams
    is_cut : (p,), True for parts of original polygons that a seam crosses
    """

    vertices: np.ndarray
    counts: np.ndarray
    loops: np.ndarray
    weights: np.ndarray
    polygons: np.ndarray
    is_seam: np.ndarray
    is_cut: np.ndarray


def write_split(mesh: Any, split: SplitSurface, positions: np.ndarray, weights: np.ndarray, inside: Any) -> Any:
    """Return a copy of a mesh with the geometry of a split surface.

    Parameters
    ----------
    mesh : mesh before the split; its triangles are those of ``split.original``
    split : the split surface
    positions : (n,3) positions of the new vertices, object coordinates
    weights : (n,g) weights in the vertex groups
    inside : Blender material of the new faces, appended as a slot
    """
    faces = _faces(mesh, split)
    new = mesh.copy()
    new.clear_geometry()
    new.vertices.add(len(positions))
    new.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    new.loops.add(len(faces.vertices))
    new.loops.foreach_set("vertex_index", faces.vertices.astype(np.int32))
    new.polygons.add(len(faces.counts))
    new.polygons.foreach_set("loop_start", (np.cumsum(faces.counts) - faces.counts).astype(np.int32))
    new.update(calc_edges=True)
    _write_weights(new, weights)
    sources = _sources(mesh, new, split, faces)
    copy_attributes(mesh, new, sources)
    fill_attribute(new, PIECE, "INT", "POINT", split.pieces)
    fill_attribute(new, SEAM, "BOOLEAN", "FACE", faces.is_seam)
    fill_attribute(new, CUT_FRAME, "FLOAT", "POINT", np.minimum(split.cut_frames, NEVER))
    fill_attribute(new, TEAR_STRESS, "FLOAT", "POINT", np.minimum(split.tear_stress, NEVER))
    slot = _slot(new, inside)
    material = columns_of(mesh.polygons, "material_index", 1, np.int32)[:, 0][np.maximum(faces.polygons, 0)]
    new.polygons.foreach_set("material_index", np.where(faces.polygons < 0, slot, material).astype(np.int32))
    _project(mesh, new, faces, positions)
    _set_normals(mesh, new, faces, positions)
    return new


def _faces(mesh: Any, split: SplitSurface) -> Faces:
    """Return the polygons: original ones that are whole, in their order, then triangles of cut ones and new ones."""
    mesh.calc_loop_triangles()
    corners = columns_of(mesh.loop_triangles, "loops", 3, np.int32)
    of_polygon = columns_of(mesh.loop_triangles, "polygon_index", 1, np.int32)[:, 0]
    counts = columns_of(mesh.polygons, "loop_total", 1, np.int32)[:, 0]
    starts = columns_of(mesh.polygons, "loop_start", 1, np.int32)[:, 0]
    T, source = split.surface.triangles, split.source
    at = split.weights.argmax(axis=2)
    exact = (source >= 0) & (split.weights.max(axis=2) == 1.0).all(axis=1) & (np.sort(at) == (0, 1, 2)).all(axis=1)
    polygon = np.where(source >= 0, of_polygon[np.maximum(source, 0)], -1)
    parts = np.bincount(of_polygon, minlength=len(counts))
    is_whole = np.bincount(polygon[exact], minlength=len(counts)) == parts
    is_whole &= np.bincount(polygon[source >= 0], minlength=len(counts)) == parts  # slivers of it may lie along a seam
    piece = split.pieces[T[:, 0]]
    low, high = np.full(len(counts), len(T)), np.full(len(counts), -1)
    np.minimum.at(low, polygon[exact], piece[exact])
    np.maximum.at(high, polygon[exact], piece[exact])
    is_whole &= low == high  # a seam may run along the diagonal of a face
    new_vertex = np.full(len(mesh.loops), -1)
    rows = np.flatnonzero(exact)
    new_vertex[np.take_along_axis(corners[source[rows]], at[rows], axis=1)] = T[rows]
    whole = np.flatnonzero(is_whole & (counts > 2))
    kept = np.repeat(starts[whole] - (np.cumsum(counts[whole]) - counts[whole]), counts[whole]) + np.arange(
        counts[whole].sum()
    )
    left = np.flatnonzero(~np.isin(polygon, whole))
    left = left[np.argsort(np.where(polygon[left] < 0, len(counts), polygon[left]), kind="stable")]
    outer = source[left] >= 0
    loops = np.where(outer[:, None], corners[np.maximum(source[left], 0)], 0)
    first = np.array([1.0, 0.0, 0.0])
    return Faces(
        vertices=np.concatenate([new_vertex[kept], T[left].ravel()]),
        counts=np.concatenate([counts[whole], np.full(len(left), 3)]),
        loops=np.concatenate([np.repeat(kept[:, None], 3, axis=1), np.repeat(loops, 3, axis=0)]),
        weights=np.concatenate([np.tile(first, (len(kept), 1)), split.weights[left].reshape(-1, 3)]),
        polygons=np.concatenate([whole, polygon[left]]),
        is_seam=np.concatenate([np.zeros(len(whole), dtype=bool), split.seam_faces[left]]),
        is_cut=np.concatenate([np.zeros(len(whole), dtype=bool), outer]),
    )


def _sources(mesh: Any, new: Any, split: SplitSurface, faces: Faces) -> Sources:
    of_loop = columns_of(mesh.loops, "vertex_index", 1, np.int32)[:, 0]
    index, weights = np.zeros((len(split.pieces), 3), dtype=np.int64), np.zeros((len(split.pieces), 3))
    outer = faces.weights.any(axis=1)
    index[faces.vertices[outer]], weights[faces.vertices[outer]] = of_loop[faces.loops[outer]], faces.weights[outer]
    return Sources((index, weights), (faces.loops, faces.weights), faces.polygons, _source_edges(mesh, new, split))


def _source_edges(mesh: Any, new: Any, split: SplitSurface) -> np.ndarray:
    """Return the original edge on which each edge of the new mesh lies, or -1."""
    rows = np.flatnonzero(split.source >= 0)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    corners = split.original.triangles[split.source[rows]]
    for side in range(3):
        ends = split.surface.triangles[rows][:, [side, (side + 1) % 3]]
        both = np.maximum(split.weights[rows, side], split.weights[rows, (side + 1) % 3])
        for opposite in range(3):
            on = np.flatnonzero(both[:, opposite] == 0.0)
            old = corners[on][:, [(opposite + 1) % 3, (opposite + 2) % 3]]
            found |= zip(map(tuple, np.sort(ends[on]).tolist()), map(tuple, np.sort(old).tolist()))
    before = {tuple(sorted(edge)): k for k, edge in enumerate(columns_of(mesh.edges, "vertices", 2, np.int32).tolist())}
    after = columns_of(new.edges, "vertices", 2, np.int32).tolist()
    return np.array([before.get(found.get(tuple(sorted(edge)), ()), -1) for edge in after])


def _write_weights(mesh: Any, weights: np.ndarray) -> None:
    shape = bmesh.new()
    shape.from_mesh(mesh)
    layer = shape.verts.layers.deform.verify()
    for vertex, row in zip(shape.verts, weights):
        for group in np.flatnonzero(row > FAINT).tolist():
            vertex[layer][group] = row[group]
    shape.to_mesh(mesh)
    shape.free()


def _slot(mesh: Any, inside: Any) -> int:
    """Return the index of the slot with a Blender material, appended if it is missing."""
    if inside.name not in mesh.materials:
        mesh.materials.append(inside)
    return mesh.materials.find(inside.name)


def _project(mesh: Any, new: Any, faces: Faces, positions: np.ndarray) -> None:
    """Write a box projection of the new faces to all UV maps, as dense as that of the outer surface."""
    of_face = np.repeat(np.arange(len(faces.counts)), faces.counts)
    inner = np.flatnonzero(faces.polygons[of_face] < 0)
    corners = positions[faces.vertices[inner]].reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    axis = np.abs(normals).argmax(axis=1)
    flat = np.stack([np.delete(each, k, axis=1) for each, k in zip(corners, axis)]).reshape(-1, 2)
    mesh.calc_loop_triangles()
    loops = columns_of(mesh.loop_triangles, "loops", 3, np.int32)
    X = vectors_of(mesh.vertices, "co")[columns_of(mesh.loop_triangles, "vertices", 3, np.int32)]
    area = np.linalg.norm(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), axis=1).sum()
    for before, after in zip(mesh.uv_layers, new.uv_layers):
        uv = columns_of(before.uv, "vector", 2, np.float32).astype(np.float64)
        u, v = uv[loops[:, 1]] - uv[loops[:, 0]], uv[loops[:, 2]] - uv[loops[:, 0]]
        covered = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum()
        values = columns_of(after.uv, "vector", 2, np.float32)
        values[inner] = flat * np.sqrt(covered / area)
        after.uv.foreach_set("vector", values.ravel())


def _set_normals(mesh: Any, new: Any, faces: Faces, positions: np.ndarray) -> None:
    """Keep the normals of the outer surface beside the cut, and separate it from the new faces by sharp edges."""
    of_face = np.repeat(np.arange(len(faces.counts)), faces.counts)
    inner = faces.polygons[of_face] < 0
    ends = columns_of(new.edges, "vertices", 2, np.int32)
    of_edge = columns_of(new.loops, "edge_index", 1, np.int32)[:, 0]
    count = [np.bincount(of_edge[side], minlength=len(ends)) for side in (inner, ~inner)]
    border = (count[0] > 0) & (count[1] > 0)
    for name, kind, value in (("sharp_edge", "BOOLEAN", True), ("crease_edge", "FLOAT", 1.0)):
        attribute = new.attributes.get(name) or new.attributes.new(name, kind, "EDGE")
        values = np.empty(len(ends), dtype=type(value) if kind == "BOOLEAN" else np.float32)
        attribute.data.foreach_get("value", values)
        values[border] = value
        attribute.data.foreach_set("value", values)
    old = columns_of(mesh.corner_normals, "vector", 3, np.float32).astype(np.float64)
    normals = np.einsum("lc,lci->li", faces.weights, old[faces.loops])
    is_smooth = np.ones(len(faces.counts), dtype=bool)
    triangles = faces.vertices[inner].reshape(-1, 3)
    normals[inner] = vertex_normals(positions, triangles)[faces.vertices[inner]]
    near = np.zeros(len(positions), dtype=bool)
    near[faces.vertices[inner | faces.is_cut[of_face]]] = True
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.where(length > 0.0, length, 1.0)
    if not mesh.has_custom_normals:
        normals[~near[faces.vertices]] = 0.0  # keeps the automatic normal
    if mesh.polygons:
        smooth = columns_of(mesh.polygons, "use_smooth", 1, bool)[:, 0]
        is_smooth = np.where(faces.polygons < 0, True, smooth[np.maximum(faces.polygons, 0)])
    new.polygons.foreach_set("use_smooth", is_smooth)
    new.normals_split_custom_set(normals.tolist())
