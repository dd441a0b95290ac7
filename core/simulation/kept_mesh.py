"""Tetrahedra and embedding as the arrays that a frame store keeps, and back where they are beyond doubt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from .job import Job

MESH_FORMAT = 2
"""Part of the key of kept tetrahedra: raise it when the same surface and resolution give other tetrahedra, or another
embedding, than before. Frames made with the old ones then need a new ``STORE_FORMAT`` too."""

_KINDS = {
    "rest_positions": ("f8", (3,)),
    "tets": ("i4", (4,)),
    "fill": ("f8", ()),
    "middle": ("f8", (4,)),
    "tet_indices": ("i4", ()),
    "barycentric": ("f8", (4,)),
    "outside": ("b1", ()),
}


def mesh_key(job: Job) -> dict[str, Any]:
    """What the tetrahedra of a job are made from."""
    fingerprints = job.fingerprints()
    return {"format": MESH_FORMAT, "mesh": fingerprints["mesh"], "resolution": fingerprints["resolution"]}


def pack(mesh: TetMesh, embedding: Embedding) -> dict[str, np.ndarray]:
    """By name, for the frame store."""
    return {
        "rest_positions": mesh.rest_positions,
        "tets": mesh.tets,
        "fill": mesh.fill,
        "middle": mesh.middle,
        "tet_indices": embedding.tet_indices,
        "barycentric": embedding.barycentric,
        "outside": embedding.outside,
    }


def unpack(arrays: dict[str, np.ndarray], n_points: int) -> tuple[TetMesh, Embedding] | None:
    """What :func:`pack` gave for a surface of ``n_points`` vertices, or None on any doubt: kernels do not check
    indices.
    """
    for name, (kind, columns) in _KINDS.items():
        array = arrays.get(name)
        if array is None or array.dtype != np.dtype(kind) or array.ndim == 0 or array.shape[1:] != columns:
            return None
    rest, tets, fill, middle = (arrays[name] for name in ("rest_positions", "tets", "fill", "middle"))
    tet_indices, barycentric, outside = arrays["tet_indices"], arrays["barycentric"], arrays["outside"]
    if not (
        len(fill) == len(middle) == len(tets) > 0 and len(tet_indices) == len(barycentric) == len(outside) == n_points
    ):
        return None
    if not (_indexes(tets, len(rest)) and _indexes(tet_indices, len(tets))):
        return None
    if not (np.isfinite(rest).all() and np.isfinite(barycentric).all() and (fill > 0).all() and (fill <= 1).all()):
        return None
    if not ((middle > 0).all() and (np.abs(middle.sum(axis=1) - 1.0) < 1e-9).all()):
        return None
    mesh = TetMesh(rest, tets, fill, middle)
    every_vertex_used = len(np.unique(tets)) == len(rest)
    if not (every_vertex_used and (mesh.volumes > 0).all()):
        return None
    return mesh, Embedding(tet_indices, barycentric, outside)


def _indexes(indices: np.ndarray, length: int) -> bool:
    return indices.size == 0 or bool(indices.min() >= 0 and indices.max() < length)
