"""Materials of a body's tetrahedra, stored for display in user interfaces.

The simulation does not read these materials.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.materials.fields import MaterialFields
from ..job.job import Job
from .cached_arrays import sides_of
from .cached_mesh import mesh_key, unpack
from .frame_store import FrameStore

MATERIALS_FORMAT = 3
_SCHEMA = {
    "youngs_modulus": "f8 m",
    "weights": "f4 m k",
    "object_to_world": "f8 4 4",
    "fibres": "f4 m 3",
    "muscles": "int m",
    "parts": "f4 m",
}


class CachedMaterials(NamedTuple):
    """Tetrahedra of a body with their materials, as a bake has prepared them.

    Attributes
    ----------
    mesh : TetMesh, m tets at rest, world space at the first frame, metres
    embedding : Embedding of the n surface vertices in the mesh
    youngs_modulus : (m,) float64, Pa
    weights : (m,k) float32, fractions of the k materials; rows sum to 1
    names : tuple of k str
    fibres : (m,3) float32, direction of the fibres of muscles in the tets; 0 without fibres
    muscles : (m,) index of the material whose fibres these are, -1 without fibres
    parts : (m,) float32, position of the tet between origin, 0, and insertion, 1, of the muscle
    object_to_world : (4,4) float64, map from the object's coordinates to world space, metres, at the first frame
    """

    mesh: TetMesh
    embedding: Embedding
    youngs_modulus: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    fibres: np.ndarray
    muscles: np.ndarray
    parts: np.ndarray
    object_to_world: np.ndarray


def cache_materials(
    store: FrameStore,
    job: Job,
    fields: MaterialFields,
    fibres: np.ndarray | None = None,
    muscles: np.ndarray | None = None,
    parts: np.ndarray | None = None,
) -> None:
    """Store the material fields of a job's tetrahedra, with the names of the materials and the directions of fibres.

    ``fibres`` (m,3), ``muscles`` (m,), ``parts`` (m,): as in :class:`CachedMaterials`; None without muscles.
    """
    count = len(fields.youngs_modulus)
    arrays = {
        "fibres": np.zeros((count, 3), dtype=np.float32) if fibres is None else fibres.astype(np.float32),
        "muscles": np.full(count, -1, dtype=np.int32) if muscles is None else muscles.astype(np.int32),
        "parts": np.zeros(count, dtype=np.float32) if parts is None else parts.astype(np.float32),
        "youngs_modulus": fields.youngs_modulus,
        "weights": fields.weights.astype(np.float32),
        "object_to_world": job.body.object_to_world[0],
    }
    names = [material.name for material in job.body.materials]
    store.write_cached("materials", arrays, {"format": MATERIALS_FORMAT, "key": mesh_key(job), "names": names})


def cached_files(store: FrameStore) -> tuple[Path, Path]:
    """Return the paths of the two files that :func:`received` reads, so that callers can watch the files."""
    return store.folder / "mesh.sinew", store.folder / "materials.sinew"


def received(store: FrameStore) -> CachedMaterials | None:
    """Return the tetrahedra and materials in a store, or None.

    None means that one of the two is missing or invalid, or that the materials belong to other tetrahedra.
    """
    cached, made_of = store.read_cached("mesh"), store.read_cached("materials")
    if cached is None or made_of is None:
        return None
    (arrays, about), (fields, noted) = cached, made_of
    whole, names = unpack(arrays), noted.get("names")
    if noted.get("format") != MATERIALS_FORMAT or noted.get("key") != about.get("key") or whole is None:
        return None
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        return None
    if sides_of(fields, _SCHEMA, m=len(whole[0].tets), k=len(names)) is None:
        return None
    if not (fields["youngs_modulus"] > 0.0).all() or abs(np.linalg.det(fields["object_to_world"])) == 0.0:
        return None
    if not -1 <= fields["muscles"].min(initial=-1) <= fields["muscles"].max(initial=-1) < len(names):
        return None
    own = (fields[name] for name in ("fibres", "muscles", "parts", "object_to_world"))
    return CachedMaterials(*whole, fields["youngs_modulus"], fields["weights"], tuple(names), *own)
