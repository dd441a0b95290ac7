"""Cache of a body's collision skin and of the warnings about this skin, in a frame store.

The skin is a closed surface near the render surface of a body on a lattice. Contact uses the skin instead of the render
surface (:mod:`core.contact.proxy`). Computing the skin takes as long as a frame. Computing the warnings takes as long
again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...contact.proxy.collision_proxy import collision_proxy
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.checks.skin_warnings import skin_warnings
from ...jobs.job.job import Job
from ...jobs.store.cached_arrays import sides_of
from ...jobs.store.cached_mesh import mesh_key
from ...jobs.store.frame_store import FrameStore

SKIN_FORMAT = 2
"""Version in the cache key. Raise it when a change of the code changes the skin or the warnings of a body."""

_SCHEMA = {"rest": "f8 s 3", "faces": "i4 f 3 <s", "tet_indices": "i4 s <t", "barycentric": "f8 s 4"}


class Skin(NamedTuple):
    """Collision skin of a body on a lattice: a closed surface near the render surface.

    Contact uses the skin instead of the render surface.

    Attributes
    ----------
    rest_positions : (s,3), m, vertices at rest
    faces : (f,3), triangles
    embedding : embedding of the vertices in the tets of the lattice, with which the vertices move
    """

    rest_positions: np.ndarray
    faces: np.ndarray
    embedding: Embedding


def cached_skin(job: Job, mesh: TetMesh, store: FrameStore | None) -> Skin:
    """Return the collision skin of a job's body.

    The skin is a closed surface near the render surface, which contact uses instead. The skin is read from the store,
    or computed and stored. Raises MeshError if the lattice cells are too coarse for a skin.
    """
    cached = store.read_cached("skin") if store is not None else None
    if cached is not None and cached[1].get("key") == _key(job) and (kept := _unpacked(cached[0], mesh)):
        return kept
    made = collision_proxy(job.body.surface, mesh)
    skin = Skin(made.rest, made.faces, Embedding.of_rows(made.carried, mesh.tets))
    if store is not None:
        _keep(skin, job, store)
    return skin


def cached_skin_warnings(job: Job, mesh: TetMesh, skin: Skin, store: FrameStore | None) -> list[str]:
    """Return the warnings about a body's collision skin (:func:`skin_warnings`).

    The warnings are read from the store, or computed and stored.
    """
    about = (store.about_cached("skin") if store is not None else None) or {}
    said = about.get("warnings")
    if about.get("key") == _key(job) and isinstance(said, list) and all(isinstance(each, str) for each in said):
        return said
    surface = SurfaceMesh(skin.rest_positions, skin.faces)
    said = skin_warnings(job.body.surface, mesh, surface, job.body.resolution.cells_across)
    if store is not None:
        _keep(skin, job, store, warnings=said)
    return said


def _key(job: Job) -> dict[str, Any]:
    return {"skin": SKIN_FORMAT, **mesh_key(job)}


def _keep(skin: Skin, job: Job, store: FrameStore, **about: Any) -> None:
    own = {"tet_indices": skin.embedding.tet_indices, "barycentric": skin.embedding.barycentric}
    store.write_cached("skin", {"rest": skin.rest_positions, "faces": skin.faces, **own}, {"key": _key(job), **about})


def _unpacked(arrays: dict[str, np.ndarray], mesh: TetMesh) -> Skin | None:
    """Return the skin from cached arrays, or None if the arrays are invalid."""
    sides = sides_of(arrays, _SCHEMA, t=len(mesh.tets))
    if sides is None or not sides["f"]:
        return None
    rest, faces, tets, weights = (arrays[name] for name in _SCHEMA)
    return Skin(rest, faces, Embedding(tets, weights, np.zeros(len(rest), dtype=bool)))
