"""Tetrahedra and embedding as arrays of a frame store, validated on reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import Split, TetMesh
from ..job.job import Job
from .cached_arrays import sides_of

MESH_FORMAT = 2
"""Version in the key of stored tetrahedra.

Raise it when the same surface and resolution give other tetrahedra, or another embedding, than before. Then also raise
``STORE_FORMAT``, since frames of the old tetrahedra cannot be continued.
"""

_SCHEMA = {
    "rest_positions": "f8 v 3",
    "tets": "i4 t 4 <v",
    "fill": "f8 t",
    "middle": "f8 t 4",
    "tet_indices": "i4 n <t",
    "barycentric": "f8 n 4",
    "outside": "b1 n",
}

_SPLIT = {"origins": "i8 t", "parents": "i8 v", "pieces": "i8 v"}
"""Further arrays of a mesh that is split into pieces."""


def mesh_key(job: Job) -> dict[str, Any]:
    """Return the cache key of a job's tetrahedra: format version, and fingerprints of surface and resolution."""
    return {"format": MESH_FORMAT, **job.fingerprints("mesh", "resolution")}


def pack(mesh: TetMesh, embedding: Embedding) -> dict[str, np.ndarray]:
    """Return the arrays of a mesh and its embedding by name, as the frame store holds them."""
    arrays = {name: getattr(mesh if hasattr(mesh, name) else embedding, name) for name in _SCHEMA}
    return arrays | ({} if mesh.split is None else mesh.split._asdict())


def unpack(arrays: dict[str, np.ndarray], n_points: int | None = None) -> tuple[TetMesh, Embedding] | None:
    """Return the mesh and the embedding from the arrays of :func:`pack`, or None if they are invalid.

    ``n_points``: required number of embedded surface vertices, or None for any number.
    """
    schema = _SCHEMA | _SPLIT if _SPLIT.keys() <= arrays.keys() else _SCHEMA
    sides = sides_of(arrays, schema, **({} if n_points is None else {"n": n_points}))
    if sides is None or sides["t"] == 0:
        return None
    rest, tets, fill, middle, *points = (arrays[name] for name in _SCHEMA)
    if not ((fill > 0).all() and (fill <= 1).all()):
        return None
    if not ((middle > 0).all() and (np.abs(middle.sum(axis=1) - 1.0) < 1e-9).all()):
        return None
    split = Split(*(arrays[name] for name in _SPLIT)) if len(schema) > len(_SCHEMA) else None
    if split is not None and min(each.min() for each in split) < 0:
        return None
    mesh = TetMesh(rest, tets, fill, middle, split)
    every_vertex_used = len(np.unique(tets)) == len(rest)
    return (mesh, Embedding(*points)) if every_vertex_used and (mesh.volumes > 0).all() else None
