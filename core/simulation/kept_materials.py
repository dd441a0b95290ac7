"""What the tetrahedra are made of, kept beside them for interfaces to show; nothing is simulated from it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..materials.fields import MaterialFields
from ..mesh.embedding import Embedding
from ..mesh.tet_mesh import TetMesh
from .frame_store import FrameStore
from .job import Job
from .kept_mesh import mesh_key, unpack

MATERIALS_FORMAT = 1


class Received(NamedTuple):
    """What a solver got.

    Attributes
    ----------
    mesh : TetMesh, m tets at rest, world space at the first frame, metres
    embedding : Embedding, of the n vertices of the surface
    youngs_modulus : (m,) float64, Pa
    weights : (m,k) float32, parts of the k materials; rows sum to 1
    names : tuple of k str
    object_to_world : (4,4) float64, the object's own coordinates to world space in metres at the first frame
    """

    mesh: TetMesh
    embedding: Embedding
    youngs_modulus: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    object_to_world: np.ndarray


def keep_materials(store: FrameStore, job: Job, fields: MaterialFields) -> None:
    """Keep them, with the names and what the tetrahedra were made from."""
    arrays = {
        "youngs_modulus": fields.youngs_modulus,
        "weights": fields.weights.astype(np.float32),
        "object_to_world": job.object_to_world[0],
    }
    names = [material.name for material in job.materials]
    store.keep("materials", arrays, {"format": MATERIALS_FORMAT, "key": mesh_key(job), "names": names})


def kept_files(store: FrameStore) -> tuple[Path, Path]:
    """The files that :func:`received` reads, whose times tell whether to read again."""
    return store.folder / "mesh.sinew", store.folder / "materials.sinew"


def received(store: FrameStore) -> Received | None:
    """What the solver of a store got last, or None where it is not kept whole."""
    kept, made_of = store.read_kept("mesh"), store.read_kept("materials")
    if kept is None or made_of is None:
        return None
    (arrays, about), (fields, noted) = kept, made_of
    if noted.get("format") != MATERIALS_FORMAT or noted.get("key") != about.get("key") or "outside" not in arrays:
        return None
    whole = unpack(arrays, len(arrays["outside"]) if arrays["outside"].ndim else 0)
    names = noted.get("names")
    if whole is None or not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        return None
    m = len(whole[0].tets)
    shapes = {"youngs_modulus": ((m,), "f8"), "weights": ((m, len(names)), "f4"), "object_to_world": ((4, 4), "f8")}
    for name, (shape, kind) in shapes.items():
        array = fields.get(name)
        if array is None or array.shape != shape or array.dtype != kind or not np.isfinite(array).all():
            return None
    if not (fields["youngs_modulus"] > 0.0).all() or abs(np.linalg.det(fields["object_to_world"])) == 0.0:
        return None
    return Received(*whole, fields["youngs_modulus"], fields["weights"], tuple(names), fields["object_to_world"])
