"""From a job to what can be simulated: tetrahedra, embedding, material fields, model, pins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.pins import corner_targets, pinned_corners
from ..errors import PinError
from ..materials.fields import material_fields
from ..mesh.embedding import Embedding, embed
from ..mesh.quality import quality
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize import tetrahedralize
from ..mesh.topology import components
from ..model.model import Model, build_model
from .frame_store import FrameStore
from .job import Job

OnEvent = Callable[[dict[str, Any]], None]


def ignore(_event: dict[str, Any]) -> None:
    """An event that nobody watches."""


@dataclass(frozen=True)
class Prepared:
    """Everything that a simulation of a job needs.

    ``pin_targets``: (frames, q, 3) positions of the model's pinned vertices at each frame.
    """

    model: Model
    embedding: Embedding
    pin_targets: np.ndarray

    def surface(self, positions: np.ndarray) -> np.ndarray:
        """Positions of the render surface for tet positions, (n,3)."""
        return self.embedding.apply(positions, self.model.mesh.tets)


def tetrahedra(job: Job, store: FrameStore | None, on_event: OnEvent) -> tuple[TetMesh, Embedding]:
    """Tetrahedra of a job with the embedding of its surface; read from the store where they are kept already."""
    on_event({"event": "phase", "phase": "tetrahedralize", "done": 0, "total": 1})
    key = {part: job.fingerprints()[part] for part in ("mesh", "resolution")}
    kept = store.read_mesh() if store is not None else None
    if kept is not None and kept[1].get("key") == key:
        arrays = kept[0]
        mesh = TetMesh(arrays["rest_positions"], arrays["tets"], arrays["fill"])
        embedding = Embedding(arrays["tet_indices"], arrays["barycentric"], arrays["outside"])
    else:
        job.surface.validate()
        mesh = tetrahedralize(job.surface, job.resolution)
        embedding = embed(job.surface.positions, mesh)
        if store is not None:
            store.write_mesh(
                {
                    "rest_positions": mesh.rest_positions,
                    "tets": mesh.tets,
                    "fill": mesh.fill,
                    "tet_indices": embedding.tet_indices,
                    "barycentric": embedding.barycentric,
                    "outside": embedding.outside,
                },
                {"key": key},
            )
    on_event(_mesh_event(job, mesh, embedding))
    return mesh, embedding


def _mesh_event(job: Job, mesh: TetMesh, embedding: Embedding) -> dict[str, Any]:
    figures = quality(mesh)
    warnings = []
    outside = int(np.count_nonzero(embedding.outside))
    if outside:
        warnings.append(f"{outside} vertices lie outside all tetrahedra and follow the nearest one.")
    loose = _unpinned_parts(job, mesh, embedding)
    if loose and len(job.pinned_vertices):
        warnings.append(f"{loose} separate parts have no pin and will fall.")
    return {
        "event": "mesh",
        "vertices": figures.vertices,
        "tets": figures.tets,
        "outside": outside,
        "components": figures.components,
        "min_dihedral": figures.min_dihedral,
        "max_dihedral": figures.max_dihedral,
        "warnings": warnings,
    }


def _unpinned_parts(job: Job, mesh: TetMesh, embedding: Embedding) -> int:
    labels = components(mesh.tets, len(mesh.rest_positions))
    held = np.unique(labels[embedding.tet_indices[job.pinned_vertices]])
    return int(labels.max()) + 1 - len(held)


def prepare(job: Job, store: FrameStore | None = None, on_event: OnEvent = ignore) -> Prepared:
    """Build the model of a job; named errors where it cannot be."""
    if len(job.pinned_vertices) == len(job.surface.positions):
        raise PinError("Every vertex is pinned: nothing is left to move.", "Remove vertices from the pin group.")
    mesh, embedding = tetrahedra(job, store, on_event)
    on_event({"event": "phase", "phase": "materials", "done": 0, "total": 1})
    fields = material_fields(mesh, embedding, job.material_weights, job.materials, job.regions, job.surface)
    corners = pinned_corners(mesh, embedding, job.pinned_vertices)
    model = build_model(
        mesh,
        fields.youngs_modulus,
        fields.poissons_ratio,
        fields.density,
        fields.energies,
        fields.energy,
        corners,
    )
    targets = corner_targets(corners, mesh, job.surface.positions[job.pinned_vertices], job.pin_positions)
    return Prepared(model, embedding, targets)
